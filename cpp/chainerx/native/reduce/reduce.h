// Reductions: what the driver (reduce_driver.cc), the cascade (reduce_cascade.h) and the loops
// (reduce_loops.h) share.
//
// A reduction has kept dimensions (those of the result) and reduced ones. It is done either
// output by output, over runs of reduced elements, or row by row, when adjacent elements belong to
// different outputs. Work is cut by shape and dtype alone, so that the bits of a result don't
// depend on the number of threads.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/dims.h"
#include "chainerx/native/strided/walk.h"

namespace chainerx::native {

// The reduced dimensions of an array; where an element of the result begins is told beside it.
using Nest = Walk<1>;

// n elements, `stride` bytes apart.
inline Nest Line(int64_t n, int64_t stride) {
    Nest nest;
    nest.Add(n, {stride});
    return nest;
}

// Elements that a loop takes in one go.
inline constexpr int64_t kReduceBlock = 1024;
// Rows that a loop takes in one go.
inline constexpr int64_t kReduceGroup = 16;
// Bytes of accumulators of a row of outputs. They are half of the first-level cache, so that rows
// of 2000 float64 are read whole: memory is slower in pieces. Less where rows are gathered first,
// into a buffer for several of them.
inline constexpr int64_t kReduceRowBytes = 16384;
inline constexpr int64_t kGatheredRowBytes = 4096;
inline constexpr int64_t ReduceColumns(int64_t item_size, int64_t acc_size, bool gathered) {
    return (gathered ? kGatheredRowBytes : kReduceRowBytes) /
           (item_size > acc_size ? item_size : acc_size);
}
// The lanes that adjacent elements are dealt to: eight vectors of AVX2, enough to hide the latency
// of an addition.
inline constexpr int64_t kReduceLaneBytes = 256;
inline constexpr int64_t ReduceLanes(int64_t acc_size) {
    return kReduceLaneBytes / (acc_size < 4 ? 4 : acc_size);
}

// Elements [begin, begin + n) of a nest, n <= kReduceBlock, adjacent to each other: where they are,
// or gathered in `buffer`.
const char* FetchBlock(const char* data, const Nest& nest, int64_t item_size, int64_t begin,
                       int64_t n, char* buffer);

// The addresses of elements [begin, begin + n) of a nest.
void FetchRows(const char* data, const Nest& nest, int64_t begin, int64_t n, const char** rows);

// What one reduction does with one dtype: its innermost loops, over elements which are adjacent. An
// accumulator is of the type that the loops choose; a center is what they subtract first (a mean, a
// maximum), of center_size bytes, if that is not 0. Then a null center is 0.
struct FoldLoops {
    int64_t item_size{0};
    int64_t acc_size{0};
    int64_t center_size{0};
    // Elements that runs() takes in one go: many, where the order in which they are combined makes
    // no difference.
    int64_t longest{kReduceBlock};
    // acc[j] = the reduction of the n <= longest elements at data + j * step. One center each.
    void (*runs)(const char* data, int64_t step, int64_t n_runs, int64_t n, const void* centers,
                 void* acc){nullptr};
    // The same of one run before its ReduceLanes(acc_size) lanes are combined.
    void (*block)(const char* data, int64_t n, const void* center, void* lanes){nullptr};
    // acc[j] = the reduction of rows[.][j], of 0 < n <= kReduceGroup rows. One center per column.
    void (*rows)(const char* const* rows, int64_t n, int64_t n_columns, const void* centers,
                 void* acc){nullptr};
    // acc[j] is combined with x[j], both accumulators.
    void (*combine)(void* acc, const void* x, int64_t n){nullptr};
    // Whether no more elements can change *acc. Null where they always may.
    bool (*is_final)(const void* acc){nullptr};
};

struct ReduceLoops : FoldLoops {
    // n results. `count` elements were reduced to each.
    void (*store)(const void* acc, int64_t n, int64_t count, const void* center, char* out,
                  int64_t out_stride){nullptr};
};

// The loops of all dtypes for one reduction, by Dtype.
struct ReduceTable {
    ReduceLoops loops[kNumDtypes];
    const ReduceLoops& operator[](Dtype dtype) const { return loops[static_cast<int>(dtype)]; }
};

// How one call is done.
struct ReducePlan {
    Walk<2> kept;  // by x and the result
    Nest reduced;
    int64_t n_out;
    int64_t n_reduced;
    bool by_rows;  // along the last kept dimension

    // `order` is that of the reduced dimensions.
    ReducePlan(const Array& x, const Axes& axes, const Array& out,
               AxisOrder order = AxisOrder::kByStride);
    // The same reduction into an adjacent array of items of that size, in the order of `kept`.
    ReducePlan Into(void* to, int64_t item_size) const;
};

// `centers`: one per output, in the order of `kept`; or null.
void RunReduce(const ReducePlan& plan, const ReduceLoops& loops, const char* centers = nullptr);

}  // namespace chainerx::native
