// Counting sort: for narrow keys, and for integers in a small range.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "chainerx/native/ranges.h"
#include "chainerx/native/scratch.h"
#include "chainerx/native/sort/sort_driver.h"

namespace chainerx::native {
namespace {

// ---- keys of at most 8 bits ----

template <typename T>
void SortBytes(const T* x, int64_t n, bool descending, T* out) {
    using Byte = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    constexpr int64_t kMin = std::is_signed_v<Byte> ? -128 : 0;
    int64_t counts[256] = {};
    const auto* from = reinterpret_cast<const Byte*>(x);
    for (int64_t i = 0; i < n; ++i) {
        // Foreign memory may hold a bool that is neither 0 nor 1.
        ++counts[std::is_same_v<T, bool> ? from[i] != 0 : from[i] - kMin];
    }
    auto* to = reinterpret_cast<uint8_t*>(out);
    for (int64_t k = 0; k < 256; ++k) {
        const int64_t key = descending ? 255 - k : k;
        std::memset(to, static_cast<int>(key + kMin), static_cast<size_t>(counts[key]));
        to += counts[key];
    }
}

// ---- integers ----

// The range of `width` integers from `least` on; width is a power of 2, so an
// offset with a higher bit set is out of the range.
template <typename T>
struct IntegerRange {
    // 32-bit offsets where possible: a vector holds more of them.
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    T least;
    int64_t width;

    Bits Place(T x) const { return static_cast<Bits>(x) - static_cast<Bits>(least); }
    T At(int64_t place) const {
        return static_cast<T>(static_cast<uint64_t>(least) + static_cast<uint64_t>(place));
    }
};

// Fewer keys are not worth it.
constexpr int64_t kMinCounted = 1 << 12;

// Estimates the range of a row's integers from a sample; empty if counting is
// not worth it.
template <typename T>
std::optional<IntegerRange<T>> GuessRange(const T* x, int64_t n) {
    constexpr int64_t kMaxWidth = 1 << 15;  // range whose counters stay in cache
    constexpr int64_t kSample = 64;
    if (n < kMinCounted) return std::nullopt;
    T least = x[0];
    T most = x[0];
    SampleKeys(n, kSample, [&](int64_t, int64_t place) {
        least = std::min(least, x[place]);
        most = std::max(most, x[place]);
    });
    const uint64_t distance = static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
    if (distance >= static_cast<uint64_t>(std::min(n / 8, kMaxWidth)) / 2) return std::nullopt;
    // Extends the range by half on either side, within the type's limits.
    const auto margin = [distance](T from, T to) {
        const uint64_t room = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
        return std::min(distance / 2 + 1, room);
    };
    const uint64_t below = margin(std::numeric_limits<T>::min(), least);
    const uint64_t above = margin(most, std::numeric_limits<T>::max());
    const uint64_t width = std::bit_ceil(distance + below + above + 1);
    // Not beyond the largest integer, after which values wrap.
    const uint64_t last = static_cast<uint64_t>(std::numeric_limits<T>::max()) - (width - 1);
    const T first = static_cast<T>(static_cast<uint64_t>(least) - below);
    return IntegerRange<T>{std::min(first, static_cast<T>(last)), static_cast<int64_t>(width)};
}

// Calls f(offsets, begin, count) for blocks of a row. Returns false, and stops,
// once an integer is out of the range.
template <typename T, typename F>
bool ForEachPlace(const T* x, int64_t n, const IntegerRange<T>& range, const F& f) {
    constexpr int64_t kBlockSize = 1 << 10;
    bool inside = true;
    ForChunks(n, [&](int64_t begin, int64_t end) {
        uint32_t places[kBlockSize];
        for (int64_t i = begin; i < end && inside; i += kBlockSize) {
            const int64_t count = std::min(kBlockSize, end - i);
            typename IntegerRange<T>::Bits all = 0;
            for (int64_t j = 0; j < count; ++j) {
                const auto place = range.Place(x[i + j]);
                all |= place;
                places[j] = static_cast<uint32_t>(place);
            }
            inside = all < static_cast<uint64_t>(range.width);
            if (inside) f(places, i, count);
        }
    });
    return inside;
}

// Returns false if it has not sorted.
template <typename T>
bool SortByCounts(const T* x, int64_t n, bool descending, T* out) {
    const auto range = GuessRange(x, n);
    if (!range) return false;
    // Several tables of counters, since equal adjacent keys would wait for their
    // counter.
    constexpr int64_t kTables = 4;
    const int64_t width = range->width;
    const Scratch<int64_t> counts{kTables * width};
    int64_t* const c = counts.data();
    std::fill_n(c, kTables * width, 0);
    const auto count_places = [&](const uint32_t* places, int64_t, int64_t count) {
        int64_t j = 0;
        for (; j + kTables <= count; j += kTables) {
            for (int64_t t = 0; t < kTables; ++t) ++c[t * width + places[j + t]];
        }
        for (; j < count; ++j) ++c[places[j]];
    };
    if (!ForEachPlace(x, n, *range, count_places)) return false;
    for (int64_t k = 0; k < width; ++k) {
        const int64_t place = descending ? width - 1 - k : k;
        int64_t count = 0;
        for (int64_t t = 0; t < kTables; ++t) count += c[t * width + place];
        out = std::fill_n(out, count, range->At(place));
    }
    return true;
}

// Stable sort of places. Returns false if it has not sorted.
bool ArgSortByCounts(const auto* x, int64_t n, bool descending, int64_t* out) {
    const auto range = GuessRange(x, n);
    if (!range) return false;
    const Scratch<int64_t> starts{range->width};
    const Scratch<uint16_t> kept{n};  // another thread may write to the row meanwhile
    int64_t* const next = starts.data();
    std::fill_n(next, range->width, 0);
    const auto count_places = [&](const uint32_t* places, int64_t begin, int64_t count) {
        for (int64_t j = 0; j < count; ++j) {
            kept.data()[begin + j] = static_cast<uint16_t>(places[j]);
            ++next[places[j]];
        }
    };
    if (!ForEachPlace(x, n, *range, count_places)) return false;
    int64_t start = 0;
    for (int64_t k = 0; k < range->width; ++k) {
        int64_t& at = next[descending ? range->width - 1 - k : k];
        const int64_t count = at;
        at = start;
        start += count;
    }
    ForChunks(n, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) out[next[kept.data()[i]]++] = i;
    });
    return true;
}

// Whether counting sort applies to type T.
template <typename T>
constexpr bool kIsCounted = std::is_integral_v<T> && sizeof(T) >= 2;

}  // namespace
}  // namespace chainerx::native
