// Vocabulary of the gradient expressions of all elementwise tables: operators, Where, and some
// constants. A family whose gradients call routines of another family includes its header itself,
// so that a new row rebuilds its callers, not all tables. Operands that are scalars stay scalars.
#pragma once

#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/arithmetic.h"
#include "chainerx/ops/elementwise/tables/logic.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/shape/creation.h"

namespace chainerx {
namespace {

struct NoGrad {};
[[maybe_unused]] constexpr NoGrad kNoGrad;

[[maybe_unused]] constexpr double kLn2 = 0.69314718055994530942;
[[maybe_unused]] constexpr double kLog10E = 0.43429448190325182765;
[[maybe_unused]] constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

// Arithmetic of scalars in the place of arrays. Gradients are of floats, so doubles hold them.
[[maybe_unused]] Scalar operator*(const Scalar& x1, const Scalar& x2) {
    return x1.To<double>() * x2.To<double>();
}
[[maybe_unused]] Scalar operator+(const Scalar& x1, const Scalar& x2) {
    return x1.To<double>() + x2.To<double>();
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
[[maybe_unused]] Array Where(bool condition, const Scalar& x, const Array& y) {
    return condition ? FullLike(y, x, y.device()) : y;
}

// The gradient of maximum(x, other) and minimum(x, other) in x. In a tie with a scalar the array
// gets the whole gradient.
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

}  // namespace
}  // namespace chainerx
