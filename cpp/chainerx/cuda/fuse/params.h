// Parameters of fused chains, for the host and the device (cuda/fuse/device/fused.h).
#pragma once

#include <cstdint>

#include "chainerx/cuda/elementwise/params.h"

namespace chainerx::cuda {

inline constexpr int kFusedElements = 4;  // of a thread, where strides are arbitrary
inline constexpr int kRowBytes = 4096;    // of accumulators in shared memory
inline constexpr int64_t kMaxFusedRow =
    1 << 14;  // elements: ReduceRuns has other groups from there on

struct FusedHead {
    int64_t size;    // elements of the frame, or of a row
    int64_t n_rows;  // of chains that know rows
    int64_t team;    // threads for a row, a power of two
};

// The host writes the same layout (cuda/fuse/fused.cc). Dimensions are fastest first; strides are
// in bytes. Counts are at least 1.
template <int kArrays, int kDims, int kScalars>
struct FusedParams {
    ScalarBytes scalars[kScalars];
    FusedHead head;
    Ptr<char> data[kArrays];
    Divisor dims[kDims];
    int64_t strides[kArrays][kDims];
};

// Where the parts are.
struct FusedLayout {
    size_t head;
    size_t data;
    size_t dims;
    size_t strides;
    size_t size;

    constexpr FusedLayout(size_t n_arrays, size_t n_dims, size_t n_scalars)
        : head{n_scalars * sizeof(ScalarBytes)},
          data{head + sizeof(FusedHead)},
          dims{data + n_arrays * 8},
          strides{dims + n_dims * sizeof(Divisor)},
          size{(strides + n_arrays * n_dims * 8 + 15) / 16 * 16} {}
};
static_assert(sizeof(FusedParams<3, 2, 1>) == FusedLayout(3, 2, 1).size);
static_assert(sizeof(FusedParams<4, 3, 2>) == FusedLayout(4, 3, 2).size);

}  // namespace chainerx::cuda
