// The sort loops that sort/simd/sorting.cc exports. Keys are signed integers.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Number of keys below a window, and in it.
struct InWindow {
    int64_t below;
    int64_t inside;
};

constexpr int64_t kMaxInLeaf = 256;

// Maximum length of a short row: many such rows are sorted at once, one per lane.
constexpr int64_t kMaxShortRow = 32;
// Number of keys beyond the last row that may be read and overwritten.
constexpr int64_t kShortRoom = 16;
// Longer rows are faster one by one, as measured on Zen 4 with AVX-512. All instruction sets share
// this number, since the choice decides which NaN is written.
template <typename K>
constexpr int64_t kMaxSortedInShort = sizeof(K) == 8 ? 24 : kMaxShortRow;

template <typename K>
struct SortLoopsOf {
    int64_t leaf;  // maximum number of keys that `sort` takes, up to kMaxInLeaf
    // `out` may be `keys`.
    void (*sort)(const K* keys, int64_t n, K* out);
    // Stable partition: keys below the pivot go to `low` onwards, the others to `other` onwards.
    // Returns the number below. n places are overwritten at both; one of them may be in the same
    // memory as the keys, not after them.
    int64_t (*partition)(const K* keys, int64_t n, K pivot, K* low, K* other);
    // Copies keys of [low, high] to `out`, in order; up to n places are overwritten.
    InWindow (*gather)(const K* keys, int64_t n, K low, K high, K* out);
    // Sets whether each key is among `count` others.
    void (*find)(const K* keys, int64_t n, const K* others, int64_t count, bool* out);
    // Sorts short rows of n adjacent keys each, into other memory.
    void (*sort_rows)(const K* keys, int64_t rows, int64_t n, K* out);
    // The place of each key in its sorted row; the sort is stable.
    void (*rank_rows)(const K* keys, int64_t rows, int64_t n, K* places);
    // The place of each key in the row partitioned around the key at `position` of the sorted row;
    // all three parts keep their order.
    void (*partition_rows)(const K* keys, int64_t rows, int64_t n, int64_t position, K* places);
};

// Encodes floats as keys and decodes keys in place, see native/sort/sort_keys.h.
template <typename T, typename K>
struct KeyLoopsOf {
    void (*encode)(const T* x, int64_t n, bool join_zeros, K flip, K* keys);
    void (*decode)(K* keys, int64_t n, K flip);
};

struct SortLoops {
    SortLoopsOf<int32_t> keys32;
    SortLoopsOf<int64_t> keys64;
    KeyLoopsOf<float, int32_t> float32;
    KeyLoopsOf<double, int64_t> float64;
};

const SortLoops& sorting_loops();

}  // namespace chainerx::native
