// Poolings over the spatial axes of x (n, channels, ...), 1 to 8 of them, and what goes back.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/conv/per_axis.h"

namespace chainerx {

// Whether the zeros around the input count among those that the mean is of.
enum class AveragePoolPadMode : int8_t { kZero, kIgnore };

// Without a stride, windows lie side by side. As many as fit into the padded input; with
// `cover_all` there is one more where some of the input would be left out. NaN is the maximum, and
// padding never is; of a window that is all padding it is the smallest value of the dtype.
CX_API Array MaxPool(const Array& x, const PerAxis& ksize,
                     const std::optional<PerAxis>& stride = std::nullopt, const AxisPads& pad = 0,
                     bool cover_all = false);
// With the number that each maximum has in its window, in C order, int64. Of equal ones it is the
// first.
CX_API std::pair<Array, Array> MaxPoolWithIndices(
    const Array& x, const PerAxis& ksize, const std::optional<PerAxis>& stride = std::nullopt,
    const AxisPads& pad = 0, bool cover_all = false);

// 0 where a window is all padding.
CX_API Array AveragePool(const Array& x, const PerAxis& ksize,
                         const std::optional<PerAxis>& stride = std::nullopt,
                         const AxisPads& pad = 0,
                         AveragePoolPadMode pad_mode = AveragePoolPadMode::kIgnore,
                         bool cover_all = false);

// The other way: each element is added to all of its window. `outsize` is that of the spatial axes;
// without it, the smallest of those that windows of this kind make the size of x of.
CX_API Array Unpool(const Array& x, const PerAxis& ksize,
                    const std::optional<PerAxis>& stride = std::nullopt, const AxisPads& pad = 0,
                    const std::optional<PerAxis>& outsize = std::nullopt, bool cover_all = false);
// To one element of its window, which `indices` name as MaxPoolWithIndices does.
CX_API Array MaxUnpool(const Array& x, const Array& indices, const PerAxis& ksize,
                       const std::optional<PerAxis>& stride = std::nullopt, const AxisPads& pad = 0,
                       const std::optional<PerAxis>& outsize = std::nullopt,
                       bool cover_all = false);

// The windows divide the input: that of output i reaches from floor(i * in / out) to
// ceil((i + 1) * in / out).
CX_API Array AdaptiveMaxPool(const Array& x, const PerAxis& output_size);
CX_API Array AdaptiveAveragePool(const Array& x, const PerAxis& output_size);

// Over all of the spatial axes, which stay with length 1.
CX_API Array GlobalMaxPool(const Array& x);
CX_API Array GlobalAveragePool(const Array& x);

namespace internal {

// MaxPoolWithIndices with the indices that backward keeps, of another integer dtype; they are a
// null array if neither backward nor the caller needs them.
CX_API std::pair<Array, Array> MaxPoolKept(const Array& x, const PerAxis& ksize,
                                           const std::optional<PerAxis>& stride,
                                           const AxisPads& pad, bool cover_all, bool with_indices);

}  // namespace internal
}  // namespace chainerx
