// Parameters of kernels that index, for the host and the device (cuda/index/device).
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/error_log.h"
#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

// Elements of a mask that a block of threads handles.
inline constexpr int64_t kMaskChunk = 4096;

enum class BoundsCheck : int { kRaise, kWrap, kClip, kRaiseNegative };

struct IndexParams {
    Ptr<char> x;  // the array that is indexed along an axis
    Ptr<char> y;  // the other one, contiguous, or one element
    Ptr<char> indices;
    Ptr<ErrorLog> log;
    ErrorSite site;
    int bounds;       // BoundsCheck
    int64_t length;   // of the axis
    int64_t n;        // indices
    int64_t axis_x;   // stride of the axis in x, in bytes
    int64_t axis_y;   // distance of two indices in y, in elements; 0 for one element
    int64_t outer_y;  // distance of two outer positions in y, in elements
    int64_t run;      // positions after the axis
    int64_t outer;    // positions before it
    int64_t groups;   // scatter: threads per position, each with every groups-th target
    // Of many indices to scatter to: their targets, the order that sorts those, and whether one is
    // out of range.
    Ptr<char> targets;
    Ptr<int64_t> order;
    Ptr<int> is_bad;
    int64_t factor;  // of LinearIndex
    int n_after;     // the first dimensions, fastest first, lie after the axis
    int ndim;
    int64_t dims[kMaxDims];
    int64_t strides[kMaxDims];  // of x, in bytes
};

struct MaskParams {
    Ptr<char> mask;
    Ptr<char> x;
    Ptr<char> out;
    Ptr<char> ends;  // int64: before each chunk, the number of true elements
    int64_t n;
    int64_t n_chunks;
    int64_t count;  // elements of `out`, per dimension
    int ndim;
    int64_t dims[kMaxDims];  // outermost first
};

}  // namespace chainerx::cuda
