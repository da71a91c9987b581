// UpdatePlan: see update.cc.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

void InitUpdate(PyObject* module);

}  // namespace chainerx::python::engine
