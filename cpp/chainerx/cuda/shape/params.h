// Parameters of kernels that create and join arrays, for the host and the device.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

inline constexpr int kMaxPieces = 64;

struct ArangeParams {
    Ptr<char> out;
    int64_t n;
    int64_t stride;  // in bytes
    bool is_whole;   // start and step are integers
    uint64_t first_whole;
    uint64_t step_whole;
    double first;
    double step;
};

struct TriangleParams {
    Ptr<char> x;
    Ptr<char> out;
    int64_t n;
    int64_t k;
    bool lower;
    int ndim;
    int64_t dims[kMaxDims];  // fastest first: columns, rows, ...
    int64_t strides[2][kMaxDims];
};

// Some contiguous inputs of one launch; all lengths count items of one size.
struct ConcatenateParams {
    Ptr<char> out;
    int64_t rows;
    int64_t out_row;  // length of a row of the output
    int64_t row;      // of all these pieces together
    int n_pieces;
    Ptr<char> from[kMaxPieces];
    int64_t ends[kMaxPieces];    // of pieces, in the row of these pieces
    int64_t places[kMaxPieces];  // of pieces, in a row of the output
};

struct BitsParams {
    Ptr<char> x;
    Ptr<char> out;
    int64_t n;     // elements of the output
    int64_t row;   // of them in a row
    int64_t bits;  // elements of a row of bits
    bool is_big;
};

}  // namespace chainerx::cuda
