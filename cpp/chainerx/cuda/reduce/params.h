// Parameters of reductions, for the host and the device (cuda/reduce/device).
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

// Some dimensions of an array and of the result, outermost first; strides are in bytes.
struct ReduceDims {
    int ndim;
    int64_t sizes[kMaxDims];
    int64_t strides[2][kMaxDims];
};

struct ReduceParams {
    Ptr<char> in;
    Ptr<char> out;
    Ptr<char> parts;    // accumulators of pieces, or null if each output is one piece
    Ptr<char> centers;  // one per output, or null
    ReduceDims kept;    // for rows without the last one
    ReduceDims reduced;
    int64_t n_out;
    int64_t n;  // reduced elements of an output
    int64_t piece;
    int64_t n_pieces;
    // For rows.
    int64_t n_columns;
    int64_t column_strides[2];
    int64_t merged;
};

// Of scans: arrays without the scanned axis, whose `length` elements are `steps` bytes apart.
inline constexpr int kScanItems = 16;  // adjacent elements of a thread: a group of scan_order.h
inline constexpr int64_t kScanChunk = kBlockThreads * kScanItems;

struct ScanParams {
    Ptr<char> data[3];  // the result, x, and a of a linear scan
    int64_t steps[3];
    int ndim;
    int64_t sizes[kMaxDims];  // outermost first
    int64_t strides[3][kMaxDims];
    int64_t n_lines;
    int64_t length;
    Ptr<char> totals;  // of the chunks of each line, or null
    int64_t n_chunks;
    int64_t passes_totals;  // whether only totals are computed
};

}  // namespace chainerx::cuda
