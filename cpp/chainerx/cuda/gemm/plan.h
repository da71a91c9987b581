// How products are cut into tiles and pieces: functions of dtypes and sizes alone, as the bits of
// results depend on it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "chainerx/core/dtype.h"
#include "chainerx/cuda/gemm/params.h"
#include "chainerx/cuda/runtime/launch.h"

namespace chainerx::cuda {

// The number of pieces of k steps, at least so long, of each block's sums.
inline int64_t CountPieces(int64_t blocks, int64_t k, int64_t least) {
    constexpr int64_t kManyBlocks = 256;
    static_assert(kManyBlocks <= CudaStream::kCounters, "each block of several pieces has one");
    return std::max<int64_t>(std::min(kManyBlocks / blocks, k / least), 1);
}

// Whether there are enough large tiles for a device. They need many registers.
inline bool PrefersLargeTiles(Dtype dtype, int64_t batch, int64_t m, int64_t n) {
    constexpr int64_t kMinTiles = 128;
    constexpr int64_t kMinSide = kGemmLargeTile * 3 / 4;
    return IsFloat(dtype) && GetItemSize(dtype) <= 4 && m >= kMinSide && n >= kMinSide &&
           batch * CeilDiv(m, kGemmLargeTile) * CeilDiv(n, kGemmLargeTile) >= kMinTiles;
}

// The alignment of four elements (Quad of cuda/gemm/device/tile.h).
inline int64_t AlignOfQuad(int64_t item_size) { return item_size < 4 ? 4 * item_size : 16; }

}  // namespace chainerx::cuda
