#include "chainerx/ops/special.h"

#include <cmath>

#include "chainerx/core/error.h"
#include "chainerx/kernels/special.h"
#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/logic.h"
#include "chainerx/ops/operators.h"
#include "chainerx/ops/where.h"

namespace chainerx {
namespace {

constexpr double kHalfSqrtPi = 0.88622692545275801365;
constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtHalfPi = 1.25331413731550025121;
// The density of the normal distribution at 0, 1 / sqrt(2 pi).
constexpr double kNormalPeak = 0.39894228040143267794;

// In the place of a gradient that an operand can't have; to leave it out would look like zero.
Array Refuse(const Array& gy, const char* operand, const char* order = "") {
    throw ChainerxError{operand,    " has no ",     order, "gradient, and one of shape ",
                        gy.shape(), " is asked for"};
}

// I1(x) / x, which is 1/2 at 0; so are its kin.
Array OverBessel(const Array& y, const Array& x) {
    const Array is_zero = x == 0;
    return Where(is_zero, 0.5, y / Where(is_zero, 1, x));
}

// x1 / x2, and 0 where both are 0.
Array ZeroRatio(const Array& x1, const Array& x2) {
    const Array is_zero = LogicalAnd(x1 == 0, x2 == 0);
    return x1 / Where(is_zero, 1, x2);
}
Array ZeroRatio(const Scalar& x1, const Array& x2) {
    return ZeroRatio(internal::ArrayBeside(x2, x1), x2);
}

// Of numbers in the place of arrays.
[[maybe_unused]] Scalar Log(const Scalar& x) { return std::log(x.To<double>()); }
[[maybe_unused]] Scalar Log1p(const Scalar& x) { return std::log1p(x.To<double>()); }
[[maybe_unused]] Scalar Digamma(const Scalar& x) {
    double y;
    internal::ArrayToHost("digamma", Digamma(Full(Shape{}, x, Dtype::kFloat64)), Dtype::kFloat64,
                          &y);
    return y;
}

}  // namespace

Array KlDiv(const Array& x1, const Array& x2) { return RelEntr(x1, x2) - x1 + x2; }

Array Betaln(const Array& a, const Array& b) {
    const Dtype dtype = FloatResult(PromoteTypes(a.dtype(), b.dtype()));
    const Array x1 = AsType(a, dtype, false);
    const Array x2 = AsType(b, dtype, false);
    const Array y = Lgamma(x1) + Lgamma(x2) - Lgamma(x1 + x2);
    // Of three poles, one is left.
    return Where(LogicalAnd(x1 == 0, x2 == 0), HUGE_VAL, y);
}

Array Multigammaln(const Array& a, int64_t d) {
    constexpr int64_t kMost = 10'000;  // each is a step
    if (d < 1 || d > kMost) {
        throw ValueError{"multigammaln: d is ", d, ", expected 1 to ", kMost};
    }
    constexpr double kLogPi = 1.14472988584940017414;
    const Array x = AsType(a, FloatResult(a.dtype()), false);
    Array y = Lgamma(x);
    for (int64_t i = 1; i < d; ++i) y = y + Lgamma(x - static_cast<double>(i) / 2);
    return y + kLogPi * static_cast<double>(d * (d - 1)) / 4;
}

}  // namespace chainerx

#define CX_FAMILY_DEF "chainerx/ops/special.def"
#include "chainerx/ops/define_family.h"
