// A Fisher-Yates shuffle in parallel, with the result of the serial one
// (native/random/random_fill.cc).
//
// Step a swaps the elements a and b(a) <= a, from the last a down to 1. Element a is final after
// its step, so it gets what was in b(a) before: what the latest earlier step with the same b has
// put there, or b(a) itself. That step, m, put there what was in element m before it; which in turn
// is what the latest step above m with b = m put there, and so on, or m. All chains ascend, and are
// of logarithmic length. `Index` is int32_t below 2^31 elements.
#pragma once

#include <type_traits>

#include "chainerx/cuda/random/device/calls.h"

namespace chainerx::cuda {

inline int64_t ShuffleTarget(const PermutationParams& p, const philox::Stream& stream, int64_t a) {
    const int64_t k = p.size - 1 - a;
    const philox::Block block = stream.Get(static_cast<uint64_t>(k / 2));
    const uint64_t bits =
        k % 2 == 0 ? philox::Join(block.v[0], block.v[1]) : philox::Join(block.v[2], block.v[3]);
    return static_cast<int64_t>(philox::ToBounded(bits, static_cast<uint64_t>(a) + 1));
}

// The least step above a in the list of x, or -1.
template <typename Index>
inline Index LeastAbove(const PermutationParams& p, int64_t x, int64_t a) {
    Index least = -1;
    for (Index m = At<Index>(p.heads)[x]; m >= 0; m = At<Index>(p.next)[m]) {
        if (m > a && (least < 0 || m < least)) least = m;
    }
    return least;
}

template <typename Index>
inline void AddStep(const PermutationParams& p, const philox::Stream& stream, int64_t a) {
    // Element 0 has no step, and gets one that does nothing.
    Index* head = At<Index>(p.heads) + ShuffleTarget(p, stream, a);
    using Bits = std::conditional_t<sizeof(Index) == 4, unsigned, unsigned long long>;
    At<Index>(p.next)[a] =
        static_cast<Index>(atomicExch(reinterpret_cast<Bits*>(head), static_cast<Bits>(a)));
}
template <typename Index>
inline void FollowChain(const PermutationParams& p, const philox::Stream& stream, int64_t a) {
    const int64_t b = ShuffleTarget(p, stream, a);
    int64_t m = LeastAbove<Index>(p, b, a);
    if (m >= 0) {
        const Index* least = At<Index>(p.least);
        while (least[m] >= 0) m = least[m];
    }
    p.out[a] = m >= 0 ? m : b;
}

// The phases, each a kernel.
template <typename Index>
inline void ClearLists(const PermutationParams& p) {
    const int64_t i = ThreadNumber();
    if (i < p.size) At<Index>(p.heads)[i] = -1;
}
template <typename Index>
inline void AddSteps(const PermutationParams& p) {
    const philox::Stream stream = StreamOf(p.call);
    const int64_t i = ThreadNumber();
    if (i < p.size) AddStep<Index>(p, stream, i);
}
template <typename Index>
inline void FindLeast(const PermutationParams& p) {
    const int64_t i = ThreadNumber();
    if (i < p.size) At<Index>(p.least)[i] = LeastAbove<Index>(p, i, i);
}
template <typename Index>
inline void FollowChains(const PermutationParams& p) {
    const philox::Stream stream = StreamOf(p.call);
    const int64_t i = ThreadNumber();
    if (i < p.size) FollowChain<Index>(p, stream, i);
}

// All phases in one block of threads.
template <typename Index>
inline void ShuffleAtOnce(const PermutationParams& p) {
    const philox::Stream stream = StreamOf(p.call);
    const int64_t t = threadIdx.x;
    for (int64_t i = t; i < p.size; i += kBlockThreads) At<Index>(p.heads)[i] = -1;
    __syncthreads();
    for (int64_t i = t; i < p.size; i += kBlockThreads) AddStep<Index>(p, stream, i);
    __syncthreads();
    for (int64_t i = t; i < p.size; i += kBlockThreads) {
        At<Index>(p.least)[i] = LeastAbove<Index>(p, i, i);
    }
    __syncthreads();
    for (int64_t i = t; i < p.size; i += kBlockThreads) FollowChain<Index>(p, stream, i);
}

}  // namespace chainerx::cuda
