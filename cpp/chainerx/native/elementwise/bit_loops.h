// Popcount, packbits and unpackbits loops: exported by elementwise/simd/bits.cc.
#pragma once

#include <cstdint>

#include "chainerx/core/dtype.h"
#include "chainerx/native/elementwise/loops.h"

namespace chainerx::native {

struct BitLoops {
    // Popcount of absolute values, as uint8. Null for dtypes other than integers.
    UnaryLoop count[kNumDtypes];
    // Packs n mask bytes into bits, eight to a byte, most significant first if `big`. Missing bits
    // of the last byte are 0.
    void (*pack)(const uint8_t* mask, int64_t n, bool big, uint8_t* out);
    // Unpacks the bits of n bytes into bytes of 0 or 1.
    void (*unpack)(const uint8_t* x, int64_t n, bool big, uint8_t* out);
};

const BitLoops& bits_loops();

}  // namespace chainerx::native
