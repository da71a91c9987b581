// Reductions, statistics, running totals. `axes` absent means all; repeated or unknown ones are a
// DimensionError. With `keepdims`, reduced axes stay with length 1 (and stride 0).
#pragma once

#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// bool and integers are summed (and multiplied) in int64, unsigned ones in uint64.
CX_API Array Sum(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
// NaN counts as 0.
CX_API Array NanSum(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array Prod(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);

// NaN if there is any; DimensionError if there is nothing. Equal extremes share the gradient, and
// so do several NaN; with Each, every one gets all of it.
CX_API Array AMax(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array AMin(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array AMaxEach(const Array& x, const OptionalAxes& axes = std::nullopt,
                      bool keepdims = false);
CX_API Array AMinEach(const Array& x, const OptionalAxes& axes = std::nullopt,
                      bool keepdims = false);

// In the dtype of x, float32 for bool and integers.
CX_API Array Mean(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
// Of the population, in two passes. Complex numbers have a real one without a gradient.
CX_API Array Var(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array Std(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array LogSumExp(const Array& x, const OptionalAxes& axes = std::nullopt,
                       bool keepdims = false);

CX_API Array All(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array Any(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array CountNonzero(const Array& x, const OptionalAxes& axes = std::nullopt);

// The first position of the extreme, int64; without an axis, in the flattened array. A NaN is the
// extreme, except for the Nan variants, which skip it (and give 0 if there is nothing else).
// DimensionError if there is nothing.
CX_API Array ArgMax(const Array& x, std::optional<int8_t> axis = std::nullopt);
CX_API Array ArgMin(const Array& x, std::optional<int8_t> axis = std::nullopt);
CX_API Array NanArgMax(const Array& x, std::optional<int8_t> axis = std::nullopt);
CX_API Array NanArgMin(const Array& x, std::optional<int8_t> axis = std::nullopt);

// Running totals, without an axis of the flattened array.
CX_API Array CumSum(const Array& x, std::optional<int8_t> axis = std::nullopt);
CX_API Array CumProd(const Array& x, std::optional<int8_t> axis = std::nullopt);

namespace internal {

// The sum in float64.
CX_API Array WideSum(const Array& x, const OptionalAxes& axes, bool keepdims);
// The sum of x * x, in one pass over floats.
CX_API Array SumSquares(const Array& x, const OptionalAxes& axes, bool keepdims);
// Of floats, without the NaNs; NaN where there is nothing else.
CX_API Array MaxNumber(const Array& x, const OptionalAxes& axes, bool keepdims);
CX_API Array MinNumber(const Array& x, const OptionalAxes& axes, bool keepdims);

// Undoes broadcasting: sums `x` down to `shape`.
CX_API Array SumTo(const Array& x, const Shape& shape);

// gx of a reduction seen with the shape of x: `y` (or a gradient of it) lacks `axes`, or has them
// with length 1. A view.
CX_API Array ExpandReduced(const Array& y, const Shape& shape, const Axes& axes);

// gy / n, where the dtype may be too narrow for n.
CX_API Array DivideByCount(const Array& gy, const Array& n);
CX_API Array DivideByCount(const Array& gy, int64_t n);

// The products of all other elements along the last axis, also where there are zeros.
CX_API Array ProductOfOthers(const Array& x);
// The same of a vector that is cut into runs, within each; `starts`, of bool, is where they begin.
CX_API Array ProductOfOthersInRuns(const Array& x, const Array& starts);

}  // namespace internal
}  // namespace chainerx
