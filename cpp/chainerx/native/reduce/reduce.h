// Reductions: declarations shared by the driver (reduce_driver.cc), the cascade (reduce_cascade.h)
// and the loops (reduce_loops.h).
//
// A reduction has kept dimensions (those of the result) and reduced ones. It runs either output by
// output, over runs of reduced elements, or row by row, if adjacent elements belong to different
// outputs. Work is partitioned by shape and dtype alone, so the bits of a result don't depend on
// the number of threads.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/native/reduce/reduce_plan.h"

namespace chainerx::native {

// A line of n elements, `stride` bytes apart.
inline Nest Line(int64_t n, int64_t stride) {
    Nest nest;
    nest.Add(n, {stride});
    return nest;
}

// Returns elements [begin, begin + n) of a nest, n <= kReduceBlock, contiguously: in place, or
// gathered in `buffer`.
const char* FetchBlock(const char* data, const Nest& nest, int64_t item_size, int64_t begin,
                       int64_t n, char* buffer);

// The addresses of elements [begin, begin + n) of a nest.
void FetchRows(const char* data, const Nest& nest, int64_t begin, int64_t n, const char** rows);

// The inner loops of one reduction for one dtype, over contiguous elements. The loops choose the
// accumulator's type. A center (a mean, a maximum), of center_size bytes if that is not 0, is
// subtracted first; a null center is 0.
struct FoldLoops {
    int64_t item_size{0};
    int64_t acc_size{0};
    int64_t center_size{0};
    // Maximum elements per call of runs(): large if the order of combination makes no difference.
    int64_t longest{kReduceBlock};
    // acc[j] = the reduction of the n <= longest elements at data + j * step. One center each.
    void (*runs)(const char* data, int64_t step, int64_t n_runs, int64_t n, const void* centers,
                 void* acc){nullptr};
    // Reduces one run to ReduceLanes(acc_size) lanes, not yet combined.
    void (*block)(const char* data, int64_t n, const void* center, void* lanes){nullptr};
    // acc[j] = the reduction of rows[.][j], of 0 < n <= kReduceGroup rows. One center per column.
    void (*rows)(const char* const* rows, int64_t n, int64_t n_columns, const void* centers,
                 void* acc){nullptr};
    // acc[j] = combine(acc[j], x[j]), both accumulators.
    void (*combine)(void* acc, const void* x, int64_t n){nullptr};
    // Whether further elements cannot change *acc. Null if they always can.
    bool (*is_final)(const void* acc){nullptr};
};

struct ReduceLoops : FoldLoops {
    // Stores n results, each reduced from `count` elements.
    void (*store)(const void* acc, int64_t n, int64_t count, const void* center, char* out,
                  int64_t out_stride){nullptr};
};

// The loops of one reduction, by Dtype.
struct ReduceTable {
    ReduceLoops loops[kNumDtypes];
    const ReduceLoops& operator[](Dtype dtype) const { return loops[static_cast<int>(dtype)]; }
};

// `centers`: one per output in the order of `kept`, or null.
void RunReduce(const ReducePlan& plan, const ReduceLoops& loops, const char* centers = nullptr);

}  // namespace chainerx::native
