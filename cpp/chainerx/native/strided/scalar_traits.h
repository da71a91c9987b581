// Scalar traits: arithmetic on real and complex numbers, above all for matrix factorizations.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>

namespace chainerx::native {

template <typename T>
struct ScalarTraits {
    using Real = T;
    static constexpr bool kIsComplex = false;
};
template <typename R>
struct ScalarTraits<std::complex<R>> {
    using Real = R;
    static constexpr bool kIsComplex = true;
};
template <typename T>
using RealOf = typename ScalarTraits<T>::Real;
template <typename T>
inline constexpr bool kIsComplexNumber = ScalarTraits<T>::kIsComplex;

template <typename T>
RealOf<T> RealPart(const T& x) {
    if constexpr (kIsComplexNumber<T>) {
        return x.real();
    } else {
        return x;
    }
}

template <typename T>
T Conjugate(const T& x) {
    if constexpr (kIsComplexNumber<T>) {
        return {x.real(), -x.imag()};
    } else {
        return x;
    }
}

// std::complex's operators check for infinities by a function call per product.
template <typename T>
T ProductOf(const T& x, const T& y) {
    if constexpr (kIsComplexNumber<T>) {
        return {x.real() * y.real() - x.imag() * y.imag(),
                x.real() * y.imag() + x.imag() * y.real()};
    } else {
        return x * y;
    }
}

// The magnitude by which pivots are chosen: for complex numbers not the absolute value, which takes
// a square root, but a value within a factor of 1.5 of it, as in LAPACK.
template <typename T>
RealOf<T> PivotSize(const T& x) {
    if constexpr (kIsComplexNumber<T>) {
        return std::abs(x.real()) + std::abs(x.imag());
    } else {
        return std::abs(x);
    }
}

// Divides many numbers by one: complex ones by multiplication with the reciprocal, unless that
// overflows.
template <typename T>
class Divisor {
 public:
    explicit Divisor(const T& x) : x_{x} {}
    T Divide(const T& y) const { return y / x_; }

 private:
    T x_;
};
template <typename R>
class Divisor<std::complex<R>> {
 public:
    using T = std::complex<R>;

    explicit Divisor(const T& x) : x_{x} {
        constexpr R kMax = sizeof(R) == sizeof(float) ? R(0x1p60) : R(0x1p500);
        const R size = std::max(std::abs(x.real()), std::abs(x.imag()));
        is_in_range_ = size <= kMax && size >= 1 / kMax;
        if (!is_in_range_) return;
        const R square = x.real() * x.real() + x.imag() * x.imag();
        reciprocal_ = {x.real() / square, -x.imag() / square};
    }
    T Divide(const T& y) const { return is_in_range_ ? ProductOf(y, reciprocal_) : y / x_; }

 private:
    T x_;
    T reciprocal_;
    bool is_in_range_;
};

}  // namespace chainerx::native
