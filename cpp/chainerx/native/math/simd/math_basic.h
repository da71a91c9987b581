// math:: without transcendental functions: selection, sign, rounding, division with remainder.
#pragma once

#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {
namespace math {

template <typename T>
inline Batch<T> Where(const xsimd::batch_bool<T>& condition, const Batch<T>& x, const Batch<T>& y) {
    return xsimd::select(condition, x, y);
}

// Select 0 or x by a mask, and the other way round. An AND, since a blend takes up to three times
// as long.
template <typename T>
inline Batch<T> ZeroWhere(const xsimd::batch_bool<T>& condition, const Batch<T>& x) {
#if defined(CX_ISA_AVX512)
    return Where(condition, Batch<T>(T(0)), x);
#else
    return xsimd::bitwise_andnot(x, Batch<T>(condition.data));
#endif
}
template <typename T>
inline Batch<T> ZeroUnless(const xsimd::batch_bool<T>& condition, const Batch<T>& x) {
#if defined(CX_ISA_AVX512)
    return Where(condition, x, Batch<T>(T(0)));
#else
    return x & Batch<T>(condition.data);
#endif
}

#define CX_XSIMD(Name, name)                  \
    template <typename T>                     \
    inline Batch<T> Name(const Batch<T>& x) { \
        return xsimd::name(x);                \
    }
CX_XSIMD(Abs, abs)
CX_XSIMD(Sqrt, sqrt)
CX_XSIMD(Floor, floor)
CX_XSIMD(Ceil, ceil)
CX_XSIMD(Trunc, trunc)
CX_XSIMD(Rint, nearbyint)
#undef CX_XSIMD

// Not `-x`: with AVX-512 xsimd computes 0 - x, which loses the sign of zero.
template <typename T>
inline Batch<T> Negate(const Batch<T>& x) {
    return x ^ Batch<T>(T(-0.0));
}
template <typename T>
inline Batch<T> Copysign(const Batch<T>& x1, const Batch<T>& x2) {
    return xsimd::bitofsign(x2) | xsimd::abs(x1);
}
// nextafter: adjacent representable numbers have adjacent bit patterns; zero is handled without its
// sign.
template <typename T>
inline Batch<T> Nextafter(const Batch<T>& x1, const Batch<T>& x2) {
    using B = Batch<T>;
    using I = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    const Batch<I> one(I(1));
    const B up = xsimd::bitwise_cast<T>(one);
    const B down = xsimd::bitwise_cast<T>(Batch<I>(I(-1)));
    const auto rises = x1 < x2;
    const B step = Where(x1 > B(T(0)), Where(rises, up, down), Where(rises, down, up));
    const B moved =
        xsimd::bitwise_cast<T>(xsimd::bitwise_cast<I>(x1) + xsimd::bitwise_cast<I>(step));
    const B from_zero = up | xsimd::bitofsign(x2);
    const B next = Where(x1 == x2, x2, Where(x1 == B(T(0)), from_zero, moved));
    return Where((x1 == x1) & (x2 == x2), next, x1 + x2);
}
// The error a * b - product, exactly. Without FMA by Dekker's splitting, which may overflow, but
// only where the caller ignores the result.
#if defined(__FMA__) || defined(__aarch64__)
template <typename T>
inline Batch<T> ProductError(const Batch<T>& a, const Batch<T>& b, const Batch<T>& product) {
    return xsimd::fms(a, b, product);
}
#else
template <typename T>
inline Batch<T> ProductError(const Batch<T>& a, const Batch<T>& b, const Batch<T>& product) {
    const Batch<T> splitter(sizeof(T) == 4 ? T(0x1p12 + 1) : T(0x1p27 + 1));
    const Batch<T> a_moved = a * splitter;
    const Batch<T> a_high = a_moved - (a_moved - a);
    const Batch<T> a_low = a - a_high;
    const Batch<T> b_moved = b * splitter;
    const Batch<T> b_high = b_moved - (b_moved - b);
    const Batch<T> b_low = b - b_high;
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
}
#endif

// a * b + c under cancellation: the rounding error of the product is included.
template <typename T>
inline Batch<T> ProductAndSum(const Batch<T>& a, const Batch<T>& b, const Batch<T>& c) {
#if defined(__FMA__) || defined(__aarch64__)
    return xsimd::fma(a, b, c);
#else
    const Batch<T> product = a * b;
    return (product + c) + ProductError(a, b, product);
#endif
}

template <typename T>
inline Batch<T> Sign(const Batch<T>& x) {
    const Batch<T> zero(T(0));
    // NaN is neither above nor below 0, and is kept.
    return Where(x > zero, Batch<T>(T(1)), Where(x < zero, Batch<T>(T(-1)), x + zero));
}

// The larger or smaller of two; x2 if one is NaN. x86 instructions do so, but the compiler may
// assume otherwise of xsimd's functions.
template <typename T>
inline Batch<T> MaxOrSecond(const Batch<T>& x1, const Batch<T>& x2) {
#if defined(CX_ISA_AVX512)
    if constexpr (sizeof(T) == 4)
        return Batch<T>(_mm512_max_ps(x1, x2));
    else
        return Batch<T>(_mm512_max_pd(x1, x2));
#elif defined(CX_ISA_AVX2)
    if constexpr (sizeof(T) == 4)
        return Batch<T>(_mm256_max_ps(x1, x2));
    else
        return Batch<T>(_mm256_max_pd(x1, x2));
#else
    return Where(x1 > x2, x1, x2);
#endif
}
template <typename T>
inline Batch<T> MinOrSecond(const Batch<T>& x1, const Batch<T>& x2) {
#if defined(CX_ISA_AVX512)
    if constexpr (sizeof(T) == 4)
        return Batch<T>(_mm512_min_ps(x1, x2));
    else
        return Batch<T>(_mm512_min_pd(x1, x2));
#elif defined(CX_ISA_AVX2)
    if constexpr (sizeof(T) == 4)
        return Batch<T>(_mm256_min_ps(x1, x2));
    else
        return Batch<T>(_mm256_min_pd(x1, x2));
#else
    return Where(x1 < x2, x1, x2);
#endif
}

// Whether either is NaN.
template <typename T>
inline xsimd::batch_bool<T> IsNanOfEither(const Batch<T>& x1, const Batch<T>& x2) {
#if defined(CX_ISA_AVX512)
    if constexpr (sizeof(T) == 4)
        return _mm512_cmp_ps_mask(x1, x2, _CMP_UNORD_Q);
    else
        return _mm512_cmp_pd_mask(x1, x2, _CMP_UNORD_Q);
#elif defined(CX_ISA_AVX2)
    if constexpr (sizeof(T) == 4)
        return _mm256_cmp_ps(x1, x2, _CMP_UNORD_Q);
    else
        return _mm256_cmp_pd(x1, x2, _CMP_UNORD_Q);
#else
    return (x1 != x1) | (x2 != x2);
#endif
}

// maximum, minimum: NaN propagates, as in NumPy.
template <typename T>
inline Batch<T> Max(const Batch<T>& x1, const Batch<T>& x2) {
    return Where(x1 == x1, MaxOrSecond(x1, x2), x1);
}
template <typename T>
inline Batch<T> Min(const Batch<T>& x1, const Batch<T>& x2) {
    return Where(x1 == x1, MinOrSecond(x1, x2), x1);
}

// fmax, fmin: NaN is ignored unless both operands are NaN.
template <typename T>
inline Batch<T> Fmax(const Batch<T>& x1, const Batch<T>& x2) {
    return Where(x2 == x2, MaxOrSecond(x1, x2), x1);
}
template <typename T>
inline Batch<T> Fmin(const Batch<T>& x1, const Batch<T>& x2) {
    return Where(x2 == x2, MinOrSecond(x1, x2), x1);
}

// The share of x1 in the gradient of maximum(x1, x2) and minimum(x1, x2): 1, 0, or 1/2 for a tie.
// NaN beats all numbers, and ties with NaN.
template <typename T>
inline Batch<T> Share(const Batch<T>& x1, const Batch<T>& x2, const xsimd::batch_bool<T>& wins) {
    const auto nan1 = x1 != x1;
    const auto nan2 = x2 != x2;
    return Where((x1 == x2) | (nan1 & nan2), Batch<T>(T(0.5)),
                 Where(nan1 | (wins & !nan2), Batch<T>(T(1)), Batch<T>(T(0))));
}
template <typename T>
inline Batch<T> MaximumShare(const Batch<T>& x1, const Batch<T>& x2) {
    return Share(x1, x2, x1 > x2);
}
template <typename T>
inline Batch<T> MinimumShare(const Batch<T>& x1, const Batch<T>& x2) {
    return Share(x1, x2, x1 < x2);
}

inline float ScalarFmod(float x1, float x2) { return __builtin_fmodf(x1, x2); }
inline double ScalarFmod(double x1, double x2) { return __builtin_fmod(x1, x2); }

// fmod, exact. A small quotient is off by at most one, so one FMA gives the remainder exactly and
// one correction fixes it; other quotients use the C function.
template <typename T>
inline Batch<T> Fmod(const Batch<T>& x1, const Batch<T>& x2) {
    using B = Batch<T>;
    const B a = xsimd::abs(x1);
    const B b = xsimd::abs(x2);
#if defined(__FMA__) || defined(__aarch64__)
    const B quotient = xsimd::trunc(a / b);
    B r = xsimd::fma(-quotient, b, a);
    r = Where(r < B(T(0)), r + b, r);
    r = Where(r >= b, r - b, r);
    r = Where(a < b, a, r);
    // NaN takes the slow path as well: it is rare, and infinities and zeros are handled there.
    const B limit(sizeof(T) == 4 ? T(0x1p22) : T(0x1p51));
    // Below the normal range, the product of quotient and b may lose bits.
    const B tiny(sizeof(T) == 4 ? T(0x1p-100) : T(0x1p-960));
    const auto slow = !(((quotient < limit) & (b > tiny)) | (a < b));
    return PatchLanes(Copysign(r, x1), slow, x1, x2, [](T p, T q) { return ScalarFmod(p, q); });
#else
    return PatchLanes(Copysign(a, x1), !(a < b), x1, x2, [](T p, T q) { return ScalarFmod(p, q); });
#endif
}

// The remainder with the sign of the divisor, as Python's %.
template <typename T>
inline Batch<T> Mod(const Batch<T>& x1, const Batch<T>& x2) {
    const Batch<T> zero(T(0));
    const Batch<T> r = Fmod(x1, x2);
    const Batch<T> shifted = Where((r < zero) != (x2 < zero), r + x2, r);
    return Where(r == zero, Copysign(zero, x2), shifted);
}

// floor(x1 / x2) without rounding of the quotient; x1 / x2 if x2 is 0. As in NumPy.
template <typename T>
inline Batch<T> FloorDiv(const Batch<T>& x1, const Batch<T>& x2) {
    using B = Batch<T>;
    const B zero(T(0));
    const B one(T(1));
    const B r = Fmod(x1, x2);
    B quotient = (x1 - r) / x2;
    quotient = Where((r != zero) & ((r < zero) != (x2 < zero)), quotient - one, quotient);
    B y = xsimd::floor(quotient);
    y = Where(quotient - y > B(T(0.5)), y + one, y);
    const B exact = x1 / x2;
    y = Where(quotient == zero, Copysign(zero, exact), y);
    return Where(x2 == zero, exact, y);
}

// Used by the scalar expressions of predicates.
inline bool IsNan(const auto& x) { return x != x; }
template <typename T>
inline bool IsInf(const T& x) {
    return (x == T(__builtin_inf())) | (x == T(-__builtin_inf()));
}
template <typename T>
inline bool IsFinite(const T& x) {
    return (x < T(__builtin_inf())) & (x > T(-__builtin_inf()));
}
inline bool SignBit(const float& x) { return __builtin_bit_cast(int32_t, x) < 0; }
inline bool SignBit(const double& x) { return __builtin_bit_cast(int64_t, x) < 0; }

}  // namespace math
}  // namespace
}  // namespace chainerx::native::CX_ISA
