// Medians and quantiles: of a sorted row, what stands at a place, or between two. `axes` absent
// means all. Integers and bool are computed in the default float; complex numbers are a DtypeError.
// NaN where a row has one, or is empty; the Nan variants pass over them. Differentiable.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// How the place of a quantile is found, and what it is between two elements: the nine definitions
// of Hyndman and Fan (1996), in their order, and four others.
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
// By the name that NumPy has for it; ValueError if there is none.
CX_API QuantileMethod GetQuantileMethod(const char* op, std::string_view name);

CX_API Array Median(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array NanMedian(const Array& x, const OptionalAxes& axes = std::nullopt,
                       bool keepdims = false);

// Of probabilities from 0 to 1, which become the first axis; ValueError for others.
CX_API Array Quantile(const Array& x, const std::vector<double>& q,
                      const OptionalAxes& axes = std::nullopt,
                      QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);
CX_API Array NanQuantile(const Array& x, const std::vector<double>& q,
                         const OptionalAxes& axes = std::nullopt,
                         QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);
// One of them, without an axis of its own.
CX_API Array Quantile(const Array& x, double q, const OptionalAxes& axes = std::nullopt,
                      QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);
CX_API Array NanQuantile(const Array& x, double q, const OptionalAxes& axes = std::nullopt,
                         QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);

// Of elements that count as often as their weights say, none of them negative (ValueError): the
// first one up to which the weights are a share q of their total. By kInvertedCdf, the one method
// for which that is defined. The weights have the shape of x, or that of `axes` alone; they have no
// gradient.
CX_API Array Quantile(const Array& x, const std::vector<double>& q, const Array& weights,
                      const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array NanQuantile(const Array& x, const std::vector<double>& q, const Array& weights,
                         const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array Percentile(const Array& x, const std::vector<double>& q, const Array& weights,
                        const OptionalAxes& axes = std::nullopt, bool keepdims = false);
CX_API Array NanPercentile(const Array& x, const std::vector<double>& q, const Array& weights,
                           const OptionalAxes& axes = std::nullopt, bool keepdims = false);

// Of probabilities in an array of any shape, whose axes become the first ones. Differentiable in
// them too, by the slope between two elements; 0 where one is chosen.
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

// The same of percentages, from 0 to 100.
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
