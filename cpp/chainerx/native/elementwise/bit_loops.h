// Bits of integers and of masks, as raw function pointers: what the unit elementwise/simd/bits.cc
// exports.
#pragma once

#include <cstdint>

#include "chainerx/core/dtype.h"
#include "chainerx/native/elementwise/loops.h"

namespace chainerx::native {

struct BitLoops {
    // How many bits of the absolute values are set, as uint8. Null for dtypes that are no integers.
    UnaryLoop count[kNumDtypes];
    // The n bytes of a mask as bits, eight to a byte, the first one the highest if `big`, else the
    // lowest. Of the last byte, bits that are missing are 0.
    void (*pack)(const uint8_t* mask, int64_t n, bool big, uint8_t* out);
    // The bits of n bytes as bytes of 0 or 1.
    void (*unpack)(const uint8_t* x, int64_t n, bool big, uint8_t* out);
};

const BitLoops& bits_loops();

}  // namespace chainerx::native
