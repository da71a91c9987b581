// Routines that return another view of the same memory, or a copy in another layout. All are
// differentiable.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Returns a view if the layout allows it, else a copy. One dimension may be -1.
CX_API Array Reshape(const Array& x, const Shape& shape);
// `copy` forces a copy; false forbids it, with a ValueError if one is needed.
CX_API Array Reshape(const Array& x, const Shape& shape, bool copy);
CX_API Array Ravel(const Array& x);
// Always returns a copy.
CX_API Array Flatten(const Array& x);

// The order in which elements are read and written: the last axis is innermost (kC), the first is
// (kF), kF if the array is F-contiguous (kA), or the order of memory (kK).
enum class ElementOrder : int8_t { kC, kF, kA, kK };
// ValueError for kK, which does not determine a shape.
CX_API Array Reshape(const Array& x, const Shape& shape, ElementOrder order);
CX_API Array Ravel(const Array& x, ElementOrder order);
CX_API Array Flatten(const Array& x, ElementOrder order);

// Views the bytes as elements of another dtype, outside all graphs. If its size differs, so does
// the length of the last axis, which must be contiguous. ValueError if that is impossible;
// DtypeError for bool, which can't represent all bytes. A view of bool is read-only.
CX_API Array ViewAs(const Array& x, Dtype dtype);

CX_API Array Transpose(const Array& x, const OptionalAxes& axes = std::nullopt);
CX_API Array BroadcastTo(const Array& x, const Shape& shape);
CX_API std::vector<Array> BroadcastArrays(const std::vector<Array>& arrays);
CX_API Array MakeView(const Array& x);

CX_API Array Squeeze(const Array& x, const OptionalAxes& axes = std::nullopt);
// `axes` are those of the result.
CX_API Array ExpandDims(const Array& x, const Axes& axes);
CX_API Array Swapaxes(const Array& x, int8_t axis1, int8_t axis2);
CX_API Array Moveaxis(const Array& x, const Axes& source, const Axes& destination);
CX_API Array Rollaxis(const Array& x, int8_t axis, int8_t start = 0);
CX_API Array Flip(const Array& x, const OptionalAxes& axes = std::nullopt, const char* op = "flip");
CX_API Array Fliplr(const Array& x);
CX_API Array Flipud(const Array& x);
CX_API Array AtLeast1D(const Array& x);
CX_API Array AtLeast2D(const Array& x);
CX_API Array AtLeast3D(const Array& x);

// ---- as_strided.cc ----
// Views the memory of x by strides. Strides and offset count elements; the offset is from the start
// of the memory, by default that of x. DimensionError if the view would leave the memory. The view
// is read-only if elements overlap.
CX_API Array AsStrided(const Array& x, const Shape& shape, const Strides& strides,
                       std::optional<int64_t> storage_offset = std::nullopt);

// ---- diagonal.cc ----
// Returns diagonal k of a matrix, a view.
CX_API Array Diagonal(const Array& x, int64_t k = 0);
// Returns the other dimensions, followed by the diagonal along two axes. A view. Differentiable.
CX_API Array Diagonal(const Array& x, int64_t k, int8_t axis1, int8_t axis2);
// Returns the diagonal of a matrix, or a matrix with a vector as diagonal.
CX_API Array Diag(const Array& x, int64_t k = 0);
CX_API Array DiagFlat(const Array& x, int64_t k = 0);
// Return copies with zeros above, or below, diagonal k of the last two axes.
CX_API Array Tril(const Array& x, int64_t k = 0);
CX_API Array Triu(const Array& x, int64_t k = 0);
// Returns coordinate arrays, views of broadcast vectors. `swap_first`: indexing 'xy', else 'ij'.
// `sparse`: not broadcast, each with length 1 along the axes of the others.
CX_API std::vector<Array> Meshgrid(const std::vector<Array>& arrays, bool swap_first = true,
                                   bool sparse = false);

namespace internal {
// `perm` must be a permutation.
CX_API Array Permute(const Array& x, const Axes& perm);
}  // namespace internal

}  // namespace chainerx
