// The leaves of sorting, as raw function pointers: what the unit sort/simd/sorting.cc exports. Keys
// are integers with a sign.
#pragma once

#include <cstdint>

namespace chainerx::native {

// How many keys are below a window, and how many are in it.
struct InWindow {
    int64_t below;
    int64_t inside;
};

constexpr int64_t kMostInLeaf = 256;

// Keys of a row that is short: many such rows are sorted at once, each in a lane of the registers.
constexpr int64_t kMostInShort = 32;
// So many keys behind the last row are read, and so many places there overwritten.
constexpr int64_t kShortRoom = 16;
// Rows of more keys are sorted sooner one by one, as measured on Zen 4 with AVX-512. No instruction
// set has its own number, for it depends on the way which NaN comes out.
template <typename K>
constexpr int64_t kMostSortedInShort = sizeof(K) == 8 ? 24 : kMostInShort;

template <typename K>
struct SortLoopsOf {
    int64_t leaf;  // the most keys that `sort` takes, up to kMostInLeaf
    // out may be keys.
    void (*sort)(const K* keys, int64_t n, K* out);
    // Keys below the pivot go to the places from `low` on, the others to those from `other` on, in
    // their order. Returns how many are below. n places are overwritten at both; one of them may be
    // in the same memory as the keys, not behind them.
    int64_t (*partition)(const K* keys, int64_t n, K pivot, K* low, K* other);
    // The four parts that three pivots make, in any order each: the first two go to the places from
    // to[0] and to[1] on, the last two to those before to[2] and to[3], and these move on. The
    // first and the last part may have the same n places, and so may the other two.
    void (*split)(const K* keys, int64_t n, const K* pivots, K** to);
    // Copies keys of [low, high] to `out`, in their order; up to n places there are overwritten.
    InWindow (*gather)(const K* keys, int64_t n, K low, K high, K* out);
    // Whether each key is among a few others.
    void (*find)(const K* keys, int64_t n, const K* others, int64_t count, bool* out);
    // Short rows of n keys, one after the other, to other memory. They are sorted.
    void (*sort_rows)(const K* keys, int64_t rows, int64_t n, K* out);
    // The place of each key in its sorted row; equal keys keep their order.
    void (*rank_rows)(const K* keys, int64_t rows, int64_t n, K* places);
    // The place of each key where those below the one at `position` of the sorted row come first,
    // and those above it last; all three parts keep their order.
    void (*part_rows)(const K* keys, int64_t rows, int64_t n, int64_t position, K* places);
};

// Floats to keys and back, see native/sort/sort_keys.h; keys become numbers in place.
template <typename T, typename K>
struct KeyLoopsOf {
    void (*encode)(const T* x, int64_t n, bool join_zeros, K flip, K* keys);
    void (*decode)(K* keys, int64_t n, K flip);
    // As in SortLoopsOf, of the keys that encode() makes with zeros apart.
    int64_t (*partition)(const T* x, int64_t n, K flip, K pivot, K* low, K* other);
    void (*split)(const T* x, int64_t n, K flip, const K* pivots, K** to);
};

struct SortLoops {
    SortLoopsOf<int32_t> keys32;
    SortLoopsOf<int64_t> keys64;
    KeyLoopsOf<float, int32_t> float32;
    KeyLoopsOf<double, int64_t> float64;
};

const SortLoops& sorting_loops();

}  // namespace chainerx::native
