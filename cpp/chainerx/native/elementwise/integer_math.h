// The namespace math of the elementwise tables for integers and bools. Kernels of other devices
// include it as well (cuda/device), so it needs no more of the standard library than type traits.
#pragma once

#include <cstdint>
#include <type_traits>

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

// Integers are numbers.
template <typename T>
inline bool IsNan(const T&) {
    return false;
}
template <typename T>
inline bool IsInf(const T&) {
    return false;
}
template <typename T>
inline bool IsFinite(const T&) {
    return true;
}
template <typename T>
inline bool SignBit(T x) {
    if constexpr (std::is_signed_v<T>)
        return x < 0;
    else
        return false;
}

}  // namespace chainerx::native::math
