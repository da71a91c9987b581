// Predicates of the elementwise tables for single complex numbers, in the namespace math of
// native/elementwise/scalar_math.h. Functions are computed in batches (native/math/simd/
// math_complex.h). Device sources include this as well.
#pragma once

#include <limits>

#include "chainerx/native/strided/scalar_traits.h"

namespace chainerx::native::math {

template <typename T>
    requires kIsComplexNumber<T>
inline bool IsNan(const T& x) {
    return x.real() != x.real() || x.imag() != x.imag();
}
template <typename T>
    requires kIsComplexNumber<T>
inline bool IsInf(const T& x) {
    constexpr auto kMax = std::numeric_limits<RealOf<T>>::max();
    return std::abs(x.real()) > kMax || std::abs(x.imag()) > kMax;
}
template <typename T>
    requires kIsComplexNumber<T>
inline bool IsFinite(const T& x) {
    constexpr auto kMax = std::numeric_limits<RealOf<T>>::max();
    return std::abs(x.real()) <= kMax && std::abs(x.imag()) <= kMax;
}

}  // namespace chainerx::native::math
