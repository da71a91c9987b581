// Terms of the gradients of special.def. Operands are arrays or numbers, as in the rows; a term
// whose operand is absent must not compile (see define_family.h), hence the constraints.
#pragma once

#include <cmath>
#include <type_traits>

#include "chainerx/core/error.h"
#include "chainerx/ops/elementwise/gradient_terms.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/special.h"
#include "chainerx/ops/reduce/reduce_output.h"

namespace chainerx {
namespace {

constexpr double kHalfSqrtPi = 0.88622692545275801365;
constexpr double kSqrtHalf = 0.70710678118654752440;
// The density of the normal distribution at 0, 1 / sqrt(2 pi).
constexpr double kNormalPeak = 0.39894228040143267794;

// Stands for a gradient that is not available; without it the gradient would silently be zero.
Array Refuse(const Array& gy, const char* operand, const char* order = "") {
    throw ChainerxError{operand,    " has no ",     order, "gradient, and one of shape ",
                        gy.shape(), " is asked for"};
}

// Overloads for numbers in the place of arrays.
[[maybe_unused]] Scalar Log(const Scalar& x) { return std::log(x.To<double>()); }
[[maybe_unused]] Scalar Log1p(const Scalar& x) { return std::log1p(x.To<double>()); }
[[maybe_unused]] Scalar Digamma(const Scalar& x) {
    double y;
    internal::ArrayToHost("digamma", Digamma(Full(Shape{}, x, Dtype::kFloat64)), Dtype::kFloat64,
                          &y);
    return y;
}

// x1 / x2, and 0 where both are 0.
Array ZeroRatio(const Array& x1, const Array& x2) {
    const Array is_zero = LogicalAnd(x1 == 0, x2 == 0);
    return x1 / Where(is_zero, 1, x2);
}
Array ZeroRatio(const Scalar& x1, const Array& x2) {
    return ZeroRatio(internal::ArrayBeside(x2, x1), x2);
}

// y ((a - 1) / x - 1), the derivative of the density y. At 0 its first term is another density: the
// quotient and its derivatives are undefined there.
Array GammaDensityBend(const Array& a, const Array& x, const Array& y) {
    const Array at_zero = LogicalAnd(x == 0, a >= 1);
    const Array is_more = LogicalAnd(at_zero, a > 1);
    const Array other = GammaDensity(Where(is_more, a - 1, 1), Where(at_zero, x, 0));
    return Where(at_zero, Where(is_more, other, 0) - y, y * ((a - 1) / Where(at_zero, 1, x) - 1));
}
Array GammaDensityBend(const Scalar& a, const Array& x, const Array& y) {
    return GammaDensityBend(internal::ArrayBeside(x, a), x, y);
}

// y ((a - 1) / x - (b - 1) / (1 - x)), with the same care at both ends of the range.
Array BetaDensityBend(const Array& a, const Array& b, const Array& x, const Array& y) {
    const Array at_zero = LogicalAnd(x == 0, a >= 1);
    const Array at_one = LogicalAnd(x == 1, b >= 1);
    const Array is_more = LogicalAnd(at_zero, a > 1);
    const Array is_less = LogicalAnd(at_one, b > 1);
    const Array scale = a + b - 1;
    const Array first = scale * BetaDensity(Where(is_more, a - 1, 1), b, Where(at_zero, x, 0));
    const Array last = scale * BetaDensity(a, Where(is_less, b - 1, 1), Where(at_one, x, 1));
    const Array rise = Where(at_zero, 0, (a - 1) / Where(at_zero, 1, x));
    const Array fall = Where(at_one, 0, (b - 1) / Where(at_one, 1, 1 - x));
    return y * (rise - fall) + Where(is_more, first, 0) - Where(is_less, last, 0);
}
Array BetaDensityBend(const Scalar& a, const Array& b, const Array& x, const Array& y) {
    return BetaDensityBend(internal::ArrayBeside(x, a), b, x, y);
}
Array BetaDensityBend(const Array& a, const Scalar& b, const Array& x, const Array& y) {
    return BetaDensityBend(a, internal::ArrayBeside(x, b), x, y);
}
Array BetaDensityBend(const Scalar& a, const Scalar& b, const Array& x, const Array& y) {
    return BetaDensityBend(internal::ArrayBeside(x, a), internal::ArrayBeside(x, b), x, y);
}

// The derivative of the derivative y of log_ndtr at x, over y. For negative x, -(x + y) would
// cancel.
Array LogNdtrBend(const Array& x, const Array& y) {
    const Array negative = y * ErfcxSlope(Minimum(x, 0) * -kSqrtHalf) * kHalfSqrtPi;
    // y is 0 long before x = 50.
    return Where(x > 0, (Minimum(x, 50) + y) * -1, negative);
}

template <typename T>
concept ArrayOrScalar = std::is_same_v<T, Array> || std::is_same_v<T, Scalar>;

// Derivatives of the log-density of a gamma distribution, (a - 1) log(x) - x - lgamma(a).
template <ArrayOrScalar A, ArrayOrScalar X>
Array GammaLogDensityByA(const A& a, const X& x) {
    return Log(x) - Digamma(a);
}
template <ArrayOrScalar A>
Array GammaLogDensityByX(const A& a, const Array& x) {
    return ZeroRatio(a - 1, x) - 1;
}

// Derivatives of the log-density of a beta distribution,
// (a - 1) log(x) + (b - 1) log(1 - x) - betaln(a, b).
template <ArrayOrScalar A, ArrayOrScalar B, ArrayOrScalar X>
Array BetaLogDensityByA(const A& a, const B& b, const X& x) {
    return Log(x) - Digamma(a) + Digamma(a + b);
}
template <ArrayOrScalar A, ArrayOrScalar B, ArrayOrScalar X>
Array BetaLogDensityByB(const A& a, const B& b, const X& x) {
    return Log1p(x * -1) - Digamma(b) + Digamma(a + b);
}
template <ArrayOrScalar A, ArrayOrScalar B>
Array BetaLogDensityByX(const A& a, const B& b, const Array& x) {
    return ZeroRatio(a - 1, x) - ZeroRatio(b - 1, 1 - x);
}

}  // namespace
}  // namespace chainerx
