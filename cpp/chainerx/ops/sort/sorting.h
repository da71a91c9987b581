// Order. Numbers go from small to large, complex ones first by their real parts; NaN is above all,
// -0.0 and 0.0 are equal, and what is equal keeps its order, `descending` or not. An axis that is
// absent stands for the flattened array.
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
// The last axis sorted, as complex numbers.
CX_API Array SortComplex(const Array& x);
// int64: the places, on the axis, of what Sort() gives.
CX_API Array ArgSort(const Array& x, std::optional<int8_t> axis = -1, bool descending = false);

// The elements that sorted rows have at `kth` are there; what is below comes before them, what is
// above behind. ValueError for a place that there is not. Differentiable.
CX_API Array Partition(const Array& x, const std::vector<int64_t>& kth,
                       std::optional<int8_t> axis = -1);
CX_API Array ArgPartition(const Array& x, const std::vector<int64_t>& kth,
                          std::optional<int8_t> axis = -1);

// Values and places of the k largest, or smallest, along an axis; from the first one on where
// `sorted`, else in the order of places. ValueError if there are fewer. Real numbers.
// Differentiable in the values.
CX_API std::pair<Array, Array> TopK(const Array& x, int64_t k, int8_t axis = -1,
                                    bool largest = true, bool sorted = true);

// The places by which the last key is sorted; where it is equal, the one before, and so on. Same
// shapes.
CX_API Array LexSort(std::span<const ConstArrayRef> keys, int8_t axis = -1);

// int64, the shape of v: where in `a`, sorted, of one dimension, elements would be inserted, before
// those that are equal or, `right`, behind them. `sorter`: places that sort `a`.
CX_API Array SearchSorted(const Array& a, const Array& v, bool right = false,
                          const std::optional<Array>& sorter = std::nullopt);

namespace internal {

// In place. ChainerxError if x is in a graph or read-only.
CX_API void SortInPlace(const Array& x, int8_t axis, bool descending);
CX_API void PartitionInPlace(const Array& x, const std::vector<int64_t>& kth, int8_t axis);

// What sorted rows have at `places`, ascending, from 0 on; `axis` gets their number as its length.
// Differentiable.
CX_API Array SelectSorted(const char* op, const Array& x, int8_t axis,
                          const std::vector<int64_t>& places);

// For routines that compare numbers by their order.
void CheckReal(const char* op, const Array& x);

}  // namespace internal
}  // namespace chainerx
