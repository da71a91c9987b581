// Reductions that are built once per instruction set: float32 and float64 in batches
// (reduce/simd/reduce.cc), others auto-vectorized (reduce/simd/reduce_auto.cc).
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/native/reduce/reduce.h"

namespace chainerx::native {

// By dtype; null if there is no such loop.
struct FoldTable {
    FoldLoops of[kNumDtypes];
};

// An index as wide as its value, so that vectors of both have equal lanes.
template <typename T>
using ArgIndex = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

// Folds row number `at`, of n elements, into the extremes of the rows before it.
template <typename T>
using TakeRowLoop = void (*)(const T* row, int64_t n, ArgIndex<T> at, T* best, ArgIndex<T>* index);

// The position of the first extreme of 0 < n < 2^31 elements; of the first NaN, if there is one.
template <typename T>
using ExtremeLoop = int64_t (*)(const T* x, int64_t n);

// Loops for argmin and argmax.
template <typename T>
struct ArgIsaLoops {
    ExtremeLoop<T> extreme[2];  // [largest]
    // The position of the first of n elements that is `value` (NaN matches NaN); n if there is
    // none.
    int64_t (*find)(const T* x, int64_t n, T value);
    TakeRowLoop<T> take_row[2][2];  // [largest][ignores NaN]
};

struct ReduceIsaLoops {
    FoldTable sum;
    FoldTable max;
    FoldTable min;
    FoldTable nan_max;
    FoldTable nan_min;
    FoldTable square;
    FoldTable square_sum;
    ArgIsaLoops<float> arg_float32;
    ArgIsaLoops<double> arg_float64;
    // [largest]. For integers that are as wide as an index.
    ExtremeLoop<int32_t> extreme_int32[2];
    ExtremeLoop<uint32_t> extreme_uint32[2];
    ExtremeLoop<int64_t> extreme_int64[2];
    ExtremeLoop<uint64_t> extreme_uint64[2];
    // Up to this many integers, the one-pass loops are faster than finding the extreme first and
    // its position afterwards.
    int64_t longest_extreme;
};

// Finds positions of extremes of one dtype (native/reduce/argminmax.h).
struct ArgBlockLoops {
    // The extreme of n > 0 elements; NaNs are skipped if they are ignored.
    void (*fold)(const void* x, int64_t n, void* acc);
    // The position of the first of n elements that is *acc; n if there is none.
    int64_t (*find)(const void* x, int64_t n, const void* acc);
    // Folds row number `at` into the extremes of the rows before it.
    void (*take_row)(const void* row, int64_t n, int64_t at, void* best, void* index);
};

struct ReduceAutoLoops {
    FoldTable sum;
    FoldTable mean;
    FoldTable wide_sum;
    FoldTable max;
    FoldTable min;
    FoldTable all;
    FoldTable any;
    FoldTable count;
    // [largest][ignores NaN]. Not for bool, which is handled as uint8, nor for float32 and float64.
    ArgBlockLoops arg[kNumDtypes][2][2];
};

// The loops of the chosen instruction set.
const ReduceIsaLoops& reduce_loops();
const ReduceAutoLoops& reduce_auto_loops();

}  // namespace chainerx::native
