// Threads that work on a row together: a part of a warp, a warp or a block of eight.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/norm/params.h"
#include "chainerx/native/norm/row_order.h"

namespace chainerx::cuda {

template <int kThreads>
struct Group {
    static constexpr int kRows = kBlockThreads / kThreads;  // of a block
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

// Some elements of a row for each thread: in registers, or read each time if kItems is 0. Threads
// of a warp have adjacent ones; of more than a warp, each has blocks of kRowBlock.
template <typename T, int kThreads, int kItems>
struct RowElements {
    using C = Number<T>;
    using G = Group<kThreads>;
    static constexpr int kWarps = kThreads < 32 ? 1 : kThreads / 32;
    static constexpr int kSteps = native::kRowBlock / native::kRowLanes;  // of a block

    const T* x;
    int64_t n;
    int lane;
    C kept[kItems == 0 ? 1 : kItems];

    RowElements(const T* row, int64_t length) : x{row}, n{length}, lane{G::Lane()} {
        if constexpr (kItems > 0) {
#pragma unroll
            for (int u = 0; u < kItems; ++u) {
                const int64_t j = PlaceOf(u);
                kept[u] = j < n ? static_cast<C>(x[j]) : C(0);
            }
        }
    }
    int64_t PlaceOf(int64_t u) const {
        if constexpr (kThreads <= 32) {
            return u * kThreads + lane;
        } else {
            return (u / kSteps * kWarps + lane / 32) * native::kRowBlock + u % kSteps * 32 +
                   lane % 32;
        }
    }
    // Calls f(place, element), which may change the element if it is kept.
    template <typename F>
    void ForEach(const F& f) {
        if constexpr (kItems > 0) {
#pragma unroll
            for (int u = 0; u < kItems; ++u) {
                const int64_t j = PlaceOf(u);
                if (j < n) f(j, kept[u]);
            }
        } else {
            for (int64_t u = 0; PlaceOf(u) < n; ++u) {
                C v = static_cast<C>(x[PlaceOf(u)]);
                f(PlaceOf(u), v);
            }
        }
    }
    // The sum of f(element) in the order of row_order.h, in every thread; f may change an element
    // that is kept.
    template <typename S, typename F>
    S SumOf(const F& f) {
        S total = S(0);
        if constexpr (kThreads < 32) {
            S terms[kItems];
#pragma unroll
            for (int u = 0; u < kItems; ++u) terms[u] = PlaceOf(u) < n ? f(kept[u]) : S(0);
#pragma unroll
            for (int w = kItems / 2; w > 0; w /= 2) {
                for (int u = 0; u < w; ++u) terms[u] += terms[u + w];
            }
            total = terms[0];
        } else if constexpr (kItems > 0) {
            constexpr int kRounds = (kItems + kSteps - 1) / kSteps;
            S sums[kRounds] = {};
#pragma unroll
            for (int u = 0; u < kItems; ++u) {
                if (PlaceOf(u) < n) sums[u / kSteps] += f(kept[u]);
            }
#pragma unroll
            for (int r = 0; r < kRounds; ++r) AddRound(total, sums[r]);
        } else {
            for (int64_t first = 0; first < n; first += kWarps * native::kRowBlock) {
                S sum = S(0);
                for (int u = 0; u < kSteps; ++u) {
                    const int64_t j = first + PlaceOf(u);
                    if (j >= n) break;
                    C v = static_cast<C>(x[j]);
                    sum += f(v);
                }
                AddRound(total, sum);
            }
        }
#pragma unroll
        for (int w = G::kWidth / 2; w > 0; w /= 2) {
            total += __shfl_xor_sync(0xffffffffu, total, w, G::kWidth);
        }
        return total;
    }

 private:
    // Adds the sums of a block of each warp, in their order.
    template <typename S>
    static void AddRound(S& total, S sum) {
        if constexpr (kWarps == 1) {
            total += sum;
        } else {
            CX_SHARED(S, shared, kThreads);
            __syncthreads();
            shared[threadIdx.x] = sum;
            __syncthreads();
            for (int w = 0; w < kWarps; ++w) total += shared[w * 32 + threadIdx.x % 32];
        }
    }
};

}  // namespace chainerx::cuda
