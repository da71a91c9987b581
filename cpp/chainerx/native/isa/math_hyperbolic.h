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

// Up to here a^2 is finite; beyond it, asinh(a) and acosh(a) are log(2 a).
inline constexpr float kFarOut = 0x1p13f;
inline BatchF LogOfDouble(const BatchF& a) { return Log(a) + BatchF(0x1.62e43p-1f); }

inline BatchD Asinh(const BatchD& x) { return xsimd::asinh(x); }
// log(1 + t) of t = a + a^2 / (1 + sqrt(1 + a^2)).
inline BatchF Asinh(const BatchF& x) {
    const BatchF a = xsimd::abs(x);
    const BatchF one(1.0f);
    const BatchF square = a * a;
    const BatchF part = square / (one + xsimd::sqrt(one + square));
    const BatchF t = a + part;
    BatchF y = Log1pOfSum(t, part - (t - a));
    const auto is_near = a < BatchF(kFarOut);
    if (!xsimd::all(is_near)) [[unlikely]]
        y = Where(is_near, y, LogOfDouble(a));
    return Copysign(y, x);
}

// Far below 1 its polynomial gives numbers, and inf.
inline BatchD Acosh(const BatchD& x) {
    const BatchD nan{std::numeric_limits<double>::quiet_NaN()};
    return Where(x < BatchD(1.0), nan, xsimd::acosh(x));
}
// log(1 + t) of t = d + sqrt(2 d + d^2), d = x - 1.
inline BatchF Acosh(const BatchF& x) {
    const BatchF one(1.0f);
    const BatchF d = x - one;
    const BatchF root = xsimd::sqrt(xsimd::fma(d, d, d + d));
    const BatchF t = d + root;
    const BatchF y = Log1pOfSum(t, d - (t - root));
    const auto is_near = (x >= one) & (x < BatchF(kFarOut));
    if (xsimd::all(is_near)) [[likely]]
        return y;
    const BatchF nan{std::numeric_limits<float>::quiet_NaN()};
    return Where(is_near, y, Where(x < one, nan, LogOfDouble(x)));
}

inline BatchD Atanh(const BatchD& x) { return Where(x == BatchD(0.0), x, xsimd::atanh(x)); }
// log(1 + t) / 2 of t = 2 a + 2 a^2 / (1 - a)
inline BatchF Atanh(const BatchF& x) {
    const BatchF a = xsimd::abs(x);
    const BatchF one(1.0f);
    const BatchF twice = a + a;
    const BatchF part = (twice * a) / (one - a);
    const BatchF t = twice + part;
    // |part| exceeds |twice| where t exceeds 2, and its low part counts no more.
    BatchF y = Log1pOfSum(t, part - (t - twice)) * BatchF(0.5f);
    const auto is_inside = a < one;
    if (!xsimd::all(is_inside)) [[unlikely]] {
        const BatchF infinity{std::numeric_limits<float>::infinity()};
        const BatchF nan{std::numeric_limits<float>::quiet_NaN()};
        y = Where(is_inside, y, Where(a == one, infinity, nan));
    }
    return Copysign(y, x);
}

}  // namespace math
}  // namespace
}  // namespace CX_ISA
}  // namespace chainerx::native
