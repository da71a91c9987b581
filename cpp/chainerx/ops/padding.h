// Arrays made larger or turned: copies, all differentiable.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

enum class PadMode : int8_t { kConstant, kEdge, kReflect, kSymmetric, kWrap };

// Elements before and after each axis. `value` counts for kConstant only.
CX_API Array Pad(const Array& x, const std::vector<std::pair<int64_t, int64_t>>& widths,
                 PadMode mode = PadMode::kConstant, const Scalar& value = 0);

// `x` beside itself, `repeats` times along each axis; the shorter of shape and repeats is extended
// with ones at the front.
CX_API Array Tile(const Array& x, const Shape& repeats);

// Elements moved along axes, those that fall off coming back at the other end. One shift per axis;
// nullopt moves in the flattened array.
CX_API Array Roll(const Array& x, const std::vector<int64_t>& shifts,
                  const OptionalAxes& axes = std::nullopt);

}  // namespace chainerx
