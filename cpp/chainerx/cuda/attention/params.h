// Parameters of attention, for the host and the device (cuda/attention/device).
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/language.h"
#include "chainerx/cuda/gemm/params.h"

namespace chainerx::cuda {

// Matrices along leading axes; strides are in bytes.
struct MatricesOf {
    Ptr<char> data;  // or null
    int64_t batch_strides[kMaxDims];
    int64_t row;
    int64_t column;
};

struct AttentionParams {
    MatricesOf q;
    MatricesOf k;
    MatricesOf v;
    MatricesOf mask;
    MatricesOf y;
    MatricesOf gy;
    MatricesOf gq;
    MatricesOf gk;
    MatricesOf gv;
    Ptr<char> gmask;
    Ptr<char> stats;  // contiguous, as deltas: sums of y gy
    Ptr<char> deltas;
    Ptr<const uint64_t> key;  // of dropout, or null
    int batch_ndim;
    int64_t batch_sizes[kMaxDims];  // of queries; of keys only the last one differs
    int64_t mask_sizes[kMaxDims];   // of gmask
    int64_t group;                  // heads that share a matrix of keys
    int64_t queries;
    int64_t keys;
    int64_t width;
    int64_t value_width;
    int64_t matrices;
    int64_t row_blocks;
    int64_t column_blocks;
    int mask_dtype;  // 0 for none, else 1 + the place in bool, float16, bfloat16, float32, float64
    int is_causal;
    int has_queries;  // gmask
    int has_keys;
    double scale;
    uint32_t threshold;
    double factor;  // of what is not dropped
};

// Rotary embedding; strides are in bytes.
struct RotaryParams {
    Ptr<const char> in[3];
    Ptr<char> out;
    int ndim;
    int64_t sizes[kMaxDims + 2];
    int64_t strides[3][kMaxDims + 2];
    int64_t n;       // pairs of a row
    int64_t total;   // pairs
    int64_t across;  // from pair to pair
    int64_t gap;     // between the numbers of a pair
};

}  // namespace chainerx::cuda
