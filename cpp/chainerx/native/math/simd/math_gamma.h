// math:: the gamma function and its relatives: lgamma, digamma, polygamma, the Hurwitz zeta
// function.
//
// lgamma and digamma: from 8 on Stirling's series (DLMF 5.11); in [1, 2] our own polynomials
// (Chebyshev points, 50 digits) times a factor with their zeros; in between recurrences lead down
// to [1, 2], and below 0 reflection applies. Zeta is by the Euler-Maclaurin formula (DLMF 25.11.7).
// Floats are computed in double, with fewer terms.
#pragma once

#include "chainerx/native/math/simd/math_basic.h"
#include "chainerx/native/math/simd/math_explog.h"
#include "chainerx/native/math/simd/math_normal.h"
#include "chainerx/native/math/simd/math_power.h"
#include "chainerx/native/math/simd/math_trigonometric.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {
namespace math {

inline constexpr double kPi = 0x1.921fb54442d18p+1;

// For 0 < x < 8: x minus the integer that leads to u = z - 1, z in [1, 2]; exact.
inline BatchD PlaceAboveOne(const BatchD& x) {
    return x - Where(x < BatchD(1.0), BatchD(0.0), xsimd::floor(x));
}

// x - k if the recurrence from x down to [1, 2] has that step, else 1.
inline BatchD Step(const BatchD& x, double k) {
    return Where(x >= BatchD(k + 1.0), x - BatchD(k), BatchD(1.0));
}

template <typename T>
inline BatchD LgammaAbove(const BatchD& x) {
    const BatchD u = PlaceAboveOne(x);
    const BatchD t = u + u - BatchD(1.0);
    const BatchD way = Step(x, 1) * Step(x, 2) * Step(x, 3) * Step(x, 4) * Step(x, 5) * Step(x, 6);
    const auto large = x >= BatchD(8.0);
    const auto below_one = x < BatchD(1.0);
    const BatchD log = Log(Where(large | below_one, x, way));
    const BatchD v = BatchD(1.0) / x;
    BatchD p;
    BatchD series;
    if constexpr (kForFloat<T>) {
        p = Poly(t, 0x1.eeb95b094c191p-2, -0x1.2aed066becb08p-4, 0x1.01af63a50726cp-6,
                 -0x1.0079a563308a1p-8, 0x1.1332e1d51e0eap-10, -0x1.353552c14254fp-12,
                 0x1.655f826c89946p-14, -0x1.988c90046849ep-16, 0x1.e89b3399e7d51p-18,
                 -0x1.8fa283365d177p-19, 0x1.ea2c99a990075p-21);
        series = Poly(v * v, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680);
    } else {
        p = Poly(t, 0x1.eeb95b094c191p-2, -0x1.2aed059bd6085p-4, 0x1.01af62a2929e1p-6,
                 -0x1.007aa83cef9abp-8, 0x1.133423527ae27p-10, -0x1.34dbda128eee5p-12,
                 0x1.64f0664fb6518p-14, -0x1.a5035375acabep-16, 0x1.f814b951d538bp-18,
                 -0x1.313e5323120b7p-19, 0x1.750aa27fe4301p-21, -0x1.cb502b140a127p-23,
                 0x1.1c7b46046a59cp-24, -0x1.61854b057e6e9p-26, 0x1.ba26ce28a34b0p-28,
                 -0x1.1cf3272629995p-29, 0x1.672b94917149fp-31, -0x1.6880fac68f031p-33,
                 0x1.c7d009a4fae3ap-35, -0x1.36d84fee907ffp-35, 0x1.8ca55ab6b8718p-37);
        series = Poly(v * v, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,
                      -691.0 / 360360, 1.0 / 156, -3617.0 / 122400, 43867.0 / 244188);
    }
    const BatchD small = xsimd::fma(u * (u - BatchD(1.0)), p, Where(below_one, Negate(log), log));
    // (x - 1/2) log(x) - x + log(2 pi) / 2, plus the series.
    const BatchD high = xsimd::fma(x - BatchD(0.5), log - BatchD(1.0),
                                   xsimd::fma(v, series, BatchD(0x1.acfe390c97d69p-2)));
    return Where(large, Where(x == BatchD(__builtin_inf()), x, high), small);
}

// x - rint(x), without inf - inf.
inline BatchD FromNearest(const BatchD& x) { return x - xsimd::nearbyint(x); }

template <typename T>
struct LgammaOf {
    static BatchD Apply(const BatchD& x) {
        const auto below = x < BatchD(0.0);
        const BatchD above = LgammaAbove<T>(Where(below, BatchD(1.0) - x, x));
        if (!xsimd::any(below)) return above;
        const BatchD sine = Abs(Sin(FromNearest(x) * BatchD(kPi)));
        const BatchD reflected = Log(BatchD(kPi) / sine) - above;
        const BatchD infinity(__builtin_inf());
        return Where(below, Where(x == Negate(infinity), x, reflected), above);
    }
};

template <typename T>
inline BatchD DigammaAbove(const BatchD& x) {
    const BatchD u = PlaceAboveOne(x);
    const BatchD t = u + u - BatchD(1.0);
    // The sum of 1 / (x - k) over the recurrence, as one fraction.
    BatchD up(0.0);
    BatchD down(1.0);
    for (int k = 1; k <= 6; ++k) {
        const BatchD step = Step(x, k);
        up = Where(x >= BatchD(k + 1.0), xsimd::fma(up, step, down), up);
        down = down * step;
    }
    const auto below_one = x < BatchD(1.0);
    up = Where(below_one, BatchD(-1.0), up);
    down = Where(below_one, x, down);
    // The zero is stored in two parts, since it is not representable.
    const BatchD from_zero = (u - BatchD(0x1.d8b618d5af8fcp-2)) - BatchD(0x1.b86a722197829p-54);
    const BatchD v = BatchD(1.0) / x;
    const BatchD z = v * v;
    BatchD p;
    BatchD series;
    if constexpr (kForFloat<T>) {
        p = Poly(t, 0x1.e6f0cbb359415p-1, -0x1.b1cb62f991d8ep-3, 0x1.eca1a0a5664dep-5,
                 -0x1.2feefae001d2ep-6, 0x1.850a9b11ed80ep-8, -0x1.fb3912e2595f9p-10,
                 0x1.4f00033578b98p-11, -0x1.bb6bba9c1d8b7p-13, 0x1.1523973099fbep-14,
                 -0x1.708afcc34f540p-16, 0x1.6fc2a8cc1ee58p-17, -0x1.ea009c96737f3p-19);
        series = Poly(z, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132);
    } else {
        p = Poly(t, 0x1.e6f0cbb873616p-1, -0x1.b1cb63005ee98p-3, 0x1.eca189b8e6f6dp-5,
                 -0x1.2feeeb98a78eap-6, 0x1.8512e5903903ep-8, -0x1.fb44202a2306bp-10,
                 0x1.4de9aa1779d23p-11, -0x1.b9f8b11bfd3d0p-13, 0x1.2564717896ec6p-14,
                 -0x1.863563f44f303p-16, 0x1.03c0adafa529cp-17, -0x1.5a06a5d662cb4p-19,
                 0x1.cd2011454fd05p-21, -0x1.336dbe66757c8p-22, 0x1.99d3f5c0cad5ep-24,
                 -0x1.0fb38d217b800p-25, 0x1.6a3e76070c135p-27, -0x1.fd8e50abf2196p-29,
                 0x1.53b23429da21bp-30, -0x1.2fae5cb379bf2p-32, 0x1.94e73cc9821e1p-34,
                 -0x1.75c084e78a4cdp-34, 0x1.f255c4568ac4dp-36);
        series = Poly(z, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760,
                      1.0 / 12, -3617.0 / 8160, 43867.0 / 14364, -174611.0 / 6600);
    }
    const BatchD small = xsimd::fma(from_zero, p, up / down);
    const BatchD high = Log(x) - xsimd::fma(v, BatchD(0.5), z * series);
    return Where(x >= BatchD(8.0), high, small);
}

template <typename T>
struct DigammaOf {
    static BatchD Apply(const BatchD& x) {
        const auto below = x < BatchD(0.0);
        const BatchD above = DigammaAbove<T>(Where(below, BatchD(1.0) - x, x));
        if (!xsimd::any(below)) return above;
        const BatchD r = FromNearest(x);
        const BatchD reflected = above - BatchD(kPi) / Tan(r * BatchD(kPi));
        const BatchD pole = Where(r == BatchD(0.0), BatchD(__builtin_nan("")), reflected);
        return Where(below, pole, above);
    }
};

// The sum of (scale (q + k))^-s over k >= 0, for s > 1 and q > 0: a few terms directly, the rest by
// Euler-Maclaurin: the sum of B_2j / (2j)! s (s + 1) ... (s + 2j - 2) w^(1 - 2j), by Horner's rule.
template <typename T>
inline BatchD ZetaAbove(const BatchD& s, const BatchD& q, const BatchD& scale) {
    constexpr int kTerms = kForFloat<T> ? 6 : 10;
    constexpr double kBernoulli[] = {
        1.0 / 12,
        -1.0 / 720,
        1.0 / 30240,
        -1.0 / 1209600,
        1.0 / 47900160,
        -691.0 / 1307674368000,
        1.0 / 74724249600,
        -3617.0 / 10670622842880000,
        43867.0 / 5109094217170944000,
        -174611.0 / 802857662698291200000.0,
        77683.0 / 14101100039391805440000.0,
        -236364091.0 / 1693824136731743669452800000.0,
    };
    constexpr int kLast = kForFloat<T> ? 5 : 11;
    const BatchD exponent = Negate(s);
    BatchD sum(0.0);
    // Sums from the smallest term on.
    for (int k = kTerms - 1; k >= 0; --k) sum += Pow((q + BatchD(k)) * scale, exponent);
    const BatchD w = q + BatchD(kTerms);
    const BatchD v = BatchD(1.0) / w;
    // The remainder matters only for s < 10^6: a larger power of w is 0.
    const BatchD order = MinOrSecond(BatchD(1e6), s);
    BatchD tail(kBernoulli[kLast]);
    for (int j = kLast - 1; j >= 0; --j) {
        const BatchD factor = (order + BatchD(2 * j + 1)) * v * ((order + BatchD(2 * j + 2)) * v);
        tail = xsimd::fma(factor, tail, BatchD(kBernoulli[j]));
    }
    const BatchD rest = xsimd::fma(order * v, tail, w / (s - BatchD(1.0)) + BatchD(0.5));
    const BatchD y = xsimd::fma(Pow(w * scale, exponent), rest, sum);
    return Where(q == BatchD(__builtin_inf()), BatchD(0.0), y);
}

// (-1)^n for integers.
inline BatchD SignOfOdd(const BatchD& n) {
    return Where(IsOddInteger(n), BatchD(-1.0), BatchD(1.0));
}

// For x < 0 and integer s, the terms up to 0 and those above are separate series.
template <typename T>
inline BatchD ZetaIn(const BatchD& s, const BatchD& q) {
    const BatchD zero(0.0);
    const BatchD one(1.0);
    const BatchD infinity(__builtin_inf());
    const auto below = q <= zero;
    const BatchD g = Negate(q) - xsimd::floor(Negate(q));
    BatchD y = ZetaAbove<T>(s, Where(below, one - g, q), one);
    if (xsimd::any(below)) {
        const BatchD other = ZetaAbove<T>(s, g, one) - ZetaAbove<T>(s, one - q, one);
        BatchD reflected = xsimd::fma(SignOfOdd(s), other, y);
        reflected = Where(xsimd::floor(s) == s, reflected, BatchD(__builtin_nan("")));
        y = Where(below, Where(g == zero, infinity, reflected), y);
    }
    y = Where(s > one, y, Where(s == one, infinity, BatchD(__builtin_nan(""))));
    return Where((s == s) & (q == q), y, s + q);
}

struct Factorials {
    static constexpr int kCount = 171;  // the next factorial exceeds double
    double at[kCount];

    constexpr Factorials() : at{} {
        long double product = 1;
        for (int n = 0; n < kCount; ++n) {
            if (n > 0) product *= n;
            at[n] = static_cast<double>(product);
        }
    }
};
inline constexpr Factorials kFactorials;

// n! for integers; infinite beyond the table.
inline BatchD Factorial(const BatchD& n) {
    return PatchLanes(n, n == n, n, n, [](double v, double) {
        if (!(v < Factorials::kCount)) return __builtin_inf();
        return v < 0 ? 1.0 : kFactorials.at[static_cast<int>(v)];
    });
}

// n! zeta(n + 1, x) if the factors are out of range though the product may not be.
template <typename T>
inline BatchD LargeFactors(const BatchD& n, const BatchD& x,
                           const xsimd::batch_bool<double>& beyond_factorials) {
    const BatchD s = n + BatchD(1.0);
    const BatchD half = xsimd::floor(s * BatchD(0.5));
    const BatchD product = Factorial(n) * Pow(x, Negate(half)) * Pow(x, half - s);
    const BatchD by_logarithms = Exp(LgammaAbove<T>(s) - s * Log(x));
    return Where(beyond_factorials, by_logarithms, product) * ZetaAbove<T>(s, x, BatchD(1.0) / x);
}

template <typename T>
inline BatchD PolygammaIn(const BatchD& n, const BatchD& x) {
    const BatchD zero(0.0);
    const BatchD one(1.0);
    const auto is_digamma = n == zero;
    BatchD y = xsimd::any(is_digamma) ? DigammaOf<T>::Apply(x) : zero;
    if (!xsimd::all(is_digamma)) {
        const BatchD s = n + one;
        const BatchD zeta = ZetaIn<T>(s, x);
        BatchD size = Factorial(n) * zeta;
        const auto beyond = n >= BatchD(Factorials::kCount);
        const auto out = (x > zero) & (beyond | (zeta < BatchD(0x1p-960)));
        if (xsimd::any(out)) size = Where(out, LargeFactors<T>(n, x, beyond), size);
        y = Where(is_digamma, y, Negate(SignOfOdd(n)) * size);
    }
    const auto valid = (n >= zero) & (xsimd::floor(n) == n);
    return Where(valid, y, BatchD(__builtin_nan("")));
}

CX_IN_DOUBLE(Lgamma)
CX_IN_DOUBLE(Digamma)
inline BatchD Zeta(const BatchD& s, const BatchD& q) { return ZetaIn<double>(s, q); }
inline BatchF Zeta(const BatchF& s, const BatchF& q) {
    const PairD a = Widen(s);
    const PairD b = Widen(q);
    return Narrow({ZetaIn<float>(a.low, b.low), ZetaIn<float>(a.high, b.high)});
}
inline BatchD Polygamma(const BatchD& n, const BatchD& x) { return PolygammaIn<double>(n, x); }
inline BatchF Polygamma(const BatchF& n, const BatchF& x) {
    const PairD a = Widen(n);
    const PairD b = Widen(x);
    return Narrow({PolygammaIn<float>(a.low, b.low), PolygammaIn<float>(a.high, b.high)});
}

}  // namespace math
}  // namespace
}  // namespace chainerx::native::CX_ISA
