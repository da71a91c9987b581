// Dot products of many rows.
#pragma once

#include <optional>

#include "chainerx/core/array.h"

namespace chainerx::internal {

// Returns the dot products of two arrays of one shape over the last axis, if a kernel computes them
// in one pass: floats whose rows are contiguous in both, and many or short. Differentiable.
std::optional<Array> TryVecdot(const Array& x1, const Array& x2);

}  // namespace chainerx::internal
