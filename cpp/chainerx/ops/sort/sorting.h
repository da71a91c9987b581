// Sorting. Numbers ascend, complex ones by real, then imaginary parts; NaN is greater than all
// numbers, -0.0 and 0.0 are equal, and equal elements keep their order, `descending` or not.
// Without an axis, the array is flattened.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/scalar.h"

namespace chainerx {

// Differentiable.
CX_API Array Sort(const Array& x, std::optional<int8_t> axis = -1, bool descending = false);
// Sorts the last axis, as complex numbers.
CX_API Array SortComplex(const Array& x);
// Returns the indices that Sort() uses, int64.
CX_API Array ArgSort(const Array& x, std::optional<int8_t> axis = -1, bool descending = false);

// Puts the elements at `kth` where sorting puts them, smaller ones before, greater ones behind.
// ValueError for an index out of range. Differentiable.
CX_API Array Partition(const Array& x, const std::vector<int64_t>& kth,
                       std::optional<int8_t> axis = -1);
CX_API Array ArgPartition(const Array& x, const std::vector<int64_t>& kth,
                          std::optional<int8_t> axis = -1);

// Returns values and indices of the k largest, or smallest, along an axis; best first if `sorted`,
// else in the order of indices. ValueError if there are fewer. Real numbers. Differentiable in the
// values.
CX_API std::pair<Array, Array> TopK(const Array& x, int64_t k, int8_t axis = -1,
                                    bool largest = true, bool sorted = true);

// Returns the indices that sort by the last key, ties by the one before, and so on. All keys have
// one shape.
CX_API Array LexSort(std::span<const ConstArrayRef> keys, int8_t axis = -1);

// Returns the index in the sorted vector `a` at which each element of v would be inserted, before
// equal elements or, with `right`, behind them; int64. `sorter`: indices that sort `a`.
CX_API Array SearchSorted(const Array& a, const Array& v, bool right = false,
                          const std::optional<Array>& sorter = std::nullopt);

namespace internal {

// Sorts in place. ChainerxError if x is in a graph or read-only.
CX_API void SortInPlace(const Array& x, int8_t axis, bool descending);
CX_API void PartitionInPlace(const Array& x, const std::vector<int64_t>& kth, int8_t axis);

// Returns the elements of sorted rows at `places`, ascending, counted from 0; `axis` gets their
// number as its length. Differentiable.
CX_API Array SelectSorted(const char* op, const Array& x, int8_t axis,
                          const std::vector<int64_t>& places);

// DtypeError for complex numbers; for routines that compare.
void CheckReal(const char* op, const Array& x);

}  // namespace internal
}  // namespace chainerx
