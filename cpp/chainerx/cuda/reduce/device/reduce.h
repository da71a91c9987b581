// Reductions in the order of native: elements of a block are dealt to lanes, which are combined in
// halves; blocks of lanes, and groups of rows, in a cascade of radix 16 (native/reduce/
// reduce_cascade.cc); pieces pairwise. So results have the same bits on every device.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/cuda/reduce/device/policies.h"
#include "chainerx/cuda/reduce/params.h"

namespace chainerx::cuda {

inline constexpr int64_t kReduceBlock = 1024;
inline constexpr int kReduceGroup = 16;
inline constexpr int kRadix = 16;
template <typename Acc>
inline constexpr int kLanes = 256 / (sizeof(Acc) < 4 ? 4 : static_cast<int>(sizeof(Acc)));

// The distance of element i from the first one.
inline int64_t OffsetOf(const ReduceDims& dims, int64_t i, int operand) {
    int64_t offset = 0;
    for (int d = dims.ndim - 1; d >= 0; --d) {
        const int64_t next = d == 0 ? 0 : i / dims.sizes[d];
        offset += (i - next * dims.sizes[d]) * dims.strides[operand][d];
        i = next;
    }
    return offset;
}

template <typename Center>
inline Center CenterOf(const ReduceParams& p, int64_t output) {
    if constexpr (std::is_same_v<Center, NoCenter>) {
        return {};
    } else {
        return At<const Center>(p.centers)[output];
    }
}

// Combines what is pushed: sixteen of a level make one of the next.
template <typename P>
class Cascade {
 public:
    using Acc = typename P::Acc;

    void Push(Acc x) {
        for (int level = 0; level < kLevels; ++level) {
            values_[level] = counts_[level] == 0 ? x : P::Combine(values_[level], x);
            if (++counts_[level] != kRadix || level + 1 == kLevels) return;
            x = values_[level];
            counts_[level] = 0;
        }
    }
    // Combines all levels, lowest first. There must have been a push.
    Acc Finish() const {
        int level = 0;
        while (counts_[level] == 0) ++level;
        return Finish(level + 1, values_[level]);
    }
    // The same with what is left of the level below.
    Acc FinishWith(Acc rest) const { return Finish(0, rest); }

 private:
    Acc Finish(int level, Acc total) const {
        for (; level < kLevels; ++level) {
            if (counts_[level] != 0) total = P::Combine(values_[level], total);
        }
        return total;
    }

    static constexpr int kLevels = 7;
    Acc values_[kLevels];
    int counts_[kLevels] = {};
};

// Stores the result of output i, which lies at an offset.
template <typename P, typename Store, typename Out>
inline void StoreOutput(const ReduceParams& p, int64_t offset, int64_t i, typename P::Acc acc) {
    *AtByte<Out>(p.out, offset) = Store::Of(acc, p.n, CenterOf<typename P::Center>(p, i));
}

// The same, or the accumulator of its piece.
template <typename P, typename Store, typename Out>
inline void Finish(const ReduceParams& p, int64_t i, int64_t piece, typename P::Acc acc) {
    using Acc = typename P::Acc;
    if (p.n_pieces > 1) {
        At<Acc>(p.parts)[i * p.n_pieces + piece] = acc;
        return;
    }
    StoreOutput<P, Store, Out>(p, OffsetOf(p.kept, i, 1), i, acc);
}

// A block of threads reduces a piece of an output: its 64 or 32 lanes once or several times, each
// time for a stretch of sixteen blocks.
template <typename P, typename Store, typename T, typename Out>
inline void ReduceRuns(const ReduceParams& p) {
    using Acc = typename P::Acc;
    constexpr int kWidth = kLanes<Acc>;
    const int groups = static_cast<int>(blockDim.x) / kWidth;
    CX_SHARED(Acc, shared, kBlockThreads);
    const int lane = static_cast<int>(threadIdx.x) % kWidth;
    const int group = static_cast<int>(threadIdx.x) / kWidth;
    const auto combine = [](Acc a, Acc b) { return P::Combine(a, b); };
    const bool is_adjacent =
        p.reduced.ndim == 0 || (p.reduced.ndim == 1 && p.reduced.strides[0][0] == sizeof(T));

    for (int64_t task = blockIdx.x; task < p.n_out * p.n_pieces; task += gridDim.x) {
        const int64_t i = task / p.n_pieces;
        const int64_t piece = task - i * p.n_pieces;
        const char* in = static_cast<char*>(p.in) + OffsetOf(p.kept, i, 0);
        const auto center = CenterOf<typename P::Center>(p, i);
        const int64_t begin = piece * p.piece;
        const int64_t end = begin + p.piece < p.n ? begin + p.piece : p.n;
        const auto fold_block = [&](int64_t first) {
            const int64_t last = first + kReduceBlock < end ? first + kReduceBlock : end;
            Acc acc = P::Identity();
            for (int64_t k = first + lane; k < last; k += kWidth) {
                const char* x = in + (is_adjacent ? k * static_cast<int64_t>(sizeof(T))
                                                  : OffsetOf(p.reduced, k, 0));
                acc = P::Combine(acc, P::Load(*reinterpret_cast<const T*>(x), center));
            }
            return acc;
        };
        if (end - begin <= kReduceBlock) {
            const Acc x = group == 0 ? fold_block(begin) : P::Identity();
            const Acc acc = FoldLanes(x, shared, kWidth, combine);
            if (threadIdx.x == 0) Finish<P, Store, Out>(p, i, piece, acc);
            continue;
        }
        // Each group folds sixteen blocks one after the other; the first pushes the sums of all.
        Cascade<P> cascade;
        Acc partial{};
        bool has_partial = false;
        constexpr int64_t kStretch = kReduceBlock * kRadix;
        for (int64_t base = begin; base < end; base += kStretch * groups) {
            const int64_t first = base + group * kStretch;
            Acc sum{};
            for (int b = 0; b < kRadix && first + b * kReduceBlock < end; ++b) {
                const Acc x = fold_block(first + b * kReduceBlock);
                sum = b == 0 ? x : P::Combine(sum, x);
            }
            __syncthreads();
            shared[threadIdx.x] = sum;
            __syncthreads();
            if (group != 0) continue;
            for (int g = 0; g < groups; ++g) {
                const int64_t at = base + g * kStretch;
                if (at >= end) break;
                // A stretch of fewer blocks stays in its level until the end.
                if (end - at > kStretch - kReduceBlock) {
                    cascade.Push(shared[g * kWidth + lane]);
                } else {
                    partial = shared[g * kWidth + lane];
                    has_partial = true;
                }
            }
        }
        Acc total{};
        if (group == 0) total = has_partial ? cascade.FinishWith(partial) : cascade.Finish();
        const Acc acc = FoldLanes(total, shared, kWidth, combine);
        if (threadIdx.x == 0) Finish<P, Store, Out>(p, i, piece, acc);
    }
}

// A block of threads combines the pieces of an output, the second half onto the first.
template <typename P, typename Store, typename Out>
inline void CombineRuns(const ReduceParams& p) {
    using Acc = typename P::Acc;
    CX_SHARED(Acc, shared, kBlockThreads);  // there are at most as many pieces
    const auto j = static_cast<int64_t>(threadIdx.x);
    for (int64_t i = blockIdx.x; i < p.n_out; i += gridDim.x) {
        __syncthreads();
        if (j < p.n_pieces) {
            shared[j] = At<const Acc>(p.parts)[i * p.n_pieces + j];
        }
        for (int64_t m = p.n_pieces; m > 1;) {
            const int64_t half = (m + 1) / 2;
            __syncthreads();
            if (j < m - half) shared[j] = P::Combine(shared[j], shared[j + half]);
            m = half;
        }
        if (j != 0) continue;
        StoreOutput<P, Store, Out>(p, OffsetOf(p.kept, i, 1), i, shared[0]);
    }
}

// The reduction of rows [begin, end), every `step`th, of one column.
template <typename P, typename T>
inline typename P::Acc FoldColumn(const ReduceParams& p, const char* in, int64_t begin, int64_t n,
                                  int64_t step, typename P::Center center) {
    using Acc = typename P::Acc;
    const bool is_line = p.reduced.ndim == 1;
    const auto fold = [&](int64_t first, int64_t count) {
        Acc acc{};
        for (int64_t r = 0; r < count; ++r) {
            const int64_t row = begin + (first + r) * step;
            const char* x =
                in + (is_line ? row * p.reduced.strides[0][0] : OffsetOf(p.reduced, row, 0));
            const Acc v = P::Load(*reinterpret_cast<const T*>(x), center);
            acc = r == 0 ? v : P::Combine(acc, v);
        }
        return acc;
    };
    if (n <= kReduceGroup) return fold(0, n);
    Cascade<P> cascade;
    for (int64_t r = 0; r < n; r += kReduceGroup) {
        cascade.Push(fold(r, r + kReduceGroup < n ? kReduceGroup : n - r));
    }
    return cascade.Finish();
}

// Stores a column's result, or the accumulator of its piece.
template <typename P, typename Store, typename Out>
inline void FinishColumn(const ReduceParams& p, int64_t outer, int64_t piece, int64_t column,
                         typename P::Acc acc) {
    using Acc = typename P::Acc;
    if (p.n_pieces > 1) {
        At<Acc>(p.parts)[(outer * p.n_pieces + piece) * p.n_columns + column] = acc;
        return;
    }
    StoreOutput<P, Store, Out>(p, OffsetOf(p.kept, outer, 1) + column * p.column_strides[1],
                               outer * p.n_columns + column, acc);
}

// A thread reduces a column, or a piece of it.
template <typename P, typename Store, typename T, typename Out>
inline void ReduceRows(const ReduceParams& p) {
    const int64_t task = ThreadNumber();
    const int64_t row = task / p.n_columns;
    const int64_t column = task - row * p.n_columns;
    const int64_t outer = row / p.n_pieces;
    const int64_t piece = row - outer * p.n_pieces;
    if (outer * p.n_columns >= p.n_out) return;
    const char* in =
        static_cast<char*>(p.in) + OffsetOf(p.kept, outer, 0) + column * p.column_strides[0];
    const int64_t begin = piece * p.piece;
    const int64_t n = begin + p.piece < p.n ? p.piece : p.n - begin;
    const auto center = CenterOf<typename P::Center>(p, outer * p.n_columns + column);
    FinishColumn<P, Store, Out>(p, outer, piece, column,
                                FoldColumn<P, T>(p, in, begin, n, 1, center));
}

// Narrow rows count as one wide row, whose parts are combined afterwards: a block of threads
// reduces a piece of one row of outputs.
template <typename P, typename Store, typename T, typename Out>
inline void ReduceNarrowRows(const ReduceParams& p) {
    using Acc = typename P::Acc;
    CX_SHARED(Acc, shared, kBlockThreads);  // merged * n_columns is less than that
    const auto j = static_cast<int64_t>(threadIdx.x);
    const int64_t outer = blockIdx.x / p.n_pieces;
    const int64_t piece = blockIdx.x - outer * p.n_pieces;
    const int64_t column = j % p.n_columns;
    const char* in =
        static_cast<char*>(p.in) + OffsetOf(p.kept, outer, 0) + column * p.column_strides[0];
    const int64_t begin = piece * p.piece;
    const int64_t n = begin + p.piece < p.n ? p.piece : p.n - begin;
    const auto center = CenterOf<typename P::Center>(p, outer * p.n_columns + column);
    if (n < 4 * p.merged) {
        if (j < p.n_columns) {
            FinishColumn<P, Store, Out>(p, outer, piece, column,
                                        FoldColumn<P, T>(p, in, begin, n, 1, center));
        }
        return;
    }
    const int64_t part = j / p.n_columns;
    Acc acc{};
    if (part < p.merged) {
        acc = FoldColumn<P, T>(p, in, begin + part, n / p.merged, p.merged, center);
    }
    for (int64_t m = p.merged / 2; m > 0; m /= 2) {
        __syncthreads();
        if (part < 2 * m) shared[j] = acc;
        __syncthreads();
        if (part < m) acc = P::Combine(acc, shared[j + m * p.n_columns]);
    }
    if (part != 0) return;
    if (const int64_t rest = n % p.merged; rest != 0) {
        acc = P::Combine(acc, FoldColumn<P, T>(p, in, begin + n - rest, rest, 1, center));
    }
    FinishColumn<P, Store, Out>(p, outer, piece, column, acc);
}

// A thread combines the pieces of a column, the second half onto the first.
template <typename P, typename Store, typename Out>
inline void CombineRows(const ReduceParams& p) {
    using Acc = typename P::Acc;
    const int64_t i = ThreadNumber();
    if (i >= p.n_out) return;
    const int64_t outer = i / p.n_columns;
    const int64_t column = i - outer * p.n_columns;
    Acc* parts = At<Acc>(p.parts) + outer * p.n_pieces * p.n_columns + column;
    for (int64_t m = p.n_pieces; m > 1;) {
        const int64_t half = (m + 1) / 2;
        for (int64_t k = 0; k < m - half; ++k) {
            parts[k * p.n_columns] =
                P::Combine(parts[k * p.n_columns], parts[(k + half) * p.n_columns]);
        }
        m = half;
    }
    StoreOutput<P, Store, Out>(p, OffsetOf(p.kept, outer, 1) + column * p.column_strides[1], i,
                               parts[0]);
}

}  // namespace chainerx::cuda
