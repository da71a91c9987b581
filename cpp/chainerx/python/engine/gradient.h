// Compositions with a gradient of their own, for those whose recorded steps would keep too much.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

void InitGradient(PyObject* module);

}  // namespace chainerx::python::engine
