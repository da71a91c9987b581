// What the sources of fused chains share. The host writes the rest (cuda/fuse/source.cc): each
// value of the chain is a variable of the type that an array of its dtype has, so it is rounded as
// if it were stored.
#pragma once

#include <type_traits>

#include "chainerx/cuda/elementwise/device/loops.h"
#include "chainerx/cuda/elementwise/device/where.h"
#include "chainerx/cuda/fuse/params.h"
#include "chainerx/cuda/reduce/device/reduce.h"

namespace chainerx::cuda {

// One element of a row of ops/elementwise/tables.
template <typename Row, typename Numbers, typename T, typename Out, typename... X>
inline Out ComputeElement(const X&... x) {
    using C = typename Numbers::template Compute<T>;
    C loaded[sizeof...(X)] = {Numbers::Load(x)...};
    return Numbers::template Store<Out>(Apply<Row>(loaded));
}

// The distance of element i from the first one, along dimensions of an array.
template <int kFirst, int kLast, typename Index, typename Params>
inline int64_t OffsetAlong(const Params& p, int array, Index i) {
    int64_t offset = 0;
#pragma unroll
    for (int d = kFirst; d < kLast; ++d) {
        const Index next = d + 1 == kLast ? 0 : p.dims[d].Divide(i);
        offset += static_cast<int64_t>(i - next * static_cast<Index>(p.dims[d].size)) *
                  p.strides[array][d];
        i = next;
    }
    return offset;
}

// The threads that have a row together.
struct Team {
    int64_t row;   // the last one if there is no row left
    int64_t size;  // elements of the row; 0 if there is none left
    int thread;
    int threads;
    unsigned char* shared;

    Team(const FusedHead& head, Bytes16* all_shared)
        : thread{static_cast<int>(threadIdx.x & (head.team - 1))},
          threads{static_cast<int>(head.team)} {
        const int number = static_cast<int>(threadIdx.x) / threads;
        row = static_cast<int64_t>(blockIdx.x) * (kBlockThreads / threads) + number;
        size = row < head.n_rows ? head.size : 0;
        if (size == 0) row = head.n_rows - 1;
        shared = reinterpret_cast<unsigned char*>(all_shared) +
                 number * (kRowBytes / kBlockThreads * threads);
    }
    bool is_first() const { return thread == 0 && size != 0; }
};

// Sums of the lanes of all blocks of a row: teams have a share of the memory, and are as large as a
// block of threads if a row has more than one block of elements.
static_assert(kRowBytes >= kLanes<float> * sizeof(float) * kMaxFusedRow / kReduceBlock);

template <typename Center>
inline Center CenterFrom() {
    return {};
}
template <typename Center, typename T>
inline Center CenterFrom(const T& x) {
    return static_cast<Center>(x);
}

// A row in the order of ReduceRuns, by a team of at least as many threads as there are lanes:
// groups of lanes reduce blocks of elements, whose sums are added one after the other. All threads
// of the block call it, and all of a team get the result. `value` returns an element.
template <typename P, typename Store, typename T, typename Out, typename F, typename... C>
inline Out ReduceRow(const Team& team, int64_t count, const F& value, const C&... given) {
    using Acc = typename P::Acc;
    constexpr int kWidth = kLanes<Acc>;
    const auto center = CenterFrom<typename P::Center>(given...);
    Acc* const shared = reinterpret_cast<Acc*>(team.shared);
    const int lane = team.thread % kWidth;
    const int group = team.thread / kWidth;
    __syncthreads();  // what is there may still be read
    for (int64_t b = group; b * kReduceBlock < team.size; b += team.threads / kWidth) {
        const int64_t end = b * kReduceBlock + kReduceBlock;
        const int64_t last = end < team.size ? end : team.size;
        Acc acc = P::Identity();
        for (int64_t k = b * kReduceBlock + lane; k < last; k += kWidth) {
            const T x = value(k);
            acc = P::Combine(acc, P::Load(x, center));
        }
        shared[b * kWidth + lane] = acc;
    }
    __syncthreads();
    Acc total = P::Identity();
    if (group == 0 && team.size != 0) {
        total = shared[lane];
        for (int64_t b = 1; b * kReduceBlock < team.size; ++b) {
            total = P::Combine(total, shared[b * kWidth + lane]);
        }
    }
    for (int m = kWidth / 2; m > 0; m /= 2) {
        __syncthreads();
        if (team.thread < 2 * m) shared[team.thread] = total;
        __syncthreads();
        if (team.thread < m) total = P::Combine(total, shared[team.thread + m]);
    }
    __syncthreads();
    if (team.thread == 0) shared[0] = total;
    __syncthreads();
    return Store::Of(shared[0], count, center);
}

}  // namespace chainerx::cuda
