// Convolutions (cross-correlations, strictly) over 1 to 8 spatial axes.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
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

}  // namespace chainerx
