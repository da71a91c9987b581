// Convolutions (cross-correlations, strictly) over 1 to 8 spatial axes.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/kernels/conv/conv_layer.h"
#include "chainerx/ops/conv/per_axis.h"

namespace chainerx {

// x (n, ins, ...), w (outs, ins / groups, ...), b (outs,). The output has one element per window
// that fits into the padded input; `cover_all` adds one where a rest of the input would be left
// out. For bool, an output is true if any product under its window is.
CX_API Array Conv(const Array& x, const Array& w, const std::optional<Array>& b = std::nullopt,
                  const PerAxis& stride = 1, const AxisPads& pad = 0, bool cover_all = false,
                  const PerAxis& dilate = 1, int64_t groups = 1);

// The gradient of Conv in its input, as an operation of its own: x (n, ins, ...), w (ins, outs /
// groups, ...), b (outs,). `outsize` must be a size that Conv maps to the size of x, with or
// without `cover_all`; by default it is the one that its windows cover exactly.
CX_API Array ConvTranspose(const Array& x, const Array& w,
                           const std::optional<Array>& b = std::nullopt, const PerAxis& stride = 1,
                           const AxisPads& pad = 0,
                           const std::optional<PerAxis>& outsize = std::nullopt,
                           const PerAxis& dilate = 1, int64_t groups = 1);

namespace internal {

// What a convolution does beyond its sums as a layer of a network that is only run.
struct ConvEnd {
    std::optional<Array> addend{};  // added to the result
    ConvLimits limits{};            // to which it is clipped then
    std::optional<Array> kept{};    // KeptWeights of this w, which nobody writes to
};

// Conv, followed by its end: in one pass over the result where a kernel can. In a graph, and for
// an addend of another shape, it is the composition.
CX_API Array ConvLayer(const Array& x, const Array& w, const std::optional<Array>& b,
                       const ConvEnd& end, const PerAxis& stride, const AxisPads& pad,
                       const PerAxis& dilate, int64_t groups);

}  // namespace internal
}  // namespace chainerx
