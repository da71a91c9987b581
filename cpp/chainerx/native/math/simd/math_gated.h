// math:: activations x * gate(x): silu and mish, and their derivatives.
//
// All are computed from e = exp(-|x|), which never overflows, with one division.
#pragma once

#include "chainerx/native/math/simd/math_explog.h"

namespace chainerx::native::CX_ISA {
namespace {
namespace math {

// Clamps x where e underflows for all float dtypes, so that inf * 0 does not occur.
template <typename T>
inline Batch<T> WithinGate(const Batch<T>& x) {
    return Clamp(x, T(-1000), T(1000));
}

// Clamps for values, which are unbounded above.
template <typename T>
inline Batch<T> AboveGate(const Batch<T>& x) {
    return MaxOrSecond(Batch<T>(T(-1000)), x);
}

// x sigmoid(x)
template <typename T>
inline Batch<T> Silu(const Batch<T>& far) {
    using B = Batch<T>;
    const B x = AboveGate(far);
    const B e = Exp(-Abs(x));
    return Where(x >= B(T(0)), x, x * e) / (B(T(1)) + e);
}

template <typename T>
inline Batch<T> SiluSlope(const Batch<T>& x) {
    using B = Batch<T>;
    const auto above = x >= B(T(0));
    const B e = Exp(-Abs(x));
    const B r = B(T(1)) / (B(T(1)) + e);
    const B other = e * r;
    const B s = Where(above, r, other);
    return xsimd::fma(WithinGate(x) * s, Where(above, other, r), s);
}

// tanh(softplus(x)) is n / d with n = w^2 + 2 w, d = n + 2 and w = exp(x); if x is positive, both
// are multiplied by e^2.
template <typename T>
struct MishGate {
    Batch<T> e;
    xsimd::batch_bool<T> above;
    Batch<T> n;
    Batch<T> d;
};
template <typename T>
inline MishGate<T> MishGateOf(const Batch<T>& x) {
    using B = Batch<T>;
    const auto above = x >= B(T(0));
    const B e = Exp(-Abs(x));
    const B n = Where(above, xsimd::fma(e, B(T(2)), B(T(1))), xsimd::fma(e, e, e + e));
    return {e, above, n, n + Where(above, e * e * T(2), B(T(2)))};
}

template <typename T>
inline Batch<T> Mish(const Batch<T>& far) {
    const Batch<T> x = AboveGate(far);
    const MishGate<T> gate = MishGateOf(x);
    return x * gate.n / gate.d;
}

// The derivative of the gate is 4 w (1 + w) / d^2.
template <typename T>
inline Batch<T> MishSlope(const Batch<T>& x) {
    using B = Batch<T>;
    const MishGate<T> gate = MishGateOf(x);
    const B r = B(T(1)) / gate.d;
    const B product = xsimd::fma(gate.e, gate.e, gate.e);  // w (1 + w); for positive x times e^3
    const B rise = Where(gate.above, product * gate.e, product) * T(4);
    return xsimd::fma(WithinGate(x) * rise, r, gate.n) * r;
}

}  // namespace math
}  // namespace
}  // namespace chainerx::native::CX_ISA
