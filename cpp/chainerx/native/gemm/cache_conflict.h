// Cache-set conflicts: at some strides, lines of memory share a set, which holds a few of them
// only.
#pragma once

#include <cstdint>

#include "chainerx/native/ranges.h"

namespace chainerx::native {

// Returns whether rows that many elements apart evict each other before they are read again.
template <typename T>
constexpr bool HasCacheConflict(int64_t step) {
    return step * static_cast<int64_t>(sizeof(T)) % 1024 == 0;
}

// The smallest stride for rows of `nbytes` at which all rows of a tile stay in cache: an odd number
// of pairs of lines.
constexpr int64_t ConflictFreeStride(int64_t nbytes) {
    constexpr int64_t kPairs = 128;
    return (CeilDiv(nbytes, kPairs) | 1) * kPairs;
}

}  // namespace chainerx::native
