// math:: hyperbolic functions and their inverses.
#pragma once

#include "chainerx/native/isa/batch.h"
#include "chainerx/native/isa/math_basic.h"
#include "chainerx/native/isa/math_explog.h"

namespace chainerx::native {
namespace CX_ISA {
namespace {
namespace math {

// With t = exp(2|x|) - 1, which keeps its digits near 0, t / (t + 2).
inline BatchF Tanh(const BatchF& x) {
    const BatchF a = xsimd::abs(x);
    const Reduced<float> reduced = ReduceByLn2(MinOrSecond(BatchF(20.0f), a + a));
    const BatchF scale = Pow2(reduced.n);
    const BatchF t = xsimd::fma(scale, Expm1Core(reduced.r), scale - BatchF(1.0f));
    return Copysign(t / (t + BatchF(2.0f)), x);
}
// What rounding leaves out of t + 2 and of the quotient is put in again.
inline BatchD Tanh(const BatchD& x) {
    const BatchD a = xsimd::abs(x);
    const Reduced<double> reduced = ReduceByLn2(MinOrSecond(BatchD(40.0), a + a));
    const BatchD scale = Pow2(reduced.n);
    const BatchD t = xsimd::fma(scale, Expm1Core(reduced.r), scale - BatchD(1.0));
    const BatchD divisor = t + BatchD(2.0);
    const BatchD divisor_low = t - (divisor - BatchD(2.0));
    const BatchD inverse = BatchD(1.0) / divisor;
    const BatchD y = t * inverse;
    const BatchD rest = xsimd::fnma(y, divisor, t) - y * divisor_low;
    return Copysign(xsimd::fma(rest, inverse, y), x);
}

// exp(|x|) / 2 and its reciprocal: the factor 1/2 goes into the exponent, so that the result
// overflows where it must and not before.
template <typename T>
inline Batch<T> Cosh(const Batch<T>& x) {
    const Batch<T> half = ExpScaled(xsimd::abs(x), T(-1));
    return half + Batch<T>(T(0.25)) / half;
}
// Below 1 that difference would cancel: with t = exp(|x|) - 1, (t + t / (t + 1)) / 2. Both need one
// division of one exponential.
template <typename T>
inline Batch<T> Sinh(const Batch<T>& x) {
    using B = Batch<T>;
    const B one(T(1));
    const B a = xsimd::abs(x);
    // A little beyond what overflows.
    const Reduced<T> reduced = ReduceByLn2(MinOrSecond(B(sizeof(T) == 4 ? T(89.5) : T(710.5)), a));
    const B core = Expm1Core(reduced.r);
    const B scale = Pow2(reduced.n - B(T(2)));  // of whole 2^n the last are infinite
    const B half = xsimd::fma(scale, core, scale) * B(T(2));
    const B whole = scale * B(T(4));
    const B t = xsimd::fma(whole, core, whole - one);
    const auto small = a < one;
    const B quotient = Where(small, t, B(T(0.25))) / Where(small, t + one, half);
    const B y = Where(small, (t + quotient) * B(T(0.5)), half - quotient);
    return Copysign(y, x);
}

inline BatchD Asinh(const BatchD& x) { return xsimd::asinh(x); }

// In double the logarithm of a sum near 1 keeps enough digits for a float.
inline BatchD AsinhForFloat(const BatchD& a) {
    const BatchD y =
        Log2Short(a + xsimd::sqrt(xsimd::fma(a, a, BatchD(1.0)))) * BatchD(0x1.62e42fefa39efp-1);
    const BatchD series = xsimd::fma(a * a * a, BatchD(-1.0 / 6), a);
    return Where(a < BatchD(0x1p-10), series, y);
}
inline BatchF Asinh(const BatchF& x) {
    const PairD a = Widen(xsimd::abs(x));
    const BatchF y = Narrow({AsinhForFloat(a.low), AsinhForFloat(a.high)});
    return Where(xsimd::abs(x) < BatchF(__builtin_inff()), Copysign(y, x), x);
}

template <typename T>
inline Batch<T> Acosh(const Batch<T>& x) {
    // Far below 1 its polynomial gives numbers, and inf.
    const Batch<T> nan{std::numeric_limits<T>::quiet_NaN()};
    return Where(x < Batch<T>(T(1)), nan, xsimd::acosh(x));
}
inline BatchD Atanh(const BatchD& x) { return Where(x == BatchD(0.0), x, xsimd::atanh(x)); }
inline BatchF Atanh(const BatchF& x) {
    const BatchF a = xsimd::abs(x);
    return Copysign(Log1p((a + a) / (BatchF(1.0f) - a)) * BatchF(0.5f), x);
}

}  // namespace math
}  // namespace
}  // namespace CX_ISA
}  // namespace chainerx::native
