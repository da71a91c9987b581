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
template <typename T>
T Sigmoid(T x) = delete;
template <typename T>
T Cbrt(T x) = delete;
template <typename T>
T Erf(T x) = delete;
template <typename T>
T Erfc(T x) = delete;
template <typename T>
T Erfcx(T x) = delete;
template <typename T>
T ErfcxSlope(T x) = delete;
template <typename T>
T Erfinv(T x) = delete;
template <typename T>
T Erfcinv(T x) = delete;
template <typename T>
T Ndtr(T x) = delete;
template <typename T>
T LogNdtr(T x) = delete;
template <typename T>
T LogNdtrSlope(T x) = delete;
template <typename T>
T Ndtri(T x) = delete;
template <typename T>
T Logit(T x) = delete;
template <typename T>
T LogExpit(T x) = delete;
template <typename T>
T Entr(T x) = delete;
template <typename T>
T I0(T x) = delete;
template <typename T>
T I0e(T x) = delete;
template <typename T>
T I1(T x) = delete;
template <typename T>
T I1e(T x) = delete;
template <typename T>
T BesselRatio(T x, T order) = delete;
template <typename T>
T BesselMoment(T x, T order) = delete;
template <typename T>
T Lgamma(T x) = delete;
template <typename T>
T Digamma(T x) = delete;
template <typename T>
T Silu(T x) = delete;
template <typename T>
T SiluSlope(T x) = delete;
template <typename T>
T Mish(T x) = delete;
template <typename T>
T MishSlope(T x) = delete;
template <typename T>
T GeluErf(T x) = delete;
template <typename T>
T GeluErfSlope(T x) = delete;
template <typename T>
T GeluTanh(T x) = delete;
template <typename T>
T GeluTanhSlope(T x) = delete;
template <typename T>
T Rint(T x) = delete;
template <typename T>
T Copysign(T x1, T x2) = delete;
template <typename T>
T Nextafter(T x1, T x2) = delete;
template <typename T>
T MaximumShare(T x1, T x2) = delete;
template <typename T>
T MinimumShare(T x1, T x2) = delete;
template <typename T>
T LogAddExp(T x1, T x2) = delete;
template <typename T>
T LogAddExp2(T x1, T x2) = delete;
template <typename T>
T Atan2(T x1, T x2) = delete;
template <typename T>
T Hypot(T x1, T x2) = delete;
template <typename T>
T Xlogy(T x1, T x2) = delete;
template <typename T>
T Xlog1py(T x1, T x2) = delete;
template <typename T>
T RelEntr(T x1, T x2) = delete;
template <typename T>
T Polygamma(T x1, T x2) = delete;
template <typename T>
T Zeta(T x1, T x2) = delete;
template <typename T>
T Gammainc(T x1, T x2) = delete;
template <typename T>
T Gammaincc(T x1, T x2) = delete;
template <typename T>
T Gammaincinv(T x1, T x2) = delete;
template <typename T>
T Gammainccinv(T x1, T x2) = delete;
template <typename T>
T GammaDensity(T x1, T x2) = delete;
template <typename T>
T GammaincSlope(T x1, T x2) = delete;
template <typename T>
T BetaincSlope(T x1, T x2, T x3) = delete;
template <typename T>
T Betainc(T x1, T x2, T x3) = delete;
template <typename T>
T Betaincinv(T x1, T x2, T x3) = delete;
template <typename T>
T BetaDensity(T x1, T x2, T x3) = delete;
template <typename T>
T LogGammaDensity(T x1, T x2) = delete;
template <typename T>
T LogGammainc(T x1, T x2) = delete;
template <typename T>
T LogGammaincc(T x1, T x2) = delete;
template <typename T>
T GammaincRate(T x1, T x2) = delete;
template <typename T>
T GammainccRate(T x1, T x2) = delete;
template <typename T>
T LogGammaincSlope(T x1, T x2) = delete;
template <typename T>
T LogGammainccSlope(T x1, T x2) = delete;
template <typename T>
T BetaincSlopeB(T x1, T x2, T x3) = delete;
template <typename T>
T LogBetaDensity(T x1, T x2, T x3) = delete;
template <typename T>
T LogBetainc(T x1, T x2, T x3) = delete;
template <typename T>
T LogBetaincc(T x1, T x2, T x3) = delete;
template <typename T>
T BetaincRate(T x1, T x2, T x3) = delete;
template <typename T>
T BetainccRate(T x1, T x2, T x3) = delete;
template <typename T>
T LogBetaincSlope(T x1, T x2, T x3) = delete;
template <typename T>
T LogBetaincSlopeB(T x1, T x2, T x3) = delete;
template <typename T>
T LogBetainccSlope(T x1, T x2, T x3) = delete;
template <typename T>
T LogBetainccSlopeB(T x1, T x2, T x3) = delete;
template <typename T>
T Betaincc(T x1, T x2, T x3) = delete;

}  // namespace chainerx::native::math
