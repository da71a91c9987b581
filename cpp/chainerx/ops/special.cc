#include "chainerx/ops/special.h"

#include <cmath>

#include "chainerx/core/error.h"
#include "chainerx/kernels/special.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
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
}  // namespace chainerx

#define CX_FAMILY_DEF "chainerx/ops/special.def"
#include "chainerx/ops/define_family.h"
