#pragma once

#include <cstdint>

#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

// A key for chainerx/ops/random.h, so that numpy.random.seed() makes the numbers repeatable.
uint64_t DrawKey();

void InitNoise(PyObject* module);

}  // namespace chainerx::python::engine
