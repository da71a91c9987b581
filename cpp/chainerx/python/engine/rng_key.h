#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

void InitRngKey(PyObject* module);

}  // namespace chainerx::python::engine
