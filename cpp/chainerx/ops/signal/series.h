// Arrays as samples of functions: differences, sums and integrals along an axis, polynomials,
// convolution of vectors. They are compositions, all differentiable.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/index/choose.h"

namespace chainerx {

// Returns the differences of neighbours, n times; for bool, whether they differ. The arrays to
// prepend and append have the other axes of x, or none.
CX_API Array Diff(const Array& x, int64_t n = 1, int8_t axis = -1,
                  const std::optional<Array>& prepend = std::nullopt,
                  const std::optional<Array>& append = std::nullopt);
// Differences of the flattened array, with other values around, which are cast to its dtype.
CX_API Array Ediff1d(const Array& x, const std::optional<Array>& to_end = std::nullopt,
                     const std::optional<Array>& to_begin = std::nullopt);

// Returns central differences along each of `axes`; at the ends one-sided ones of first or second
// order. `spacing`, for all axes or for each, is a distance, or a vector of coordinates.
CX_API std::vector<Array> Gradient(const Array& f, const std::vector<ArrayOrScalar>& spacing = {},
                                   const OptionalAxes& axes = std::nullopt, int edge_order = 1);

// Integrates along an axis by the trapezoidal rule. `x`: coordinates, instead of a distance.
CX_API Array Trapezoid(const Array& y, const std::optional<Array>& x = std::nullopt,
                       const ArrayOrScalar& dx = Scalar{1}, int8_t axis = -1);

// Adds multiples of the period, so that no step is longer than `discont`, or half a period.
CX_API Array Unwrap(const Array& p, std::optional<double> discont = std::nullopt, int8_t axis = -1,
                    double period = 6.283185307179586);

// Cumulative sums that may begin with 0. Without an axis, x must have one dimension.
CX_API Array CumulativeSum(const Array& x, std::optional<int8_t> axis = std::nullopt,
                           std::optional<Dtype> dtype = std::nullopt, bool include_initial = false);
CX_API Array CumulativeProd(const Array& x, std::optional<int8_t> axis = std::nullopt,
                            std::optional<Dtype> dtype = std::nullopt,
                            bool include_initial = false);

// The relative positions of two vectors that count: all where they overlap, as many as the longer
// one has elements, or those where the shorter one lies within the longer.
enum class OverlapMode : int8_t { kFull, kSame, kValid };
CX_API Array Convolve(const Array& a, const Array& v, OverlapMode mode = OverlapMode::kFull);
// Uses the complex conjugate of v, not reversed.
CX_API Array Correlate(const Array& a, const Array& v, OverlapMode mode = OverlapMode::kValid);

// p[0] x^(n-1) + ... + p[n-1]
CX_API Array Polyval(const Array& p, const Array& x);
// Returns the powers of each element in a row, from n - 1 down to 0, or ascending.
CX_API Array Vander(const Array& x, std::optional<int64_t> n = std::nullopt,
                    bool increasing = false);

// Interpolates linearly at x between points with ascending coordinates xp; beyond them it returns
// `left` and `right`, by default the first and the last of fp. With a period, xp need not ascend,
// and no x is beyond. ValueError without points. Differentiable in x, xp and fp.
CX_API Array Interp(const Array& x, const Array& xp, const Array& fp,
                    const std::optional<Scalar>& left = std::nullopt,
                    const std::optional<Scalar>& right = std::nullopt,
                    std::optional<double> period = std::nullopt);

// Returns numbers from base^start to base^stop with equal ratios.
CX_API Array Logspace(double start, double stop, int64_t num = 50, bool endpoint = true,
                      double base = 10.0, Dtype dtype = kDefaultFloat,
                      Device& device = GetDefaultDevice());
// The same between the elements of arrays, which are broadcast, along a new axis. The default dtype
// is their promoted float dtype. Differentiable in all three.
CX_API Array Logspace(const Array& start, const Array& stop, int64_t num, bool endpoint,
                      const Array& base, std::optional<Dtype> dtype = std::nullopt,
                      int8_t axis = 0);
// Returns numbers from start to stop with equal ratios. ValueError if they are 0, or differ in
// sign.
CX_API Array Geomspace(double start, double stop, int64_t num = 50, bool endpoint = true,
                       Dtype dtype = kDefaultFloat, Device& device = GetDefaultDevice());
// The same between the elements of arrays, as Logspace; complex ones along spirals. NaN if one is
// 0, or real ones differ in sign. Differentiable in both.
CX_API Array Geomspace(const Array& start, const Array& stop, int64_t num = 50,
                       bool endpoint = true, std::optional<Dtype> dtype = std::nullopt,
                       int8_t axis = 0);

}  // namespace chainerx
