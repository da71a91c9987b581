// Stable passes over long rows by a digit: counts of each tile, their sums, and the places that
// follow. A sort takes a pass for each byte, from the lowest on; a partition one, by whether a key
// is below, equal to or above a pivot. A selection finds the key of a rank by counts alone, byte by
// byte from the highest on.
#pragma once

#include <cstdint>

#include "chainerx/cuda/sort/device/keys.h"
#include "chainerx/cuda/sort/params.h"

namespace chainerx::cuda {

template <typename T>
inline bool IsHighest(const SortParams& p) {
    return p.shift == Keys<T>::kBits - 8;
}

template <typename T>
struct ByByte {
    const SortParams& p;
    ByByte(const SortParams& params, int64_t /*row*/) : p{params} {}
    int operator()(KeyOf<T> key) const { return static_cast<int>(key >> p.shift & 255); }
};
template <typename T>
struct ByPivot {
    KeyOf<T> pivot;
    ByPivot(const SortParams& p, int64_t row)
        : pivot{p.ranks != nullptr
                    ? At<const KeyOf<T>>(p.pivots)[row]
                    : Keys<T>::Encode(At<const T>(p.pivots)[row], p.descending != 0)} {}
    int operator()(KeyOf<T> key) const { return key < pivot ? 0 : key == pivot ? 1 : 2; }
};
// Of keys whose higher bytes are those of the one that is selected; others have no digit.
template <typename T>
struct ByPrefix {
    KeyOf<T> prefix;
    int64_t shift;
    ByPrefix(const SortParams& p, int64_t row)
        : prefix{IsHighest<T>(p) ? 0 : At<const KeyOf<T>>(p.pivots)[row]}, shift{p.shift} {}
    int operator()(KeyOf<T> key) const {
        const KeyOf<T> digit = (key ^ prefix) >> shift;
        return digit < kDigits ? static_cast<int>(digit) : kDigits;
    }
};

template <typename T>
inline KeyOf<T> LoadKey(const SortParams& p, int64_t at) {
    if (p.is_first != 0) {
        return Keys<T>::Encode(At<const T>(p.x)[at], p.descending != 0);
    }
    return At<const KeyOf<T>>(p.keys[0])[at];
}

// Item u of this thread: the elements of a warp are adjacent.
inline int64_t ItemOf(int64_t tile, int u) {
    const auto j = static_cast<int64_t>(threadIdx.x);
    return tile * kRadixTile + (j / 32 * kRadixItems + u) * 32 + j % 32;
}

template <typename T, typename Digit>
inline void RadixCount(const SortParams& p) {
    CX_SHARED(uint32_t, counts, kDigits);
    const int64_t row = blockIdx.x / p.tiles;
    const int64_t tile = blockIdx.x - row * p.tiles;
    counts[threadIdx.x] = 0;
    __syncthreads();
    const Digit digit_of{p, row};
    for (int u = 0; u < kRadixItems; ++u) {
        const int64_t i = ItemOf(tile, u);
        if (i >= p.n) continue;
        const int digit = digit_of(LoadKey<T>(p, row * p.n + i));
        if (digit < kDigits) atomicAdd(&counts[digit], 1u);
    }
    __syncthreads();
    p.counts[(row * kDigits + threadIdx.x) * p.tiles + tile] = counts[threadIdx.x];
}

// The sum of the threads before this one; `total` is that of all.
inline uint32_t SumBefore(uint32_t x, uint32_t* shared, uint32_t* total) {
    const int j = static_cast<int>(threadIdx.x);
    uint32_t sum = x;
    __syncthreads();
    shared[j] = sum;
    for (int w = 1; w < kBlockThreads; w *= 2) {
        __syncthreads();
        const uint32_t before = j < w ? 0 : shared[j - w];
        __syncthreads();
        sum += before;
        shared[j] = sum;
    }
    __syncthreads();
    *total = shared[kBlockThreads - 1];
    return sum - x;
}

// A block sums the counts of a row's digit over its tiles, in place.
inline void RadixSum(const SortParams& p) {
    CX_SHARED(uint32_t, shared, kBlockThreads);
    const int j = static_cast<int>(threadIdx.x);
    uint32_t* const counts = p.counts + static_cast<int64_t>(blockIdx.x) * p.tiles;
    uint32_t carry = 0;
    for (int64_t begin = 0; begin < p.tiles; begin += kBlockThreads) {
        const bool is_inside = begin + j < p.tiles;
        uint32_t total;
        const uint32_t before = SumBefore(is_inside ? counts[begin + j] : 0, shared, &total);
        if (is_inside) counts[begin + j] = carry + before;
        carry += total;
    }
    if (j == 0) p.totals[blockIdx.x] = carry;
}

// A block finds the digit of a row's key: `pivots` has its higher bytes, `ranks` its rank among the
// keys that share them.
template <typename T>
inline void SelectDigit(const SortParams& p) {
    CX_SHARED(uint32_t, shared, kBlockThreads);
    const int j = static_cast<int>(threadIdx.x);
    const int64_t row = blockIdx.x;
    KeyOf<T>* const keys = At<KeyOf<T>>(p.pivots);
    const bool is_first = IsHighest<T>(p);
    const KeyOf<T> prefix = is_first ? 0 : keys[row];
    const uint32_t rank = is_first ? static_cast<uint32_t>(p.rank) : p.ranks[row];
    const uint32_t count = p.totals[row * kDigits + j];
    uint32_t total;
    const uint32_t before = SumBefore(count, shared, &total);
    if (before <= rank && rank - before < count) {
        keys[row] = prefix | static_cast<KeyOf<T>>(j) << p.shift;
        p.ranks[row] = rank - before;
    }
}

// kPlaces: results are places, else numbers.
template <typename T, typename Digit, bool kPlaces>
inline void RadixScatter(const SortParams& p) {
    using K = KeyOf<T>;
    constexpr int kWarps = kBlockThreads / 32;
    constexpr bool kCarriesPlaces = kPlaces || kHasZeros<T>;
    CX_SHARED(uint32_t, counts, kWarps* kDigits);
    CX_SHARED(uint32_t, shared, kBlockThreads);
    const int j = static_cast<int>(threadIdx.x);
    const int lane = j % 32;
    const int64_t row = blockIdx.x / p.tiles;
    const int64_t tile = blockIdx.x - row * p.tiles;
    for (int w = 0; w < kWarps; ++w) counts[w * kDigits + j] = 0;
    __syncthreads();
    const Digit digit_of{p, row};
    uint32_t* const own = counts + j / 32 * kDigits;
    K keys[kRadixItems];
    uint32_t ranks[kRadixItems];
#pragma unroll
    for (int u = 0; u < kRadixItems; ++u) {
        const int64_t i = ItemOf(tile, u);
        const bool is_inside = i < p.n;
        keys[u] = is_inside ? LoadKey<T>(p, row * p.n + i) : K(0);
        const int digit = is_inside ? digit_of(keys[u]) : kDigits;
        const unsigned peers = __match_any_sync(0xffffffffu, digit);
        const uint32_t before = static_cast<uint32_t>(__popc(peers & ((1u << lane) - 1)));
        ranks[u] = is_inside ? own[digit] + before : 0;
        __syncwarp();
        if (is_inside && before == 0) own[digit] += static_cast<uint32_t>(__popc(peers));
        __syncwarp();
    }
    // The first place of each digit of each warp.
    uint32_t total;
    const uint32_t smaller = SumBefore(p.totals[row * kDigits + j], shared, &total);
    uint32_t next = smaller + p.counts[(row * kDigits + j) * p.tiles + tile];
    for (int w = 0; w < kWarps; ++w) {
        const uint32_t count = counts[w * kDigits + j];
        counts[w * kDigits + j] = next;
        next += count;
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < kRadixItems; ++u) {
        const int64_t i = ItemOf(tile, u);
        if (i >= p.n) continue;
        const int64_t to = row * p.n + own[digit_of(keys[u])] + ranks[u];
        uint32_t place = static_cast<uint32_t>(i);
        if constexpr (kCarriesPlaces) {
            if (p.is_first == 0) place = p.places[0][row * p.n + i];
        }
        if (p.is_last == 0) {
            At<K>(p.keys[1])[to] = keys[u];
            if constexpr (kCarriesPlaces) p.places[1][to] = place;
        } else if constexpr (kPlaces) {
            At<int64_t>(p.out)[to] = place;
        } else {
            const T* x = At<const T>(p.x) + row * p.n;
            At<T>(p.out)[to] = Keys<T>::Restore(keys[u], p.descending != 0, x + place);
        }
    }
}

// out[i, j] = x[i, positions[j]], or positions[i, j] if each row has its own.
template <typename T>
inline void Pick(const PickParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.rows * p.m) return;
    const int64_t row = i / p.m;
    const int64_t j = i - row * p.m;
    const int64_t at = p.positions == nullptr ? j : p.positions[p.has_rows != 0 ? i : j];
    At<T>(p.out)[i] = At<const T>(p.x)[row * p.n + at];
}

}  // namespace chainerx::cuda
