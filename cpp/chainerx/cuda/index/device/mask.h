// What a mask selects: chunks are counted, the counts summed, and each chunk writes from there on.
// Any byte but 0 is true.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/index/params.h"

namespace chainerx::cuda {

inline int64_t* EndsOf(const MaskParams& p) { return At<int64_t>(p.ends); }
inline bool IsTrue(const MaskParams& p, int64_t i) {
    return i < p.n && At<const uint8_t>(p.mask)[i] != 0;
}

// The number of set bits of a ballot, in all and below this lane.
inline int CountBitsOf(unsigned bits) { return __popc(bits); }
inline int CountBelow(unsigned bits) { return __popc(bits & ((1u << (threadIdx.x % 32)) - 1)); }

// The sum of `mine` over the warps of the block, to each thread; and that of the warps before.
struct WarpSums {
    int before;
    int total;
};
inline WarpSums SumWarps(int mine) {
    constexpr int kWarps = kBlockThreads / 32;
    CX_SHARED(int, counts, kWarps);
    const int warp = static_cast<int>(threadIdx.x) / 32;
    __syncthreads();
    if (threadIdx.x % 32 == 0) counts[warp] = mine;
    __syncthreads();
    WarpSums sums{0, 0};
    for (int w = 0; w < kWarps; ++w) {
        if (w < warp) sums.before += counts[w];
        sums.total += counts[w];
    }
    return sums;
}

// The number of true elements of this block's chunk, to each thread.
inline int CountInChunk(const MaskParams& p) {
    const int64_t first = blockIdx.x * kMaskChunk;
    int count = 0;
    for (int64_t k = threadIdx.x; k < kMaskChunk; k += kBlockThreads) {
        count += CountBitsOf(__ballot_sync(0xffffffffu, IsTrue(p, first + k)));
    }
    return SumWarps(count).total;
}

inline void CountChunks(const MaskParams& p) {
    const int total = CountInChunk(p);
    if (threadIdx.x == 0) EndsOf(p)[blockIdx.x] = total;
}

// All counts, into one number.
inline void CountTrue(const MaskParams& p) {
    const int total = CountInChunk(p);
    if (threadIdx.x == 0) {
        atomicAdd(At<unsigned long long>(p.out), static_cast<unsigned long long>(total));
    }
}

// One block of threads: replaces the counts by the sums of those before.
inline void SumChunks(const MaskParams& p) {
    CX_SHARED(int64_t, sums, kBlockThreads);
    const int t = static_cast<int>(threadIdx.x);
    int64_t carry = 0;
    for (int64_t base = 0; base < p.n_chunks; base += kBlockThreads) {
        const int64_t k = base + t;
        const int64_t mine = k < p.n_chunks ? EndsOf(p)[k] : 0;
        int64_t sum = mine;
        for (int step = 1; step < kBlockThreads; step *= 2) {
            __syncthreads();
            sums[t] = sum;
            __syncthreads();
            if (t >= step) sum += sums[t - step];
        }
        __syncthreads();
        sums[t] = sum;
        __syncthreads();
        if (k < p.n_chunks) EndsOf(p)[k] = carry + sum - mine;
        carry += sums[kBlockThreads - 1];
    }
}

// Calls write(i, number) for each true element of this block's chunk.
template <typename F>
inline void ForTrue(const MaskParams& p, const F& write) {
    const int64_t first = blockIdx.x * kMaskChunk;
    int64_t begin = EndsOf(p)[blockIdx.x];
    for (int64_t k = threadIdx.x; k < kMaskChunk; k += kBlockThreads) {
        const int64_t i = first + k;
        const bool is_true = IsTrue(p, i);
        const unsigned bits = __ballot_sync(0xffffffffu, is_true);
        const WarpSums sums = SumWarps(CountBitsOf(bits));
        const int64_t number = begin + sums.before + CountBelow(bits);
        if (is_true && number < p.count) write(i, number);
        begin += sums.total;
    }
}

inline void WriteNonzero(const MaskParams& p) {
    ForTrue(p, [&](int64_t i, int64_t number) {
        auto* out = At<int64_t>(p.out);
        for (int d = p.ndim - 1; d >= 0; --d) {
            const int64_t next = d == 0 ? 0 : i / p.dims[d];
            out[d * p.count + number] = i - next * p.dims[d];
            i = next;
        }
    });
}

template <typename T>
inline void WriteCompressed(const MaskParams& p) {
    ForTrue(p, [&](int64_t i, int64_t number) { At<T>(p.out)[number] = At<const T>(p.x)[i]; });
}

}  // namespace chainerx::cuda
