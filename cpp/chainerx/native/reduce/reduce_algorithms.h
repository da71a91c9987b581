// The algorithms of reductions. RunReduce (reduce/reduce.h) takes one of them.
#pragma once

#include "chainerx/native/reduce/reduce.h"

namespace chainerx::native {

using ReduceFn = void(const ReducePlan& plan, const ReduceLoops& loops, const char* centers);

// Reduces output by output.
ReduceFn ReduceRuns;
// Reduces a row of outputs at a time; there must be kept dimensions.
ReduceFn ReduceRows;

}  // namespace chainerx::native
