// Parameters of the copies around Fourier transforms, for the host and the device
// (cuda/signal/device/rows.h).
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

inline constexpr int kRowsThreads = 256;
inline constexpr int kMaxRowsDims = 10;

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
    int64_t dims[kMaxRowsDims];  // the axis of the transform first
    int64_t in_strides[kMaxRowsDims];
    int64_t out_strides[kMaxRowsDims];
};

}  // namespace chainerx::cuda
