// math:: hyperbolic functions and their inverses.
#pragma once

#include "chainerx/native/math/simd/math_basic.h"
#include "chainerx/native/math/simd/math_explog.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {
namespace math {

// t / (t + 2) with t = exp(2|x|) - 1, which is accurate near 0.
inline BatchF Tanh(const BatchF& x) {
    const BatchF a = xsimd::abs(x);
    const Reduced<float> reduced = ReduceByLn2(MinOrSecond(BatchF(20.0f), a + a));
    const BatchF scale = Pow2(reduced.n);
    const BatchF t = xsimd::fma(scale, Expm1Core(reduced.r), scale - BatchF(1.0f));
    return Copysign(t / (t + BatchF(2.0f)), x);
}
// Corrects the rounding errors of t + 2 and of the quotient.
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
// overflows only if it must.
inline BatchD Cosh(const BatchD& x) {
    const BatchD half = ExpScaled(xsimd::abs(x), -1.0);
    return half + BatchD(0.25) / half;
}
// Below 1 the difference would cancel: with t = exp(|x|) - 1, it is (t + t / (t + 1)) / 2. Both
// need one division and one exponential.
inline BatchD Sinh(const BatchD& x) {
    const BatchD one(1.0);
    const BatchD a = xsimd::abs(x);
    // Slightly beyond the overflow threshold.
    const Reduced<double> reduced = ReduceByLn2(MinOrSecond(BatchD(710.5), a));
    const BatchD core = Expm1Core(reduced.r);
    const BatchD scale = Pow2(reduced.n - BatchD(2.0));  // 2^n itself may overflow
    const BatchD half = xsimd::fma(scale, core, scale) * BatchD(2.0);
    const BatchD whole = scale * BatchD(4.0);
    const BatchD t = xsimd::fma(whole, core, whole - one);
    const auto small = a < one;
    const BatchD quotient = Where(small, t, BatchD(0.25)) / Where(small, t + one, half);
    const BatchD y = Where(small, (t + quotient) * BatchD(0.5), half - quotient);
    return Copysign(y, x);
}

// floats need no division: with x = n ln 2 + r, both follow from cosh r - 1 and sinh r, and the
// halves of 2^n + 2^-n and 2^n - 2^-n.
struct HyperbolicParts {
    BatchF even, odd;
    BatchF rises, falls;
    BatchF sum, difference;
};
inline constexpr float kHyperbolicLimit = 87.0f;  // |n| up to 126, where 2^(-n - 1) may be 0
inline HyperbolicParts SplitHyperbolic(const BatchF& x) {
    using Bits = Batch<uint32_t>;
    const Reduced<float> reduced = ReduceByLn2(x);
    const BatchF r = reduced.r;
    const BatchF z = r * r;
    const BatchF even = z * Poly(z, 0x1p-1f, 0x1.5554e6p-5f, 0x1.6d4f0ap-10f);
    const BatchF odd = xsimd::fma(r * z, Poly(z, 0x1.5554bp-3f, 0x1.12279cp-7f), r);
    const Bits up = xsimd::bitwise_cast<uint32_t>(Pow2(reduced.n - BatchF(1.0f)));
    const BatchF rises = xsimd::bitwise_cast<float>(up);
    const BatchF falls = xsimd::bitwise_cast<float>(Bits(252u << 23) - up);
    return {even, odd, rises, falls, rises + falls, rises - falls};
}
// `near`, or exp(|x|) / 2 beyond the limit.
inline BatchF HyperbolicUnlessFar(const BatchF& x, const BatchF& near) {
    const BatchF a = xsimd::abs(x);
    const auto is_near = a <= BatchF(kHyperbolicLimit);
    if (xsimd::all(is_near)) [[likely]]
        return near;
    return Where(is_near, near, ExpScaled(a, -1.0f));
}
inline BatchF Cosh(const BatchF& x) {
    const HyperbolicParts p = SplitHyperbolic(xsimd::abs(x));
    const BatchF y = xsimd::fma(p.difference, p.odd, p.rises) + xsimd::fma(p.sum, p.even, p.falls);
    return HyperbolicUnlessFar(x, y);
}
inline BatchF Sinh(const BatchF& x) {
    const HyperbolicParts p = SplitHyperbolic(x);
    const BatchF y = xsimd::fma(p.difference, p.even, xsimd::fma(p.sum, p.odd, p.difference));
    return Copysign(HyperbolicUnlessFar(x, y), x);
}

// Up to here a^2 is finite; beyond, asinh(a) and acosh(a) are log(2 a).
template <typename T>
inline constexpr T kFarOut = static_cast<T>(sizeof(T) == 4 ? 0x1p13 : 0x1p500);
template <typename T>
inline Batch<T> LogOfDouble(const Batch<T>& a) {
    return Log(a) + Batch<T>(T(0x1.62e42fefa39efp-1));
}

// log(1 + t) of t = a + a^2 / (1 + sqrt(1 + a^2)).
template <typename T>
inline Batch<T> Asinh(const Batch<T>& x) {
    const Batch<T> a = xsimd::abs(x);
    const Batch<T> one(T(1));
    const Batch<T> square = a * a;
    const Batch<T> part = square / (one + xsimd::sqrt(one + square));
    const Batch<T> t = a + part;
    Batch<T> y = Log1pOfSum(t, part - (t - a));
    const auto is_near = a < Batch<T>(kFarOut<T>);
    if (!xsimd::all(is_near)) [[unlikely]]
        y = Where(is_near, y, LogOfDouble(a));
    return Copysign(y, x);
}

// log(1 + t) of t = d + sqrt(2 d + d^2), d = x - 1.
template <typename T>
inline Batch<T> Acosh(const Batch<T>& x) {
    const Batch<T> one(T(1));
    const Batch<T> d = x - one;
    const Batch<T> root = xsimd::sqrt(xsimd::fma(d, d, d + d));
    const Batch<T> t = d + root;
    const Batch<T> y = Log1pOfSum(t, d - (t - root));
    const auto is_near = (x >= one) & (x < Batch<T>(kFarOut<T>));
    if (xsimd::all(is_near)) [[likely]]
        return y;
    const Batch<T> nan{std::numeric_limits<T>::quiet_NaN()};
    return Where(is_near, y, Where(x < one, nan, LogOfDouble(x)));
}

// log(1 + t) / 2 of t = 2 a / (1 - a), whose rounding errors are added.
inline BatchD Atanh(const BatchD& x) {
    const BatchD a = xsimd::abs(x);
    const BatchD one(1.0);
    const BatchD less = one - a;
    const BatchD t = (a + a) / less;
    const BatchD less_low = (one - less) - a;
    const BatchD low = (ProductAndSum(Negate(t), less, a + a) - t * less_low) * InverseNear(less);
    const BatchD y = BatchD(0.5) * Log1pOfSum(t, low);
    const BatchD border = Where(a == one, BatchD(std::numeric_limits<double>::infinity()),
                                BatchD(std::numeric_limits<double>::quiet_NaN()));
    return Copysign(Where(a < one, y, border), x);
}
// (1 + a) / (1 - a) is 2^k (1 + s) / (1 - s), where k follows from the bits of both and |s| <= 1/5:
// atanh(a) = k ln(2) / 2 + s + s^3 P(s^2) with P minimax. With h = 2^-k, s is the quotient of (h -
// 1) + a (h + 1) and (h + 1) + a (h - 1), each of which rounds once for k < 24.
inline BatchF Atanh(const BatchF& x) {
    using Bits = Batch<int32_t>;
    const BatchF a = xsimd::abs(x);
    const BatchF one(1.0f);
    const Bits ratio =
        xsimd::bitwise_cast<int32_t>(one + a) - xsimd::bitwise_cast<int32_t>(one - a);
    const Bits k = (ratio + Bits(0x00400000)) >> 23;
    const BatchF h = xsimd::bitwise_cast<float>(Bits(0x3f800000) - (k << 23));
    const BatchF less = h - one;
    const BatchF more = h + one;
    const BatchF s = ProductAndSum(a, more, less) / ProductAndSum(a, less, more);
    const BatchF whole = xsimd::to_float(k);
    const BatchF z = s * s;
    const BatchF tail = Poly(z, 0x1.5555c6p-2f, 0x1.991cb6p-3f, 0x1.3811ep-3f);
    const BatchF rest = s + xsimd::fma(s * z, tail, whole * BatchF(0x1.7f7d1cp-21f));
    BatchF y = xsimd::fma(whole, BatchF(0x1.62e4p-2f), rest);
    const auto is_near = a < BatchF(0x1.fffff8p-1f);
    if (!xsimd::all(is_near)) [[unlikely]]  // log(2 / (1 - a)) / 2
        y = Where(is_near, y, BatchF(0.5f) * (BatchF(0x1.62e43p-1f) - Log(one - a)));
    return Copysign(y, x);
}

}  // namespace math
}  // namespace
}  // namespace chainerx::native::CX_ISA
