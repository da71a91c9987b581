// The order in which terms of a row are added, on every device and for every instruction set. A row
// is cut into blocks; element i of a block belongs to lane i % kRowLanes. Lanes are added up within
// a block, then over the blocks, one by one; at last lane i and lane i + w are added, for w =
// kRowLanes / 2, ..., 2, 1. Narrow rows are added up one by one.
#pragma once

#include <cstdint>

namespace chainerx::native {

inline constexpr int64_t kNarrowRow = 32;
inline constexpr int64_t kRowLanes = 32;
inline constexpr int64_t kRowBlock = 512;

// Losses of labels: pieces of so many, in so many lanes, of which each kRowLanes are added up as
// above; then the sums of pieces in the same way.
inline constexpr int64_t kLabelledLanes = 256;
inline constexpr int64_t kLabelledPiece = 4096;

// Normalizations: lanes of T for element i of a run, i % NormLanes. They are added up as above.
template <typename T>
constexpr int64_t NormLanes() {
    return 128 / static_cast<int64_t>(sizeof(T));
}

}  // namespace chainerx::native
