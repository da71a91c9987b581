// x[...], x[...] = v, and what gathers or scatters along an axis.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/array_index.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// x[i], a view. Differentiable.
CX_API Array At(const Array& x, int64_t i);
// x[i, a:b:c, None, ...], a view. IndexError for what is out of range, DimensionError for step 0.
CX_API Array At(const Array& x, std::span<const ArrayIndex> indices);

// x[...] = value, in place. `value` is broadcast, and cast if its kind of dtype is not above that
// of x. The two may overlap. ChainerxError if x is in a graph or read-only.
CX_API void Assign(const Array& x, const Array& value);
CX_API void Assign(const Array& x, const Scalar& value);

// x[indices], outside all graphs, for writing. ChainerxError if x is in a graph or read-only.
CX_API Array WritableAt(const Array& x, std::span<const ArrayIndex> indices);

// One item of an index that contains arrays.
struct IndexItem {
    ArrayIndex basic;
    Array array;  // of integers or bool; null for a basic item
};
// As NumPy: arrays are broadcast together, and their dimensions stand where the arrays stood if
// those are neighbours, else first. Bool arrays select. Copies. Differentiable.
CX_API Array At(const Array& x, const std::vector<IndexItem>& items);
CX_API void Assign(const Array& x, const std::vector<IndexItem>& items, const Array& value);

// Elements of `x` along `axis` (of the flattened array for nullopt), in the shape of `indices`.
// Differentiable in x.
CX_API Array Take(const Array& x, const Array& indices, std::optional<int8_t> axis,
                  IndexBoundsMode mode = IndexBoundsMode::kDefault);
// x[i, t[i]] for each row i. Differentiable in x.
CX_API Array SelectItem(const Array& x, const Array& t);
// Rows of `w`; zeros, without a gradient, where `ids` has `ignore_label`. Differentiable in w.
CX_API Array EmbedId(const Array& ids, const Array& w, int64_t ignore_label);
// One int64 array per dimension: where x is not 0, in C order.
CX_API std::vector<Array> Nonzero(const Array& x);

// Whether an element equals `value`, or one of its elements.
CX_API bool Contains(const Array& x, const Scalar& value);
CX_API bool Contains(const Array& x, const Array& value);

// Copies `src`, broadcast, into `dst` where `where` is true. Same dtypes.
CX_API void CopyTo(const Array& dst, const Array& src, bool where = true);
CX_API void CopyTo(const Array& dst, const Array& src, const Array& where);

namespace internal {

// DtypeError if the kind of `value` is above that of `dtype`, OverflowError if it is out of its
// range.
CX_API void CheckScalarFits(const char* op, Dtype dtype, const Scalar& value);
// OverflowError if `dtype` is an integer dtype and `value` an integer that it does not hold.
CX_API void CheckIntFits(const char* op, Dtype dtype, const Scalar& value);
// What is written whole: DtypeError for a complex number, unless `dtype` is complex; OverflowError
// for a number that an integer dtype does not hold, of which a fraction is cut off.
CX_API void CheckFillFits(const char* op, Dtype dtype, const Scalar& value);

}  // namespace internal
}  // namespace chainerx
