// SIMD popcount, packbits and unpackbits.
#include <cstring>
#include <type_traits>

#include "chainerx/native/elementwise/bit_loops.h"
#include "chainerx/native/strided/simd/movemask.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

// Popcount by sums in ever wider bit fields, which the compiler vectorizes. 64-bit integers use the
// scalar popcnt instruction, since short vectors hold few of them.
template <typename U>
inline U CountBits(U x) {
#if defined(__POPCNT__) && !defined(CX_ISA_AVX512)
    if constexpr (sizeof(U) == 8) return static_cast<U>(__builtin_popcountll(x));
#endif
    constexpr auto kPairs = static_cast<U>(0x5555555555555555);
    constexpr auto kFours = static_cast<U>(0x3333333333333333);
    constexpr auto kBytes = static_cast<U>(0x0f0f0f0f0f0f0f0f);
    x = static_cast<U>(x - ((x >> 1) & kPairs));
    x = static_cast<U>((x & kFours) + ((x >> 2) & kFours));
    x = static_cast<U>((x + (x >> 4)) & kBytes);
    if constexpr (sizeof(U) > 1) x = static_cast<U>(x + (x >> 8));
    if constexpr (sizeof(U) > 2) x = static_cast<U>(x + (x >> 16));
    if constexpr (sizeof(U) > 4) x = static_cast<U>(x + (x >> 32));
    return x & 0x7f;
}

template <typename T>
void Count(const void* x_data, void* out_data, int64_t n) {
    using U = std::make_unsigned_t<T>;
    const auto* x = static_cast<const T*>(x_data);
    auto* out = static_cast<uint8_t*>(out_data);
    for (int64_t i = 0; i < n; ++i) {
        auto u = static_cast<U>(x[i]);
        if constexpr (std::is_signed_v<T>) u = x[i] < 0 ? static_cast<U>(0 - u) : u;
        out[i] = static_cast<uint8_t>(CountBits(u));
    }
}

template <typename T>
constexpr UnaryLoop CountOf() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        return &Count<T>;
    else
        return nullptr;
}

// Reverses the order of bytes.
inline uint64_t ReverseBytes(uint64_t x) {
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    return (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
}

// Assumes little-endian words, as all processors of isa.cmake have.
void Pack(const uint8_t* mask, int64_t n, bool big, uint8_t* out) {
    const auto store = [&](uint64_t bits, int64_t count) {
        if (big) bits = ReverseBytes(bits);
        std::memcpy(out, &bits, static_cast<size_t>(count));
        out += count;
    };
    for (; n >= kGroup; n -= kGroup, mask += kGroup) store(MoveMask(mask), 8);
    if (n > 0) store(MoveMask(mask, n), (n + 7) / 8);
}

template <bool kBig>
void UnpackInOrder(const uint8_t* x, int64_t n, uint8_t* out) {
    constexpr uint64_t kOnes = 0x0101010101010101;
    // Each byte of the word selects one bit.
    constexpr uint64_t kPlaces = kBig ? 0x0102040810204080 : 0x8040201008040201;
    for (int64_t i = 0; i < n; ++i) {
        const uint64_t bits = x[i] * kOnes & kPlaces;
        const uint64_t word = (bits + 0x7f * kOnes) >> 7 & kOnes;
        std::memcpy(out + 8 * i, &word, 8);
    }
}
void Unpack(const uint8_t* x, int64_t n, bool big, uint8_t* out) {
    (big ? UnpackInOrder<true> : UnpackInOrder<false>)(x, n, out);
}

#define CX_COUNT_OF(Enum, Type, name, code, kind) CountOf<Type>(),
constexpr BitLoops kLoops = {{CX_DTYPE_LIST(CX_COUNT_OF)}, &Pack, &Unpack};
#undef CX_COUNT_OF

}  // namespace

CX_EXPORT_LOOPS(BitLoops) = kLoops;

}  // namespace chainerx::native::CX_ISA
