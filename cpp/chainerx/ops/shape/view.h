// Routines that return another view of the same memory, or a copy in another arrangement. All
// differentiable.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// A view where the layout allows it, else a copy. One dimension may be -1.
CX_API Array Reshape(const Array& x, const Shape& shape);
// A copy, always or, as a ValueError says where it would be needed, never.
CX_API Array Reshape(const Array& x, const Shape& shape, bool copy);
CX_API Array Ravel(const Array& x);
// A copy, always.
CX_API Array Flatten(const Array& x);

// In which order elements are read and placed: the last axis moves fastest, the first does, the
// first if that is how they lie in memory, or as they lie in memory.
enum class ElementOrder : int8_t { kC, kF, kA, kK };
// ValueError for kK, which says nothing of a shape.
CX_API Array Reshape(const Array& x, const Shape& shape, ElementOrder order);
CX_API Array Ravel(const Array& x, ElementOrder order);
CX_API Array Flatten(const Array& x, ElementOrder order);

// The bytes as elements of another dtype, outside all graphs; where its size is another one, there
// are more or fewer of them on the last axis, which must be contiguous. ValueError where that can't
// be; DtypeError for bool, which not all bytes are. A view of bool can't be written to.
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
// A view of the memory of x. Strides and offset count elements, the latter from the first one of
// the memory (that of x, if it is not given). DimensionError if it would reach out of the memory.
// Read-only if an element has several places.
CX_API Array AsStrided(const Array& x, const Shape& shape, const Strides& strides,
                       std::optional<int64_t> storage_offset = std::nullopt);

// ---- diagonal.cc ----
// Diagonal k of a matrix, a view.
CX_API Array Diagonal(const Array& x, int64_t k = 0);
// The other dimensions, followed by that of the diagonal along two axes. A view. Differentiable.
CX_API Array Diagonal(const Array& x, int64_t k, int8_t axis1, int8_t axis2);
// The diagonal of a matrix, or a matrix with a vector as diagonal.
CX_API Array Diag(const Array& x, int64_t k = 0);
CX_API Array DiagFlat(const Array& x, int64_t k = 0);
// Copies with zeros above, or below, diagonal k of the last two axes.
CX_API Array Tril(const Array& x, int64_t k = 0);
CX_API Array Triu(const Array& x, int64_t k = 0);
// Coordinate arrays, views of broadcast vectors. `swap_first`: indexing 'xy', else 'ij'. `sparse`:
// not broadcast, each with length 1 along the axes of the others.
CX_API std::vector<Array> Meshgrid(const std::vector<Array>& arrays, bool swap_first = true,
                                   bool sparse = false);

namespace internal {
// `perm` is known to be a permutation.
CX_API Array Permute(const Array& x, const Axes& perm);
}  // namespace internal

}  // namespace chainerx
