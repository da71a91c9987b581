// The reductions of float32 and float64 that are built once per instruction set (isa/reduce.cc).
#pragma once

#include "chainerx/native/reduce.h"

namespace chainerx::native {

struct ReduceIsaPair {
    decltype(ReduceLoops::run) run;
    decltype(ReduceLoops::runs) runs;
    decltype(ReduceLoops::rows) rows;
};

struct ReduceIsaOp {
    ReduceIsaPair float32;
    ReduceIsaPair float64;
};

struct ReduceIsaLoops {
    ReduceIsaOp sum;
    ReduceIsaOp max;
    ReduceIsaOp min;
    ReduceIsaOp square;
};

// Of the chosen instruction set: isa.cc.
const ReduceIsaLoops& reduce_loops();

}  // namespace chainerx::native
