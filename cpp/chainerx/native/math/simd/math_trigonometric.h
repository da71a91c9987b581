// math:: trigonometric functions and their inverses.
//
// sin, cos, tan: x = n pi/2 + r with pi/2 in three parts (Cody and Waite), valid up to
// kReduceLimit. Beyond it, and without FMA, floats are computed in double; doubles beyond it are
// reduced one by one (math_huge_angle.h). Polynomials are our own minimax fits (Remez).
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/native/math/simd/math_basic.h"
#include "chainerx/native/math/simd/math_explog.h"
#include "chainerx/native/math/simd/math_huge_angle.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {
namespace math {

// Up to here |r| exceeds pi/4 by less than 1 %, and the first step is exact.
template <typename T>
inline constexpr T kReduceLimit = sizeof(T) == 4 ? T(0x1p15) : T(0x1p40);

template <typename T>
struct Quadrant {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    Batch<Bits> n;
    Batch<T> r;
    Batch<T> r_low;
};
// pi/2 = high + middle + low. Near a multiple of pi, as fl(k pi), the result of the first two steps
// is far smaller than their operands, so they are exact: r is their difference, rounded, and r_low
// its error.
template <typename T>
inline Quadrant<T> ReduceByParts(const Batch<T>& x, T inverse, T high, T middle, T low, T to_bits) {
    using B = Batch<T>;
    const B turns = xsimd::fma(x, B(inverse), B(to_bits));  // n, in its low bits
    const B n = turns - B(to_bits);
#if defined(__FMA__) || defined(__aarch64__)
    const B first = xsimd::fnma(n, B(high), x);
#else
    const B product = n * B(high);
    const B first = (x - product) - ProductError(n, B(high), product);
#endif
    const B second = n * B(middle);
    const B r = first - second;
    const B back = first - r;
    const B error = (first - (r + back)) + (back - second);
    const B r_low = xsimd::fnma(n, B(low), error - ProductError(n, B(middle), second));
    return {xsimd::bitwise_cast<typename Quadrant<T>::Bits>(turns), r, r_low};
}
inline Quadrant<double> ReduceByHalfPi(const BatchD& x) {
    return ReduceByParts(x, 0x1.45f306dc9c883p-1, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                         -0x1.f1976b7ed8fbcp-110, 0x1.8p52);
}
inline xsimd::batch_bool<double> IsHuge(const BatchD& x) {
    return xsimd::abs(x) > BatchD(kReduceLimit<double>);
}
// For lanes that are huge; the results of others mean nothing.
inline Quadrant<double> ReduceHugeLanes(const BatchD& x) {
    constexpr int64_t kWidth = BatchD::size;
    alignas(64) double high[kWidth];
    alignas(64) double low[kWidth];
    alignas(64) uint64_t n[kWidth];
    Where(IsHuge(x), x, BatchD(kReduceLimit<double>)).store_aligned(high);
    for (int64_t i = 0; i < kWidth; ++i) {
        const HugeAngle angle = ReduceHuge(high[i]);
        high[i] = angle.high;
        low[i] = angle.low;
        n[i] = angle.n;
    }
    const BatchD half_pi(0x1.921fb54442d18p+0);
    const BatchD turn = BatchD::load_aligned(high);
    const BatchD r = turn * half_pi;
    const BatchD rest = BatchD::load_aligned(low) * half_pi + ProductError(turn, half_pi, r);
    return {Batch<uint64_t>::load_aligned(n), r,
            xsimd::fma(turn, BatchD(0x1.1a62633145c07p-54), rest)};
}
#if defined(__FMA__) || defined(__aarch64__)
// For floats, r is the difference of `first` and the exact product. All parts of pi/2 are positive,
// so zero keeps its sign.
inline constexpr float kHalfPiMiddle = 0x1.4442dp-24f;
inline constexpr float kHalfPiLow = 0x1.846988p-48f;
struct ReducedTurn {
    Batch<uint32_t> bits;  // n, in the low ones
    BatchF n;
    BatchF first;
    BatchF r;
};
inline ReducedTurn ReduceTurn(const BatchF& x) {
    const BatchF to_bits(0x1.8p23f);
    const BatchF turns = xsimd::fma(x, BatchF(0x1.45f306p-1f), to_bits);
    const BatchF n = turns - to_bits;
    const BatchF first = xsimd::fnma(n, BatchF(0x1.921fb4p+0f), x);
    return {xsimd::bitwise_cast<uint32_t>(turns), n, first,
            xsimd::fnma(n, BatchF(kHalfPiMiddle), first)};
}
// The rounding error of r is exact, unless r is so small that it is omitted here: r_low is the
// third part alone then.
inline Quadrant<float> ReduceByHalfPi(const BatchF& x) {
    const auto [bits, n, first, r] = ReduceTurn(x);
    const BatchF left_out = xsimd::fnma(n, BatchF(kHalfPiMiddle), first - r);
    const BatchF counted = Where(xsimd::abs(r) > BatchF(0x1p-8f), left_out, BatchF(-0.0f));
    return {bits, r, xsimd::fnma(n, BatchF(kHalfPiLow), counted)};
}
#endif

// (sin r - r) / r^3 and (cos r - 1 + r^2 / 2) / r^4 of z = r^2.
inline BatchD SinTail(const BatchD& z) {
    return Poly(z, -0x1.5555555555555p-3, 0x1.1111111110badp-7, -0x1.a01a019e82435p-13,
                0x1.71de3794aecd2p-19, -0x1.ae60090c44d47p-26, 0x1.5e0a62ed2b329p-33);
}
inline BatchF SinTail(const BatchF& z) {
    return Poly(z, -0x1.555544a290920p-3, 0x1.1106fc23aaef8p-7, -0x1.992c04fb9ce5fp-13);
}
inline BatchD CosTail(const BatchD& z) {
    return Poly(z, 0x1.5555555555555p-5, -0x1.6c16c16c16964p-10, 0x1.a01a019f4df8fp-16,
                -0x1.27e4fa16e89fbp-22, 0x1.1eeb67ea7a39dp-29, -0x1.907cea0cf7388p-37);
}
inline BatchF CosTail(const BatchF& z) {
    return Poly(z, 0x1.55554a0d3da35p-5, -0x1.6c0c221ef0cacp-10, 0x1.99e33a2bfdfdbp-16);
}

template <typename T>
inline Batch<T> SinCore(const Batch<T>& r, const Batch<T>& r_low) {
    const Batch<T> z = r * r;
    return r + xsimd::fma(r * z, SinTail(z), r_low);
}
template <typename T>
inline Batch<T> CosCore(const Batch<T>& r, const Batch<T>& r_low) {
    const Batch<T> z = r * r;
    const Batch<T> half = z * Batch<T>(T(0.5));
    const Batch<T> one(T(1));
    const Batch<T> y = one - half;
    return y + (((one - y) - half) + xsimd::fma(z * z, CosTail(z), -(r * r_low)));
}

// float precision.
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

// Goes through a float, 2 or 0, since AVX2 compares 64-bit integers slowly.
template <typename T, typename Bits>
inline xsimd::batch_bool<T> IsOdd(const Batch<Bits>& n) {
    constexpr int kShift = sizeof(T) * 8 - 2;
    return xsimd::bitwise_cast<T>((n & Batch<Bits>(1)) << kShift) > Batch<T>(T(0));
}
// The sign bit of quadrants 2 and 3.
template <typename T, typename Bits>
inline Batch<T> QuadrantSign(const Batch<Bits>& n) {
    constexpr int kShift = sizeof(T) * 8 - 2;
    return xsimd::bitwise_cast<T>((n & Batch<Bits>(2)) << kShift);
}

struct Sine {
    template <typename T>
    static Batch<T> Pick(const Quadrant<T>& q, const Batch<T>& sine, const Batch<T>& cosine) {
        return QuadrantSign<T>(q.n) ^ Where(IsOdd<T>(q.n), cosine, sine);
    }
};
struct Cosine {
    template <typename T>
    static Batch<T> Pick(const Quadrant<T>& q, const Batch<T>& sine, const Batch<T>& cosine) {
        using Bits = typename Quadrant<T>::Bits;
        return QuadrantSign<T>(q.n + Batch<Bits>(1)) ^ Where(IsOdd<T>(q.n), sine, cosine);
    }
};
struct Tangent {
    template <typename T>
    static Batch<T> Pick(const Quadrant<T>& q, const Batch<T>& sine, const Batch<T>& cosine) {
        const auto odd = IsOdd<T>(q.n);
        return Where(odd, Negate(cosine), sine) / Where(odd, sine, cosine);
    }
};

template <typename F, typename T>
inline Batch<T> CircularOf(const Quadrant<T>& q) {
    return F::Pick(q, SinCore(q.r, q.r_low), CosCore(q.r, q.r_low));
}
template <typename F, typename T>
inline Batch<T> CircularNear(const Batch<T>& x) {
    return CircularOf<F>(ReduceByHalfPi(x));
}
// `near` where x is not huge.
template <typename F>
[[gnu::noinline]] BatchD CircularWithHuge(const BatchD& x, const BatchD& near) {
    return Where(IsHuge(x), CircularOf<F>(ReduceHugeLanes(x)), near);
}
template <typename F>
inline BatchD CircularForFloat(const BatchD& x) {
    const Quadrant<double> q = ReduceByHalfPi(x);
    return F::Pick(q, SinCoreShort(q.r), CosCoreShort(q.r));
}

template <typename F>
inline BatchD Circular(const BatchD& x) {
    const BatchD near = CircularNear<F>(x);
    if (!xsimd::any(IsHuge(x))) [[likely]]
        return near;
    return CircularWithHuge<F>(x, near);
}
template <typename F>
inline BatchF CircularByDouble(const BatchF& x) {
    const PairD wide = Widen(x);
    PairD y{CircularForFloat<F>(wide.low), CircularForFloat<F>(wide.high)};
    const BatchF limit(static_cast<float>(kReduceLimit<double>));
    if (xsimd::any(xsimd::abs(x) > limit)) [[unlikely]] {
        y = {CircularWithHuge<F>(wide.low, y.low), CircularWithHuge<F>(wide.high, y.high)};
    }
    return Narrow(y);
}
// `near` where |x| <= kReduceLimit, else the slow path.
template <typename F>
inline BatchF CircularUnlessFar(const BatchF& x, const BatchF& near) {
    const auto far = xsimd::abs(x) > BatchF(kReduceLimit<float>);
    if (!xsimd::any(far)) [[likely]]
        return near;
    return Where(far, CircularByDouble<F>(x), near);
}
template <typename F>
inline BatchF Circular(const BatchF& x) {
#if defined(__FMA__) || defined(__aarch64__)
    return CircularUnlessFar<F>(x, CircularNear<F>(x));
#else
    return CircularByDouble<F>(x);
#endif
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
inline BatchD Tan(const BatchD& x) { return Where(x == BatchD(0.0), x, Circular<Tangent>(x)); }
#if defined(__FMA__) || defined(__aarch64__)
// One polynomial, and its reciprocal in odd quadrants, instead of sine and cosine. r's error
// matters only near a multiple of pi/2, where r is exact but for the third part.
inline BatchF Tan(const BatchF& x) {
    const ReducedTurn turn = ReduceTurn(x);
    const BatchF r = xsimd::fnma(turn.n, BatchF(kHalfPiLow), turn.r);
    const BatchF z = r * r;
    const BatchF tail = Poly(z, 0x1.555564p-2, 0x1.110caep-3, 0x1.bb02e6p-5, 0x1.5b2212p-6,
                             0x1.6b0b82p-7, -0x1.c66514p-13, 0x1.28a46cp-8);
    const BatchF tan = xsimd::fma(r * z, tail, r);
    const auto odd = IsOdd<float>(turn.bits);
    const BatchF y = Where(odd, BatchF(-1.0f), tan) / Where(odd, tan, BatchF(1.0f));
    return CircularUnlessFar<Tangent>(x, y);
}
#else
inline BatchF Tan(const BatchF& x) {
    return Where(x == BatchF(0.0f), x, CircularByDouble<Tangent>(x));
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

// asin(a) for 0 <= a <= 1; for large a by pi/2 - 2 asin(sqrt((1 - a) / 2)).
struct ArcSine {
    xsimd::batch_bool<float> large;
    BatchF y;
};
inline ArcSine AsinParts(const BatchF& a) {
    const BatchF half(0.5f);
    const auto large = a > half;
    const BatchF z = Where(large, xsimd::fnma(a, half, half), a * a);
    const BatchF s = Where(large, xsimd::sqrt(z), a);
    const BatchF y =
        xsimd::fma(s * z,
                   Poly(z, 0x1.555554d53509ap-3, 0x1.333448c35fda7p-4, 0x1.6d55b7021ad67p-5,
                        0x1.fe1576dd79fb3p-6, 0x1.1687513092958p-6, 0x1.15f6f5bda1829p-5),
                   s);
    return {large, Where(large, y + y, y)};
}

// For doubles as the sum of s and a low part, before it is doubled for large a. The quotient is
// that of FDLIBM's e_asin.c (Sun Microsystems).
struct ArcSineD {
    xsimd::batch_bool<double> large;
    BatchD s;
    BatchD low;
};
inline ArcSineD AsinParts(const BatchD& a) {
    const BatchD half(0.5);
    const BatchD one(1.0);
    const auto large = a > half;
    const BatchD z = Where(large, (one - a) * half, a * a);
    const BatchD s = Where(large, xsimd::sqrt(z), a);
    // What the square root lacks.
    const BatchD rest = ProductAndSum(Negate(s), s, z) * InverseNear(s + BatchD(0x1p-500) + s);
    const BatchD p =
        Poly(z, 1.66666666666666657415e-01, -3.25565818622400915405e-01, 2.01212532134862925881e-01,
             -4.00555345006794114027e-02, 7.91534994289814532176e-04, 3.47933107596021167570e-05);
    const BatchD q = Poly(z, 1.0, -2.40339491173441421878e+00, 2.02094576023350569471e+00,
                          -6.88283971605453293030e-01, 7.70381505559019352791e-02);
    return {large, s, xsimd::fma(s, z * p / q, ZeroUnless(large, rest))};
}
// n pi/2 - (s + low), for n = 1, 2
inline BatchD FromHalfPi(double n, const BatchD& s, const BatchD& low) {
    const BatchD high(n * HalfPi<double>::kHigh);
    const BatchD y = high - s;
    return y + (((high - y) - s) + (BatchD(n * HalfPi<double>::kLow) - low));
}

inline BatchD Asin(const BatchD& x) {
    const auto [large, s, low] = AsinParts(xsimd::abs(x));
    return Copysign(Where(large, FromHalfPi(1.0, s + s, low + low), s + low), x);
}
inline BatchF Asin(const BatchF& x) {
    const auto [large, y] = AsinParts(xsimd::abs(x));
    return Copysign(Where(large, FromHalfPi(1.0f, y), y), x);
}

// pi/2 - asin(x); for large |x| the half-angle form, subtracted from pi if x is negative.
inline BatchD Acos(const BatchD& x) {
    const auto [large, s, low] = AsinParts(xsimd::abs(x));
    const BatchD sign = xsimd::bitofsign(x);
    const BatchD near = FromHalfPi(1.0, s ^ sign, low ^ sign);
    const BatchD far =
        Where(x < BatchD(0.0), FromHalfPi(2.0, s + s, low + low), (s + low) + (s + low));
    return Where(large, far, near);
}
inline BatchF Acos(const BatchF& x) {
    const auto [large, y] = AsinParts(xsimd::abs(x));
    const BatchF zero(0.0f);
    const BatchF signed_y = xsimd::bitofsign(x) ^ Where(large, y, Negate(y));
    const BatchF turns = Where(large, Where(x < zero, BatchF(2.0f), zero), BatchF(1.0f));
    return xsimd::fma(turns, BatchF(HalfPi<float>::kHigh),
                      xsimd::fma(turns, BatchF(HalfPi<float>::kLow), signed_y));
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
    // Equal operands: 1 also for two infinities, 0 for two zeros.
    const B q = Where(low == high, Where(high == B(T(0)), high, B(T(1))), low / high);
    B y = AtanCore(q);
    y = Where(steep, FromHalfPi(T(1), y), y);
    y = Where(Copysign(B(T(1)), x2) < B(T(0)), FromHalfPi(T(2), y), y);
    return Where((x1 == x1) & (x2 == x2), Copysign(y, x1), x1 + x2);
}

}  // namespace math
}  // namespace
}  // namespace chainerx::native::CX_ISA
