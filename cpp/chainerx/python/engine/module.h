// The submodule chainerx._core.engine.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

void InitEngine(PyObject* module);

}  // namespace chainerx::python::engine
