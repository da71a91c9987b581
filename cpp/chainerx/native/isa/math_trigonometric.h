// math:: circular functions and their inverses.
//
// sin, cos, tan: x = n pi/2 + r with pi/2 in three parts and fused steps (Cody and Waite), which
// holds up to kReduceLimit; beyond it the C library reduces, element by element. Floats are
// computed in double. Polynomials are our own minimax fits (Remez).
#pragma once

#include "chainerx/native/isa/batch.h"
#include "chainerx/native/isa/math_basic.h"

namespace chainerx::native {
namespace CX_ISA {
namespace {
namespace math {

#if defined(__FMA__) || defined(__aarch64__)

// Up to here n has an error of less than 2^-12 and n * (pi/2 rounded) leaves the first step exact.
inline constexpr double kReduceLimit = 0x1p40;

struct Quadrant {
    Batch<uint64_t> n;
    BatchD r;
    BatchD r_low;
};
inline Quadrant ReduceByHalfPi(const BatchD& x) {
    const BatchD n = xsimd::nearbyint(x * BatchD(0x1.45f306dc9c883p-1));
    const BatchD first = xsimd::fnma(n, BatchD(0x1.921fb54442d18p+0), x);
    const BatchD r = xsimd::fnma(n, BatchD(0x1.1a62633145c07p-54), first);
    const BatchD error = xsimd::fnma(n, BatchD(0x1.1a62633145c07p-54), first - r);
    const BatchD r_low = xsimd::fnma(n, BatchD(-0x1.f1976b7ed8fbcp-110), error);
    return {xsimd::bitwise_cast<uint64_t>(n + BatchD(0x1.8p52)), r, r_low};
}

inline BatchD SinCore(const BatchD& r, const BatchD& r_low) {
    const BatchD z = r * r;
    const BatchD p = Poly(z, -0x1.5555555555555p-3, 0x1.1111111110badp-7, -0x1.a01a019e82435p-13,
                          0x1.71de3794aecd2p-19, -0x1.ae60090c44d47p-26, 0x1.5e0a62ed2b329p-33);
    return r + xsimd::fma(r * z, p, r_low);
}
inline BatchD CosCore(const BatchD& r, const BatchD& r_low) {
    const BatchD z = r * r;
    const BatchD half = z * BatchD(0.5);
    const BatchD p = Poly(z, 0x1.5555555555555p-5, -0x1.6c16c16c16964p-10, 0x1.a01a019f4df8fp-16,
                          -0x1.27e4fa16e89fbp-22, 0x1.1eeb67ea7a39dp-29, -0x1.907cea0cf7388p-37);
    const BatchD y = BatchD(1.0) - half;
    return y + (((BatchD(1.0) - y) - half) + xsimd::fma(z * z, p, -(r * r_low)));
}

// Good for the precision of float.
inline BatchD SinCoreShort(const BatchD& r) {
    const BatchD z = r * r;
    return xsimd::fma(r * z,
                      Poly(z, -0x1.555555545d8b7p-3, 0x1.11110dedac4c5p-7, -0x1.a013a54cfcd3fp-13,
                           0x1.6dbd3e089ad17p-19),
                      r);
}
inline BatchD CosCoreShort(const BatchD& r) {
    const BatchD z = r * r;
    return xsimd::fma(z,
                      Poly(z, -0.5, 0x1.55555555029ecp-5, -0x1.6c16bf53cfa4ep-10,
                           0x1.a015c2e0d6eabp-16, -0x1.2523c0c19e793p-22),
                      BatchD(1.0));
}

// Through a double, 2 or 0: AVX2 compares 64-bit integers slowly.
inline xsimd::batch_bool<double> IsOdd(const Batch<uint64_t>& n) {
    return xsimd::bitwise_cast<double>((n & Batch<uint64_t>(1)) << 62) > BatchD(0.0);
}
// The sign bit of quadrants 2 and 3.
inline BatchD QuadrantSign(const Batch<uint64_t>& n) {
    return xsimd::bitwise_cast<double>((n & Batch<uint64_t>(2)) << 62);
}

struct Sine {
    static BatchD Full(const Quadrant& q) {
        return QuadrantSign(q.n) ^ Where(IsOdd(q.n), CosCore(q.r, q.r_low), SinCore(q.r, q.r_low));
    }
    static BatchD Short(const Quadrant& q) {
        return QuadrantSign(q.n) ^ Where(IsOdd(q.n), CosCoreShort(q.r), SinCoreShort(q.r));
    }
    static double Huge(double x) { return __builtin_sin(x); }
};
struct Cosine {
    static BatchD Full(const Quadrant& q) {
        return QuadrantSign(q.n + Batch<uint64_t>(1)) ^
               Where(IsOdd(q.n), SinCore(q.r, q.r_low), CosCore(q.r, q.r_low));
    }
    static BatchD Short(const Quadrant& q) {
        return QuadrantSign(q.n + Batch<uint64_t>(1)) ^
               Where(IsOdd(q.n), SinCoreShort(q.r), CosCoreShort(q.r));
    }
    static double Huge(double x) { return __builtin_cos(x); }
};
struct Tangent {
    static BatchD Quotient(const Quadrant& q, const BatchD& sine, const BatchD& cosine) {
        const auto odd = IsOdd(q.n);
        return Where(odd, Negate(cosine), sine) / Where(odd, sine, cosine);
    }
    static BatchD Full(const Quadrant& q) {
        return Quotient(q, SinCore(q.r, q.r_low), CosCore(q.r, q.r_low));
    }
    static BatchD Short(const Quadrant& q) {
        return Quotient(q, SinCoreShort(q.r), CosCoreShort(q.r));
    }
    static double Huge(double x) { return __builtin_tan(x); }
};

template <typename F>
inline BatchD Circular(const BatchD& x) {
    return PatchLanes(F::Full(ReduceByHalfPi(x)), xsimd::abs(x) > BatchD(kReduceLimit), x, x,
                      [](double v, double) { return F::Huge(v); });
}
template <typename F>
inline BatchF Circular(const BatchF& x) {
    const PairD wide = Widen(x);
    const BatchF y =
        Narrow({F::Short(ReduceByHalfPi(wide.low)), F::Short(ReduceByHalfPi(wide.high))});
    return PatchLanes(y, xsimd::abs(x) > BatchF(static_cast<float>(kReduceLimit)), x, x,
                      [](float v, float) { return static_cast<float>(F::Huge(v)); });
}

// The reduction loses the sign of zero.
template <typename T>
inline Batch<T> Sin(const Batch<T>& x) {
    return Where(x == Batch<T>(T(0)), x, Circular<Sine>(x));
}
template <typename T>
inline Batch<T> Cos(const Batch<T>& x) {
    return Circular<Cosine>(x);
}
template <typename T>
inline Batch<T> Tan(const Batch<T>& x) {
    return Where(x == Batch<T>(T(0)), x, Circular<Tangent>(x));
}

#else  // without fused steps the reduction above does not hold

template <typename T>
inline Batch<T> Sin(const Batch<T>& x) {
    return xsimd::sin(x);
}
template <typename T>
inline Batch<T> Cos(const Batch<T>& x) {
    return xsimd::cos(x);
}
template <typename T>
inline Batch<T> Tan(const Batch<T>& x) {
    return xsimd::tan(x);
}

#endif

template <typename T>
struct HalfPi {
    static constexpr T kHigh = T(0x1.921fb54442d18p+0);
    static constexpr T kLow = T(0x1.1a62633145c07p-54);
};
template <>
struct HalfPi<float> {
    static constexpr float kHigh = 0x1.921fb6p+0f;
    static constexpr float kLow = -0x1.777a5cp-25f;
};

// pi/2 * n - a, for n = 1, 2
template <typename T>
inline Batch<T> FromHalfPi(T n, const Batch<T>& a) {
    return Batch<T>(n * HalfPi<T>::kHigh) - (a - Batch<T>(n * HalfPi<T>::kLow));
}

inline BatchD Asin(const BatchD& x) { return xsimd::asin(x); }
inline BatchF Asin(const BatchF& x) {
    const BatchF a = xsimd::abs(x);
    const auto large = a > BatchF(0.5f);
    const BatchF z = Where(large, (BatchF(1.0f) - a) * BatchF(0.5f), a * a);
    const BatchF s = Where(large, xsimd::sqrt(z), a);
    const BatchF y =
        xsimd::fma(s * z,
                   Poly(z, 0x1.555554d53509ap-3, 0x1.333448c35fda7p-4, 0x1.6d55b7021ad67p-5,
                        0x1.fe1576dd79fb3p-6, 0x1.1687513092958p-6, 0x1.15f6f5bda1829p-5),
                   s);
    return Copysign(Where(large, FromHalfPi(1.0f, y + y), y), x);
}

template <typename T>
inline Batch<T> Acos(const Batch<T>& x) {
    return xsimd::acos(x);
}

// atan(q) for 0 <= q <= 1.
inline BatchF AtanCore(const BatchF& q) {
    const BatchF z = q * q;
    return xsimd::fma(q * z,
                      Poly(z, -0x1.55555535067eap-2, 0x1.9999633d9722dp-3, -0x1.248ab7c0401f9p-3,
                           0x1.c6493af4c6339p-4, -0x1.6e6970e06e8f6p-4, 0x1.21a4b126b4109p-4,
                           -0x1.9687a6dbeeeedp-5, 0x1.b9af72cbec548p-6, -0x1.3701e8146fbd5p-7,
                           0x1.9a583f331f915p-10),
                      q);
}
inline BatchD AtanCore(const BatchD& q) {
    const BatchD z = q * q;
    return xsimd::fma(q * z,
                      Poly(z, -0x1.5555555555555p-2, 0x1.999999999991ep-3, -0x1.249249248db46p-3,
                           0x1.c71c71c4f1a05p-4, -0x1.745d1700306edp-4, 0x1.3b13abddf9c2bp-4,
                           -0x1.1110ca357c577p-4, 0x1.e1dcb139364c1p-5, -0x1.af04766ab20abp-5,
                           0x1.855ac1dbc752cp-5, -0x1.612239e2162f7p-5, 0x1.3dcbe5eba9ba5p-5,
                           -0x1.1596a1a3096e9p-5, 0x1.c72654b5e0ac0p-6, -0x1.4fd374f3c2a98p-6,
                           0x1.a9e9ef9f5324dp-7, -0x1.ba167f8c90041p-8, 0x1.633583734621ap-9,
                           -0x1.9a3997763f54ap-11, 0x1.2ce170d016b20p-13, -0x1.a31f227e28702p-17),
                      q);
}

template <typename T>
inline Batch<T> Atan(const Batch<T>& x) {
    const Batch<T> a = xsimd::abs(x);
    const Batch<T> one(T(1));
    const auto large = a > one;
    const Batch<T> y = AtanCore(Where(large, one / a, a));
    return Copysign(Where(large, FromHalfPi(T(1), y), y), x);
}

template <typename T>
inline Batch<T> Atan2(const Batch<T>& x1, const Batch<T>& x2) {
    using B = Batch<T>;
    const B a1 = xsimd::abs(x1);
    const B a2 = xsimd::abs(x2);
    const auto steep = a1 > a2;
    const B low = Where(steep, a2, a1);
    const B high = Where(steep, a1, a2);
    // Equal: 1 also for two infinities, 0 for two zeros.
    const B q = Where(low == high, Where(high == B(T(0)), high, B(T(1))), low / high);
    B y = AtanCore(q);
    y = Where(steep, FromHalfPi(T(1), y), y);
    y = Where(Copysign(B(T(1)), x2) < B(T(0)), FromHalfPi(T(2), y), y);
    return Where((x1 == x1) & (x2 == x2), Copysign(y, x1), x1 + x2);
}

}  // namespace math
}  // namespace
}  // namespace CX_ISA
}  // namespace chainerx::native
