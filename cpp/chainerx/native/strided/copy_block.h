// Copies a 2-D block of items between two strided layouts.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Item (r, c) goes from src + r * src_row + c * src_column to dst + r * dst_row + c * dst_column.
// Strides are in bytes, of any sign. src and dst must not overlap.
struct BlockCopy {
    int64_t rows;
    int64_t columns;
    int64_t dst_row;
    int64_t dst_column;
    int64_t src_row;
    int64_t src_column;
};

void CopyBlock(char* dst, const char* src, BlockCopy block, int64_t item_size);

// Copies one row.
inline void CopyStrided(char* dst, int64_t dst_stride, const char* src, int64_t src_stride,
                        int64_t n, int64_t item_size) {
    CopyBlock(dst, src, {1, n, 0, dst_stride, 0, src_stride}, item_size);
}

}  // namespace chainerx::native
