// Arguments with a number for each spatial axis.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/ops/conv/per_axis.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// Parses 2, for all axes, or (2, 1).
PerAxis ToPerAxis(const char* op, const char* name, PyObject* o);
PerAxis ToPerAxisOr(const char* op, const char* name, PyObject* o, int64_t fallback);
std::optional<PerAxis> ToOptionalPerAxis(const char* op, const char* name, PyObject* o);
// The same, or ((1, 2), (0, 0)) before and after each axis; 0 if omitted.
AxisPads ToAxisPads(const char* op, PyObject* o);

}  // namespace chainerx::python
