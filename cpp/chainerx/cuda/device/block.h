// Where a thread finds its elements, and what the threads of a block do together.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

// The elements of a type from number i on, or from a byte on.
template <typename T, typename P>
inline T* At(const Ptr<P>& p, int64_t i = 0) {
    return reinterpret_cast<T*>(static_cast<P*>(p)) + i;
}
template <typename T>
inline T* AtByte(const Ptr<char>& p, int64_t offset) {
    return reinterpret_cast<T*>(static_cast<char*>(p) + offset);
}

// Combines what the first threads of a block have in halves, for thread 0; all threads call it.
template <typename C, typename F>
inline C FoldLanes(C x, C* shared, int lanes, const F& combine) {
    const int j = static_cast<int>(threadIdx.x);
    for (int w = lanes / 2; w > 0; w /= 2) {
        __syncthreads();
        if (j < 2 * w) shared[j] = x;
        __syncthreads();
        if (j < w) x = combine(x, shared[j + w]);
    }
    return x;
}

inline int64_t ThreadNumber() {
    return static_cast<int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
}

}  // namespace chainerx::cuda
