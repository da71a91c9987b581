// Memory, leak tracking and the release of the GIL.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python {

void InitRuntime(PyObject* module);

// Facts on build, processor, BLAS, plug-ins.
void InitConfig(PyObject* module);

}  // namespace chainerx::python
