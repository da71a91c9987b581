// Reductions of any number of elements, composed of blocks (FoldLoops, reduce.h), for all types.
#pragma once

#include "chainerx/native/reduce/reduce.h"

namespace chainerx::native {

// *acc = the reduction of elements [begin, begin + n) of the nest.
void FoldRun(const FoldLoops& loops, const char* data, const Nest& nest, int64_t begin, int64_t n,
             const char* center, void* acc);

// acc[j] = the reduction of the first n elements of the nest at data + j * step. One center each.
void FoldRuns(const FoldLoops& loops, const char* data, int64_t step, int64_t n_runs,
              const Nest& nest, int64_t n, const char* centers, char* acc);

// acc[j] = the reduction over rows [begin, begin + n) of the nest of row[j * stride].
// width <= ReduceColumns(item_size, acc_size, stride != item_size). One center per column.
void FoldRows(const FoldLoops& loops, const char* data, const Nest& nest, int64_t begin, int64_t n,
              int64_t stride, int64_t width, const char* centers, void* acc);

}  // namespace chainerx::native
