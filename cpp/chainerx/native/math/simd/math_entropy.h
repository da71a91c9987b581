// math:: products with logarithms, and the logistic function's logarithm and inverse.
#pragma once

#include <limits>

#include "chainerx/native/math/simd/math_basic.h"
#include "chainerx/native/math/simd/math_explog.h"
#include "chainerx/native/math/simd/math_hyperbolic.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {
namespace math {

// Near 1/2 it uses atanh, since the logarithm of a number near 1 loses digits.
template <typename T>
inline Batch<T> Logit(const Batch<T>& x) {
    using B = Batch<T>;
    return Where(Abs(x - B(0.5)) < B(0.25), B(2) * Atanh(x + x - B(1)), Log(x / (B(1) - x)));
}
template <typename T>
inline Batch<T> LogExpit(const Batch<T>& x) {
    using B = Batch<T>;
    return Min(x, B(0)) - Log1p(Exp(-Abs(x)));
}

// -x log(x), 0 at 0 and -inf below.
template <typename T>
inline Batch<T> Entr(const Batch<T>& x) {
    using B = Batch<T>;
    const B positive = Where(x == B(0), B(0), -x * Log(x));
    return Where(x < B(0), B(-std::numeric_limits<T>::infinity()), positive);
}
template <typename T>
inline Batch<T> Xlogy(const Batch<T>& x1, const Batch<T>& x2) {
    using B = Batch<T>;
    return Where((x1 == B(0)) & (x2 == x2), B(0), x1 * Log(x2));
}
template <typename T>
inline Batch<T> Xlog1py(const Batch<T>& x1, const Batch<T>& x2) {
    using B = Batch<T>;
    return Where((x1 == B(0)) & (x2 == x2), B(0), x1 * Log1p(x2));
}

// x1 log(x1 / x2), 0 where x1 is 0, inf outside of the domain. It uses the quotient, or both
// logarithms where that over- or underflows, and log1p near 1.
template <typename T>
inline Batch<T> RelEntr(const Batch<T>& x1, const Batch<T>& x2) {
    using B = Batch<T>;
    const B ratio = x1 / x2;
    const B far = Where((ratio > B(0)) & (ratio < B(std::numeric_limits<T>::infinity())),
                        Log(ratio), Log(x1) - Log(x2));
    const B near = Log1p((x1 - x2) / x2);
    const B inside = x1 * Where(Abs(x1 - x2) < x2 * B(0.5), near, far);
    const B outside =
        Where((x1 == x1) & (x2 == x2), B(std::numeric_limits<T>::infinity()), x1 + x2);
    const B border = Where((x1 == B(0)) & (x2 >= B(0)), B(0), outside);
    return Where((x1 > B(0)) & (x2 > B(0)), inside, border);
}

}  // namespace math
}  // namespace
}  // namespace chainerx::native::CX_ISA
