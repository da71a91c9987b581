// What the shared headers use of the standard library, for NVRTC, which has none: it finds this
// text under the names of the standard headers. The test driver's compiler finds the real ones.
#ifndef CX_DEVICE_STD_H  // not a pragma: NVRTC takes it for several files
#define CX_DEVICE_STD_H

using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned;
using int64_t = long;
using uint64_t = unsigned long;
using size_t = unsigned long;
using uintptr_t = unsigned long;

inline constexpr int64_t INT64_MAX = 0x7fffffffffffffff;

inline float __builtin_huge_valf() { return __int_as_float(0x7f800000); }
inline double __builtin_huge_val() { return __longlong_as_double(0x7ff0000000000000); }
inline float __builtin_inff() { return __int_as_float(0x7f800000); }
inline double __builtin_inf() { return __longlong_as_double(0x7ff0000000000000); }
inline float __builtin_nanf(const char*) { return __int_as_float(0x7fc00000); }
inline double __builtin_nan(const char*) { return __longlong_as_double(0x7ff8000000000000); }
inline float __builtin_fmodf(float x, float y) { return ::fmodf(x, y); }
inline double __builtin_fmod(double x, double y) { return ::fmod(x, y); }
inline double lgamma_r(double x, int* /*sign*/) { return ::lgamma(x); }

namespace std {

template <typename T, T kValue>
struct integral_constant {
    static constexpr T value = kValue;
};
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;

template <bool kCondition, typename T, typename F>
struct conditional {
    using type = T;
};
template <typename T, typename F>
struct conditional<false, T, F> {
    using type = F;
};
template <bool kCondition, typename T, typename F>
using conditional_t = typename conditional<kCondition, T, F>::type;

template <bool kCondition, typename T = void>
struct enable_if {};
template <typename T>
struct enable_if<true, T> {
    using type = T;
};
template <bool kCondition, typename T = void>
using enable_if_t = typename enable_if<kCondition, T>::type;

template <typename A, typename B>
inline constexpr bool is_same_v = false;
template <typename A>
inline constexpr bool is_same_v<A, A> = true;

template <typename T>
inline constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;

// The integers of each size, signed and unsigned.
template <typename T>
struct MakeSigned;
template <typename T>
struct MakeUnsigned;
template <typename T>
inline constexpr bool is_integral_v = is_same_v<T, bool>;
template <typename T>
inline constexpr bool is_signed_v = is_floating_point_v<T>;
template <typename T>
inline constexpr bool is_unsigned_v = is_same_v<T, bool>;
#define CX_INTEGERS(Signed, Unsigned)                     \
    template <>                                           \
    struct MakeSigned<Signed> {                           \
        using type = Signed;                              \
    };                                                    \
    template <>                                           \
    struct MakeSigned<Unsigned> {                         \
        using type = Signed;                              \
    };                                                    \
    template <>                                           \
    struct MakeUnsigned<Signed> {                         \
        using type = Unsigned;                            \
    };                                                    \
    template <>                                           \
    struct MakeUnsigned<Unsigned> {                       \
        using type = Unsigned;                            \
    };                                                    \
    template <>                                           \
    inline constexpr bool is_integral_v<Signed> = true;   \
    template <>                                           \
    inline constexpr bool is_integral_v<Unsigned> = true; \
    template <>                                           \
    inline constexpr bool is_signed_v<Signed> = true;     \
    template <>                                           \
    inline constexpr bool is_unsigned_v<Unsigned> = true;
CX_INTEGERS(signed char, unsigned char)
CX_INTEGERS(short, unsigned short)
CX_INTEGERS(int, unsigned)
CX_INTEGERS(long, unsigned long)
CX_INTEGERS(long long, unsigned long long)
#undef CX_INTEGERS
template <typename T>
using make_signed_t = typename MakeSigned<T>::type;
template <typename T>
using make_unsigned_t = typename MakeUnsigned<T>::type;

template <typename T>
struct numeric_limits;
template <>
struct numeric_limits<float> {
    static constexpr float infinity() { return __builtin_bit_cast(float, 0x7f800000); }
    static constexpr float quiet_NaN() { return __builtin_bit_cast(float, 0x7fc00000); }
    static constexpr float max() { return 0x1.fffffep127f; }
    static constexpr float min() { return 0x1p-126f; }
    static constexpr float epsilon() { return 0x1p-23f; }
    static constexpr float denorm_min() { return 0x1p-149f; }
    static constexpr float lowest() { return -max(); }
};
template <>
struct numeric_limits<double> {
    static constexpr double infinity() { return __builtin_bit_cast(double, 0x7ff0000000000000); }
    static constexpr double quiet_NaN() { return __builtin_bit_cast(double, 0x7ff8000000000000); }
    static constexpr double max() { return 0x1.fffffffffffffp1023; }
    static constexpr double min() { return 0x1p-1022; }
    static constexpr double epsilon() { return 0x1p-52; }
    static constexpr double denorm_min() { return 0x1p-1074; }
    static constexpr double lowest() { return -max(); }
};

#define CX_LIMITS(T, least, most)                     \
    template <>                                       \
    struct numeric_limits<T> {                        \
        static constexpr T min() { return least; }    \
        static constexpr T lowest() { return least; } \
        static constexpr T max() { return most; }     \
    };
CX_LIMITS(bool, false, true)
CX_LIMITS(int8_t, -0x80, 0x7f)
CX_LIMITS(int16_t, -0x8000, 0x7fff)
CX_LIMITS(int32_t, -0x7fffffff - 1, 0x7fffffff)
CX_LIMITS(int64_t, -INT64_MAX - 1, INT64_MAX)
CX_LIMITS(uint8_t, 0, 0xff)
CX_LIMITS(uint16_t, 0, 0xffff)
CX_LIMITS(uint32_t, 0, 0xffffffff)
CX_LIMITS(uint64_t, 0, 0xffffffffffffffff)
#undef CX_LIMITS

inline float abs(float x) { return ::fabsf(x); }
inline double abs(double x) { return ::fabs(x); }
inline float sqrt(float x) { return ::sqrtf(x); }
inline double sqrt(double x) { return ::sqrt(x); }
inline double floor(double x) { return ::floor(x); }
inline double exp(double x) { return ::exp(x); }
inline double expm1(double x) { return ::expm1(x); }
inline double log(double x) { return ::log(x); }
inline double log1p(double x) { return ::log1p(x); }
inline double pow(double x, double y) { return ::pow(x, y); }
inline double cos(double x) { return ::cos(x); }
inline double acos(double x) { return ::acos(x); }
inline double fma(double x, double y, double z) { return ::fma(x, y, z); }
inline double hypot(double x, double y) { return ::hypot(x, y); }
inline double tgamma(double x) { return ::tgamma(x); }
inline bool isfinite(double x) { return ::fabs(x) < __builtin_inf(); }
template <typename T>
inline void swap(T& a, T& b) {
    const T old = a;
    a = b;
    b = old;
}

template <typename T>
constexpr const T& min(const T& a, const T& b) {
    return b < a ? b : a;
}
template <typename T>
constexpr const T& max(const T& a, const T& b) {
    return a < b ? b : a;
}
template <typename T>
constexpr const T& clamp(const T& x, const T& low, const T& high) {
    return x < low ? low : high < x ? high : x;
}

// The first place whose element is not below x, or is above it.
template <typename T, typename Value>
inline T* lower_bound(T* first, T* last, const Value& x) {
    while (first != last) {
        T* middle = first + (last - first) / 2;
        if (*middle < x) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    return first;
}
template <typename T, typename Value>
inline T* upper_bound(T* first, T* last, const Value& x) {
    while (first != last) {
        T* middle = first + (last - first) / 2;
        if (x < *middle) {
            last = middle;
        } else {
            first = middle + 1;
        }
    }
    return first;
}

template <typename To, typename From>
inline To bit_cast(const From& x) {
    return __builtin_bit_cast(To, x);
}
inline int countl_zero(uint64_t x) { return __clzll(static_cast<long long>(x)); }

}  // namespace std

#endif
