// The axes over which a chain goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "chainerx/kernels/fuse/fused_chain.h"

namespace chainerx::cuda {

// How an array lies along the axes of the elements: those of a row, or all.
enum class FusedLayoutOf : int8_t {
    kUniform,   // all of them are one
    kAdjacent,  // one after the other
    kStrided,
};

// Axes are merged where all arrays allow, the fastest first: those inside of a row, or all if no
// call knows rows; then those of the rows.
struct FusedFrame {
    std::vector<int64_t> dims;
    size_t n_inner{0};
    std::vector<std::vector<int64_t>> strides;  // by array, in bytes
    std::vector<FusedLayoutOf> layouts;         // by array
    std::vector<int64_t> item_sizes;            // by array
    int64_t size{1};                            // elements of the frame
    int64_t row_size{1};                        // of a row; of the frame if no call knows rows
    bool has_rows;

    explicit FusedFrame(const FusedChain& chain);
};

}  // namespace chainerx::cuda
