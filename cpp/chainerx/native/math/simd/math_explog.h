// math:: exponentials and logarithms.
//
// exp and its variants: x = n ln 2 + r, |r| <= ln 2 / 2, a minimax polynomial in r (Remez, our own
// coefficients), and 2^n in two factors, so that neither overflow nor the denormal range needs a
// branch. Logarithms of doubles: the reduction and series of FDLIBM's e_log.c (Sun Microsystems).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "chainerx/native/math/simd/math_basic.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {
namespace math {

// 2^n for integers in the range of normal exponents. Adding 1.5 * 2^mantissa_bits moves n to the
// low bits.
inline BatchF Pow2(const BatchF& n) {
    const auto bits = xsimd::bitwise_cast<uint32_t>(n + BatchF(0x1.8p23f + 127.0f));
    return xsimd::bitwise_cast<float>(bits << 23);
}
inline BatchD Pow2(const BatchD& n) {
    const auto bits = xsimd::bitwise_cast<uint64_t>(n + BatchD(0x1.8p52 + 1023.0));
    return xsimd::bitwise_cast<double>(bits << 52);
}

// Rounds x * scale to an integer by adding and subtracting a large number; |x * scale| must be far
// below 2^mantissa_bits. It takes half the time of a rounding instruction.
template <typename T>
inline Batch<T> NearestTo(const Batch<T>& x, T scale) {
    const Batch<T> magic(sizeof(T) == 4 ? T(0x1.8p23) : T(0x1.8p52));
    return xsimd::fma(x, Batch<T>(scale), magic) - magic;
}

// y * 2^n, rounded once, also into the denormal range; |n| is at most twice the normal exponents.
template <typename T>
inline Batch<T> ScaleByPow2(const Batch<T>& y, const Batch<T>& n) {
#if defined(CX_ISA_AVX512)
    if constexpr (sizeof(T) == 4)
        return Batch<T>(_mm512_scalef_ps(y, n));
    else
        return Batch<T>(_mm512_scalef_pd(y, n));
#else
    if constexpr (sizeof(T) == 4) {
        using Whole = Batch<int32_t>;
        const Whole whole = xsimd::batch_cast<int32_t>(n);
        const Whole half = whole >> 1;
        const auto pow2 = [](const Whole& k) {
            return xsimd::bitwise_cast<float>((k + Whole(127)) << 23);
        };
        return y * pow2(half) * pow2(whole - half);
    } else {  // no instruction converts doubles to integers as wide, or shifts those with their
              // sign
        const Batch<T> half = xsimd::nearbyint(n * Batch<T>(T(0.5)));
        return y * Pow2(half) * Pow2(n - half);
    }
#endif
}

// Clamps x, keeping NaN.
template <typename T>
inline Batch<T> Clamp(const Batch<T>& x, T low, T high) {
    return MinOrSecond(Batch<T>(high), MaxOrSecond(Batch<T>(low), x));
}

// exp(r) - 1 for |r| <= ln 2 / 2.
inline BatchF Expm1Core(const BatchF& r) {
    return xsimd::fma(r * r,
                      Poly(r, 0x1.0000000b9203fp-1, 0x1.5555557430e22p-3, 0x1.5554e9029c5cap-5,
                           0x1.1110ab6ca81e4p-7, 0x1.6d43283113fb7p-10, 0x1.a17e0c00a6c6dp-13),
                      r);
}
inline BatchD Expm1Core(const BatchD& r) {
    return xsimd::fma(r * r,
                      Poly(r, 0x1.0000000000000p-1, 0x1.5555555555557p-3, 0x1.5555555555558p-5,
                           0x1.11111111100dbp-7, 0x1.6c16c16c151fcp-10, 0x1.a01a01abe8245p-13,
                           0x1.a01a01acfb1b3p-16, 0x1.71de02312af42p-19, 0x1.27e4cccd08877p-22,
                           0x1.af4dea43810c4p-26, 0x1.1f8b4e0fc457cp-29),
                      r);
}

template <typename T>
struct Reduced {
    Batch<T> n;
    Batch<T> r;
};
inline Reduced<float> ReduceByLn2(const BatchF& x) {
    const BatchF n = NearestTo(x, 0x1.715476p+0f);
    const BatchF r = xsimd::fma(n, BatchF(-0x1.62e400p-1f), x);
    return {n, xsimd::fma(n, BatchF(-0x1.7f7d1cp-20f), r)};
}
inline Reduced<double> ReduceByLn2(const BatchD& x) {
    const BatchD n = NearestTo(x, 0x1.71547652b82fep+0);
    const BatchD r = xsimd::fma(n, BatchD(-0x1.62e42fee00000p-1), x);
    return {n, xsimd::fma(n, BatchD(-0x1.a39ef35793c76p-33), r)};
}

template <typename T>
inline constexpr T kExpLow = sizeof(T) == 4 ? T(-105) : T(-746);
template <typename T>
inline constexpr T kExpHigh = sizeof(T) == 4 ? T(90) : T(711);
// The largest n for which 2^(n - 1) is finite.
template <typename T>
inline constexpr T kExpm1High = sizeof(T) == 4 ? T(89) : T(709.9);

// f(x), but 0 for x < low, where f gets 0 instead: a lane that underflows, as a score that is
// masked by -inf, takes a processor ten times as long as the whole function.
template <typename T, typename F>
inline Batch<T> NoneBelow(const Batch<T>& x, T low, const F& f) {
    const auto is_none = x < Batch<T>(low);
    return ZeroWhere(is_none, f(ZeroWhere(is_none, x)));
}

// exp(x) * 2^k
template <typename T>
inline Batch<T> ExpScaled(const Batch<T>& x, T k) {
    return NoneBelow(x, kExpLow<T>, [k](const Batch<T>& seen) {
        const Reduced<T> reduced = ReduceByLn2(MinOrSecond(Batch<T>(kExpHigh<T>), seen));
        const Batch<T> n = k == 0 ? reduced.n : reduced.n + Batch<T>(k);
        return ScaleByPow2(Expm1Core(reduced.r) + Batch<T>(T(1)), n);
    });
}

template <typename T>
inline Batch<T> Exp(const Batch<T>& x) {
    return ExpScaled(x, T(0));
}

template <typename T>
inline Batch<T> Expm1(const Batch<T>& x) {
    using B = Batch<T>;
    const Reduced<T> reduced =
        ReduceByLn2(Clamp(x, sizeof(T) == 4 ? T(-30) : T(-50), kExpm1High<T>));
    // With one factor of 2 deferred, 2^n can't overflow.
    const B scale = Pow2(reduced.n - B(T(1)));
    const B y = xsimd::fma(scale, Expm1Core(reduced.r), scale - B(T(0.5)));
    return Where(x == B(T(0)), x, y + y);
}

inline BatchF Exp2Core(const BatchF& r) {
    return xsimd::fma(r,
                      Poly(r, 0x1.62e42fef95eb1p-1, 0x1.ebfbe045fb75cp-3, 0x1.c6b08dc5e6fdfp-5,
                           0x1.3b2a1b69d95d7p-7, 0x1.5d874c74e7e0fp-10, 0x1.4440066b62a0ep-13,
                           0x1.00dc51f0a758fp-16),
                      BatchF(1.0f));
}
inline BatchD Exp2Core(const BatchD& r) {
    return xsimd::fma(r,
                      Poly(r, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a0c6p-5,
                           0x1.3b2ab6fba4e7dp-7, 0x1.5d87fe78a3f9ap-10, 0x1.430912f86a0d9p-13,
                           0x1.ffcbfc6da7c36p-17, 0x1.62c022494b37bp-20, 0x1.b524ebcf1f14cp-24,
                           0x1.e4cef693b7d11p-28, 0x1.e9ec237951707p-32, 0x1.c4c8d1d40259ap-36),
                      BatchD(1.0));
}

template <typename T>
inline Batch<T> Exp2(const Batch<T>& x) {
    return NoneBelow(x, sizeof(T) == 4 ? T(-152) : T(-1077), [](const Batch<T>& seen) {
        const Batch<T> bounded = MinOrSecond(Batch<T>(sizeof(T) == 4 ? T(130) : T(1026)), seen);
        const Batch<T> n = xsimd::nearbyint(bounded);
        return ScaleByPow2(Exp2Core(bounded - n), n);
    });
}

// x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), for positive finite x.
struct LogParts {
    BatchD k;
    BatchD f;
};
inline LogParts SplitNormalForLog(const BatchD& x) {
    using Bits = Batch<uint64_t>;
    const Bits moved =
        xsimd::bitwise_cast<uint64_t>(x) + Bits(0x3ff0000000000000u - 0x3fe6a09e00000000u);
    const Bits fraction = (moved & Bits(0x000fffffffffffffu)) + Bits(0x3fe6a09e00000000u);
    // The exponent becomes the low bits of a double, since there is no conversion from 64-bit
    // integers.
    const BatchD exponent = xsimd::bitwise_cast<double>((moved >> 52) | Bits(0x4330000000000000u)) -
                            BatchD(0x1p52 + 1023.0);
    return {exponent, xsimd::bitwise_cast<double>(fraction) - BatchD(1.0)};
}
inline LogParts SplitForLog(const BatchD& x) {
    const auto denormal = x < BatchD(0x1p-1022);
    const LogParts p = SplitNormalForLog(Where(denormal, x * BatchD(0x1p54), x));
    return {Where(denormal, p.k - BatchD(54.0), p.k), p.f};
}

// float precision, for normal positive x: without a division, which takes as long as all else.
// log2(1 + f) / f is minimax to 2^-41.
inline BatchD Log2Short(const BatchD& x) {
    const LogParts p = SplitNormalForLog(x);
    return xsimd::fma(p.f,
                      Poly(p.f, 0x1.71547652b89dfp+0, -0x1.715476528d4a0p-1, 0x1.ec709dbd24231p-2,
                           -0x1.715476b43e627p-2, 0x1.2776c940b6758p-2, -0x1.ec7061e234827p-3,
                           0x1.a615467182cfdp-3, -0x1.715b8d45e6d3fp-3, 0x1.488d05f3f0df2p-3,
                           -0x1.272ba25000d01p-3, 0x1.087cb97ca9ee9p-3, -0x1.e9fc7ef0d8adap-4,
                           0x1.024cf49d70e87p-3, -0x1.f9f0bee6c59ebp-4, 0x1.02cb14755b4d5p-4),
                      p.k);
}

// log(1 + f) = f - f^2/2 + LogTail(f)
inline BatchD LogTail(const BatchD& f) {
    const BatchD s = f / (f + BatchD(2.0));
    const BatchD z = s * s;
    const BatchD r = z * Poly(z, 0x1.5555555555555p-1, 0x1.9999999999a3ap-2, 0x1.2492492476691p-2,
                              0x1.c71c7201ff6fbp-3, 0x1.745cf8c29a13ap-3, 0x1.3b1c42bff7c75p-3,
                              0x1.0fbd3d0f21720p-3, 0x1.0c1134999e017p-3);
    return s * xsimd::fma(f * f, BatchD(0.5), r);
}

// Adds special cases to y, the logarithm of positive numbers: -inf for 0, infinity for infinity,
// NaN for NaN and negative numbers. y may be any finite value for these.
template <typename T>
inline Batch<T> LogBorders(const Batch<T>& x, const Batch<T>& y) {
    using B = Batch<T>;
#if defined(CX_ISA_AVX512)
    // By the class of x: NaN, 0, infinity, -inf, negative.
    constexpr int kResults = 0x03530421;
    if constexpr (sizeof(T) == 4)
        return B(_mm512_fixupimm_ps(y, x, _mm512_set1_epi32(kResults), 0));
    else
        return B(_mm512_fixupimm_pd(y, x, _mm512_set1_epi64(kResults), 0));
#else
    const B zero(T(0));
    const B infinity(std::numeric_limits<T>::infinity());
    // With the sign of the NaN that processors generate.
    const B nan(-std::numeric_limits<T>::quiet_NaN());
    const B low = ZeroUnless(x == zero, -infinity) | ZeroUnless(x < zero, nan);
    return y + (ZeroWhere(x < infinity, x) | low);
#endif
}

inline BatchD Log(const BatchD& x) {
    const LogParts p = SplitForLog(x);
    const BatchD half_square = p.f * p.f * BatchD(0.5);
    const BatchD low = xsimd::fma(p.k, BatchD(0x1.a39ef35793c76p-33), LogTail(p.f));
    const BatchD y = xsimd::fma(p.k, BatchD(0x1.62e42fee00000p-1), p.f - (half_square - low));
    return LogBorders(x, y);
}

// x = 2^k m with m between 3/4 and 3/2.
struct ScaledF {
    BatchF k;
    BatchF m;
};
inline ScaledF ScaleNormalForLog(const BatchF& x,
                                 [[maybe_unused]] const BatchF& bias = BatchF(127.0f)) {
#if defined(CX_ISA_AVX512)
    // AVX-512: 0 and infinity give exponents that are their logarithms, negative numbers give NaN.
    const BatchF m(_mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan));
    const BatchF exponent(_mm512_getexp_ps(x));
    return {Where(m < BatchF(1.0f), exponent + BatchF(1.0f), exponent), m};
#else
    using Bits = Batch<uint32_t>;
    const Bits moved = xsimd::bitwise_cast<uint32_t>(x) + Bits(0x3f800000u - 0x3f400000u);
    const BatchF k =
        xsimd::bitwise_cast<float>((moved >> 23) | Bits(0x4b000000u)) - (BatchF(0x1p23f) + bias);
    return {k, xsimd::bitwise_cast<float>((moved & Bits(0x007fffffu)) + Bits(0x3f400000u))};
#endif
}
// `scale(x, bias)` for normal numbers; denormals are scaled by 2^23 first.
inline ScaledF ScaleWithDenormals(const BatchF& x, const auto& scale) {
#if defined(CX_ISA_AVX512)
    return scale(x, BatchF(127.0f));
#else
    const auto denormal = x < BatchF(0x1p-126f);
    const BatchF factor = BatchF(1.0f) + ZeroUnless(denormal, BatchF(0x1p23f - 1.0f));
    return scale(x * factor, BatchF(127.0f) + ZeroUnless(denormal, BatchF(23.0f)));
#endif
}
inline ScaledF ScaleForLog(const BatchF& x) {
    return ScaleWithDenormals(
        x, [](const BatchF& y, const BatchF& bias) { return ScaleNormalForLog(y, bias); });
}
// The same with m between 1 and 2.
inline ScaledF ScaleFromOneForLog(const BatchF& x) {
    return ScaleWithDenormals(x, [](const BatchF& y, [[maybe_unused]] const BatchF& bias) {
#if defined(CX_ISA_AVX512)
        return ScaledF{BatchF(_mm512_getexp_ps(y)),
                       BatchF(_mm512_getmant_ps(y, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_nan))};
#else
        using Bits = Batch<uint32_t>;
        const Bits bits = xsimd::bitwise_cast<uint32_t>(y);
        const BatchF k =
            xsimd::bitwise_cast<float>((bits >> 23) | Bits(0x4b000000u)) - (BatchF(0x1p23f) + bias);
        return ScaledF{
            k, xsimd::bitwise_cast<float>((bits & Bits(0x007fffffu)) | Bits(0x3f800000u))};
#endif
    });
}
// y is k times a positive number plus something finite. With the k of AVX-512 it is right for all
// x; other sets need the special cases.
inline BatchF LogOrBorders([[maybe_unused]] const BatchF& x, const BatchF& y) {
#if defined(CX_ISA_AVX512)
    return y;
#else
    return LogBorders(x, y);
#endif
}
// Without a division, which takes half the time of all else: log(1 + f) = f - f^2/2 + f^3 P(f) with
// P minimax, where 1 + f = m. Returns P(f). Callers square f first, which hides latency: a million
// logarithms of floats take 8 % less (benchmarks/ops.py).
inline BatchF LogCubic(const BatchF& f) {
    return Poly(f, 0x1.5555a2p-2, -0x1.000040p-2, 0x1.996a02p-3, -0x1.54f040p-3, 0x1.2880fcp-3,
                -0x1.0d83ecp-3, 0x1.ac9cfep-4, -0x1.717884p-5);
}
inline BatchF Log(const BatchF& x) {
    const auto [k, m] = ScaleForLog(x);
    const BatchF f = m - BatchF(1.0f);
    const BatchF z = f * f;
    const BatchF p = LogCubic(f);
    const BatchF low = xsimd::fma(f * z, p, k * BatchF(0x1.7f7d1cp-20f));
    const BatchF rest = f + xsimd::fma(z, BatchF(-0.5f), low);
    return LogOrBorders(x, xsimd::fma(k, BatchF(0x1.62e4p-1f), rest));
}

#if defined(__FMA__) || defined(__aarch64__)
// Reciprocals of m, indexed by the upper four bits of the mantissa: 1 on both sides of 1 (for m up
// to 2, 1 and 1/2), otherwise one from the middle of the interval whose logarithm, also after
// adding k, is within 1e-4 ulp of a float; among several, one that makes logarithms of powers of
// ten integers.
struct LogTable {
    alignas(64) float inverse[16];
    alignas(64) float log[16];  // log(1 / inverse)
};
inline BatchF LookUp(const float* table, const BatchF& m) {
    const auto bits = xsimd::bitwise_cast<uint32_t>(m);
#if defined(CX_ISA_AVX512)
    return _mm512_permutexvar_ps(bits >> 19, _mm512_load_ps(table));
#elif defined(CX_ISA_AVX2)
    const Batch<uint32_t> place = bits >> 19;  // the lower three bits are used here
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(_mm256_load_ps(table), place),
                            _mm256_permutevar8x32_ps(_mm256_load_ps(table + 8), place),
                            xsimd::bitwise_cast<float>(bits << 9));
#else
    alignas(64) uint32_t places[BatchF::size];
    alignas(64) float found[BatchF::size];
    ((bits >> 19) & Batch<uint32_t>(15u)).store_aligned(places);
    for (size_t i = 0; i < BatchF::size; ++i) found[i] = table[places[i]];
    return BatchF::load_aligned(found);
#endif
}
// Logarithms to other bases b: the quotient of a number and its table entry, 1 + r, has the
// logarithm r / ln b + r^2 Q(r) with Q minimax. Constants 1 / ln b and log_b(2) are in two parts.
// Both parts of the latter are nonnegative, so that an infinite k stays infinite.
struct LogBase {
    float high, low;
    float high2, low2;
    float q[4];
    LogTable table;
};
inline BatchF LogOfBase(const BatchF& x, const ScaledF& scaled, const LogBase& base) {
    const auto& [k, m] = scaled;
    const BatchF r = xsimd::fms(m, LookUp(base.table.inverse, m), BatchF(1.0f));
    // Horner's rule: with 16 lanes, multiply throughput is the limit.
    BatchF q(base.q[3]);
    for (const float c : {base.q[2], base.q[1], base.q[0], base.low})
        q = xsimd::fma(q, r, BatchF(c));
    const BatchF low = base.low2 == 0.0f ? r * q : xsimd::fma(k, BatchF(base.low2), r * q);
    const BatchF part = xsimd::fma(r, BatchF(base.high), low);
    const BatchF whole = xsimd::fma(k, BatchF(base.high2), LookUp(base.table.log, m));
    return LogOrBorders(x, whole + part);
}
inline BatchF Log2(const BatchF& x) {
    static constexpr LogBase kBase = {
        0x1.715476p+0f,
        0x1.4ae0cp-26f,
        1.0f,
        0.0f,
        {-0x1.715476p-1f, 0x1.ec74f2p-2f, -0x1.717c4ep-2f, 0x1.173ec4p-2f},
        {{0x1.000000p+0f, 0x1.d40f6ap-1f, 0x1.bab976p-1f, 0x1.a418b6p-1f, 0x1.8f9758p-1f,
          0x1.7d0532p-1f, 0x1.6c81aap-1f, 0x1.5c8c4ap-1f, 0x1.4e5cc8p-1f, 0x1.410876p-1f,
          0x1.34c4fap-1f, 0x1.29b82ap-1f, 0x1.1fc530p-1f, 0x1.1596eep-1f, 0x1.0d22f2p-1f,
          0x1.000000p-1f},
         {0.0f, 0x1.091ceap-3f, 0x1.ad8968p-3f, 0x1.2445eap-2f, 0x1.6e33b0p-2f, 0x1.b481b0p-2f,
          0x1.f5f6ccp-2f, 0x1.1c0cf8p-1f, 0x1.3abe08p-1f, 0x1.58cac4p-1f, 0x1.758ff2p-1f,
          0x1.907b4ap-1f, 0x1.a9967ep-1f, 0x1.c4318ap-1f, 0x1.db095ap-1f, 1.0f}}};
    return LogOfBase(x, ScaleFromOneForLog(x), kBase);
}
inline BatchF Log10(const BatchF& x) {
    static constexpr LogBase kBase = {
        0x1.bcb7b2p-2f,
        -0x1.5b235ep-27f,
        0x1.3441p-2f,
        0x1.a84fbcp-21f,
        {-0x1.bcb7bp-3f, 0x1.287d12p-3f, -0x1.bce7acp-4f, 0x1.503ea4p-4f},
        {{0x1.000000p+0f, 0x1.d3c38ap-1f, 0x1.ba44e8p-1f, 0x1.a4e610p-1f, 0x1.8f736cp-1f,
          0x1.7c9a0cp-1f, 0x1.6c0a5cp-1f, 0x1.5c0978p-1f, 0x1.4dbe4ep+0f, 0x1.413152p+0f,
          0x1.35f012p+0f, 0x1.2a4deap+0f, 0x1.1f7c76p+0f, 0x1.1657c4p+0f, 0x1.0c0fd2p+0f,
          0x1.000000p+0f},
         {0.0f, 0x1.417b3ap-5f, 0x1.046fecp-4f, 0x1.5c89d8p-4f, 0x1.b99368p-4f, 0x1.07c7dep-3f,
          0x1.2f59b2p-3f, 0x1.575608p-3f, -0x1.d7bf52p-4f, -0x1.938fap-4f, -0x1.541c08p-4f,
          -0x1.100e06p-4f, -0x1.9cb03ap-5f, -0x1.29b2acp-5f, -0x1.4798f2p-6f, 0.0f}}};
    return LogOfBase(x, ScaleForLog(x), kBase);
}
#else  // without FMA, too little precision is left after cancellation
inline BatchF Log2(const BatchF& x) { return xsimd::log2(x); }
inline BatchF Log10(const BatchF& x) { return xsimd::log10(x); }
#endif

// log_b(x) for a base with 1 / ln b = high + low and log_b(2) = high2 + low2, where the products
// with `high` and `high2` are exact: as FDLIBM's e_log2.c.
inline BatchD LogOfBase(const BatchD& x, double high, double low, double high2, double low2) {
    const LogParts p = SplitForLog(x);
    const BatchD half_square = p.f * p.f * BatchD(0.5);
    const BatchD f_high = xsimd::bitwise_cast<double>(
        xsimd::bitwise_cast<uint64_t>(p.f - half_square) & Batch<uint64_t>(0xffffffff00000000u));
    const BatchD f_low = p.f - f_high - half_square + LogTail(p.f);
    const BatchD value = f_high * BatchD(high);
    const BatchD value_low = xsimd::fma(f_low + f_high, BatchD(low),
                                        xsimd::fma(f_low, BatchD(high), p.k * BatchD(low2)));
    const BatchD whole = p.k * BatchD(high2);
    const BatchD sum = whole + value;
    // The parts come in any order of magnitude, so the error of their sum is computed exactly
    // (two-sum).
    const BatchD part = sum - whole;
    const BatchD error = (whole - (sum - part)) + (value - part);
    return LogBorders(x, sum + (value_low + error));
}
inline BatchD Log2(const BatchD& x) {
    return LogOfBase(x, 0x1.7154765200000p+0, 0x1.705fc2eefa200p-33, 1.0, 0.0);
}
inline BatchD Log10(const BatchD& x) {
    return LogOfBase(x, 0x1.bcb7b15200000p-2, 0x1.b9438ca9aadd5p-36, 0x1.34413509f7000p-2,
                     0x1.3fde623e2566bp-43);
}

// 1 / x to within 1/60 for 0 < x <= 2^127 or 2^1022, better near 1: subtracts the bits, exponent
// and mantissa, from a constant.
template <typename T>
inline Batch<T> InverseNear(const Batch<T>& x) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr Bits kSum =
        sizeof(T) == 4 ? Bits(0x7f000000u) : static_cast<Bits>(0x7fe0000000000000u);
    const Batch<T> y = xsimd::bitwise_cast<T>(Batch<Bits>(kSum) - xsimd::bitwise_cast<Bits>(x));
    return y * xsimd::fnma(x, y, Batch<T>(T(2)));
}

// log(u + low) = log(u) + low / u for normal u, where `low` is a rounding error of u, so that the
// quotient may be approximate.
inline BatchD LogOfSum(const BatchD& u, const BatchD& low, const BatchD& inverse) {
    const LogParts p = SplitForLog(u);
    const BatchD half_square = p.f * p.f * BatchD(0.5);
    const BatchD least = xsimd::fma(low, inverse, LogTail(p.f));
    const BatchD rest = xsimd::fma(p.k, BatchD(0x1.a39ef35793c76p-33), least);
    return xsimd::fma(p.k, BatchD(0x1.62e42fee00000p-1), p.f - (half_square - rest));
}
inline BatchD Log1p(const BatchD& x) {
    const BatchD one(1.0);
    const BatchD u = one + x;
    const BatchD low = Where(xsimd::abs(x) < one, x - (u - one), one - (u - x));
    const auto is_normal =
        (u > BatchD(0.0)) & (u < BatchD(std::numeric_limits<double>::infinity()));
    const BatchD counted = Where(is_normal, u, one);
    const BatchD inverse = InverseNear(xsimd::min(counted, BatchD(0x1p1000)));
    const BatchD y = LogOfSum(counted, ZeroUnless(is_normal, low), inverse);
    return Where(x == BatchD(0.0), x, Where(is_normal, y, LogBorders(u, y)));
}
// log(1 + t + low) for 0 <= t < 2^1000.
inline BatchD Log1pOfSum(const BatchD& t, const BatchD& low) {
    const BatchD one(1.0);
    const BatchD u = one + t;
    const BatchD back = u - one;
    return LogOfSum(u, ((one - (u - back)) + (t - back)) + low, InverseNear(u));
}
// log(x + low) = log(x) + low / x for normal x, where `low` is a rounding error, or little more, so
// that `inverse` may be approximate.
inline BatchF LogOfSum(const BatchF& x, const BatchF& low, const BatchF& inverse) {
    const auto [k, m] = ScaleNormalForLog(x);
    const BatchF f = m - BatchF(1.0f);
    const BatchF z = f * f;
    const BatchF p = LogCubic(f);
    const BatchF least = xsimd::fma(low, inverse, k * BatchF(0x1.7f7d1cp-20f));
    const BatchF rest = f + xsimd::fma(z, BatchF(-0.5f), xsimd::fma(f * z, p, least));
    return xsimd::fma(k, BatchF(0x1.62e4p-1f), rest);
}
inline BatchF Log1p(const BatchF& x) {
    const BatchF one(1.0f);
    const BatchF u = one + x;
    const BatchF low = Where(xsimd::abs(x) < one, x - (u - one), one - (u - x));
    const BatchF counted = ZeroUnless(u < BatchF(std::numeric_limits<float>::infinity()), low);
    const BatchF y = LogOfSum(u, counted, InverseNear(Clamp(u, 0x1p-30f, 0x1p127f)));
    return Where(x == BatchF(0.0f), x, LogBorders(u, y));
}
// log(1 + t + low) for 0 <= t < 2^127.
inline BatchF Log1pOfSum(const BatchF& t, const BatchF& low) {
    const BatchF one(1.0f);
    const BatchF u = one + t;
    const BatchF back = u - one;
    const BatchF left_out = (one - (u - back)) + (t - back);
    return LogOfSum(u, left_out + low, InverseNear(u));
}

// erf(x) = x P(x^2) near 0 and 1 - exp(Q(|x|)) beyond, with P and Q minimax; Q approximates
// log(erfc) with the weight that its error has in the result.
inline BatchF Erf(const BatchF& x) {
    const BatchF a = xsimd::min(BatchF(4.1f), xsimd::abs(x));
    const BatchF small =
        xsimd::fma(x,
                   Poly(x * x, 0x1.06eba820fb0f8p-3, -0x1.81274697a47cdp-2, 0x1.ce2f1807f4d2dp-4,
                        -0x1.b82b751b5d578p-6, 0x1.5640ef1a777f5p-8, -0x1.be05b834dffbdp-11,
                        0x1.e0c33a336c57fp-14, -0x1.5a456c6dbd641p-17),
                   x);
    const BatchF q = Poly(a, 0x1.62d8a7cebbb57p-13, -0x1.212626dbfbe55p+0, -0x1.444d1e3af3915p-1,
                          -0x1.bb4547e89faeep-4, 0x1.9aebaf4236a27p-6, -0x1.1062502653403p-8,
                          0x1.c459124f49509p-12, -0x1.5d71dbc8635c5p-16);
    const BatchF large = Copysign(BatchF(1.0f) - Exp(q), x);
    const BatchF y = Where(a < BatchF(0.921875f), small, large);
    return Where(x == x, y, x);
}
inline BatchD Erf(const BatchD& x) {
    const BatchD a = xsimd::min(BatchD(6.0), xsimd::abs(x));
    const BatchD small =
        xsimd::fma(x,
                   Poly(x * x, 0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b34p-4,
                        -0x1.b82ce31284f37p-6, 0x1.565bcd0dbd8f7p-8, -0x1.c02db3db4914dp-11,
                        0x1.f9a321e4afa12p-14, -0x1.f4d1e4343e112p-17, 0x1.b9df30582cd90p-20,
                        -0x1.5f1f40e25a62bp-23, 0x1.f7b99cf5acbc5p-27, -0x1.38ac22534af27p-30,
                        0x1.06275c7524c6cp-34),
                   x);
    const BatchD q =
        Poly(a - BatchD(2.0), -0x1.575b329b1f516p+2, -0x1.1ac3258a8dc2cp+2, -0x1.d8f5dece92394p-1,
             -0x1.0dc3b5fb1095dp-6, 0x1.d406b373a1a9cp-9, -0x1.7ffcfb4712b73p-11,
             0x1.1bc3a607b6306p-13, -0x1.5b656f6988157p-16, 0x1.0604575093501p-19,
             0x1.b549bb4a6b150p-23, -0x1.73e645796659fp-23, 0x1.f0ae3b8de5dbcp-25,
             -0x1.e03ef0280e36cp-27, 0x1.5a48c1b8036ddp-29, -0x1.1a080a8191677p-32,
             -0x1.3bf20c171454ep-35, 0x1.0765298974046p-35, -0x1.6ec446fc035fcp-37,
             0x1.5472172f5d78fp-39, -0x1.85ab8ce4c4effp-42, 0x1.95d5d246c67b5p-46);
    const BatchD large = Copysign(BatchD(1.0) - Exp(q), x);
    const BatchD y = Where(a < BatchD(1.0), small, large);
    return Where(x == x, y, x);
}

// x1 == x2 covers equal infinities, whose difference is NaN.
template <typename T>
inline Batch<T> LogAddExp(const Batch<T>& x1, const Batch<T>& x2) {
    const Batch<T> y = Max(x1, x2) + Log1p(Exp(-Abs(x1 - x2)));
    return Where(x1 == x2, x1 + Batch<T>(T(0x1.62e42fefa39efp-1)), y);
}
template <typename T>
inline Batch<T> LogAddExp2(const Batch<T>& x1, const Batch<T>& x2) {
    const Batch<T> log2e(T(0x1.71547652b82fep+0));
    const Batch<T> y = Max(x1, x2) + Log1p(Exp2(-Abs(x1 - x2))) * log2e;
    return Where(x1 == x2, x1 + Batch<T>(T(1)), y);
}

template <typename T>
inline Batch<T> Sigmoid(const Batch<T>& x) {
    using B = Batch<T>;
    const B z = Exp(-Abs(x));
    return Where(x >= B(T(0)), B(T(1)), z) / (B(T(1)) + z);
}

}  // namespace math
}  // namespace
}  // namespace chainerx::native::CX_ISA
