// math:: powers and roots.
#pragma once

#include "chainerx/native/isa/batch.h"
#include "chainerx/native/isa/math_basic.h"
#include "chainerx/native/isa/math_explog.h"

namespace chainerx::native {
namespace CX_ISA {
namespace {
namespace math {

template <typename T>
inline xsimd::batch_bool<T> IsOddInteger(const Batch<T>& x) {
    const Batch<T> half = x * Batch<T>(T(0.5));
    return (xsimd::trunc(x) == x) & (xsimd::trunc(half) != half);
}

// `y` is |x1|^x2; puts in the sign and the cases of the C standard that do not follow from
// exp(x2 * log(x1)).
template <typename T>
inline Batch<T> PowBorders(const Batch<T>& x1, const Batch<T>& x2, const Batch<T>& magnitude) {
    using B = Batch<T>;
    const B one(T(1));
    const B zero(T(0));
    const B infinity{T(__builtin_inf())};
    const B a = xsimd::abs(x1);
    B y = Where((a == one) & (xsimd::abs(x2) == infinity), one, magnitude);
    const auto negative = Copysign(one, x1) < zero;
    y = Where(negative & IsOddInteger(x2), Negate(y), y);
    const auto imaginary = (x1 < zero) & (a < infinity) & (xsimd::trunc(x2) != x2);
    y = Where(imaginary, B(T(__builtin_nan(""))), y);
    y = Where((x1 == x1) & (x2 == x2), y, x1 + x2);
    return Where((x2 == zero) | (x1 == one), one, y);
}

// 2^(x2 * log2 |x1|) in double: an error of 2^-33 before the only rounding to float.
inline BatchD PowForFloat(const BatchD& a, const BatchD& x2) {
    const LogParts p = SplitForLog(a);
    const BatchD s = p.f / (p.f + BatchD(2.0));
    const BatchD z = s * s;
    const BatchD log1p =
        xsimd::fma(s * z,
                   Poly(z, 0x1.55555555553b0p-1, 0x1.9999999b8d912p-2, 0x1.24924622fcb46p-2,
                        0x1.c71fd31c755cfp-3, 0x1.7381dc113cfe4p-3, 0x1.5478741fb9fdfp-3),
                   s + s);
    const BatchD log2 = LogBorders(a, xsimd::fma(log1p, BatchD(0x1.71547652b82fep+0), p.k));
    const BatchD product = Clamp(x2 * log2, -200.0, 200.0);
    const BatchD n = xsimd::nearbyint(product);
    const BatchD r = product - n;
    const BatchD power =
        xsimd::fma(r,
                   Poly(r, 0x1.62e42fef95eb1p-1, 0x1.ebfbe045fb75cp-3, 0x1.c6b08dc5e6fdfp-5,
                        0x1.3b2a1b69d95d7p-7, 0x1.5d874c74e7e0fp-10, 0x1.4440066b62a0ep-13,
                        0x1.00dc51f0a758fp-16),
                   BatchD(1.0));
    return power * Pow2(n);
}
inline BatchF Pow(const BatchF& x1, const BatchF& x2) {
    const PairD a = Widen(xsimd::abs(x1));
    const PairD b = Widen(x2);
    return PowBorders(x1, x2, Narrow({PowForFloat(a.low, b.low), PowForFloat(a.high, b.high)}));
}

// a * b - product, exactly. Without fused steps by Dekker's splitting, which overflows where
// the caller has no use for the result.
inline BatchD ProductError(const BatchD& a, const BatchD& b, const BatchD& product) {
#if defined(__FMA__) || defined(__aarch64__)
    return xsimd::fms(a, b, product);
#else
    const BatchD splitter(0x1p27 + 1.0);
    const BatchD a_moved = a * splitter;
    const BatchD a_high = a_moved - (a_moved - a);
    const BatchD a_low = a - a_high;
    const BatchD b_moved = b * splitter;
    const BatchD b_high = b_moved - (b_moved - b);
    const BatchD b_low = b - b_high;
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
#endif
}

// log|x1| as a sum of two doubles, good to about 2^-66, times x2, likewise.
inline BatchD Pow(const BatchD& x1, const BatchD& x2) {
    using xsimd::fma;
    const BatchD a = xsimd::abs(x1);
    const LogParts p = SplitForLog(a);
    // s = f / (2 + f)
    const BatchD b = p.f + BatchD(2.0);
    const BatchD b_low = p.f - (b - BatchD(2.0));
    const BatchD s = p.f / b;
    const BatchD back = s * b;
    const BatchD s_low = (((p.f - back) - ProductError(s, b, back)) - s * b_low) / b;
    // log(1 + f) = 2 s + 2/3 s^3 + s^5 P(s^2)
    const BatchD z = s * s;
    const BatchD z_low = fma(s + s, s_low, ProductError(s, s, z));
    const BatchD c = z * s;
    const BatchD c_low = fma(z_low, s, fma(z, s_low, ProductError(z, s, c)));
    const BatchD third(0x1.5555555555555p-1);
    const BatchD t = third * c;
    const BatchD t_low =
        fma(third, c_low, fma(BatchD(0x1.5555555555555p-55), c, ProductError(third, c, t)));
    const BatchD tail = c * z *
                        Poly(z, 0x1.999999999999ap-2, 0x1.2492492492525p-2, 0x1.c71c71c6e9a42p-3,
                             0x1.745d177b6c6aap-3, 0x1.3b13957be1f79p-3, 0x1.1118d9a133a3cp-3,
                             0x1.df792d596b1cfp-4, 0x1.e0533c845aff3p-4);
    const BatchD two_s = s + s;
    const BatchD high = two_s + t;
    const BatchD low = ((two_s - high) + t) + (s_low + s_low + t_low + tail);
    // + k ln 2; |k ln 2| is 0 or exceeds |high|
    const BatchD k_ln2 = p.k * BatchD(0x1.62e42fefa3800p-1);
    const BatchD log_high = k_ln2 + high;
    const BatchD rest = Where(p.k == BatchD(0.0), BatchD(0.0), (k_ln2 - log_high) + high);
    const BatchD log_low = fma(p.k, BatchD(0x1.ef35793c76730p-45), low + rest);
    const BatchD log = LogBorders(a, log_high);
    const BatchD product = x2 * log;
    const BatchD bounded = Clamp(product, -800.0, 800.0);
    // At the borders this is inf - inf; there is no low part then.
    const BatchD raw_low = fma(x2, log_low, ProductError(x2, log, product));
    const BatchD product_low =
        Where((bounded == product) & (xsimd::abs(raw_low) < BatchD(1.0)), raw_low, BatchD(0.0));
    const Reduced<double> reduced = ReduceByLn2(bounded);
    const BatchD power = Expm1Core(reduced.r + product_low) + BatchD(1.0);
    return PowBorders(x1, x2, ScaleByPow2(power, reduced.n));
}

// Denormals are scaled into the normal range by the cube of a power of two.
template <typename T>
inline Batch<T> Cbrt(const Batch<T>& x) {
    using B = Batch<T>;
    constexpr bool kSingle = sizeof(T) == 4;
    const auto tiny = xsimd::abs(x) < B(kSingle ? T(0x1p-100) : T(0x1p-900));
    const B y = xsimd::cbrt(Where(tiny, x * B(kSingle ? T(0x1p60) : T(0x1p600)), x));
    const B scaled = Where(tiny, y * B(kSingle ? T(0x1p-20) : T(0x1p-200)), y);
    return Where((x == B(T(0))) | (xsimd::abs(x) == B(T(__builtin_inf()))), x, scaled);
}

// An infinity wins over nan, as in C.
inline BatchF Hypot(const BatchF& x1, const BatchF& x2) {
    const PairD a = Widen(x1);
    const PairD b = Widen(x2);
    const BatchF y = Narrow({xsimd::sqrt(xsimd::fma(a.low, a.low, b.low * b.low)),
                             xsimd::sqrt(xsimd::fma(a.high, a.high, b.high * b.high))});
    const BatchF infinity(__builtin_inff());
    return Where((xsimd::abs(x1) == infinity) | (xsimd::abs(x2) == infinity), infinity, y);
}
inline BatchD Hypot(const BatchD& x1, const BatchD& x2) {
    const BatchD a1 = xsimd::abs(x1);
    const BatchD a2 = xsimd::abs(x2);
    const BatchD largest = xsimd::max(a1, a2);
    // Squares neither overflow nor vanish after scaling by a power of two.
    const auto big = largest > BatchD(0x1p500);
    const auto small = largest < BatchD(0x1p-400);
    const BatchD scale = Where(big, BatchD(0x1p-600), Where(small, BatchD(0x1p600), BatchD(1.0)));
    const BatchD back = Where(big, BatchD(0x1p600), Where(small, BatchD(0x1p-600), BatchD(1.0)));
    const BatchD b1 = a1 * scale;
    const BatchD b2 = a2 * scale;
    const BatchD y = xsimd::sqrt(xsimd::fma(b1, b1, b2 * b2)) * back;
    const BatchD infinity(__builtin_inf());
    return Where((a1 == infinity) | (a2 == infinity), infinity, y);
}

}  // namespace math
}  // namespace
}  // namespace CX_ISA
}  // namespace chainerx::native
