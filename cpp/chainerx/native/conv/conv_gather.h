// Convolution as a product of matrices, of which the second is never in memory: its panels are
// gathered from the input while they are packed. Serves the forward pass and, with the operands
// that conv.cc gives it, the gradient of the input.
#pragma once

#include <cstdint>

#include "chainerx/kernels/conv/conv_geometry.h"

namespace chainerx::native {

// One spatial axis. Output position i sees the inputs i * step + offset + t * dilate, where they
// are inside; t counts the taps. All strides are in elements.
struct GatherAxis {
    int64_t in;
    int64_t out;
    int64_t step;
    int64_t offset;
    int64_t dilate;
    int64_t taps;
    int64_t x_stride;
    int64_t y_stride;
    int64_t w_stride;
    int64_t spread{1};  // for RunDirectConv: so many elements of the input are 0 but for the first
};

// Whether the channels of the output are rows of the product, or columns, where positions are rows.
enum class Side { kA, kB };

template <typename T>
struct GatherConv {
    int64_t batch;
    int64_t groups;
    int64_t ins;   // channels of the input, of one group
    int64_t outs;  // of the output
    int ndim;
    GatherAxis axes[kMaxSpatial];

    // Elements of the last axis are adjacent. With a step there, its elements 0, step, 2 * step,
    // ... are, and `phase` elements behind them those of 1, 1 + step, ... and so on.
    const T* x;
    int64_t x_image;
    int64_t x_channel;
    int64_t phase;

    const T* w;
    int64_t w_out;  // from one channel of the output to the next, also across groups
    int64_t w_in;
    int64_t w_group;
    int64_t w_panel{0};  // see packed_weights.h, as to the next one
    Side w_side{Side::kA};

    const T* bias;  // null for none

    T* y;
    int64_t y_image;
    int64_t y_channel;

    int64_t CountTaps() const {
        int64_t n = 1;
        for (int a = 0; a < ndim; ++a) n *= axes[a].taps;
        return n;
    }
    int64_t CountPositions() const {
        int64_t n = 1;
        for (int a = 0; a < ndim; ++a) n *= axes[a].out;
        return n;
    }
};

// There is at least one tap and one channel of the input. The bits depend on nothing but shapes and
// values: each element is one chain over (channel, taps), cut at fixed places.
template <typename T>
void RunGatherConv(const GatherConv<T>& conv);

}  // namespace chainerx::native
