// Arrays of indices: of nonzero elements, grids, diagonals and triangles; flat indices and their
// coordinates. Integers, without gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Returns one row per nonzero element, in C order; the shape is (count, ndim).
CX_API Array Argwhere(const Array& x);
CX_API Array Flatnonzero(const Array& x);

// Returns the coordinates of each element of an array of shape `dimensions`: (ndim, *dimensions).
CX_API Array Indices(const Shape& dimensions, Dtype dtype = Dtype::kInt64,
                     Device& device = GetDefaultDevice());
// Returns one array per axis; they broadcast to `dimensions`.
CX_API std::vector<Array> SparseIndices(const Shape& dimensions, Dtype dtype = Dtype::kInt64,
                                        Device& device = GetDefaultDevice());
// Returns views of vectors, one along each axis. Vectors of bool give the indices of True.
CX_API std::vector<Array> Ix(const std::vector<Array>& vectors);

// Returns the coordinates of the diagonal, one array for each of `ndim` axes of length n.
CX_API std::vector<Array> DiagIndices(int64_t n, int8_t ndim = 2,
                                      Device& device = GetDefaultDevice());
// The indices of elements on and below (above) diagonal k of a matrix with n rows and m columns (by
// default n).
CX_API std::vector<Array> TrilIndices(int64_t n, int64_t k = 0,
                                      std::optional<int64_t> m = std::nullopt,
                                      Device& device = GetDefaultDevice());
CX_API std::vector<Array> TriuIndices(int64_t n, int64_t k = 0,
                                      std::optional<int64_t> m = std::nullopt,
                                      Device& device = GetDefaultDevice());
// The same for an existing array, on its device. DimensionError unless it has two or more axes of
// one length.
CX_API std::vector<Array> DiagIndicesFrom(const Array& x);
// DimensionError unless it is a matrix.
CX_API std::vector<Array> TrilIndicesFrom(const Array& x, int64_t k = 0);
CX_API std::vector<Array> TriuIndicesFrom(const Array& x, int64_t k = 0);

enum class IndexOrder : int8_t { kC, kFortran };
// Returns flat indices of elements of an array of shape `dims`, from one array per axis. `modes`,
// one per axis, define the treatment of indices out of range; ValueError for kRaise, in which the
// host waits for the device.
CX_API Array RavelMultiIndex(const std::vector<Array>& multi_index, const Shape& dims,
                             const std::vector<IndexBoundsMode>& modes,
                             IndexOrder order = IndexOrder::kC);
// The inverse. ValueError for an index out of range; the host waits for the device.
CX_API std::vector<Array> UnravelIndex(const Array& indices, const Shape& shape,
                                       IndexOrder order = IndexOrder::kC);

}  // namespace chainerx
