// Convolutions, or rather cross-correlations, over 1 to 8 spatial axes.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/conv/per_axis.h"

namespace chainerx {

// x (n, ins, ...), w (outs, ins / groups, ...), b (outs,). An output is as long as windows fit into
// the padded input; with `cover_all` there is one more where some of the input would be left out.
// Of bool: whether any product under a window is true.
CX_API Array Conv(const Array& x, const Array& w, const std::optional<Array>& b = std::nullopt,
                  const PerAxis& stride = 1, const AxisPads& pad = 0, bool cover_all = false,
                  const PerAxis& dilate = 1, int64_t groups = 1);

// The gradient of Conv in its input, as an operation of its own: x (n, ins, ...), w (ins, outs /
// groups, ...), b (outs,). `outsize` is one that Conv maps to the size of x, with `cover_all` or
// without; by default, the one of which its windows leave nothing out.
CX_API Array ConvTranspose(const Array& x, const Array& w,
                           const std::optional<Array>& b = std::nullopt, const PerAxis& stride = 1,
                           const AxisPads& pad = 0,
                           const std::optional<PerAxis>& outsize = std::nullopt,
                           const PerAxis& dilate = 1, int64_t groups = 1);

}  // namespace chainerx
