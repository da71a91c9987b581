// Parameters of pooling kernels, for the host and the device (cuda/pool/device/pool.h).
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/error_log.h"
#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

inline constexpr int kMaxPoolDims = 9;

// A spatial axis, as native's PoolAxis.
struct PoolDim {
    int64_t in;
    int64_t out;
    int64_t size;
    int64_t stride;  // 0: windows divide the axis
    int64_t pad;
    int64_t whole_begin;  // outputs with whole windows
    int64_t whole_end;
};

struct PoolParams {
    Ptr<char> x;  // or gx
    Ptr<char> y;  // or gy
    Ptr<char> indices;
    Ptr<ErrorLog> log;
    ErrorSite site;
    int64_t n_in;  // elements
    int64_t n_out;
    int64_t taps;
    int divisor;      // PoolDivisor
    bool rows_first;  // sums rows, then along the last axis
    bool copies;      // each element of gx is one of gy
    int ndim;
    PoolDim dims[kMaxPoolDims];
};

}  // namespace chainerx::cuda
