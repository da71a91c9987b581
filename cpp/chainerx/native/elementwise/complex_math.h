// Functions of the elementwise tables for single complex numbers, in the namespace math of
// native/elementwise/scalar_math.h. Integers are never computed here.
#pragma once

#include <cmath>
#include <complex>

#include "chainerx/core/dtype.h"

namespace chainerx::native::math {

#define CX_STANDARD(Name, name) \
    template <typename T>       \
    inline T Name(const T& x) { \
        return std::name(x);    \
    }
CX_STANDARD(Sqrt, sqrt)
CX_STANDARD(Exp, exp)
CX_STANDARD(Log, log)
CX_STANDARD(Sin, sin)
CX_STANDARD(Cos, cos)
CX_STANDARD(Tan, tan)
CX_STANDARD(Sinh, sinh)
CX_STANDARD(Cosh, cosh)
CX_STANDARD(Tanh, tanh)
CX_STANDARD(Asin, asin)
CX_STANDARD(Acos, acos)
CX_STANDARD(Atan, atan)
CX_STANDARD(Asinh, asinh)
CX_STANDARD(Acosh, acosh)
CX_STANDARD(Atanh, atanh)
CX_STANDARD(Log10, log10)
#undef CX_STANDARD

template <typename T>
inline T Log2(const T& x) {
    using R = typename T::value_type;
    return std::log(x) * R(1.44269504088896340736);
}
template <typename T>
inline T Exp2(const T& x) {
    using R = typename T::value_type;
    return std::exp(x * R(0.69314718055994530942));
}
// Accurate near 0, as expm1 of real numbers.
template <typename T>
inline T Expm1(const T& x) {
    using R = typename T::value_type;
    if (!std::isfinite(x.real()) || !std::isfinite(x.imag())) {
        const T y = std::exp(x);
        return {y.real() - 1, y.imag()};
    }
    const R sine = std::sin(x.imag() / 2);
    return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * sine * sine,
            std::exp(x.real()) * std::sin(x.imag())};
}
template <typename T>
inline T Log1p(const T& x) {
    using R = typename T::value_type;
    const T next{x.real() + 1, x.imag()};
    // Computed from |x|^2 - 1 near 0, else from |x|.
    const R real = std::abs(x) < R(0.5)
                       ? std::log1p(x.real() * (2 + x.real()) + x.imag() * x.imag()) / 2
                       : std::log(std::abs(next));
    return {real, std::arg(next)};
}

// Integers have their own loops.
template <typename T>
    requires kIsComplexType<T>
inline T Pow(const T& x1, const T& x2) {
    if (x2 == T(0)) return T(1);
    if (x1 == T(0)) return x2.real() > 0 ? T(0) : T(NAN, NAN);
    // As in NumPy, small integer powers are products: 1j**1 is 1j.
    constexpr int kSmall = 100;
    using R = typename T::value_type;
    const R exponent = x2.real();
    if (x2.imag() == 0 && std::abs(exponent) < kSmall && std::trunc(exponent) == exponent) {
        auto n = static_cast<unsigned>(std::abs(exponent));
        T square = x1;
        for (; (n & 1) == 0; n >>= 1) square = square * square;
        T y = square;
        while ((n >>= 1) != 0) {
            square = square * square;
            if ((n & 1) != 0) y = y * square;
        }
        return exponent < 0 ? T(1) / y : y;
    }
    return std::pow(x1, x2);
}

template <typename T>
    requires kIsComplexType<T>
inline bool IsNan(const T& x) {
    return std::isnan(x.real()) || std::isnan(x.imag());
}
template <typename T>
    requires kIsComplexType<T>
inline bool IsInf(const T& x) {
    return std::isinf(x.real()) || std::isinf(x.imag());
}
template <typename T>
    requires kIsComplexType<T>
inline bool IsFinite(const T& x) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
}

}  // namespace chainerx::native::math
