// Work that blocks leave to the one of them that comes last, in place of another launch.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

// Returns whether this block is the last of so many that come here with this counter of the stream
// (CudaStream::counters()): it sees what the others have written. All its threads call this. The
// counter is 0 again afterwards.
inline bool IsLastBlock(uint32_t* counter, uint32_t blocks) {
    CX_SHARED(uint32_t, earlier, 1);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        earlier[0] = atomicAdd(counter, 1u);
        if (earlier[0] + 1 == blocks) *counter = 0;
    }
    __syncthreads();
    if (earlier[0] + 1 != blocks) return false;
    __threadfence();
    return true;
}

}  // namespace chainerx::cuda
