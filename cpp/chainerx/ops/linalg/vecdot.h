// Products of rows, many at once.
#pragma once

#include <optional>

#include "chainerx/core/array.h"

namespace chainerx::internal {

// The products of two arrays of one shape, summed over the last axis, where a kernel computes them
// in one pass: floats whose rows lie adjacent in both, and that are many or short. Differentiable.
std::optional<Array> TryVecdot(const Array& x1, const Array& x2);

}  // namespace chainerx::internal
