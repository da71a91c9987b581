// Padding with values that are computed from the elements along an axis.
#pragma once

#include <cstdint>
#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/ops/shape/padding.h"

namespace chainerx::internal {

// Returns the pads before and after x on one axis, which is not empty; null where the pad is empty.
// Differentiable.
std::pair<Array, Array> PadsOf(const Array& x, int8_t axis, int64_t before, int64_t after,
                               PadMode mode, const PadOptions& options);

}  // namespace chainerx::internal
