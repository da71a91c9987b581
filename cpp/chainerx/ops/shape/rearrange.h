// Arrays put together from others, cut, turned. All differentiable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx {

// The array, laid out in memory in this order; itself if it is so already. kA is kF for what is
// contiguous so, and not in C order; kK is any order.
CX_API Array AsOrder(const Array& x, ElementOrder order);
CX_API Array AsFortranArray(const Array& x);

// 1-d arrays are columns.
CX_API Array ColumnStack(std::span<const ConstArrayRef> arrays);

// An array, or a list of such.
struct Blocks {
    Array array;
    std::vector<Blocks> parts;  // where `array` is null
};
// Joins the innermost lists along the last axis, those around them along the axis before it, and so
// on. ValueError for lists of several depths, or empty ones.
CX_API Array Block(const Blocks& blocks);

// For nullopt, both flattened. Dtypes are promoted.
CX_API Array Append(const Array& x, const Array& values, std::optional<int8_t> axis = std::nullopt);

// `values` before an index, broadcast to the other axes; the first axis of `values` runs along
// `axis`. Has the dtype of x: DtypeError if that of `values` is of a higher kind. IndexError for an
// index out of range.
CX_API Array Insert(const Array& x, int64_t index, const Array& values,
                    std::optional<int8_t> axis = std::nullopt);
// One of `values` along `axis` before each index, which is one of x.
CX_API Array Insert(const Array& x, const std::vector<int64_t>& indices, const Array& values,
                    std::optional<int8_t> axis = std::nullopt);

// A copy without what is at these indices, which may repeat.
CX_API Array Delete(const Array& x, const std::vector<int64_t>& indices,
                    std::optional<int8_t> axis = std::nullopt);

// Views x[..., i, ...] for each i.
CX_API std::vector<Array> Unstack(const Array& x, int8_t axis = 0);

// The elements in C order again and again, as many as the shape takes; zeros if there are none.
CX_API Array Resize(const Array& x, const Shape& shape);

// A view without the outermost hyperplanes of zeros, before and behind the rest.
CX_API Array TrimZeros(const Array& x, bool front = true, bool back = true,
                       const OptionalAxes& axes = std::nullopt);

// A view, turned k times by 90 degrees from the first of two axes towards the second.
CX_API Array Rot90(const Array& x, int64_t k = 1, int8_t axis1 = 0, int8_t axis2 = 1);

}  // namespace chainerx
