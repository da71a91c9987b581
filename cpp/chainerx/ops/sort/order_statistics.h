// Medians and quantiles, elements of sorted rows or interpolations between two. `axes` default to
// all. Integers and bool are computed in the default float; complex numbers are a DtypeError. A row
// that has NaN, or is empty, gives NaN; the Nan variants ignore NaN. Differentiable.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// The definitions of a quantile's position and of the interpolation: the nine of Hyndman and Fan
// (1996), in their order, and four others.
enum class QuantileMethod : int8_t {
    kInvertedCdf,
    kAveragedInvertedCdf,
    kClosestObservation,
    kInterpolatedInvertedCdf,
    kHazen,
    kWeibull,
    kLinear,
    kMedianUnbiased,
    kNormalUnbiased,
    kLower,
    kHigher,
    kMidpoint,
    kNearest
};
// Finds a method by its name in NumPy; ValueError if there is none.
CX_API QuantileMethod GetQuantileMethod(const char* op, std::string_view name);

CX_API Array Median(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array NanMedian(const Array& x, const OptionalAxes& axes = std::nullopt,
                       bool keepdims = false);

// Quantiles for probabilities from 0 to 1, percentiles from 0 to 100; ValueError for others.
//
// Several probabilities become the first axis; an array of them, of any shape, the first axes, and
// the result is differentiable in it, too, by the slope between two elements; 0 where an element is
// chosen. A single one adds no axis.
//
// Weighted quantiles are the first element up to which the weights are a fraction q of their total.
// ValueError for negative weights. kInvertedCdf is the only method for which this is defined. The
// weights have the shape of x, or that of `axes` alone; they have no gradient.
#define CX_QUANTILES_OF(Name, Probabilities)                                                    \
    CX_API Array Name(const Array& x, Probabilities q, const OptionalAxes& axes = std::nullopt, \
                      QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);
#define CX_WEIGHTED_QUANTILES_OF(Name, Probabilities)                        \
    CX_API Array Name(const Array& x, Probabilities q, const Array& weights, \
                      const OptionalAxes& axes = std::nullopt, bool keepdims = false);
#define CX_QUANTILES(Name)                                     \
    CX_QUANTILES_OF(Name, double)                              \
    CX_QUANTILES_OF(Name, const std::vector<double>&)          \
    CX_QUANTILES_OF(Name, const Array&)                        \
    CX_WEIGHTED_QUANTILES_OF(Name, const std::vector<double>&) \
    CX_WEIGHTED_QUANTILES_OF(Name, const Array&)
CX_QUANTILES(Quantile)
CX_QUANTILES(NanQuantile)
CX_QUANTILES(Percentile)
CX_QUANTILES(NanPercentile)
#undef CX_QUANTILES_OF
#undef CX_WEIGHTED_QUANTILES_OF
#undef CX_QUANTILES

}  // namespace chainerx
