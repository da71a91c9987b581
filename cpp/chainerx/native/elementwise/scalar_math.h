// The namespace math of the elementwise tables for integers, bools and complex numbers. Floats are
// computed in batches instead (native/math/simd/math.h).
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "chainerx/core/dtype.h"
#include "chainerx/native/elementwise/complex_math.h"
#include "chainerx/native/elementwise/divide_loops.h"
#include "chainerx/native/elementwise/power_loop.h"

namespace chainerx::native::math {

template <typename T>
inline T Where(bool condition, T x, T y) {
    return condition ? x : y;
}

template <typename T>
inline T Negate(const T& x) {
    if constexpr (std::is_unsigned_v<T>) {
        // GCC 12 vectorizes -x of short signed integers, but computes unsigned ones in int32.
        return static_cast<T>(-static_cast<std::make_signed_t<T>>(x));
    } else {
        return static_cast<T>(-x);
    }
}
template <typename T>
inline T Abs(T x) {
    if constexpr (std::is_signed_v<T>)
        return x < 0 ? -x : x;
    else
        return x;
}
// The absolute value as an unsigned number, which also holds that of the most negative one.
template <typename T>
inline std::make_unsigned_t<T> Magnitude(T x) {
    const auto u = static_cast<std::make_unsigned_t<T>>(x);
    return x < 0 ? static_cast<std::make_unsigned_t<T>>(0 - u) : u;
}
template <typename T>
inline T Sign(T x) {
    return static_cast<T>((x > 0) - (x < 0));
}
template <typename T>
inline T Max(T x1, T x2) {
    return x1 > x2 ? x1 : x2;
}
template <typename T>
inline T Min(T x1, T x2) {
    return x1 < x2 ? x1 : x2;
}
// Without NaN these are equal to maximum and minimum.
template <typename T>
inline T Fmax(T x1, T x2) {
    return Max(x1, x2);
}
template <typename T>
inline T Fmin(T x1, T x2) {
    return Min(x1, x2);
}
// Integers are rounded already.
template <typename T>
inline T Ceil(T x) {
    return x;
}
template <typename T>
inline T Floor(T x) {
    return x;
}
template <typename T>
inline T Trunc(T x) {
    return x;
}

// Division by zero gives 0; the one quotient that overflows wraps.
template <typename T>
inline T FloorDiv(T x1, T x2) {
    if (x2 == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
        if (x2 == -1) return -x1;
        const T q = x1 / x2;
        return q - ((x1 % x2 != 0) & ((x1 < 0) != (x2 < 0)));
    } else {
        return x1 / x2;
    }
}
// Tags for special loops: AnyScalar if x2 is a single value, AnyArray otherwise.
struct AnyScalar {};
struct AnyArray {};
template <typename T>
inline BinaryLoop FloorDiv(T, AnyScalar) {
    return divide_loops().floor[static_cast<int>(kDtypeOf<T>)];
}
template <typename T>
inline BinaryLoop Mod(T, AnyScalar) {
    return divide_loops().remainder[static_cast<int>(kDtypeOf<T>)];
}
template <typename T>
inline BinaryLoop FloorDiv(T, AnyArray) {
    return divide_loops().floor_of_pairs[static_cast<int>(kDtypeOf<T>)];
}
template <typename T>
inline BinaryLoop Mod(T, AnyArray) {
    return divide_loops().remainder_of_pairs[static_cast<int>(kDtypeOf<T>)];
}
template <typename T>
inline BinaryLoop Fmod(T, AnyArray) {
    return divide_loops().fmod_of_pairs[static_cast<int>(kDtypeOf<T>)];
}
template <typename T>
inline BinaryLoop Pow(T, AnyArray) {
    return &PowerOfPairs<T>;
}
template <typename T>
inline T Fmod(T x1, T x2) {
    if (x2 == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
        if (x2 == -1) return 0;
    }
    return x1 % x2;
}
template <typename T>
inline T Mod(T x1, T x2) {
    const T r = Fmod(x1, x2);
    if constexpr (std::is_signed_v<T>) {
        return r != 0 && (r < 0) != (x2 < 0) ? r + x2 : r;
    } else {
        return r;
    }
}

// Power of complex numbers; integers have their own loops.
template <typename T>
    requires kIsComplexType<T>
inline T Pow(const T& x1, const T& x2) {
    if (x2 == T(0)) return T(1);
    if (x1 == T(0)) return x2.real() > 0 ? T(0) : T(NAN, NAN);
    // As in NumPy, small integer powers are products: 1j**1 is 1j.
    constexpr int kSmall = 100;
    using R = typename T::value_type;
    const R exponent = x2.real();
    if (x2.imag() == 0 && std::abs(exponent) < kSmall && std::trunc(exponent) == exponent) {
        auto n = static_cast<unsigned>(std::abs(exponent));
        T square = x1;
        for (; (n & 1) == 0; n >>= 1) square = square * square;
        T y = square;
        while ((n >>= 1) != 0) {
            square = square * square;
            if ((n & 1) != 0) y = y * square;
        }
        return exponent < 0 ? T(1) / y : y;
    }
    return std::pow(x1, x2);
}

// Greatest common divisor; gcd(0, x) is x. Not std::gcd, whose absolute values may overflow.
template <typename T>
inline T Gcd(T x1, T x2) {
    if constexpr (std::is_same_v<T, bool>) {
        return x1 || x2;
    } else {
        auto a = Magnitude(x1);
        auto b = Magnitude(x2);
        while (b != 0) {
            const auto rest = a % b;
            a = b;
            b = rest;
        }
        return static_cast<T>(a);
    }
}
template <typename T>
inline T Lcm(T x1, T x2) {
    if constexpr (std::is_same_v<T, bool>) {
        return x1 && x2;
    } else {
        if (x1 == 0 || x2 == 0) return 0;
        return static_cast<T>(Magnitude(x1) / Magnitude(Gcd(x1, x2)) * Magnitude(x2));
    }
}

template <typename T>
inline T Invert(T x) {
    if constexpr (std::is_same_v<T, bool>)
        return x ^ true;  // the compiler does not vectorize !x
    else
        return static_cast<T>(~x);
}

// Shifts. The count may be any number. The compute type of small integers is wider than their
// dtype: bits shifted out of the dtype are lost in the conversion back, and a right shift of the
// extended value is the same.
template <typename T>
inline T LeftShift(T x1, T x2) {
    const bool inside = static_cast<std::make_unsigned_t<T>>(x2) < sizeof(T) * 8;
    return inside ? static_cast<T>(x1 << x2) : T(0);
}
template <typename T>
inline T RightShift(T x1, T x2) {
    const bool inside = static_cast<std::make_unsigned_t<T>>(x2) < sizeof(T) * 8;
    return inside ? static_cast<T>(x1 >> x2) : static_cast<T>(x1 < 0 ? T(-1) : T(0));
}

template <typename T>
inline bool IsNan(const T& x) {
    if constexpr (kIsComplexType<T>)
        return std::isnan(x.real()) || std::isnan(x.imag());
    else
        return false;
}
template <typename T>
inline bool IsInf(const T& x) {
    if constexpr (kIsComplexType<T>)
        return std::isinf(x.real()) || std::isinf(x.imag());
    else
        return false;
}
template <typename T>
inline bool IsFinite(const T& x) {
    if constexpr (kIsComplexType<T>)
        return std::isfinite(x.real()) && std::isfinite(x.imag());
    else
        return true;
}
template <typename T>
inline bool SignBit(T x) {
    if constexpr (std::is_signed_v<T>)
        return x < 0;
    else
        return false;
}

// Functions of floats only: the dtype rules of their rows exclude all other types.
#define CX_FLOATS_ONLY(Name, ...) \
    template <typename T>         \
    T Name(__VA_ARGS__) = delete;
CX_FLOATS_ONLY(Sigmoid, T x)
CX_FLOATS_ONLY(Cbrt, T x)
CX_FLOATS_ONLY(Erf, T x)
CX_FLOATS_ONLY(Erfc, T x)
CX_FLOATS_ONLY(Erfcx, T x)
CX_FLOATS_ONLY(ErfcxSlope, T x)
CX_FLOATS_ONLY(Erfinv, T x)
CX_FLOATS_ONLY(Erfcinv, T x)
CX_FLOATS_ONLY(Ndtr, T x)
CX_FLOATS_ONLY(LogNdtr, T x)
CX_FLOATS_ONLY(LogNdtrSlope, T x)
CX_FLOATS_ONLY(Ndtri, T x)
CX_FLOATS_ONLY(Logit, T x)
CX_FLOATS_ONLY(LogExpit, T x)
CX_FLOATS_ONLY(Entr, T x)
CX_FLOATS_ONLY(I0, T x)
CX_FLOATS_ONLY(I0e, T x)
CX_FLOATS_ONLY(I1, T x)
CX_FLOATS_ONLY(I1e, T x)
CX_FLOATS_ONLY(BesselRatio, T x, T order)
CX_FLOATS_ONLY(BesselMoment, T x, T order)
CX_FLOATS_ONLY(Lgamma, T x)
CX_FLOATS_ONLY(Digamma, T x)
CX_FLOATS_ONLY(Silu, T x)
CX_FLOATS_ONLY(SiluSlope, T x)
CX_FLOATS_ONLY(Mish, T x)
CX_FLOATS_ONLY(MishSlope, T x)
CX_FLOATS_ONLY(GeluErf, T x)
CX_FLOATS_ONLY(GeluErfSlope, T x)
CX_FLOATS_ONLY(GeluTanh, T x)
CX_FLOATS_ONLY(GeluTanhSlope, T x)
CX_FLOATS_ONLY(Rint, T x)
CX_FLOATS_ONLY(Copysign, T x1, T x2)
CX_FLOATS_ONLY(Nextafter, T x1, T x2)
CX_FLOATS_ONLY(MaximumShare, T x1, T x2)
CX_FLOATS_ONLY(MinimumShare, T x1, T x2)
CX_FLOATS_ONLY(LogAddExp, T x1, T x2)
CX_FLOATS_ONLY(LogAddExp2, T x1, T x2)
CX_FLOATS_ONLY(Atan2, T x1, T x2)
CX_FLOATS_ONLY(Hypot, T x1, T x2)
CX_FLOATS_ONLY(Xlogy, T x1, T x2)
CX_FLOATS_ONLY(Xlog1py, T x1, T x2)
CX_FLOATS_ONLY(RelEntr, T x1, T x2)
CX_FLOATS_ONLY(Polygamma, T x1, T x2)
CX_FLOATS_ONLY(Zeta, T x1, T x2)
CX_FLOATS_ONLY(Gammainc, T x1, T x2)
CX_FLOATS_ONLY(Gammaincc, T x1, T x2)
CX_FLOATS_ONLY(Gammaincinv, T x1, T x2)
CX_FLOATS_ONLY(Gammainccinv, T x1, T x2)
CX_FLOATS_ONLY(GammaDensity, T x1, T x2)
CX_FLOATS_ONLY(GammaincSlope, T x1, T x2)
CX_FLOATS_ONLY(BetaincSlope, T x1, T x2, T x3)
CX_FLOATS_ONLY(Betainc, T x1, T x2, T x3)
CX_FLOATS_ONLY(Betaincinv, T x1, T x2, T x3)
CX_FLOATS_ONLY(BetaDensity, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogGammaDensity, T x1, T x2)
CX_FLOATS_ONLY(LogGammainc, T x1, T x2)
CX_FLOATS_ONLY(LogGammaincc, T x1, T x2)
CX_FLOATS_ONLY(GammaincRate, T x1, T x2)
CX_FLOATS_ONLY(GammainccRate, T x1, T x2)
CX_FLOATS_ONLY(LogGammaincSlope, T x1, T x2)
CX_FLOATS_ONLY(LogGammainccSlope, T x1, T x2)
CX_FLOATS_ONLY(BetaincSlopeB, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogBetaDensity, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogBetainc, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogBetaincc, T x1, T x2, T x3)
CX_FLOATS_ONLY(BetaincRate, T x1, T x2, T x3)
CX_FLOATS_ONLY(BetainccRate, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogBetaincSlope, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogBetaincSlopeB, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogBetainccSlope, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogBetainccSlopeB, T x1, T x2, T x3)
CX_FLOATS_ONLY(Betaincc, T x1, T x2, T x3)
#undef CX_FLOATS_ONLY

}  // namespace chainerx::native::math
