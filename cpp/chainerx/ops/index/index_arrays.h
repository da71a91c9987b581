// Arrays of indices: of elements that are not 0, of grids, diagonals and triangles; flat ones and
// those of several axes. Integers, without gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// One row per element that is not 0, in C order, of shape (count, ndim).
CX_API Array Argwhere(const Array& x);
CX_API Array Flatnonzero(const Array& x);

// The coordinates of each element of such an array along each axis: shape (ndim, *dimensions).
CX_API Array Indices(const Shape& dimensions, Dtype dtype = Dtype::kInt64,
                     Device& device = GetDefaultDevice());
// One array per axis, which broadcast to `dimensions`.
CX_API std::vector<Array> SparseIndices(const Shape& dimensions, Dtype dtype = Dtype::kInt64,
                                        Device& device = GetDefaultDevice());
// Views of vectors, one along each axis. Vectors of bool give the places of true.
CX_API std::vector<Array> Ix(const std::vector<Array>& vectors);

// The coordinates of the diagonal, one array for each of `ndim` axes of length n.
CX_API std::vector<Array> DiagIndices(int64_t n, int8_t ndim = 2,
                                      Device& device = GetDefaultDevice());
// Of what lies on and below (above) diagonal k of a matrix with n rows, and m columns or as many.
CX_API std::vector<Array> TrilIndices(int64_t n, int64_t k = 0,
                                      std::optional<int64_t> m = std::nullopt,
                                      Device& device = GetDefaultDevice());
CX_API std::vector<Array> TriuIndices(int64_t n, int64_t k = 0,
                                      std::optional<int64_t> m = std::nullopt,
                                      Device& device = GetDefaultDevice());
// The same of an array that is there, on its device. DimensionError unless its axes, two or more,
// are of one length.
CX_API std::vector<Array> DiagIndicesFrom(const Array& x);
// DimensionError unless it is a matrix.
CX_API std::vector<Array> TrilIndicesFrom(const Array& x, int64_t k = 0);
CX_API std::vector<Array> TriuIndicesFrom(const Array& x, int64_t k = 0);

enum class IndexOrder : int8_t { kC, kFortran };
// Flat indices of elements of an array of shape `dims`, from one array per axis. `modes`, one per
// axis, say what an index out of range does; ValueError for kRaise, the host waits for the device.
CX_API Array RavelMultiIndex(const std::vector<Array>& multi_index, const Shape& dims,
                             const std::vector<IndexBoundsMode>& modes,
                             IndexOrder order = IndexOrder::kC);
// The inverse. ValueError for an index out of range; the host waits for the device.
CX_API std::vector<Array> UnravelIndex(const Array& indices, const Shape& shape,
                                       IndexOrder order = IndexOrder::kC);

}  // namespace chainerx
