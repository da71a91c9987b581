// Reductions, statistics, cumulative sums. `axes` default to all; repeated or invalid ones are a
// DimensionError. With `keepdims`, reduced axes remain with length 1 (and stride 0).
#pragma once

#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Sums (and multiplies) bool and signed integers in int64, unsigned ones in uint64.
CX_API Array Sum(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
// NaN counts as 0.
CX_API Array NanSum(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array Prod(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);

// NaN if any element is; DimensionError for empty arrays. Equal extremes share the gradient, and so
// do several NaN; with Each, every one gets all of it.
CX_API Array AMax(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array AMin(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array AMaxEach(const Array& x, const OptionalAxes& axes = std::nullopt,
                      bool keepdims = false);
CX_API Array AMinEach(const Array& x, const OptionalAxes& axes = std::nullopt,
                      bool keepdims = false);

// Has the dtype of x, float32 for bool and integers.
CX_API Array Mean(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
// The population variance, in two passes. That of complex numbers is real and has no gradient.
CX_API Array Var(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array Std(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array LogSumExp(const Array& x, const OptionalAxes& axes = std::nullopt,
                       bool keepdims = false);

CX_API Array All(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array Any(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array CountNonzero(const Array& x, const OptionalAxes& axes = std::nullopt);

// Return the first index of the extreme, int64; without an axis, in the flattened array. A NaN is
// the extreme, except for the Nan variants, which skip it (and give 0 if there is nothing else).
// DimensionError for empty arrays.
CX_API Array ArgMax(const Array& x, std::optional<int8_t> axis = std::nullopt);
CX_API Array ArgMin(const Array& x, std::optional<int8_t> axis = std::nullopt);
CX_API Array NanArgMax(const Array& x, std::optional<int8_t> axis = std::nullopt);
CX_API Array NanArgMin(const Array& x, std::optional<int8_t> axis = std::nullopt);

// Cumulative sums; without an axis, of the flattened array.
CX_API Array CumSum(const Array& x, std::optional<int8_t> axis = std::nullopt);
CX_API Array CumProd(const Array& x, std::optional<int8_t> axis = std::nullopt);

namespace internal {

// Returns the sum in float64.
CX_API Array WideSum(const Array& x, const OptionalAxes& axes, bool keepdims);
// Returns the sum of x * x, in one pass for floats.
CX_API Array SumSquares(const Array& x, const OptionalAxes& axes, bool keepdims);
// Extremes of floats, ignoring NaN; NaN if there is nothing else.
CX_API Array MaxNumber(const Array& x, const OptionalAxes& axes, bool keepdims);
CX_API Array MinNumber(const Array& x, const OptionalAxes& axes, bool keepdims);

// Undoes broadcasting: sums `x` down to `shape`.
CX_API Array SumTo(const Array& x, const Shape& shape);

// Expands `y` (or a gradient of it), a reduction that lacks `axes` or has them with length 1, to
// the shape of x. A view.
CX_API Array ExpandReduced(const Array& y, const Shape& shape, const Axes& axes);

// Returns gy / n, even if the dtype is too narrow for n.
CX_API Array DivideByCount(const Array& gy, const Array& n);
CX_API Array DivideByCount(const Array& gy, int64_t n);

// Returns the products of all other elements along the last axis, correct for zeros, too.
CX_API Array ProductOfOthers(const Array& x);
// The same within each run of a vector; `starts`, of bool, is where runs begin.
CX_API Array ProductOfOthersInRuns(const Array& x, const Array& starts);

}  // namespace internal
}  // namespace chainerx
