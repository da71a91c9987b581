// Matrix products.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// numpy.dot: sums over the last axis of `a` and the second to last of `b`.
CX_API Array Dot(const Array& a, const Array& b);

// numpy.matmul: multiplies over the last two axes; the axes before them broadcast.
CX_API Array Matmul(const Array& x1, const Array& x2);

// Returns x w^T + b, with the axes of x after the first `n_batch_axes` flattened. w is (outs, ins).
CX_API Array Linear(const Array& x, const Array& w, const std::optional<Array>& b = std::nullopt,
                    int64_t n_batch_axes = 1);

namespace internal {

// Transposes each matrix.
Array SwapLast(const Array& x);

// Returns Linear, or its maximum with 0, outside the graph.
Array ComputeLinear(const Array& x, const Array& w, const std::optional<Array>& b,
                    int64_t n_batch_axes, bool rectified);

// ---- rectified_linear.cc ----
// Returns Rectify(Linear(x, w, b)) for a matrix x, by a product with a fused rectifier.
CX_API Array RectifiedLinear(const Array& x, const Array& w, const std::optional<Array>& b);

}  // namespace internal
}  // namespace chainerx
