// Indexing: x[...], x[...] = v, and gathering along an axis.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/array_index.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Returns x[i], a view. Differentiable.
CX_API Array At(const Array& x, int64_t i);
// Returns x[i, a:b:c, None, ...], a view. IndexError for indices out of range, DimensionError for
// step 0.
CX_API Array At(const Array& x, std::span<const ArrayIndex> indices);

// Assigns x[...] = value, in place. `value` is broadcast, and cast if its category is not higher
// than that of x. The two may overlap. ChainerxError if x is in a graph or read-only.
CX_API void Assign(const Array& x, const Array& value);
CX_API void Assign(const Array& x, const Scalar& value);

// Returns x[indices] for writing, outside all graphs. ChainerxError if x is in a graph or
// read-only.
CX_API Array WritableAt(const Array& x, std::span<const ArrayIndex> indices);

// One item of an index that contains arrays.
struct IndexItem {
    ArrayIndex basic;
    Array array;  // of integers or bool; null for a basic item
};
// Like NumPy: arrays are broadcast together, and their dimensions replace those of the arrays if
// these are adjacent, else come first. Bool arrays select. Copies. Differentiable.
CX_API Array At(const Array& x, const std::vector<IndexItem>& items);
CX_API void Assign(const Array& x, const std::vector<IndexItem>& items, const Array& value);

// Returns elements of `x` along `axis` (of the flattened array for nullopt), in the shape of
// `indices`. Differentiable in x.
CX_API Array Take(const Array& x, const Array& indices, std::optional<int8_t> axis,
                  IndexBoundsMode mode = IndexBoundsMode::kDefault);
// Returns x[i, t[i]] for each row i. Differentiable in x.
CX_API Array SelectItem(const Array& x, const Array& t);
// Returns rows of `w`; zeros, without a gradient, where `ids` is `ignore_label`. Differentiable in
// w.
CX_API Array EmbedId(const Array& ids, const Array& w, int64_t ignore_label);
// Returns one int64 array per dimension: the indices of nonzero elements, in C order.
CX_API std::vector<Array> Nonzero(const Array& x);

// Returns whether any element equals `value`, or one of its elements.
CX_API bool Contains(const Array& x, const Scalar& value);
CX_API bool Contains(const Array& x, const Array& value);

// Copies `src`, broadcast, into `dst` where `where` is true. Both have the same dtype.
CX_API void CopyTo(const Array& dst, const Array& src, bool where = true);
CX_API void CopyTo(const Array& dst, const Array& src, const Array& where);

namespace internal {

// DtypeError if `value` is of a higher category than `dtype`, OverflowError if it is out of its
// range.
CX_API void CheckScalarFits(const char* op, Dtype dtype, const Scalar& value);
// OverflowError if `dtype` is an integer dtype and `value` an integer that it does not hold.
CX_API void CheckIntFits(const char* op, Dtype dtype, const Scalar& value);
// For a value that fills an array: DtypeError for a complex number, unless `dtype` is complex;
// OverflowError for a number that an integer dtype can't hold after truncation.
CX_API void CheckFillFits(const char* op, Dtype dtype, const Scalar& value);

}  // namespace internal
}  // namespace chainerx
