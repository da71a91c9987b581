// Launches of kernels.
#pragma once

#include <cstdint>

#include "chainerx/cuda/runtime/cuda_device.h"

namespace chainerx::cuda {

struct Grid {
    int64_t blocks;
    int threads;
    int64_t shared_bytes{0};
};

// `params` has the layout of the kernel's one parameter.
void LaunchErased(CUstream stream, CUfunction function, const Grid& grid, const void* params);

template <typename Params>
void Launch(CudaStream& stream, CUfunction function, const Grid& grid, const Params& params) {
    static_assert(sizeof(Params) <= 4000, "parameters of a kernel are at most 4,096 bytes");
    LaunchErased(stream.handle(), function, grid, &params);
}

}  // namespace chainerx::cuda
