// The leaves of sorting, as raw function pointers: what the unit isa/sorting.cc exports. Keys are
// integers with a sign.
#pragma once

#include <cstdint>

namespace chainerx::native {

// How many keys are below a window, and how many are in it.
struct InWindow {
    int64_t below;
    int64_t inside;
};

template <typename K>
struct SortLoopsOf {
    int64_t leaf;  // the most keys that `sort` takes
    // out may be keys.
    void (*sort)(const K* keys, int64_t n, K* out);
    // Keys below the pivot go to the start of the `room` places of `out`, the others to their end,
    // in any order. Returns how many are below. room >= n; what is between the two is overwritten.
    int64_t (*partition)(const K* keys, int64_t n, K pivot, K* out, int64_t room);
    // Copies keys of [low, high] to `out`, in their order; up to n places there are overwritten.
    InWindow (*gather)(const K* keys, int64_t n, K low, K high, K* out);
};

// Floats to keys and back, see native/sort_keys.h; keys become numbers in place.
template <typename T, typename K>
struct KeyLoopsOf {
    void (*encode)(const T* x, int64_t n, bool join_zeros, K flip, K* keys);
    void (*decode)(K* keys, int64_t n, K flip);
    // As SortLoopsOf::partition, of the keys that encode() makes with zeros apart.
    int64_t (*partition)(const T* x, int64_t n, K flip, K pivot, K* out, int64_t room);
};

struct SortLoops {
    SortLoopsOf<int32_t> keys32;
    SortLoopsOf<int64_t> keys64;
    KeyLoopsOf<float, int32_t> float32;
    KeyLoopsOf<double, int64_t> float64;
};

const SortLoops& sorting_loops();

}  // namespace chainerx::native
