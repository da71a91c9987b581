// Positions of extremes. The first of equal extremes wins, so that the order of comparisons does
// not matter.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/cuda/reduce/device/reduce.h"

namespace chainerx::cuda {

template <typename T>
using ArgNumber = std::conditional_t<std::is_same_v<T, Bool8>, uint32_t, Number<T>>;

// An extreme and its position, which is negative if there is none.
template <typename C>
struct Best {
    C value;
    int64_t index;
};

template <typename T, bool kLargest, bool kSkipsNan>
struct ArgExtreme {
    using C = ArgNumber<T>;

    static Best<C> Load(const char* x, int64_t i) {
        const auto v = static_cast<C>(static_cast<Number<T>>(*reinterpret_cast<const T*>(x)));
        return {v, kSkipsNan && v != v ? -1 : i};
    }
    static Best<C> Combine(const Best<C>& a, const Best<C>& b) {
        if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
        const bool is_first = b.index < a.index;
        if (a.value != a.value) return b.value != b.value && is_first ? b : a;
        const bool wins = b.value != b.value ||
                          (kLargest ? b.value > a.value : b.value < a.value) ||
                          (b.value == a.value && is_first);
        return wins ? b : a;
    }
};

inline const char* ElementOf(const ReduceParams& p, const char* in, int64_t i) {
    return in + (p.reduced.ndim == 1 ? i * p.reduced.strides[0][0] : OffsetOf(p.reduced, i, 0));
}

template <typename C>
inline void StoreBest(const ReduceParams& p, int64_t i, int64_t piece, const Best<C>& best) {
    if (p.n_pieces > 1) {
        At<Best<C>>(p.parts)[piece * p.n_out + i] = best;
        return;
    }
    *reinterpret_cast<int64_t*>(static_cast<char*>(p.out) + OffsetOf(p.kept, i, 1)) =
        best.index < 0 ? 0 : best.index;
}

// The best of the lanes of a warp, in lane 0.
template <typename E, typename C>
inline Best<C> BestOfWarp(Best<C> best) {
    for (int w = 16; w > 0; w /= 2) {
        Best<C> other;
        other.value = __shfl_down_sync(0xffffffffu, best.value, w);
        other.index = __shfl_down_sync(0xffffffffu, best.index, w);
        best = E::Combine(best, other);
    }
    return best;
}

// A warp finds the extreme of an output.
template <typename E>
inline void ArgReduceWarps(const ReduceParams& p) {
    using C = typename E::C;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t i = static_cast<int64_t>(blockIdx.x) * (kBlockThreads / 32) + threadIdx.x / 32;
    Best<C> best{C(0), -1};
    if (i < p.n_out) {
        const char* in = static_cast<char*>(p.in) + OffsetOf(p.kept, i, 0);
        for (int64_t k = lane; k < p.n; k += 32) {
            best = E::Combine(best, E::Load(ElementOf(p, in, k), k));
        }
    }
    best = BestOfWarp<E>(best);
    if (i < p.n_out && lane == 0) StoreBest(p, i, 0, best);
}

// A block finds the extreme of a piece of an output.
template <typename E>
inline void ArgReduceBlocks(const ReduceParams& p) {
    using C = typename E::C;
    CX_SHARED(C, values, kBlockThreads / 32);
    CX_SHARED(int64_t, indices, kBlockThreads / 32);
    const int j = static_cast<int>(threadIdx.x);
    const int64_t piece = blockIdx.x / p.n_out;
    const int64_t i = blockIdx.x - piece * p.n_out;
    const char* in = static_cast<char*>(p.in) + OffsetOf(p.kept, i, 0);
    const int64_t begin = piece * p.piece;
    const int64_t end = begin + p.piece < p.n ? begin + p.piece : p.n;
    Best<C> best{C(0), -1};
    for (int64_t k = begin + j; k < end; k += kBlockThreads) {
        best = E::Combine(best, E::Load(ElementOf(p, in, k), k));
    }
    best = BestOfWarp<E>(best);
    if (j % 32 == 0) {
        values[j / 32] = best.value;
        indices[j / 32] = best.index;
    }
    __syncthreads();
    if (j != 0) return;
    for (int w = 1; w < kBlockThreads / 32; ++w) {
        best = E::Combine(best, Best<C>{values[w], indices[w]});
    }
    StoreBest(p, i, piece, best);
}

// A thread finds the extreme of a piece of an output, whose neighbours are adjacent.
template <typename E>
inline void ArgReduceRows(const ReduceParams& p) {
    using C = typename E::C;
    const int64_t task = ThreadNumber();
    const int64_t piece = task / p.n_out;
    const int64_t i = task - piece * p.n_out;
    if (piece >= p.n_pieces) return;
    const char* in = static_cast<char*>(p.in) + OffsetOf(p.kept, i, 0);
    const int64_t begin = piece * p.piece;
    const int64_t end = begin + p.piece < p.n ? begin + p.piece : p.n;
    Best<C> best{C(0), -1};
    for (int64_t k = begin; k < end; ++k) {
        best = E::Combine(best, E::Load(ElementOf(p, in, k), k));
    }
    StoreBest(p, i, piece, best);
}

// A thread combines the pieces of an output.
template <typename E>
inline void ArgCombine(const ReduceParams& p) {
    using C = typename E::C;
    const int64_t i = ThreadNumber();
    if (i >= p.n_out) return;
    const auto* parts = At<const Best<C>>(p.parts);
    Best<C> best = parts[i];
    for (int64_t k = 1; k < p.n_pieces; ++k) best = E::Combine(best, parts[k * p.n_out + i]);
    *reinterpret_cast<int64_t*>(static_cast<char*>(p.out) + OffsetOf(p.kept, i, 1)) =
        best.index < 0 ? 0 : best.index;
}

}  // namespace chainerx::cuda
