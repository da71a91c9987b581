#pragma once

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

// The mask of elements that zoneout keeps, with a probability of `ratio`.
Array ZoneoutFlags(const Array& h, double ratio);

void InitRngKey(PyObject* module);

}  // namespace chainerx::python::engine
