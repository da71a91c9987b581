// How long sums are cut (cuda/gemm/device/pieces.h).
#pragma once

#include <algorithm>
#include <cstdint>

namespace chainerx::cuda {

// The number of pieces of k steps, at least so long, of each block's sums. A function of sizes
// alone, as the bits of results are.
inline int64_t CountPieces(int64_t blocks, int64_t k, int64_t least) {
    constexpr int64_t kManyBlocks = 256;
    return std::max<int64_t>(std::min(kManyBlocks / blocks, k / least), 1);
}

}  // namespace chainerx::cuda
