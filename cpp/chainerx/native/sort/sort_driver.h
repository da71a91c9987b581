// Key sorting: quicksort whose leaves are the loops of the instruction set.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/native/sort/sort_keys.h"
#include "chainerx/native/sort/sorting_loops.h"

namespace chainerx::native {

// Sorts n keys into `out`, which is `keys` or `spare`; both have n places and are overwritten.
void SortKeys(int32_t* keys, int32_t* spare, int64_t n, int32_t* out);
void SortKeys(int64_t* keys, int64_t* spare, int64_t n, int64_t* out);

// Writes the places 0 to n - 1 in the order of the keys; the sort is stable.
void ArgSortKeys(const int32_t* keys, int64_t n, int64_t* out);
void ArgSortKeys(const int64_t* keys, int64_t n, int64_t* out);

namespace {

template <typename K>
const SortLoopsOf<K>& LoopsOf() {
    if constexpr (sizeof(K) == 4) {
        return sorting_loops().keys32;
    } else {
        return sorting_loops().keys64;
    }
}

template <typename T>
const KeyLoopsOf<T, SortKey<T>>& NumberLoopsOf() {
    if constexpr (std::is_same_v<T, float>) {
        return sorting_loops().float32;
    } else {
        return sorting_loops().float64;
    }
}

template <typename T>
void EncodeKeys(const T* x, int64_t n, bool join_zeros, SortKey<T> flip, SortKey<T>* keys) {
    if constexpr (std::is_floating_point_v<T>) {
        NumberLoopsOf<T>().encode(x, n, join_zeros, flip, keys);
    } else {
        for (int64_t i = 0; i < n; ++i) keys[i] = EncodeKey(x[i], join_zeros, flip);
    }
}

// Calls f(i, place) for `count` of n places, one in each stratum of the row, at pseudo-random
// positions, so that periodic data do not bias the sample.
void SampleKeys(int64_t n, int64_t count, const auto& f) {
    const auto step = static_cast<uint64_t>(n / count);
    uint64_t state = 0x9E3779B97F4A7C15u;
    for (int64_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        // The step is a fixed-point number; rows of more than 2^32 steps use the first ones.
        const uint64_t within = (state >> 32) * (step & 0xffffffff) >> 32;
        f(i, static_cast<int64_t>(static_cast<uint64_t>(i) * step + within));
    }
}

}  // namespace
}  // namespace chainerx::native
