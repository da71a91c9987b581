// A complex number whose product and quotient are those of Fortran and NumPy. std::complex follows
// annex G of C, which checks every result for NaN and calls a function for quotients. Device
// sources include it as well.
#pragma once

#include <cmath>
#include <complex>

#include "chainerx/native/strided/scalar_traits.h"

namespace chainerx::native {

template <typename T>
struct ComplexNumber : std::complex<T> {
    using Base = std::complex<T>;
    using Base::Base;
    ComplexNumber(const Base& z) : Base{z} {}  // NOLINT: implicit, the same number

    // One operand may be a std::complex that a standard function returns.
    friend ComplexNumber operator*(const ComplexNumber& a, const ComplexNumber& b) {
        return ProductOf<Base>(a, b);
    }
    friend ComplexNumber operator*(const ComplexNumber& a, const Base& b) {
        return ProductOf<Base>(a, b);
    }
    friend ComplexNumber operator*(const Base& a, const ComplexNumber& b) {
        return ProductOf<Base>(a, b);
    }
    friend ComplexNumber operator*(const ComplexNumber& a, const T& b) {
        return {a.real() * b, a.imag() * b};
    }
    friend ComplexNumber operator/(const ComplexNumber& a, const T& b) {
        return {a.real() / b, a.imag() / b};
    }
    friend ComplexNumber operator/(const ComplexNumber& a, const ComplexNumber& b) {
        return Over(a, b);
    }
    friend ComplexNumber operator/(const ComplexNumber& a, const Base& b) { return Over(a, b); }
    friend ComplexNumber operator/(const Base& a, const ComplexNumber& b) { return Over(a, b); }

 private:
    // Smith's method, which avoids needless overflow and underflow.
    static ComplexNumber Over(const Base& a, const Base& b) {
        const T real = std::abs(b.real());
        const T imag = std::abs(b.imag());
        if (real >= imag) {
            if (real == 0 && imag == 0) return {a.real() / real, a.imag() / real};
            const T ratio = b.imag() / b.real();
            const T scale = T(1) / (b.real() + b.imag() * ratio);
            return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
        }
        const T ratio = b.real() / b.imag();
        const T scale = T(1) / (b.imag() + b.real() * ratio);
        return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
    }
};

template <typename T>
struct ScalarTraits<ComplexNumber<T>> : ScalarTraits<std::complex<T>> {};

}  // namespace chainerx::native
