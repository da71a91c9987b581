// Parameters of matrix products, for the host and the device (cuda/gemm/device/gemm.h).
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

// Rows and columns of the result of a block: where there are few, and many.
inline constexpr int kGemmTile = 64;
inline constexpr int kGemmLargeTile = 128;
inline constexpr int kGemmDepth = 16;

// out (batch, m, n) = x1 (batch, m, k) x2 (batch, k, n), plus the bias (n,). Strides are in bytes;
// out is contiguous. Where the rows of x1 are summed, the bias is their sums (m,).
struct GemmParams {
    Ptr<char> x1;
    Ptr<char> x2;
    Ptr<char> bias;  // or null
    Ptr<char> out;
    Ptr<char> parts;         // sums of pieces of k, (pieces, n_sums), or null
    Ptr<uint32_t> counters;  // of the pieces of each tile that are done, where there are pieces
    int64_t m;
    int64_t n;
    int64_t k;
    int64_t n_out;   // elements of out
    int64_t n_sums;  // and of the sums of rows
    int64_t piece;   // steps of k in each
    uint32_t pieces;
    uint32_t row_blocks;
    uint32_t column_blocks;
    int64_t strides1[2];  // along m, k
    int64_t strides2[2];  // along k, n
    int64_t bias_stride;
    int lanes;      // threads of an element, where each is a sum of its own
    bool quads[2];  // whether x1 and x2 are loaded by four elements
    int batch_ndim;
    int64_t batch_sizes[kMaxDims];  // outermost first
    int64_t batch_strides[2][kMaxDims];
};

}  // namespace chainerx::cuda
