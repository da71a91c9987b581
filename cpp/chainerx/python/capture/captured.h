// The type behind chainerx.capture: see captured.cc.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python {

void InitCapture(PyObject* engine);

}  // namespace chainerx::python
