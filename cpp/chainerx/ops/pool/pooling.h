// Poolings over the spatial axes of x (n, channels, ...), 1 to 8 of them, and their inverses.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/conv/per_axis.h"

namespace chainerx {

// Defines whether the mean counts the zeros of the padding.
enum class AveragePoolPadMode : int8_t { kZero, kIgnore };

// The default stride is the size of the window. There are as many windows as fit into the padded
// input; `cover_all` adds one where some of the input would be left out. NaN is greater than all
// numbers, and padding is never the maximum; a window that is all padding gives the smallest value
// of the dtype.
CX_API Array MaxPool(const Array& x, const PerAxis& ksize,
                     const std::optional<PerAxis>& stride = std::nullopt, const AxisPads& pad = 0,
                     bool cover_all = false);
// Also returns the index of each maximum in its window, in C order, int64. Among equal elements it
// is the first.
CX_API std::pair<Array, Array> MaxPoolWithIndices(
    const Array& x, const PerAxis& ksize, const std::optional<PerAxis>& stride = std::nullopt,
    const AxisPads& pad = 0, bool cover_all = false);

// Returns 0 for a window that is all padding.
CX_API Array AveragePool(const Array& x, const PerAxis& ksize,
                         const std::optional<PerAxis>& stride = std::nullopt,
                         const AxisPads& pad = 0,
                         AveragePoolPadMode pad_mode = AveragePoolPadMode::kIgnore,
                         bool cover_all = false);

// The transpose of pooling: adds each element to all of its window. `outsize` has the spatial axes
// of the result; the default is the smallest from which such windows make the size of x.
CX_API Array Unpool(const Array& x, const PerAxis& ksize,
                    const std::optional<PerAxis>& stride = std::nullopt, const AxisPads& pad = 0,
                    const std::optional<PerAxis>& outsize = std::nullopt, bool cover_all = false);
// Writes each element to one element of its window, which `indices` name as in MaxPoolWithIndices.
CX_API Array MaxUnpool(const Array& x, const Array& indices, const PerAxis& ksize,
                       const std::optional<PerAxis>& stride = std::nullopt, const AxisPads& pad = 0,
                       const std::optional<PerAxis>& outsize = std::nullopt,
                       bool cover_all = false);

// The windows divide the input: output i covers floor(i * in / out) to ceil((i + 1) * in / out).
CX_API Array AdaptiveMaxPool(const Array& x, const PerAxis& output_size);
CX_API Array AdaptiveAveragePool(const Array& x, const PerAxis& output_size);

// Pools over all spatial axes, which remain with length 1.
CX_API Array GlobalMaxPool(const Array& x);
CX_API Array GlobalAveragePool(const Array& x);

namespace internal {

// Returns MaxPoolWithIndices with the indices that backward saves, of another integer dtype; a null
// array if neither backward nor the caller needs them.
CX_API std::pair<Array, Array> MaxPoolKept(const Array& x, const PerAxis& ksize,
                                           const std::optional<PerAxis>& stride,
                                           const AxisPads& pad, bool cover_all, bool with_indices);

}  // namespace internal
}  // namespace chainerx
