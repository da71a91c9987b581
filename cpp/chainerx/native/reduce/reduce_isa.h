// The reductions that are built once per instruction set: of float32 and float64 in batches
// (reduce/simd/reduce.cc), of others as the compiler vectorizes them (reduce/simd/reduce_whole.cc).
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/native/reduce/reduce.h"

namespace chainerx::native {

// By dtype; null where the loops are others.
struct FoldTable {
    FoldLoops of[kNumDtypes];
};

// An index as wide as its value, so that a vector of both is regular.
template <typename T>
using ArgIndex = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

// Row number `at`, of n elements, joins the extremes of the rows before it.
template <typename T>
using TakeRowLoop = void (*)(const T* row, int64_t n, ArgIndex<T> at, T* best, ArgIndex<T>* index);

// The place of the first extreme of 0 < n < 2^31 elements; of the first NaN, if there is one.
template <typename T>
using ExtremeLoop = int64_t (*)(const T* x, int64_t n);

// For positions of extremes.
template <typename T>
struct ArgIsaLoops {
    ExtremeLoop<T> extreme[2];  // [largest]
    // The place of the first of n elements that is `value`, or NaN as it is; n if there is none.
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
    // [largest] Of integers that are as wide as an index.
    ExtremeLoop<int32_t> extreme_int32[2];
    ExtremeLoop<uint32_t> extreme_uint32[2];
    ExtremeLoop<int64_t> extreme_int64[2];
    ExtremeLoop<uint64_t> extreme_uint64[2];
    // Of up to how many integers these take less time than a search for the extreme and another one
    // for its place.
    int64_t longest_extreme;
};

// What finds a position among elements of one dtype (native/reduce/arg_extreme.h).
struct ArgBlockLoops {
    // The extreme of n > 0; without the NaNs, if these are ignored.
    void (*fold)(const void* x, int64_t n, void* acc);
    // The place of the first of n that is *acc; n if there is none.
    int64_t (*find)(const void* x, int64_t n, const void* acc);
    // Row number `at` joins the extremes of the rows before it.
    void (*take_row)(const void* row, int64_t n, int64_t at, void* best, void* index);
};

struct ReduceWholeLoops {
    FoldTable sum;
    FoldTable mean;
    FoldTable wide_sum;
    FoldTable max;
    FoldTable min;
    FoldTable all;
    FoldTable any;
    FoldTable count;
    // [largest][ignores NaN]. Not of bool, which goes as uint8, nor of float32 and float64.
    ArgBlockLoops arg[kNumDtypes][2][2];
};

// Of the chosen instruction set: isa.cc.
const ReduceIsaLoops& reduce_loops();
const ReduceWholeLoops& reduce_whole_loops();

}  // namespace chainerx::native
