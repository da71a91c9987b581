// Distances at which lines of memory share a set of the caches: few of them stay there side by
// side.
#pragma once

#include <cstdint>

#include "chainerx/native/parts.h"

namespace chainerx::native {

// Whether rows so many elements apart drive each other out before they are read again.
template <typename T>
constexpr bool SharesSets(int64_t step) {
    return step * static_cast<int64_t>(sizeof(T)) % 1024 == 0;
}

// The least distance for rows of `nbytes` of which as many as a tile has can stay side by side: an
// odd number of pairs of lines.
constexpr int64_t SpreadOverSets(int64_t nbytes) {
    constexpr int64_t kPairs = 128;
    return (CeilDiv(nbytes, kPairs) | 1) * kPairs;
}

}  // namespace chainerx::native
