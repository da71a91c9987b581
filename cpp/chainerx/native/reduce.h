// Reductions: what the driver (reduce_driver.cc) and the loops (reduce_loops.h) share.
//
// A reduction has kept dimensions (those of the result) and reduced ones. It is done either
// output by output, over runs of reduced elements, or row by row, when adjacent elements belong to
// different outputs. Work is cut by shape and dtype alone, so that the bits of a result don't
// depend on the number of threads.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/dims.h"
#include "chainerx/native/walk.h"

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
// Bytes of accumulators of a row of outputs. They are half of the first-level cache, so that rows
// of 2000 float64 are read whole: memory is slower in pieces. Less where rows are gathered first,
// into a buffer for several of them.
inline constexpr int64_t kReduceRowBytes = 16384;
inline constexpr int64_t kGatheredRowBytes = 4096;
inline constexpr int64_t ReduceColumns(int64_t item_size, int64_t acc_size, bool gathered) {
    return (gathered ? kGatheredRowBytes : kReduceRowBytes) /
           (item_size > acc_size ? item_size : acc_size);
}

// Elements [begin, begin + n) of a nest, n <= kReduceBlock, adjacent to each other: where they are,
// or gathered in `buffer`.
const char* FetchBlock(const char* data, const Nest& nest, int64_t item_size, int64_t begin,
                       int64_t n, char* buffer);

// The addresses of elements [begin, begin + n) of a nest.
void FetchRows(const char* data, const Nest& nest, int64_t begin, int64_t n, const char** rows);

// The loops of one reduction of one dtype. An accumulator is of the type that the loops choose;
// `center` is what the loop subtracts first (a mean, a maximum), or null.
struct ReduceLoops {
    int64_t item_size{0};
    int64_t acc_size{0};
    // *acc = the reduction of elements [begin, begin + n) of the nest.
    void (*run)(const char* data, const Nest& nest, int64_t begin, int64_t n, const void* center,
                void* acc){nullptr};
    // acc[j] = the reduction of the first n elements of the nest at data + j * step. One center for
    // each.
    void (*runs)(const char* data, int64_t step, int64_t n_runs, const Nest& nest, int64_t n,
                 const void* centers, void* acc){nullptr};
    // acc[j] = the reduction over rows [begin, begin + n) of the nest of row[j * column_stride].
    // n_columns <= ReduceColumns(item_size, acc_size, stride != item_size). One center per column.
    void (*rows)(const char* data, const Nest& nest, int64_t begin, int64_t n,
                 int64_t column_stride, int64_t n_columns, const void* center, void* acc){nullptr};
    // acc[j] is combined with x[j], both accumulators.
    void (*combine)(void* acc, const void* x, int64_t n){nullptr};
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

// `centers`: one per output, of center_size bytes, in the order of `kept`; or null.
void RunReduce(const ReducePlan& plan, const ReduceLoops& loops, const char* centers = nullptr,
               int64_t center_size = 0);

}  // namespace chainerx::native
