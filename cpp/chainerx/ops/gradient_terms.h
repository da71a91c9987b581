// What the gradient expressions of the elementwise tables may use: all elementwise routines, the
// operators, and some constants. Operands that are scalars stay scalars.
#pragma once

#include <cmath>

#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/hyperbolic.h"
#include "chainerx/ops/logic.h"
#include "chainerx/ops/operators.h"
#include "chainerx/ops/rounding.h"
#include "chainerx/ops/trigonometric.h"
#include "chainerx/ops/where.h"

namespace chainerx {
namespace {

struct NoGrad {};
[[maybe_unused]] constexpr NoGrad kNoGrad;

[[maybe_unused]] constexpr double kLn2 = 0.69314718055994530942;
[[maybe_unused]] constexpr double kLn10 = 2.30258509299404568402;
[[maybe_unused]] constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

// The share of x1 in the gradient of maximum(x1, x2).
[[maybe_unused]] Array ShareOfLarger(const Array& x1, const Array& x2) { return TieShare(x1, x2); }
// Against a scalar, a tie passes the whole gradient to the array.
[[maybe_unused]] Array ShareOfLarger(const Array& x1, const Scalar& x2) { return x1 >= x2; }
// The share of the array x2 in the gradient of minimum.
[[maybe_unused]] Array ShareOfLarger(const Scalar& x1, const Array& x2) { return x1 >= x2; }

// Scalars in the place of arrays. A gradient is taken of floats, so doubles hold them.
[[maybe_unused]] Scalar operator*(const Scalar& x1, const Scalar& x2) {
    return x1.To<double>() * x2.To<double>();
}
[[maybe_unused]] Scalar operator-(const Scalar& x1, const Scalar& x2) {
    return x1.To<double>() - x2.To<double>();
}
[[maybe_unused]] bool operator==(const Scalar& x1, const Scalar& x2) {
    return x1.To<double>() == x2.To<double>();
}
[[maybe_unused]] bool operator>(const Scalar& x1, const Scalar& x2) {
    return x1.To<double>() > x2.To<double>();
}
[[maybe_unused]] bool operator>=(const Scalar& x1, const Scalar& x2) {
    return x1.To<double>() >= x2.To<double>();
}
[[maybe_unused]] Scalar Log(const Scalar& x) { return std::log(x.To<double>()); }
[[maybe_unused]] Scalar Expm1(const Scalar& x) { return std::expm1(x.To<double>()); }
[[maybe_unused]] Array Where(bool condition, const Scalar& x, const Array& y) {
    return condition ? FullLike(y, x, y.device()) : y;
}

}  // namespace
}  // namespace chainerx
