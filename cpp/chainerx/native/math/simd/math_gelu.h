// Functions of the normal distribution: gelu and its derivatives.
#pragma once

#include "chainerx/native/math/simd/math_explog.h"

namespace chainerx::native::CX_ISA {
namespace {
namespace math {

// The standard normal survival function at x >= 0, and exp(-x^2 / 2).
template <typename T>
struct NormalTail {
    Batch<T> tail;
    Batch<T> bell;
};

// exp(z^2) erfc(z) is t P(t) with t = 1 / (1 + p z), P minimax in relative error for z < 10.2,
// beyond which the result underflows in float. The form is that of Hastings, 1955.
inline NormalTail<float> TailOf(const BatchF& x) {
    const BatchF bell = Exp(x * x * -0.5f);
    const BatchF t = BatchF(1.0f) / xsimd::fma(x, BatchF(0.23164189f), BatchF(1.0f));
    const BatchF half_p =
        Poly(t, 0.09239038788118048f, 0.09288134919307595f, 0.08294220709171082f,
             0.10242453465335622f, -0.023665667595039f, 0.24795201187391714f, -0.2768479963066105f,
             0.3113629449645821f, -0.1576053948967621f, 0.028165624097861375f);
    return {bell * (t * half_p), bell};
}
inline NormalTail<double> TailOf(const BatchD& x) {
    return {(BatchD(1.0) - Erf(x * 0.70710678118654752)) * 0.5, Exp(x * x * -0.5)};
}

// |x|, clamped where the functions below vanish, so that inf * 0 does not occur.
template <typename T>
inline Batch<T> Distance(const Batch<T>& x) {
    const Batch<T> a = xsimd::abs(x);
    return Where(a > Batch<T>(T(64)), Batch<T>(T(64)), a);  // keeps NaN
}

// x N(x), as max(x, 0) - |x| N(-|x|).
template <typename T>
inline Batch<T> GeluErf(const Batch<T>& x) {
    const Batch<T> a = Distance(x);
    return xsimd::max(x, Batch<T>(T(0))) - a * TailOf(a).tail;
}

template <typename T>
inline Batch<T> GeluErfSlope(const Batch<T>& x) {
    const Batch<T> a = Distance(x);
    const NormalTail<T> normal = TailOf(a);
    const Batch<T> below =
        xsimd::fma(a * normal.bell, Batch<T>(T(-0.39894228040143268)), normal.tail);
    return Where(x < Batch<T>(T(0)), below, Batch<T>(T(1)) - below);
}

// x, or 0 where the derivative vanishes and powers may overflow.
template <typename T>
inline Batch<T> NearZero(const Batch<T>& x) {
    return Where(Abs(x) < Batch<T>(T(64)), x, Batch<T>(T(0)));
}

// (1 + tanh(u)) / 2 is sigmoid(2 u), with 2 u = x (kGeluA + kGeluB x^2).
template <typename T>
constexpr T kGeluA = T(1.5957691216057308);
template <typename T>
constexpr T kGeluB = T(0.071354816272600247);

// Far below zero it is 0, not the formula's -inf * 0.
template <typename T>
inline Batch<T> GeluTanh(const Batch<T>& x) {
    const Batch<T> y = x * Sigmoid(x * (x * x * kGeluB<T> + kGeluA<T>));
    return Where(x < Batch<T>(T(-64)), Batch<T>(T(0)), y);
}

template <typename T>
inline Batch<T> GeluTanhSlope(const Batch<T>& x) {
    const Batch<T> s = Sigmoid(x * (x * x * kGeluB<T> + kGeluA<T>));
    const Batch<T> near = NearZero(x);
    const Batch<T> slope = near * near * (T(3) * kGeluB<T>)+kGeluA<T>;
    return s * (Batch<T>(T(1)) + near * (Batch<T>(T(1)) - s) * slope);
}

}  // namespace math
}  // namespace
}  // namespace chainerx::native::CX_ISA
