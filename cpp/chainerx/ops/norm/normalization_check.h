// Checks of the arguments of normalizations.
#pragma once

#include "chainerx/core/array.h"

namespace chainerx::internal {

// DtypeError unless `x` has a real float dtype; DeviceError unless it is on that device.
void CheckNormalized(const char* op, const char* name, const Array& x, const Device& device);

// ValueError unless eps >= 0.
void CheckEps(const char* op, double eps);

// Returns the shape in which an operand with one number per channel broadcasts to x.
Shape BroadcastParams(const Shape& x, const Axes& reduced);

// DimensionError unless the shape is that of x without `reduced`, or with length 1 there.
void CheckParamShape(const char* op, const char* name, const Array& param, const Shape& x,
                     const Axes& reduced);

}  // namespace chainerx::internal
