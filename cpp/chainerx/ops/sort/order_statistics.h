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

// Takes probabilities from 0 to 1, which become the first axis; ValueError for others.
CX_API Array Quantile(const Array& x, const std::vector<double>& q,
                      const OptionalAxes& axes = std::nullopt,
                      QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);
CX_API Array NanQuantile(const Array& x, const std::vector<double>& q,
                         const OptionalAxes& axes = std::nullopt,
                         QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);
// Takes one probability, and adds no axis.
CX_API Array Quantile(const Array& x, double q, const OptionalAxes& axes = std::nullopt,
                      QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);
CX_API Array NanQuantile(const Array& x, double q, const OptionalAxes& axes = std::nullopt,
                         QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);

// Weighted quantiles: the first element up to which the weights are a fraction q of their total.
// ValueError for negative weights. kInvertedCdf is the only method for which this is defined. The
// weights have the shape of x, or that of `axes` alone; they have no gradient.
CX_API Array Quantile(const Array& x, const std::vector<double>& q, const Array& weights,
                      const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array NanQuantile(const Array& x, const std::vector<double>& q, const Array& weights,
                         const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array Percentile(const Array& x, const std::vector<double>& q, const Array& weights,
                        const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array NanPercentile(const Array& x, const std::vector<double>& q, const Array& weights,
                           const OptionalAxes& axes = std::nullopt, bool keepdims = false);

// Take an array of probabilities of any shape, whose axes become the first ones. Differentiable in
// them, too, by the slope between two elements; 0 where an element is chosen.
#define CX_QUANTILES_OF_ARRAY(Name)                                                            \
    CX_API Array Name(const Array& x, const Array& q, const OptionalAxes& axes = std::nullopt, \
                      QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false); \
    CX_API Array Name(const Array& x, const Array& q, const Array& weights,                    \
                      const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_QUANTILES_OF_ARRAY(Quantile)
CX_QUANTILES_OF_ARRAY(NanQuantile)
CX_QUANTILES_OF_ARRAY(Percentile)
CX_QUANTILES_OF_ARRAY(NanPercentile)
#undef CX_QUANTILES_OF_ARRAY

// The same for percentages, from 0 to 100.
CX_API Array Percentile(const Array& x, const std::vector<double>& q,
                        const OptionalAxes& axes = std::nullopt,
                        QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);
CX_API Array NanPercentile(const Array& x, const std::vector<double>& q,
                           const OptionalAxes& axes = std::nullopt,
                           QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);
CX_API Array Percentile(const Array& x, double q, const OptionalAxes& axes = std::nullopt,
                        QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);
CX_API Array NanPercentile(const Array& x, double q, const OptionalAxes& axes = std::nullopt,
                           QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);

}  // namespace chainerx
