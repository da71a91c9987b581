// Parameters of convolutions, for the host and the device (cuda/conv/device/conv.h).
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

inline constexpr int kMaxConvDims = 8;

// A spatial axis. The window of output i along n has element t along k at the coordinate
//   origin + i * n_step + t * k_step
// of b, where it is inside of [0, length). Of a transposed convolution, `origin`, `n_step` and
// `k_step` are pad, stride and dilate of the convolution: i + pad - t * dilate is the coordinate
// times the stride.
struct ConvAxis {
    int64_t n_size;
    int64_t k_size;
    int64_t length;
    int64_t origin;
    int64_t n_step;
    int64_t k_step;
    int64_t tap_step;    // transposed: from one element of the window that meets b to the next
    int64_t a_stride;    // along k, in bytes
    int64_t b_stride;    // of a coordinate, in bytes
    int64_t out_stride;  // along n, in elements
};

// Any pass is a product out[m, n] = the sum of a[m, k] b[k, n] over k, in each group. n stands for
// (outer, spatial), k for (outer, window):
//
//   pass              m     n             k            a    b
//   forward           outs  (n, y)        (ins, w)     w    x
//   input gradient    ins   (n, gx)       (outs, w)    w    gy
//   weight gradient   outs  (ins, w)      (n, y)       gy   x
struct ConvParams {
    Ptr<char> a;
    Ptr<char> b;
    Ptr<char> bias;  // (groups * m,), or null
    Ptr<char> out;
    Ptr<char> parts;         // sums of pieces of k, (pieces, out), or null
    Ptr<uint32_t> counters;  // of the pieces of each tile that are done, where there are pieces
    int64_t m;
    int64_t n_outer;
    int64_t k_outer;
    int64_t groups;
    int64_t pieces;
    int64_t piece;       // steps of k in each
    int64_t classes;     // transposed: positions of out, by their rest modulo the strides
    uint32_t row_tiles;  // of m
    uint32_t column_tiles;
    int64_t n_out;  // elements
    // In bytes.
    int64_t a_group;
    int64_t a_row;
    int64_t a_outer;
    int64_t b_group;
    int64_t b_n_outer;
    int64_t b_k_outer;
    int64_t bias_stride;
    // In elements.
    int64_t out_group;
    int64_t out_row;
    int64_t out_outer;
    bool a_quads;       // whether `a` is loaded by four elements, along k
    bool a_rows_first;  // whether neighbouring rows of `a` are nearer than neighbouring steps
    ConvAxis axes[kMaxConvDims];
};

}  // namespace chainerx::cuda
