// Threads that work on a row together: a part of a warp, a warp or a block of eight.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/norm/params.h"

namespace chainerx::cuda {

template <typename T>
inline T* At(const Ptr<char>& p, int64_t i) {
    return reinterpret_cast<T*>(static_cast<char*>(p)) + i;
}

template <int kThreads>
struct Group {
    static constexpr int kRows = kNormThreads / kThreads;  // of a block
    static constexpr int kWidth = kThreads < 32 ? kThreads : 32;

    static int Lane() { return static_cast<int>(threadIdx.x) % kThreads; }
    static int64_t Row() {
        return static_cast<int64_t>(blockIdx.x) * kRows + threadIdx.x / kThreads;
    }

    // Every lane gets the same result.
    template <typename C, typename F>
    static C Reduce(C x, const F& join) {
#pragma unroll
        for (int w = kWidth / 2; w > 0; w /= 2) {
            x = join(x, __shfl_xor_sync(0xffffffffu, x, w, kWidth));
        }
        if constexpr (kThreads > 32) {
            CX_SHARED(C, shared, kThreads / 32);
            __syncthreads();
            if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
            __syncthreads();
            x = shared[0];
            for (int w = 1; w < kThreads / 32; ++w) x = join(x, shared[w]);
        }
        return x;
    }
    template <typename C>
    static C Max(C x) {
        return Reduce(x, [](C a, C b) { return b > a ? b : a; });
    }
    template <typename C>
    static C Sum(C x) {
        return Reduce(x, [](C a, C b) { return a + b; });
    }
};

// Elements lane, lane + kThreads, ... of a row: in registers, or read each time if kItems is 0.
template <typename T, int kThreads, int kItems>
struct RowElements {
    using C = Number<T>;

    const T* x;
    int64_t n;
    int lane;
    C kept[kItems == 0 ? 1 : kItems];

    RowElements(const T* row, int64_t length) : x{row}, n{length}, lane{Group<kThreads>::Lane()} {
        if constexpr (kItems > 0) {
#pragma unroll
            for (int u = 0; u < kItems; ++u) {
                const int64_t j = u * kThreads + lane;
                kept[u] = j < n ? static_cast<C>(x[j]) : C(0);
            }
        }
    }
    // Calls f(place, element), which may change the element if it is kept.
    template <typename F>
    void ForEach(const F& f) {
        if constexpr (kItems > 0) {
#pragma unroll
            for (int u = 0; u < kItems; ++u) {
                const int64_t j = u * kThreads + lane;
                if (j < n) f(j, kept[u]);
            }
        } else {
            for (int64_t j = lane; j < n; j += kThreads) {
                C v = static_cast<C>(x[j]);
                f(j, v);
            }
        }
    }
};

}  // namespace chainerx::cuda
