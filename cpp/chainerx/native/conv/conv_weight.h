// The weight gradient of a convolution: the product of gy and the im2col matrix, which is gathered
// as it is packed.
#pragma once

#include <cstdint>

#include "chainerx/native/conv/implicit_gemm.h"

namespace chainerx::native {

template <typename T>
struct WeightConv {
    int64_t batch;
    int64_t groups;
    int64_t ins;   // input channels of one group
    int64_t outs;  // output channels of one group
    int ndim;
    ConvAxis axes[kMaxSpatial];

    // Layout of the ins * taps columns that a position reads:
    enum class Columns {
        // (tap, channel); channels are adjacent.
        kChannels,
        // The same with a single tap, which reads the positions in order; they are adjacent.
        kPlain,
        // (channel, tap); taps of the last axis are adjacent. x includes its padding, so no tap is
        // out of bounds and no axis has an offset.
        kTaps,
    };
    Columns columns;
    const T* x;
    int64_t x_image;
    int64_t x_channel;

    // Positions are adjacent, in C order.
    const T* gy;
    int64_t gy_image;
    int64_t gy_channel;

    // Contiguous, of shape (groups, outs, columns).
    T* gw;
    bool accumulate;
};

// All lengths are at least 1. The bits depend on shapes and values only.
template <typename T>
void RunWeightConv(const WeightConv<T>& conv);

}  // namespace chainerx::native
