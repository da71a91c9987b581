// Parameters of the kernels of matrices, for the host and the device (cuda/linalg/device). Matrices
// are contiguous, and of numbers of one dtype; a block has one.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/error_log.h"
#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

inline constexpr int kMatrixThreads = 128;

enum class MatrixPart : int { kAll, kLower, kUpper };

struct MatrixParams {
    Ptr<char> a;       // (count, rows, n)
    Ptr<char> b;       // (count, n, columns), or an output
    Ptr<char> pivots;  // int64 (count, n): the row that was swapped with each, from 1 on
    Ptr<char> info;    // int32 (count,): the first pivot without a number, from 1 on; or 0
    Ptr<char> outs[3];
    int64_t count;
    int64_t rows;
    int64_t n;
    int64_t columns;
    int64_t first;  // what is subtracted from `info`
    MatrixPart part;
    Ptr<ErrorLog> log;
    ErrorSite site;
};

}  // namespace chainerx::cuda
