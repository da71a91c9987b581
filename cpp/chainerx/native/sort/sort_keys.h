// Order-preserving integer keys: signed integers whose order is that of the numbers; NaN is the
// largest. `flip`, 0 or -1, reverses the order.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "chainerx/core/dtype.h"

namespace chainerx::native {
namespace {

// 8-bit and 16-bit numbers have 32-bit keys, since sort loops exist for two types only.
template <typename T>
using SortKey = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

// Whether numbers are their own keys if the order is not reversed.
template <typename T>
constexpr bool kIsOwnKey = std::is_same_v<T, SortKey<T>>;

// Maps the bits of a float, as a signed integer, to its key: negative ones are in reverse order,
// and this flips them. It is its own inverse.
template <typename B>
constexpr B FlipNegative(B bits) {
    constexpr B kMax = std::numeric_limits<B>::max();
    return static_cast<B>(bits ^ (static_cast<B>(bits >> (8 * sizeof(B) - 1)) & kMax));
}

template <typename T>
constexpr auto BitsOf(T x) {
    if constexpr (std::is_same_v<T, float>) {
        return std::bit_cast<int32_t>(x);
    } else if constexpr (std::is_same_v<T, double>) {
        return std::bit_cast<int64_t>(x);
    } else {
        return static_cast<int16_t>(x.bits());
    }
}

// The bit pattern of infinity.
template <typename T>
constexpr auto InfinityBits() {
    if constexpr (std::is_same_v<T, float>) {
        return int32_t{0x7f800000};
    } else if constexpr (std::is_same_v<T, double>) {
        return int64_t{0x7ff0000000000000};
    } else if constexpr (std::is_same_v<T, Float16>) {
        return int16_t{0x7c00};
    } else {
        return int16_t{0x7f80};
    }
}

// With `join_zeros`, -0.0 gets the key of 0.0, so that the two keep their order.
template <typename T>
constexpr SortKey<T> EncodeKey(T x, bool join_zeros, SortKey<T> flip) {
    using K = SortKey<T>;
    if constexpr (GetKind(kDtypeOf<T>) == DtypeKind::kFloat) {
        const auto bits = BitsOf(x);
        using B = std::remove_const_t<decltype(bits)>;
        constexpr B kMax = std::numeric_limits<B>::max();
        auto key = static_cast<K>(FlipNegative(bits));
        key = static_cast<B>(bits & kMax) > InfinityBits<T>() ? std::numeric_limits<K>::max() : key;
        key = join_zeros & (key == -1) ? 0 : key;
        return key ^ flip;
    } else if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(K)) {
        return static_cast<K>(x ^ (T{1} << (8 * sizeof(T) - 1))) ^ flip;
    } else {
        return static_cast<K>(x) ^ flip;
    }
}

template <typename T>
constexpr T DecodeKey(SortKey<T> key, SortKey<T> flip) {
    key ^= flip;
    if constexpr (std::is_same_v<T, float>) {
        return std::bit_cast<float>(FlipNegative(key));
    } else if constexpr (std::is_same_v<T, double>) {
        return std::bit_cast<double>(FlipNegative(key));
    } else if constexpr (GetKind(kDtypeOf<T>) == DtypeKind::kFloat) {
        // A NaN key of 32 bits saturates to a 16-bit NaN.
        const auto bits = static_cast<int16_t>(key > INT16_MAX ? INT16_MAX : key);
        return T::FromBits(static_cast<uint16_t>(FlipNegative(bits)));
    } else if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(SortKey<T>)) {
        return static_cast<T>(key) ^ (T{1} << (8 * sizeof(T) - 1));
    } else {
        return static_cast<T>(key);
    }
}

}  // namespace
}  // namespace chainerx::native
