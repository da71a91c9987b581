// Launches of kernels.
#pragma once

#include <cstdint>

#include "chainerx/cuda/runtime/cuda_device.h"

namespace chainerx::cuda {

inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Before a launch on the current stream: makes the device current, and keeps the memory of all
// arrays until the stream has passed it. Returns the device.
template <typename... Arrays>
CudaDevice& Prepare(const Array& first, const Arrays&... arrays) {
    auto& device = static_cast<CudaDevice&>(first.device());
    CudaStream& stream = device.current_stream();
    device.Activate();
    device.RecordUse(first, stream);
    (device.RecordUse(arrays, stream), ...);
    return device;
}

struct Grid {
    int64_t blocks;
    int threads{kBlockThreads};
    int64_t shared_bytes{0};
};

// A thread for each of n elements.
inline Grid ThreadsFor(int64_t n) { return {CeilDiv(n, kBlockThreads)}; }

// `params` has the layout of the kernel's one parameter.
void LaunchErased(CudaStream& stream, CUfunction function, const Grid& grid, const void* params);

template <typename Params>
void Launch(CudaStream& stream, CUfunction function, const Grid& grid, const Params& params) {
    static_assert(sizeof(Params) <= 4000, "parameters of a kernel are at most 4,096 bytes");
    LaunchErased(stream, function, grid, &params);
}

}  // namespace chainerx::cuda
