// Functions of the elementwise tables for single complex numbers, in the namespace math of
// native/elementwise/scalar_math.h. Integers are never computed here.
#pragma once

#include <cmath>
#include <complex>

namespace chainerx::native::math {

template <typename T>
inline T Sqrt(const T& x) {
    return std::sqrt(x);
}
template <typename T>
inline T Exp(const T& x) {
    return std::exp(x);
}
template <typename T>
inline T Log(const T& x) {
    return std::log(x);
}
template <typename T>
inline T Sin(const T& x) {
    return std::sin(x);
}
template <typename T>
inline T Cos(const T& x) {
    return std::cos(x);
}
template <typename T>
inline T Tan(const T& x) {
    return std::tan(x);
}
template <typename T>
inline T Sinh(const T& x) {
    return std::sinh(x);
}
template <typename T>
inline T Cosh(const T& x) {
    return std::cosh(x);
}
template <typename T>
inline T Tanh(const T& x) {
    return std::tanh(x);
}
template <typename T>
inline T Asin(const T& x) {
    return std::asin(x);
}
template <typename T>
inline T Acos(const T& x) {
    return std::acos(x);
}
template <typename T>
inline T Atan(const T& x) {
    return std::atan(x);
}
template <typename T>
inline T Asinh(const T& x) {
    return std::asinh(x);
}
template <typename T>
inline T Acosh(const T& x) {
    return std::acosh(x);
}
template <typename T>
inline T Atanh(const T& x) {
    return std::atanh(x);
}
template <typename T>
inline T Log10(const T& x) {
    return std::log10(x);
}
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

}  // namespace chainerx::native::math
