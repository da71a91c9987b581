// Products of matrices.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// numpy.dot: over the last axis of `a` and the last but one of `b`.
CX_API Array Dot(const Array& a, const Array& b);

// numpy.matmul: over the last two axes; the axes before them broadcast.
CX_API Array Matmul(const Array& x1, const Array& x2);

// x w^T + b, where the axes of x after the first `n_batch_axes` are flattened. w is (outs, ins).
CX_API Array Linear(const Array& x, const Array& w, const std::optional<Array>& b = std::nullopt,
                    int64_t n_batch_axes = 1);

namespace internal {

// Each matrix transposed.
Array SwapLast(const Array& x);

// Linear, or the maximum of that and 0, outside the graph.
Array ComputeLinear(const Array& x, const Array& w, const std::optional<Array>& b,
                    int64_t n_batch_axes, bool rectified);

// ---- rectified_linear.cc ----
// Rectify(Linear(x, w, b)) of a matrix x, by a product that rectifies what it writes.
CX_API Array RectifiedLinear(const Array& x, const Array& w, const std::optional<Array>& b);

}  // namespace internal
}  // namespace chainerx
