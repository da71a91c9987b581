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
#include "chainerx/ops/power.h"
#include "chainerx/ops/rounding.h"
#include "chainerx/ops/trigonometric.h"
#include "chainerx/ops/where.h"

namespace chainerx {
namespace {

struct NoGrad {};
[[maybe_unused]] constexpr NoGrad kNoGrad;

[[maybe_unused]] constexpr double kLn2 = 0.69314718055994530942;
[[maybe_unused]] constexpr double kLog10E = 0.43429448190325182765;
[[maybe_unused]] constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

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

// g / h^2, where the square may be out of range though the result is not.
[[maybe_unused]] Array OverSquare(const Array& g, const Array& h) { return g / h / h; }

// The gradient of maximum(x, other) and minimum(x, other) in x. Against a scalar, a tie passes the
// whole gradient to the array.
[[maybe_unused]] Array MaximumGrad(const Array& x, const Array& other, const Array& gy) {
    return gy * MaximumShare(x, other);
}
[[maybe_unused]] Array MinimumGrad(const Array& x, const Array& other, const Array& gy) {
    return gy * MinimumShare(x, other);
}
[[maybe_unused]] Array MaximumGrad(const Array& x, const Scalar& other, const Array& gy) {
    return other == other ? Where(x < other, 0, gy) : Where(Isnan(x), gy, 0);
}
[[maybe_unused]] Array MinimumGrad(const Array& x, const Scalar& other, const Array& gy) {
    return other == other ? Where(x > other, 0, gy) : Where(Isnan(x), gy, 0);
}

// The derivative of y = x1^x2 by x2, y log(x1). At x1 == 0 the plain formula gives 0 * inf, and so
// does its derivative; there y <= 1 tells x2 >= 0, and the exponent of a constant need not be kept.
[[maybe_unused]] Array PowerByExponent(const Array& x1, const Array& y) {
    Array zero = x1 == 0;
    if (!IsComplex(y.dtype())) zero = zero & (y <= 1);
    return y * Log(AsType(Where(zero, 1, x1), y.dtype(), false));
}
[[maybe_unused]] Array PowerByExponent(const Scalar& x1, const Array& y) {
    if (x1.kind() == DtypeKind::kComplex) return y * Scalar{std::log(x1.To<Complex128>())};
    if (x1 == 0) return Where(y <= 1, 0, y * Log(x1));
    return y * Log(x1);
}

}  // namespace
}  // namespace chainerx
