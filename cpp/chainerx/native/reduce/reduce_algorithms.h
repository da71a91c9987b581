// The algorithms of reductions. RunReduce (reduce/reduce.h) takes one of them.
#pragma once

#include "chainerx/native/reduce/reduce.h"

namespace chainerx::native {

// Whether adjacent elements that are kept are nearer to each other than those that are reduced, or
// runs of reduced elements are too short for a loop.
bool PrefersRows(const ReducePlan& plan);

using ReduceFn = void(const ReducePlan& plan, const ReduceLoops& loops, const char* centers);

// Reduces output by output.
ReduceFn ReduceRuns;
// Reduces a row of outputs at a time; there must be kept dimensions.
ReduceFn ReduceRows;

}  // namespace chainerx::native
