// Parameters of the copies around Fourier transforms, for the host and the device
// (cuda/signal/device/rows.h).
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

// How numbers are changed on the way.
struct RowsChange {
    double scale{1};
    double inside{1};   // further factor of those that stand for conjugate pairs,
    int64_t length{0};  // of a transform so long
    bool conjugates{false};
    bool drops{false};  // imaginary parts of the others
};

struct RowsParams {
    Ptr<char> in;
    Ptr<char> out;
    int64_t n;
    RowsChange change;
    int ndim;
    int64_t dims[kMaxDims];  // the axis of the transform first
    int64_t in_strides[kMaxDims];
    int64_t out_strides[kMaxDims];
};

}  // namespace chainerx::cuda
