// The gradient of a convolution's weights: the product of gy and of what each of its elements saw,
// gathered while it is packed.
#pragma once

#include <cstdint>

#include "chainerx/native/conv/conv_gather.h"

namespace chainerx::native {

template <typename T>
struct WeightConv {
    int64_t batch;
    int64_t groups;
    int64_t ins;   // channels of the input, of one group
    int64_t outs;  // of the output
    int ndim;
    GatherAxis axes[kMaxSpatial];

    // How a position sees its columns, of which there are ins * taps:
    enum class Columns {
        kChannels,  // channels are adjacent; columns are (tap, channel)
        kPlain,  // the same, but there is one tap, which sees the positions in their order; these
                 // are adjacent
        kTaps,   // taps of the last axis are adjacent, and margins are part of x, so that no tap is
                 // outside and no axis has an offset; columns are (channel, tap)
    };
    Columns columns;
    const T* x;
    int64_t x_image;
    int64_t x_channel;

    // Positions are adjacent, in C order.
    const T* gy;
    int64_t gy_image;
    int64_t gy_channel;

    // (groups, outs, columns), contiguous.
    T* gw;
    bool accumulate;
};

// All lengths are at least 1. The bits depend on nothing but shapes and values.
template <typename T>
void RunWeightConv(const WeightConv<T>& conv);

}  // namespace chainerx::native
