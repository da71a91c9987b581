#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

void InitNoise(PyObject* module);

}  // namespace chainerx::python::engine
