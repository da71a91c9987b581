#include "chainerx/ops/elementwise/tables/numeric.h"

#include "chainerx/core/array.h"
#include "chainerx/core/scalar.h"
#include "chainerx/kernels/elementwise/numeric.h"
#include "chainerx/ops/elementwise/gradient_terms.h"
#include "chainerx/ops/elementwise/tables/activation.h"

namespace chainerx {
namespace {

// The gradients of fmax and fmin in x: those of maximum and minimum if neither or both operands are
// NaN; else the operand that is a number gets all of it.
template <typename Other>
Array ForNumbers(const Array& x, const Other& other, const Array& gy, const Array& gx) {
    if constexpr (std::is_same_v<Other, Array>) {
        const Array is_nan = Isnan(x);
        return Where(Equal(is_nan, Isnan(other)), gx, Where(is_nan, 0, gy));
    } else {
        return other == other ? Where(Isnan(x), 0, gx) : gy;
    }
}
[[maybe_unused]] Array FmaxGrad(const Array& x, const Array& other, const Array& gy) {
    return ForNumbers(x, other, gy, MaximumGrad(x, other, gy));
}
[[maybe_unused]] Array FmaxGrad(const Array& x, const Scalar& other, const Array& gy) {
    return ForNumbers(x, other, gy, MaximumGrad(x, other, gy));
}
[[maybe_unused]] Array FminGrad(const Array& x, const Array& other, const Array& gy) {
    return ForNumbers(x, other, gy, MinimumGrad(x, other, gy));
}
[[maybe_unused]] Array FminGrad(const Array& x, const Scalar& other, const Array& gy) {
    return ForNumbers(x, other, gy, MinimumGrad(x, other, gy));
}

}  // namespace
}  // namespace chainerx

#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/numeric.def"
#include "chainerx/ops/elementwise/define_family.h"
