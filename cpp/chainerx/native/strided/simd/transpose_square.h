// Transposes one square of items in registers.
#pragma once

#include <cstdint>

#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

// Item c of row r of src goes to item r of row c of dst. Row strides are in bytes.
template <typename T>
inline void TransposeSquare(const char* src, int64_t src_row, char* dst, int64_t dst_row) {
    constexpr int kSide = static_cast<int>(Square<T>::size);
    Square<T> y[kSide];
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) {
        y[i] = Square<T>::load_unaligned(reinterpret_cast<const T*>(src + i * src_row));
    }
    xsimd::transpose(y, y + kSide);
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) {
        y[i].store_unaligned(reinterpret_cast<T*>(dst + i * dst_row));
    }
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
