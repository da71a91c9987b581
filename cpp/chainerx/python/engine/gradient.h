// Compositions with a hand-written gradient, used if their recorded steps would keep too much
// memory.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

void InitGradient(PyObject* module);

}  // namespace chainerx::python::engine
