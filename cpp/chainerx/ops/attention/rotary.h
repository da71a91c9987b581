// Rotary position embedding.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Rotates pair i of a row of x (..., length, depth) by the angle (position + offset) base^(-2 i /
// depth) (Su et al., RoFormer, 2021). `positions` are integers of a shape that broadcasts to (...,
// length); by default the position of a row is its index along the axis before the last. Pairs are
// (x[2 i], x[2 i + 1]) where `interleaved`, else (x[i], x[i + depth / 2]). Angles are computed in
// float64. Differentiable in x, any order.
CX_API Array RotaryEmbedding(const Array& x, const std::optional<Array>& positions = std::nullopt,
                             double base = 10000.0, bool interleaved = false, int64_t offset = 0);

}  // namespace chainerx
