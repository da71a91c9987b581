// The call of Linear layers. Where it can do nothing but to call the function with the parameters,
// it is all in C++.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

void InitLinear(PyObject* module);

}  // namespace chainerx::python::engine
