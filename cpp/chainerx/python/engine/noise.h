#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

// A key for chainerx/ops/random/random.h, so that numpy.random.seed() makes the numbers repeatable.
uint64_t DrawKey();

// Which elements zoneout takes from h.
Array ZoneoutFlags(const Array& h, double ratio);

void InitNoise(PyObject* module);

}  // namespace chainerx::python::engine
