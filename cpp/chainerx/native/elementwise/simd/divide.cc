// SIMD integer division. By one divisor: a multiplication and shifts instead of each division (T.
// Granlund, P. L. Montgomery, Division by invariant integers using multiplication, 1994). By many
// divisors: in floats, for which there are vector divisions.
#include "chainerx/native/elementwise/divide_loops.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "chainerx/native/elementwise/scalar_math.h"
#include "chainerx/native/unit.h"

#if defined(CX_ISA_SSE4) || defined(CX_ISA_AVX2) || defined(CX_ISA_AVX512)
#include <immintrin.h>
#define CX_WIDE_PRODUCTS 1
#endif

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
struct DoubleOf;
template <>
struct DoubleOf<uint8_t> {
    using type = uint16_t;
};
template <>
struct DoubleOf<uint16_t> {
    using type = uint32_t;
};
template <>
struct DoubleOf<uint32_t> {
    using type = uint64_t;
};
template <>
struct DoubleOf<uint64_t> {
    using type = unsigned __int128;
};

// The upper half of a product.
template <typename U>
inline U High(U a, U b) {
    using Wide = typename DoubleOf<U>::type;
    return static_cast<U>(static_cast<Wide>(static_cast<Wide>(a) * b) >> (8 * sizeof(U)));
}

#if defined(CX_WIDE_PRODUCTS)
// No instruction gives the full product of 64-bit integers, so it is composed of 32-bit products.
#if defined(CX_ISA_AVX512)
using Words = uint64_t __attribute__((vector_size(64)));
inline Words Product32(Words a, Words b) {
    return reinterpret_cast<Words>(
        _mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
#elif defined(CX_ISA_AVX2)
using Words = uint64_t __attribute__((vector_size(32)));
inline Words Product32(Words a, Words b) {
    return reinterpret_cast<Words>(
        _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
#else
using Words = uint64_t __attribute__((vector_size(16)));
inline Words Product32(Words a, Words b) {
    return reinterpret_cast<Words>(
        _mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
}
#endif
inline Words High(Words a, Words b) {
    const Words a1 = a >> 32;
    const Words b1 = b >> 32;
    const Words carry = Product32(a1, b) + (Product32(a, b) >> 32);
    const Words middle = Product32(a, b1) + (carry & 0xffffffffu);
    return Product32(a1, b1) + (carry >> 32) + (middle >> 32);
}
// 32-bit full products exist for every other lane.
using Halves = uint32_t __attribute__((vector_size(sizeof(Words))));
inline Halves High(Halves a, Halves b) {
    const auto a_words = reinterpret_cast<Words>(a);
    const auto b_words = reinterpret_cast<Words>(b);
    const Words even = Product32(a_words, b_words) >> 32;
    const Words odd = Product32(a_words >> 32, b_words >> 32) & 0xffffffff00000000u;
    return reinterpret_cast<Halves>(even | odd);
}
template <typename U>
using VectorOf = std::conditional_t<sizeof(U) == 8, Words, Halves>;
#endif

// Precomputed constants of a divisor: the quotient is High(x, factor) >> shift, or nearly so.
template <typename U>
struct Factor {
    U factor;
    int shift;
};

inline int Log2RoundedUp(uint64_t size) { return 64 - __builtin_clzll(size - 1); }

// For dividends of at most half the range of U; size > 1.
template <typename U>
inline Factor<U> FactorOfHalf(U size) {
    using Wide = typename DoubleOf<U>::type;
    const int shift = Log2RoundedUp(size);
    const auto power = static_cast<Wide>(Wide{1} << (8 * sizeof(U) - 1 + shift));
    return {static_cast<U>((power + (size - 1)) / size), shift - 1};
}
// For all dividends: the topmost bit of the factor, which does not fit, is implied.
template <typename U>
inline Factor<U> FactorOfAll(U size) {
    using Wide = typename DoubleOf<U>::type;
    const int shift = Log2RoundedUp(size);
    const auto excess = static_cast<Wide>((Wide{1} << shift) - size);
    return {static_cast<U>(static_cast<Wide>(excess << (8 * sizeof(U))) / size + 1), shift - 1};
}

// All ones where x is negative, or positive.
template <typename U>
inline U IsNegative(U x) {
    return static_cast<U>(static_cast<std::make_signed_t<U>>(x) < 0 ? -1 : 0);
}
template <typename U>
inline U IsPositive(U x) {
    return static_cast<U>(static_cast<std::make_signed_t<U>>(x) > 0 ? -1 : 0);
}
#if defined(CX_WIDE_PRODUCTS)
using SignedWords = int64_t __attribute__((vector_size(sizeof(Words))));
using SignedHalves = int32_t __attribute__((vector_size(sizeof(Words))));
inline Words IsNegative(Words x) {
    return reinterpret_cast<Words>(reinterpret_cast<SignedWords>(x) < 0);
}
inline Halves IsNegative(Halves x) {
    return reinterpret_cast<Halves>(reinterpret_cast<SignedHalves>(x) < 0);
}
inline Words IsPositive(Words x) {
    return reinterpret_cast<Words>(reinterpret_cast<SignedWords>(x) > 0);
}
inline Halves IsPositive(Halves x) {
    return reinterpret_cast<Halves>(reinterpret_cast<SignedHalves>(x) > 0);
}
#endif

// Computes quotients. X is U or a vector of it.
template <typename U>
struct ByUnsigned {
    Factor<U> f;
    template <typename X>
    X operator()(X x) const {
        const X high = High(x, static_cast<X>(X{} + f.factor));
        const X half = static_cast<X>(static_cast<X>(x - high) >> 1);
        return static_cast<X>(static_cast<X>(high + half) >> f.shift);
    }
};
// For bytes: with factor = 2^16 / d + 1, the excess of the product is less than 2^16.
struct ByByte {
    uint16_t factor;
    uint8_t operator()(uint8_t x) const { return static_cast<uint8_t>(uint32_t{x} * factor >> 16); }
};
template <typename U>
struct ByPositive {  // floor(x / d) is ~(~x / d) where x < 0
    Factor<U> f;
    template <typename X>
    X operator()(X x) const {
        const X negative = IsNegative(x);
        const X size = static_cast<X>(x ^ negative);
        return static_cast<X>((High(size, static_cast<X>(X{} + f.factor)) >> f.shift) ^ negative);
    }
};
template <typename U>
struct ByNegative {  // floor(x / d) is ~((x - 1) / -d) where x > 0, and else -x / -d
    Factor<U> f;
    template <typename X>
    X operator()(X x) const {
        const X positive = IsPositive(x);
        const X size = static_cast<X>((x - 1) ^ ~positive);
        return static_cast<X>((High(size, static_cast<X>(X{} + f.factor)) >> f.shift) ^ positive);
    }
};

template <bool kRemainder, typename X, typename U, typename F>
inline X Result(X x, U divisor, const F& quotient) {
    if constexpr (kRemainder)
        return static_cast<X>(x - static_cast<X>(quotient(x) * divisor));
    else
        return quotient(x);
}

template <bool kRemainder, typename U, typename F>
void Run(const U* x, U divisor, U* out, int64_t n, const F& quotient) {
    int64_t i = 0;
#if defined(CX_WIDE_PRODUCTS)
    if constexpr (sizeof(U) >= 4) {
        constexpr int64_t kWidth = sizeof(Words) / sizeof(U);
        for (; i + kWidth <= n; i += kWidth) {
            VectorOf<U> v;
            __builtin_memcpy(&v, x + i, sizeof(v));
            v = Result<kRemainder>(v, divisor, quotient);
            __builtin_memcpy(out + i, &v, sizeof(v));
        }
    }
#endif
    for (; i < n; ++i) out[i] = Result<kRemainder>(x[i], divisor, quotient);
}

template <typename T, bool kRemainder>
void Divide(const void* x_data, int64_t, const void* divisor_data, int64_t, void* out_data,
            int64_t n) {
    using U = std::make_unsigned_t<T>;
    const auto* x = static_cast<const U*>(x_data);
    auto* out = static_cast<U*>(out_data);
    const T divisor = *static_cast<const T*>(divisor_data);
    const auto d = static_cast<U>(divisor);
    const bool is_negative = std::is_signed_v<T> && divisor < 0;
    const U size = is_negative ? static_cast<U>(0 - d) : d;
    if (size <= 1) {  // division by 0 gives 0
        for (int64_t i = 0; i < n; ++i) out[i] = kRemainder ? U{0} : static_cast<U>(x[i] * d);
    } else if constexpr (std::is_same_v<T, uint8_t>) {
        Run<kRemainder>(x, d, out, n, ByByte{static_cast<uint16_t>(0x10000 / size + 1)});
    } else if constexpr (std::is_unsigned_v<T>) {
        Run<kRemainder>(x, d, out, n, ByUnsigned<U>{FactorOfAll(size)});
    } else if (is_negative) {
        Run<kRemainder>(x, d, out, n, ByNegative<U>{FactorOfHalf(size)});
    } else {
        Run<kRemainder>(x, d, out, n, ByPositive<U>{FactorOfHalf(size)});
    }
}

enum class Wanted { kFloor, kRemainder, kFmod };

template <Wanted kWanted, typename T>
T ByInstruction(T a, T b) {
    if constexpr (kWanted == Wanted::kFloor) {
        return math::FloorDiv(a, b);
    } else if constexpr (kWanted == Wanted::kRemainder) {
        return math::Mod(a, b);
    } else {
        return math::Fmod(a, b);
    }
}

// Converts integers to floats and back by the low bits of the significand of a float so large that
// its ulp is 1: all instruction sets have vector instructions for these steps.
template <typename T>
struct Significand;
template <>
struct Significand<float> {
    using Bits = uint32_t;
    static constexpr float kOffset = 0x1.8p23f;
};
template <>
struct Significand<double> {
    using Bits = uint64_t;
    static constexpr double kOffset = 0x1.8p52;
};

template <typename F, typename T>
inline F ToFloat(T x) {
    if constexpr (sizeof(T) == 8) {
        using Bits = typename Significand<F>::Bits;
        constexpr F kOffset = Significand<F>::kOffset;
        Bits bits = static_cast<Bits>(x) + __builtin_bit_cast(Bits, kOffset);
        return __builtin_bit_cast(F, bits) - kOffset;
    } else {
        return static_cast<F>(x);
    }
}
template <typename T, typename F>
inline T FromFloat(F x) {
    using Bits = typename Significand<F>::Bits;
    constexpr F kOffset = Significand<F>::kOffset;
    F sum = x + kOffset;
    return static_cast<T>(__builtin_bit_cast(Bits, sum) - __builtin_bit_cast(Bits, kOffset));
}

// Divides integers below 2^22 as floats, and below 2^50 as doubles. The nearest float to a quotient
// a / b that is no integer does not reach the next integer q, whose relative distance is at least 1
// / (q b), and q b is exact in F; so the floor of the rounded quotient is exact.
template <Wanted kWanted, typename F, typename T>
inline T ByFloat(T a, T b) {
    using U = std::make_unsigned_t<T>;
    using Wide = std::conditional_t<(sizeof(T) < 4), uint32_t, U>;
    const bool is_zero = b == 0;
    F quotient = ToFloat<F>(a) / ToFloat<F>(static_cast<T>(b + is_zero));
    quotient = kWanted == Wanted::kFmod ? std::trunc(quotient) : std::floor(quotient);
    const U q = FromFloat<U>(quotient);
    const U y = kWanted == Wanted::kFloor
                    ? q
                    : static_cast<U>(static_cast<Wide>(static_cast<U>(a)) -
                                     static_cast<Wide>(q) * static_cast<Wide>(static_cast<U>(b)));
    return static_cast<T>(is_zero ? U{0} : y);
}

constexpr int64_t kPairs = 128;

template <typename T>
inline bool AreBelow50Bits(const T* x, int64_t n) {
    constexpr uint64_t kLimit = uint64_t{1} << 50;
    uint64_t all = 0;
    for (int64_t j = 0; j < n; ++j) {
        const auto u = static_cast<uint64_t>(x[j]);
        all |= std::is_signed_v<T> ? u ^ (u << 1) : u;  // clears the copies of the sign bit
    }
    return all < kLimit;
}

template <Wanted kWanted, typename T>
void DividePairs(const void* x1_data, int64_t step1, const void* x2_data, int64_t step2,
                 void* out_data, int64_t n) {
    using F = std::conditional_t<(sizeof(T) < 4), float, double>;
    const auto* x1 = static_cast<const T*>(x1_data);
    const auto* x2 = static_cast<const T*>(x2_data);
    auto* out = static_cast<T*>(out_data);
    T same1[kPairs];
    T same2[kPairs];
    if (step1 == 0) std::fill_n(same1, kPairs, *x1);
    if (step2 == 0) std::fill_n(same2, kPairs, *x2);
    for (int64_t i = 0; i < n; i += kPairs) {
        const int64_t count = std::min(kPairs, n - i);
        const T* a = step1 == 0 ? same1 : x1 + i;
        const T* b = step2 == 0 ? same2 : x2 + i;
        T y[kPairs];  // as `out` may be an operand
        bool fits = true;
        if constexpr (sizeof(T) == 8) fits = AreBelow50Bits(a, count) && AreBelow50Bits(b, count);
        if (fits) {
            for (int64_t j = 0; j < count; ++j) y[j] = ByFloat<kWanted, F>(a[j], b[j]);
        } else {
            for (int64_t j = 0; j < count; ++j) y[j] = ByInstruction<kWanted>(a[j], b[j]);
        }
        std::copy_n(y, count, out + i);
    }
}

template <typename T, bool kRemainder>
constexpr BinaryLoop LoopOf() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        return &Divide<T, kRemainder>;
    else
        return nullptr;
}
template <typename T, Wanted kWanted>
constexpr BinaryLoop PairLoopOf() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        return &DividePairs<kWanted, T>;
    else
        return nullptr;
}

#define CX_FLOOR(Enum, Type, name, code, kind) LoopOf<Type, false>(),
#define CX_REMAINDER(Enum, Type, name, code, kind) LoopOf<Type, true>(),
#define CX_FLOOR_OF_PAIRS(Enum, Type, name, code, kind) PairLoopOf<Type, Wanted::kFloor>(),
#define CX_REMAINDER_OF_PAIRS(Enum, Type, name, code, kind) PairLoopOf<Type, Wanted::kRemainder>(),
#define CX_FMOD_OF_PAIRS(Enum, Type, name, code, kind) PairLoopOf<Type, Wanted::kFmod>(),
constexpr DivideLoops kLoops = {{CX_DTYPE_LIST(CX_FLOOR)},
                                {CX_DTYPE_LIST(CX_REMAINDER)},
                                {CX_DTYPE_LIST(CX_FLOOR_OF_PAIRS)},
                                {CX_DTYPE_LIST(CX_REMAINDER_OF_PAIRS)},
                                {CX_DTYPE_LIST(CX_FMOD_OF_PAIRS)}};
#undef CX_FLOOR
#undef CX_REMAINDER
#undef CX_FLOOR_OF_PAIRS
#undef CX_REMAINDER_OF_PAIRS
#undef CX_FMOD_OF_PAIRS

}  // namespace

CX_EXPORT_LOOPS(DivideLoops) = kLoops;

}  // namespace chainerx::native::CX_ISA
