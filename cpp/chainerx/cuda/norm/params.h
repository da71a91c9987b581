// Parameters of softmax and normalizations, for the host and the device (cuda/norm/device).
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/error_log.h"
#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

// Of any integer dtype.
struct LabelParams {
    Ptr<char> data;
    int64_t size;  // bytes of one, negative if they have no sign
};

struct SoftmaxParams {
    Ptr<char> x;
    Ptr<char> out;
    LabelParams labels;
    Ptr<char> loss;
    Ptr<char> stats;
    Ptr<char> gy;
    int64_t gy_stride;  // bytes
    Ptr<char> scale;    // of gy, or null
    int64_t rows;
    int64_t columns;
    int64_t ignored;
    int64_t ignores;  // whether `ignored` counts
    double smoothing;
    Ptr<ErrorLog> log;
    ErrorSite site;
};

// For results that are counted over all labels.
struct CountParams {
    Ptr<char> x;  // the loss, or scores of any strides (bytes)
    int64_t strides[3];
    int64_t classes;
    int64_t positions;  // after the classes
    LabelParams labels;
    int64_t n;
    int64_t ignored;
    int64_t ignores;
    Ptr<double> sums;     // of each block, or null if there is one
    Ptr<int64_t> counts;  // two of each block
    int64_t blocks;
    Ptr<char> results[2];
};

// Arrays are (n, c, s), with statistics for each channel of c. native/norm/row_order.h has the
// order of sums.
struct NormParams {
    Ptr<char> x;
    Ptr<char> gy;
    Ptr<char> y;  // or gx; null if not requested
    Ptr<char> gamma;
    Ptr<char> beta;
    Ptr<char> mean;
    Ptr<char> inv_std;  // a variance if statistics are fixed
    Ptr<char> ggamma;
    Ptr<char> gbeta;
    Ptr<char> running[2];
    int64_t running_strides[2];  // bytes
    int64_t running_dtypes[2];   // 0 for none, else 1 + the place in float16, bfloat16, 32, 64
    double eps;
    double decay;
    int64_t n;
    int64_t c;
    int64_t s;
    int64_t units;           // of a channel, or of a column
    int64_t units_of_piece;  // the last piece may have fewer
    int64_t block;           // images, or rows of columns, of a piece
    int64_t cuts;            // pieces of a long run
    int64_t period;          // columns
    int64_t rows;
    int64_t rest;
    Ptr<char> sums;          // of units
    Ptr<char> of_channels;   // what results are written with
    Ptr<uint32_t> counters;  // of the blocks of each channel that are done, or null
    // Of rows: a row is a channel of one of `groups`, whose elements have the gamma of their
    // stretch.
    int64_t groups;
    int64_t stretches;
    int64_t stretch;
    int64_t is_centered;
    Ptr<char> of_rows;  // the affine functions that normalize rows
};

}  // namespace chainerx::cuda
