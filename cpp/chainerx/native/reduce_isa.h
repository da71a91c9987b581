// The reductions of float32 and float64 that are built once per instruction set (isa/reduce.cc).
#pragma once

#include <cstdint>
#include <type_traits>

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

// An index as wide as its value, so that a vector of both is regular.
template <typename T>
using ArgIndex = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

// Row number `at`, of n elements, joins the extremes of the rows before it.
template <typename T>
using TakeRowLoop = void (*)(const T* row, int64_t n, ArgIndex<T> at, T* best, ArgIndex<T>* index);

// For positions of extremes.
template <typename T>
struct ArgIsaLoops {
    // [largest] The place of the first extreme of 0 < n < 2^31 elements; of the first NaN, if there
    // is one.
    int64_t (*extreme[2])(const T* x, int64_t n);
    // The place of the first of n elements that is `value`; n if there is none.
    int64_t (*find)(const T* x, int64_t n, T value);
    TakeRowLoop<T> take_row[2][2];  // [largest][ignores NaN]
};

struct ReduceIsaLoops {
    ReduceIsaOp sum;
    ReduceIsaOp max;
    ReduceIsaOp min;
    ReduceIsaOp square;
    ArgIsaLoops<float> arg_float32;
    ArgIsaLoops<double> arg_float64;
};

// Of the chosen instruction set: isa.cc.
const ReduceIsaLoops& reduce_loops();

}  // namespace chainerx::native
