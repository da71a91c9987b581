// Assembling, deleting and rearranging elements. All are differentiable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx {

// Returns the array in this memory order; itself if it already has it. kA is kF for an array that
// is F-contiguous and not C-contiguous; kK accepts any order.
CX_API Array AsOrder(const Array& x, ElementOrder order);
CX_API Array AsFortranArray(const Array& x);

// Treats 1-d arrays as columns.
CX_API Array ColumnStack(std::span<const ConstArrayRef> arrays);

// An array, or a list of blocks.
struct Blocks {
    Array array;
    std::vector<Blocks> parts;  // where `array` is null
};
// Joins the innermost lists along the last axis, the enclosing ones along the axis before it, and
// so on. ValueError for lists of different depths, or empty ones.
CX_API Array Block(const Blocks& blocks);

// nullopt flattens both. Dtypes are promoted.
CX_API Array Append(const Array& x, const Array& values, std::optional<int8_t> axis = std::nullopt);

// Inserts `values` before an index, broadcast to the other axes; the first axis of `values` runs
// along `axis`. Has the dtype of x: DtypeError if that of `values` is of a higher category.
// IndexError for an index out of range.
CX_API Array Insert(const Array& x, int64_t index, const Array& values,
                    std::optional<int8_t> axis = std::nullopt);
// Inserts one of `values` along `axis` before each index into x.
CX_API Array Insert(const Array& x, const std::vector<int64_t>& indices, const Array& values,
                    std::optional<int8_t> axis = std::nullopt);

// Returns a copy without the elements at these indices, which may repeat.
CX_API Array Delete(const Array& x, const std::vector<int64_t>& indices,
                    std::optional<int8_t> axis = std::nullopt);

// Returns views x[..., i, ...] for each i.
CX_API std::vector<Array> Unstack(const Array& x, int8_t axis = 0);

// Repeats the elements in C order until the shape is filled; zeros if there are none.
CX_API Array Resize(const Array& x, const Shape& shape);

// Returns a view without the outermost hyperplanes of zeros, at the front and back.
CX_API Array TrimZeros(const Array& x, bool front = true, bool back = true,
                       const OptionalAxes& axes = std::nullopt);

// Returns a view, rotated k times by 90 degrees from the first of two axes towards the second.
CX_API Array Rot90(const Array& x, int64_t k = 1, int8_t axis1 = 0, int8_t axis2 = 1);

}  // namespace chainerx
