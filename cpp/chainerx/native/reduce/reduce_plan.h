// The dimensions of a reduction, and the way in which it is cut into pieces: the order in which
// numbers are combined follows from these alone, on every device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "chainerx/core/array.h"
#include "chainerx/core/dims.h"
#include "chainerx/native/strided/strided_iterator.h"

namespace chainerx::native {

// Elements per call of a loop.
inline constexpr int64_t kReduceBlock = 1024;
// Rows per call of a loop.
inline constexpr int64_t kReduceGroup = 16;
// Bytes of accumulators of a row of outputs: half of L1, so that rows of 2000 float64 are read
// whole, since memory is slower in pieces. Less if rows are gathered first, into a buffer for
// several of them.
inline constexpr int64_t kReduceRowBytes = 16384;
inline constexpr int64_t kGatheredRowBytes = 4096;
inline constexpr int64_t ReduceColumns(int64_t item_size, int64_t acc_size, bool gathered) {
    return (gathered ? kGatheredRowBytes : kReduceRowBytes) /
           (item_size > acc_size ? item_size : acc_size);
}
// Lanes over which adjacent elements are distributed: eight vectors of AVX2, which hide the latency
// of an addition.
inline constexpr int64_t kReduceLaneBytes = 256;
inline constexpr int64_t ReduceLanes(int64_t acc_size) {
    return kReduceLaneBytes / (acc_size < 4 ? 4 : acc_size);
}

// Elements of one chunk of a thread.
inline constexpr int64_t kReduceGrain = 1 << 16;

// Elements of a piece of a run of n: pieces are reduced one by one, then combined pairwise.
inline int64_t ReducePiece(int64_t n) {
    constexpr int64_t kMaxPieces = 256;
    const int64_t piece = std::max(kReduceGrain, (n + kMaxPieces - 1) / kMaxPieces);
    return (piece + kReduceGrain - 1) / kReduceGrain * kReduceGrain;
}

// The reduced dimensions of an array; the address of an element of the result is passed separately.
using Nest = StridedIterator<1>;

// The plan of one call.
struct ReducePlan {
    StridedIterator<2> kept;  // the kept dimensions, by x and the result
    Nest reduced;
    int64_t n_out;
    int64_t n_reduced;
    bool by_rows;  // row by row, along the last kept dimension

    // `order` is the order of the reduced dimensions.
    ReducePlan(const Array& x, const Axes& axes, const Array& out,
               AxisOrder order = AxisOrder::kByStride);
    // The same reduction into a contiguous array of items of that size, in the order of `kept`.
    ReducePlan Into(void* to, int64_t item_size) const;
};

// Whether adjacent elements that are kept are nearer to each other than those that are reduced, or
// runs of reduced elements are too short for a loop.
inline bool PrefersRows(const ReducePlan& plan) {
    // Below, starting a loop costs more than its elements.
    constexpr int64_t kShortRun = 32;
    const Nest& reduced = plan.reduced;
    if (plan.kept.ndim == 0 || reduced.ndim == 0) return plan.kept.ndim != 0;
    int64_t reduced_stride = INT64_MAX;
    for (int i = 0; i < reduced.ndim; ++i) {
        reduced_stride = std::min(reduced_stride, std::abs(reduced.strides[0][i]));
    }
    return plan.kept.run_stride(0) < reduced_stride ||
           (plan.n_reduced < kShortRun && plan.kept.run_length() > plan.n_reduced);
}

inline ReducePlan::ReducePlan(const Array& x, const Axes& axes, const Array& out, AxisOrder order)
    : by_rows{false} {
    int8_t next_axis = 0;
    int8_t o = 0;
    for (int8_t i = 0; i < x.ndim(); ++i) {
        const int64_t size = x.shape()[i];
        if (next_axis < axes.ndim() && axes[next_axis] == i) {
            ++next_axis;
            reduced.Add(size, {x.strides()[i]});
        } else if (size != 1) {
            while (out.shape()[o] == 1) ++o;
            kept.Add(size, {x.strides()[i], out.strides()[o++]});
        }
    }
    reduced.data[0] = x.raw_data();
    reduced.CollapseDims(order);
    kept.data[0] = reduced.data[0];
    kept.data[1] = out.raw_data();
    kept.CollapseDims(AxisOrder::kByStride);
    n_out = kept.total;
    n_reduced = reduced.total;
    by_rows = PrefersRows(*this);
}

// How the rows of a plan are cut.
struct RowPieces {
    int64_t n_columns;  // adjacent outputs
    int64_t n_outer;    // rows of outputs
    int64_t tile;       // columns that are reduced together
    int64_t width;      // of the first tile
    int64_t piece;      // reduced rows that are worth a thread, unless there are enough outputs
    int64_t n_pieces;
    int64_t merged;  // narrow rows that lie side by side in memory count as one wide row

    RowPieces(const ReducePlan& plan, int64_t item_size, int64_t acc_size);
};

inline RowPieces::RowPieces(const ReducePlan& plan, int64_t item_size, int64_t acc_size)
    : n_columns{plan.kept.run_length()},
      n_outer{plan.n_out / n_columns},
      tile{ReduceColumns(item_size, acc_size, plan.kept.run_stride(0) != item_size)},
      width{std::min(tile, n_columns)},
      piece{plan.n_reduced},
      merged{1} {
    constexpr int64_t kNarrow = 64;
    const auto ceil_div = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
    const int64_t n = plan.n_reduced;
    if (n_outer * ceil_div(n_columns, tile) < 16) {
        piece = std::max(ceil_div(kReduceGrain, width), ceil_div(n, 64));
        piece = ceil_div(piece, 64) * 64;
    }
    n_pieces = ceil_div(n, piece);
    if (width < kNarrow && plan.kept.run_stride(0) == item_size && plan.reduced.ndim == 1 &&
        plan.reduced.strides[0][0] == width * item_size) {
        while (merged * width < 2 * kNarrow) merged *= 2;
    }
}

inline ReducePlan ReducePlan::Into(void* to, int64_t item_size) const {
    ReducePlan plan = *this;
    plan.kept.data[1] = static_cast<char*>(to);
    for (int i = kept.ndim - 1; i >= 0; --i) {
        plan.kept.strides[1][i] = item_size;
        item_size *= kept.dims[i];
    }
    return plan;
}

}  // namespace chainerx::native
