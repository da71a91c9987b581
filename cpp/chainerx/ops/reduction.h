// Reductions.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Integers and bool are summed in int64.
CX_API Array Sum(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);

namespace internal {
// Undoes broadcasting: sums `x` down to `shape`.
CX_API Array SumTo(const Array& x, const Shape& shape);
}  // namespace internal
}  // namespace chainerx
