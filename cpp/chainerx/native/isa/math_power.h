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

// Of positive finite a.
inline BatchD Log2Times(const BatchD& a, const BatchD& x2) {
    return Clamp(x2 * Log2Short(a), -200.0, 200.0);
}

// Floats of which some are 0, infinite, negative or nan.
inline BatchF PowAtBorders(const BatchF& x1, const BatchF& x2, const BatchF& magnitude) {
    const BatchF a = xsimd::abs(x1);
    const BatchF zero(0.0f);
    const BatchF infinity(__builtin_inff());
    // Of 0 and infinity the logarithm is infinite, and its product with 0 is not used.
    const BatchF at_zero = Where(x2 > zero, zero, infinity);
    const BatchF at_infinity = Where(x2 > zero, infinity, zero);
    BatchF y = Where(a == zero, at_zero, Where(a == infinity, at_infinity, magnitude));
    y = Where((xsimd::abs(x2) == infinity) & (a != BatchF(1.0f)),
              Where((x2 > zero) == (a > BatchF(1.0f)), infinity, zero), y);
    return PowBorders(x1, x2, y);
}

inline BatchF Pow(const BatchF& x1, const BatchF& x2) {
    const BatchF infinity(__builtin_inff());
    const PairD a = Widen(xsimd::abs(x1));
    const PairD b = Widen(x2);
    const PairD product{Log2Times(a.low, b.low), Log2Times(a.high, b.high)};
    const PairD whole{xsimd::nearbyint(product.low), xsimd::nearbyint(product.high)};
    const PairD rest{product.low - whole.low, product.high - whole.high};
    const BatchF n = Narrow(whole);
    const BatchF r = Narrow(rest);
    const PairD seen = Widen(r);
    const BatchF r_low = Narrow({rest.low - seen.low, rest.high - seen.high});
    // 2^(r + r_low) - 1
    const BatchF power =
        xsimd::fma(r,
                   Poly(r, 0x1.62e42fef95eb1p-1, 0x1.ebfbe045fb75cp-3, 0x1.c6b08dc5e6fdfp-5,
                        0x1.3b2a1b69d95d7p-7, 0x1.5d874c74e7e0fp-10, 0x1.4440066b62a0ep-13,
                        0x1.00dc51f0a758fp-16),
                   r_low * BatchF(0x1.62e43p-1f));
    const BatchF y = ScaleByPow2(power + BatchF(1.0f), n);
    const auto is_plain = (x1 > BatchF(0.0f)) & (x1 < infinity) & (xsimd::abs(x2) < infinity);
    if (xsimd::all(is_plain)) [[likely]]
        return y;
    return PowAtBorders(x1, x2, y);
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

template <typename T>
struct RootFormat {
    using Bits = uint64_t;
    static constexpr int kMantissa = 52;
    static constexpr T kBias = T(1023);
    static constexpr T kTiny = T(0x1p-1022);  // the least that is no denormal
    static constexpr T kLift = T(0x1p54);     // a power of 2^3
    static constexpr T kLifted = T(54);
};
template <>
struct RootFormat<float> {
    using Bits = uint32_t;
    static constexpr int kMantissa = 23;
    static constexpr float kBias = 127.0f;
    static constexpr float kTiny = 0x1p-126f;
    static constexpr float kLift = 0x1p24f;
    static constexpr float kLifted = 24.0f;
};

// a = 2^exponent f with 1 <= f < 2, of positive finite a.
template <typename T>
struct Magnitude {
    Batch<T> exponent;
    Batch<T> f;
};
template <typename T>
inline Magnitude<T> SplitMagnitude(const Batch<T>& a) {
#if defined(CX_ISA_AVX512)
    constexpr auto kFrom1To2 = _MM_MANT_NORM_1_2;
    if constexpr (sizeof(T) == 4)
        return {_mm512_getexp_ps(a), _mm512_getmant_ps(a, kFrom1To2, _MM_MANT_SIGN_zero)};
    else
        return {_mm512_getexp_pd(a), _mm512_getmant_pd(a, kFrom1To2, _MM_MANT_SIGN_zero)};
#else
    using B = Batch<T>;
    using F = RootFormat<T>;
    using Bits = Batch<typename F::Bits>;
    constexpr T kWhole = T(uint64_t{1} << F::kMantissa);  // its low bits count from 1
    const auto denormal = a < B(F::kTiny);
    const Bits bits = xsimd::bitwise_cast<typename F::Bits>(Where(denormal, a * B(F::kLift), a));
    const Bits whole = xsimd::bitwise_cast<typename F::Bits>(B(kWhole));
    const B exponent = xsimd::bitwise_cast<T>((bits >> F::kMantissa) | whole) -
                       Where(denormal, B(kWhole + F::kBias + F::kLifted), B(kWhole + F::kBias));
    const Bits mantissa = Bits((typename F::Bits{1} << F::kMantissa) - 1);
    const Bits one = xsimd::bitwise_cast<typename F::Bits>(B(T(1)));
    return {exponent, xsimd::bitwise_cast<T>((bits & mantissa) | one)};
#endif
}

// |x| = 2^(3k) m with m = 2^j f, 1 <= f < 2 and j of -1, 0, 1. A minimax polynomial is 1 / cbrt(f)
// up to 2^-12 and one step of third order brings that to 2^-33; the last step is taken on the root
// itself, whose cube is subtracted exactly.
template <typename T>
inline Batch<T> Cbrt(const Batch<T>& x) {
    using B = Batch<T>;
    const B zero(T(0));
    const B one(T(1));
    const B a = xsimd::abs(x);
    const auto [exponent, f] = SplitMagnitude(a);
    const B k = xsimd::nearbyint(exponent * B(T(0x1.5555555555555p-2)));
    const B j = xsimd::fma(k, B(T(-3)), exponent);
    const B m = f * Where(j > zero, B(T(2)), Where(j < zero, B(T(0.5)), one));
    const B start = Where(j > zero, B(T(0x1.965fea53d6e3dp-1)),
                          Where(j < zero, B(T(0x1.428a2f98d728bp+0)), one));
    const B r = start * Poly(f, 0x1.8ab916498c84fp+0, -0x1.9eb301f4be9f6p-1, 0x1.4561f0114b5abp-2,
                             -0x1.9914e49152868p-5);
    // cbrt(1 - e) from 1 - m r^3 = e
    const B e = xsimd::fnma(m * r, r * r, one);
    const B t = xsimd::fma(e, B(T(0x1.c71c71c71c71cp-3)), B(T(0x1.5555555555555p-2)));
    const B inverse = xsimd::fma(r * e, t, r);
    const B root = (m * inverse) * inverse;
    const B square = root * root;
    const B rest = xsimd::fnma(square, root, m) - xsimd::fms(root, root, square) * root;
    const B y = xsimd::fma(rest, (inverse * inverse) * B(T(0x1.5555555555555p-2)), root);
    const B infinity{T(__builtin_inf())};
    return Where((a > zero) & (a < infinity), Copysign(y * Pow2(k), x), x);
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
