// Floor division of many integers by one: a product and shifts in the place of each division.
// T. Granlund, P. L. Montgomery, Division by invariant integers using multiplication, 1994.
#include "chainerx/native/divide_loops.h"

#include <type_traits>

#if defined(CX_ISA_SSE4) || defined(CX_ISA_AVX2) || defined(CX_ISA_AVX512)
#include <immintrin.h>
#define CX_WIDE_PRODUCTS 1
#endif

namespace chainerx::native {
namespace CX_ISA {
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
// No instruction has products of 64 bits with all their bits, so they are made of those of 32.
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
#endif

// What all quotients by one number have in common: High(x, factor) >> shift, or nearly so.
template <typename U>
struct Factor {
    U factor;
    int shift;
};

inline int Log2RoundedUp(uint64_t size) { return 64 - __builtin_clzll(size - 1); }

// Of dividends of no more than half the range of U; size > 1.
template <typename U>
inline Factor<U> FactorOfHalf(U size) {
    using Wide = typename DoubleOf<U>::type;
    const int shift = Log2RoundedUp(size);
    const auto power = static_cast<Wide>(Wide{1} << (8 * sizeof(U) - 1 + shift));
    return {static_cast<U>((power + (size - 1)) / size), shift - 1};
}
// Of all dividends: without the uppermost bit of the factor, which does not fit.
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
inline Words IsNegative(Words x) {
    return reinterpret_cast<Words>(reinterpret_cast<SignedWords>(x) < 0);
}
inline Words IsPositive(Words x) {
    return reinterpret_cast<Words>(reinterpret_cast<SignedWords>(x) > 0);
}
#endif

// The quotients. X is U, or a vector of it.
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
// Of bytes: with factor = 2^16 / d + 1, the excess of the product is less than 2^16.
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
    if constexpr (sizeof(U) == 8) {
        constexpr int64_t kWidth = sizeof(Words) / sizeof(U);
        for (; i + kWidth <= n; i += kWidth) {
            Words v;
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
    if (size <= 1) {  // by 0 all is 0
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

template <typename T, bool kRemainder>
constexpr BinaryLoop LoopOf() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        return &Divide<T, kRemainder>;
    else
        return nullptr;
}

#define CX_FLOOR(Enum, Type, name, code, kind) LoopOf<Type, false>(),
#define CX_REMAINDER(Enum, Type, name, code, kind) LoopOf<Type, true>(),
constexpr DivideLoops kLoops = {{CX_DTYPE_LIST(CX_FLOOR)}, {CX_DTYPE_LIST(CX_REMAINDER)}};
#undef CX_FLOOR
#undef CX_REMAINDER

}  // namespace
}  // namespace CX_ISA
}  // namespace chainerx::native

extern "C" {
__attribute__((visibility("hidden"))) extern const chainerx::native::DivideLoops CX_UNIT_ENTRY;
const chainerx::native::DivideLoops CX_UNIT_ENTRY = chainerx::native::CX_ISA::kLoops;
}
