// Convolution as implicit GEMM: the im2col matrix is never in memory as a whole; its panels are
// gathered from the input as they are packed. It serves the forward pass and, with operands from
// conv.cc, the input gradient.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "chainerx/kernels/conv/conv_geometry.h"
#include "chainerx/kernels/conv/conv_layer.h"
#include "chainerx/kernels/kept_weights.h"
#include "chainerx/native/gemm/gemm_loops.h"

namespace chainerx::native {

// One spatial axis. Output position i reads the inputs i * step + offset + t * dilate that are in
// bounds; t counts the taps. All strides are in elements.
struct ConvAxis {
    int64_t in;
    int64_t out;
    int64_t step;
    int64_t offset;
    int64_t dilate;
    int64_t taps;
    int64_t x_stride;
    int64_t y_stride;
    int64_t w_stride;
    // for RunDirectConv: zero-stuffing, so only every spread-th input element is nonzero
    int64_t spread{1};
};

// Which operand of the product the weights are: A (output channels are rows, positions are columns)
// or B (output channels are columns, positions are rows).
enum class WeightOperand { kA, kB };

template <typename T>
struct ConvOperands {
    int64_t batch;
    int64_t groups;
    int64_t ins;   // input channels of one group
    int64_t outs;  // output channels of one group
    int ndim;
    ConvAxis axes[kMaxSpatial];

    // Elements of the last axis are adjacent. If it has a step, it is split into phases: elements
    // 0, step, 2 * step, ... are adjacent, those of 1, 1 + step, ... follow at distance `phase`,
    // and so on.
    const T* x;
    int64_t x_image;
    int64_t x_channel;
    int64_t phase;

    const T* w;
    int64_t w_out;  // stride of output channels, also across groups
    int64_t w_in;
    int64_t w_group;
    int64_t w_panel{0};  // stride of panels, see packed_weights.h
    // null: chosen by the number of pixels, see WeightOperandOf
    std::optional<WeightOperand> w_side{};

    const T* bias;  // null if there is no bias

    T* y;
    int64_t y_image;
    int64_t y_channel;

    // Of layers, only for float: what is added, in the layout of y, and limits.
    bool has_end{false};
    const T* addend{nullptr};
    ConvLimits limits{};
    const KeptWeights* kept{nullptr};  // null if weights may change

    // The end of the tile whose first element is y[at].
    TileEnd<T> EndAt(int64_t at, bool accumulate, const T* row_bias) const {
        TileEnd<T> end{accumulate, row_bias, addend == nullptr ? nullptr : addend + at, {}, {}};
        if constexpr (std::is_floating_point_v<T>) {
            end.low = static_cast<T>(limits.low);
            end.high = static_cast<T>(limits.high);
        }
        return end;
    }

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

// There must be at least one tap and one input channel. The bits depend on shapes and values only:
// each element is one chain over (channel, taps), cut at fixed positions.
template <typename T>
void RunImplicitGemm(const ConvOperands<T>& conv);

}  // namespace chainerx::native
