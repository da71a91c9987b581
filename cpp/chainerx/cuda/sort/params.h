// Parameters of sorts and searches, for the host and the device (cuda/sort/device).
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

inline constexpr int kBlockSortSize = 1024;  // elements of a block
inline constexpr int kRadixItems = 8;        // elements of a thread
inline constexpr int64_t kRadixTile = kBlockThreads * kRadixItems;
inline constexpr int kDigits = 256;

// x and out are (rows, n), contiguous. Places are 32-bit while they are sorted.
struct SortParams {
    Ptr<char> x;
    Ptr<char> out;
    int64_t rows;
    int64_t n;
    int64_t width;  // of a row in a block sort: a power of two, at least n
    int64_t descending;
    // Of a radix pass; keys are read from x in the first pass, and results go to out in the last.
    Ptr<char> keys[2];
    Ptr<uint32_t> places[2];
    int64_t is_first;
    int64_t is_last;
    int64_t shift;
    int64_t tiles;         // of a row
    Ptr<uint32_t> counts;  // (rows, kDigits, tiles)
    Ptr<uint32_t> totals;  // (rows, kDigits)
    // Of a partition: a number for each row; with `ranks` a key. Of a selection: keys as far as
    // they are known, with their ranks among the keys that agree so far.
    Ptr<char> pivots;
    Ptr<uint32_t> ranks;
    int64_t rank;
};

struct PickParams {
    Ptr<char> x;             // (rows, n)
    Ptr<char> out;           // (rows, m)
    Ptr<int64_t> positions;  // (m,), or with `has_rows` (rows, m); null for the first m
    int64_t has_rows;
    int64_t rows;
    int64_t n;
    int64_t m;
};

struct SearchParams {
    Ptr<char> sorted;
    Ptr<char> values;  // at the points of `sorted`, of Interp
    Ptr<char> x;
    Ptr<char> out;
    int64_t n;     // of `sorted`
    int64_t size;  // of x
    int64_t right;
    int64_t invert;
    int64_t has_left;
    int64_t has_right;
    double left;
    double right_value;
};

}  // namespace chainerx::cuda
