// Padding with what is computed from an axis.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/ops/padding.h"

namespace chainerx::internal {

// x with pads before and after one axis, which is not empty. Differentiable.
Array PadAxisWithValues(const Array& x, int8_t axis, int64_t before, int64_t after, PadMode mode,
                        const PadOptions& options);

}  // namespace chainerx::internal
