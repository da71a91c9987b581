// Unsigned keys in the order of numbers: NaN is the largest, 0.0 and -0.0 are equal. As
// native/sort/sort_keys.h, whose keys are signed. Keys of complex numbers have that of the real
// part above that of the imaginary one.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "chainerx/cuda/device/numbers.h"

namespace chainerx::cuda {

template <typename T>
inline constexpr bool kIsHalfType = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
template <typename T>
inline constexpr bool kHasZeros = std::is_floating_point_v<T> || kIsHalfType<T> || kIsComplex<T>;

// A key of 128 bits.
struct WideKey {
    uint64_t high;
    uint64_t low;

    WideKey() = default;
    WideKey(uint64_t h, uint64_t l) : high{h}, low{l} {}
    explicit WideKey(int x) : high{0}, low{static_cast<uint64_t>(x)} {}
    bool operator==(const WideKey& other) const { return high == other.high && low == other.low; }
    bool operator<(const WideKey& other) const {
        return high != other.high ? high < other.high : low < other.low;
    }
    bool operator>(const WideKey& other) const { return other < *this; }
    bool operator<=(const WideKey& other) const { return !(other < *this); }
    WideKey operator~() const { return {~high, ~low}; }
    // The lowest bits of the key that is shifted by a multiple of 8.
    uint64_t operator>>(int64_t n) const { return n < 64 ? low >> n : high >> (n - 64); }
};
template <typename T>
using KeyOf = std::conditional_t<sizeof(T) == 16, WideKey,
                                 std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;

template <typename T>
struct Keys {
    using K = KeyOf<T>;
    static constexpr int kBits = 8 * static_cast<int>(sizeof(T));
    static constexpr K kSign = K(1) << (kBits - 1);
    static constexpr K kMax = kSign | (kSign - 1);

    static K BitsOf(const T& x) {
        if constexpr (std::is_same_v<T, Bool8>) {
            return static_cast<bool>(x) ? 1 : 0;
        } else if constexpr (kIsHalfType<T>) {
            return x.bits();
        } else if constexpr (kHasZeros<T>) {
            return std::bit_cast<K>(x);
        } else {
            return static_cast<K>(x) & kMax;
        }
    }
    static K Infinity() {
        if constexpr (std::is_same_v<T, Float16>) {
            return 0x7c00;
        } else if constexpr (std::is_same_v<T, BFloat16>) {
            return 0x7f80;
        } else if constexpr (sizeof(T) == 4) {
            return 0x7f800000;
        } else {
            return static_cast<K>(0x7ff0000000000000);
        }
    }

    static K Encode(const T& x, bool descending) {
        K key = BitsOf(x);
        if constexpr (kHasZeros<T>) {
            const bool is_nan = (key & (kSign - 1)) > Infinity();
            key = (key & kSign) != 0 ? ~key & kMax : key | kSign;
            key = is_nan ? kMax : key == kSign - 1 ? kSign : key;
        } else if constexpr (std::is_signed_v<T>) {
            key ^= kSign;
        }
        return descending ? key ^ kMax : key;
    }
    // The number of a key, but 0.0 for -0.0.
    static T Decode(K key, bool descending) {
        if (descending) key ^= kMax;
        if constexpr (std::is_same_v<T, Bool8>) {
            return Bool8(key != 0);
        } else if constexpr (kHasZeros<T>) {
            key = (key & kSign) != 0 ? key ^ kSign : ~key & kMax;
            if constexpr (kIsHalfType<T>) {
                return T::FromBits(static_cast<uint16_t>(key));
            } else {
                return std::bit_cast<T>(key);
            }
        } else {
            return static_cast<T>(std::is_signed_v<T> ? key ^ kSign : key);
        }
    }
    // The number at x, whose key is `key`; NaN of all kinds becomes one.
    static T Restore(K key, bool descending, const T* x) {
        if (kHasZeros<T> && (descending ? key ^ kMax : key) == kSign) return *x;
        return Decode(key, descending);
    }
};

// Numbers with NaN come after all others, by the parts that are NaN (native/sort/complex_order.h):
// no number has the last keys.
template <typename T>
struct Keys<std::complex<T>> {
    using Part = Keys<T>;
    using K = KeyOf<std::complex<T>>;

    static K Join(typename Part::K real, typename Part::K imag) {
        if constexpr (sizeof(T) == 4) {
            return static_cast<K>(real) << 32 | imag;
        } else {
            return {real, imag};
        }
    }
    static K Encode(const std::complex<T>& z, bool descending) {
        typename Part::K real = Part::Encode(z.real(), false);
        typename Part::K imag = Part::Encode(z.imag(), false);
        if (real == Part::kMax) {
            real = imag == Part::kMax ? Part::kMax : Part::kMax - 1;
        } else if (imag == Part::kMax) {
            imag = real;
            real = Part::kMax - 2;
        }
        const K key = Join(real, imag);
        return descending ? ~key : key;
    }
    static std::complex<T> Restore(const K& /*key*/, bool /*descending*/,
                                   const std::complex<T>* x) {
        return *x;
    }
};

}  // namespace chainerx::cuda
