// Transposes squares in registers, takes strided items, and copies adjacent bytes.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Item (r, c) goes from src + r * sizeof(item) + c * src_column to dst + r * dst_row + c *
// sizeof(item). It handles `together` rows at a time, over all columns; rows, columns and
// `together` are multiples of the side of a square. Strides are in bytes.
using TransposeLoop = void (*)(char* dst, int64_t dst_row, const char* src, int64_t src_column,
                               int64_t rows, int64_t columns, int64_t together);

// Copies every step-th item of src to dst, except for some of the last ones, whose gaps may lie
// outside of the array. Returns the number of items copied.
using EveryLoop = int64_t (*)(char* dst, const char* src, int64_t n);
inline constexpr int kMaxStep = 4;

struct TransposeLoops {
    int side4;  // for items of 4 bytes
    TransposeLoop transpose4;
    int side8;
    TransposeLoop transpose8;
    EveryLoop every4[kMaxStep + 1];  // indexed by the step, from 2 on
    EveryLoop every8[kMaxStep + 1];
    // memcpy by whole registers, with aligned stores.
    void (*copy)(char* dst, const char* src, int64_t nbytes);
};

const TransposeLoops& transpose_loops();

}  // namespace chainerx::native
