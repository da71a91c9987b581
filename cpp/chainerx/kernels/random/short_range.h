// Random integers of short ranges, on the host and on devices.
#pragma once

#include <cstdint>

namespace chainerx {

// The upper half of the product of 32 random bits and a range is uniform if numbers are rejected
// whose lower half is below this (D. Lemire, 2019).
inline uint32_t RejectedBelow(uint32_t range) { return (0u - range) % range; }

// Whether 32 random bits are enough for integers of that range: at most one in 4096 is rejected.
inline bool IsShortRange(uint64_t range) {
    return range != 0 && range >> 32 == 0 && RejectedBelow(static_cast<uint32_t>(range)) >> 20 == 0;
}

}  // namespace chainerx
