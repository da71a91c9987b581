// Functions made of the normal distribution.
#pragma once

#include "chainerx/native/isa/math_explog.h"

namespace chainerx::native {
namespace CX_ISA {
namespace {
namespace math {

// Of standard normal numbers: how likely it is that one is above |x|, and exp(-x^2 / 2).
template <typename T>
struct NormalTail {
    Batch<T> tail;
    Batch<T> bell;
};

// exp(z^2) erfc(z) is t P(t) with t = 1 / (1 + p z), P minimax in relative error for z below 10.2,
// beyond which nothing is left in float. The form is that of Hastings, 1955.
inline NormalTail<float> TailOf(const BatchF& x) {
    const BatchF bell = Exp(x * x * -0.5f);
    const BatchF t = BatchF(1.0f) / xsimd::fma(Abs(x), BatchF(0.23164189f), BatchF(1.0f));
    const BatchF p =
        Poly(t, 0.18478077578236096f, 0.1857626983861519f, 0.16588441178342167f,
             0.20484906930671243f, -0.047331335190078f, 0.49590402374783427f, -0.553695992613221f,
             0.6227258899291643f, -0.3152107937895282f, 0.05633124819572275f);
    return {bell * t * p * 0.5f, bell};
}
inline NormalTail<double> TailOf(const BatchD& x) {
    const BatchD erf = Erf(Abs(x) * 0.70710678118654752);
    return {(BatchD(1.0) - erf) * 0.5, Exp(x * x * -0.5)};
}

// How likely it is that one is below x.
template <typename T>
inline Batch<T> Below(const Batch<T>& x, const Batch<T>& tail) {
    return Where(x < Batch<T>(T(0)), tail, Batch<T>(T(1)) - tail);
}

// x N(x). Far below zero it is 0, and not the -inf * 0 of the formula; so are derivatives, on
// either side.
template <typename T>
inline Batch<T> GeluErf(const Batch<T>& x) {
    const Batch<T> y = x * Below(x, TailOf(x).tail);
    return Where(x < Batch<T>(T(-64)), Batch<T>(T(0)), y);
}

// x, or 0 where no derivative is left and powers may overflow.
template <typename T>
inline Batch<T> NearZero(const Batch<T>& x) {
    return Where(Abs(x) < Batch<T>(T(64)), x, Batch<T>(T(0)));
}

template <typename T>
inline Batch<T> GeluErfSlope(const Batch<T>& x) {
    const NormalTail<T> normal = TailOf(x);
    return Below(x, normal.tail) + NearZero(x) * normal.bell * T(0.39894228040143268);
}

// (1 + tanh(u)) / 2 is sigmoid(2 u), with 2 u = x (kGeluA + kGeluB x^2).
template <typename T>
constexpr T kGeluA = T(1.5957691216057308);
template <typename T>
constexpr T kGeluB = T(0.071354816272600247);

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
}  // namespace CX_ISA
}  // namespace chainerx::native
