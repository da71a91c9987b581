// Elements that an index picks, changed: x.at[index].set(values) and its kin, which give a new
// array, and what writes to many places of an array at once.
#pragma once

#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/kernels/index/scatter_rule.h"
#include "chainerx/ops/index/indexing.h"

namespace chainerx {

// A copy of x in which `values`, broadcast, have met the elements that the index picks. Where it
// picks one several times, all values count, in C order; of kSet the last one. Has the dtype of x:
// DtypeError if that of `values` is of a higher kind. Differentiable in both.
CX_API Array IndexUpdate(const Array& x, const std::vector<IndexItem>& items, const Array& values,
                         ScatterRule rule);
// Elements divided by, and raised to, the product of their values.
CX_API Array IndexDivide(const Array& x, const std::vector<IndexItem>& items, const Array& values);
CX_API Array IndexPower(const Array& x, const std::vector<IndexItem>& items, const Array& values);

// Elements plus all their values, in place. ChainerxError if x is in a graph or read-only.
CX_API void AddAt(const Array& x, const std::vector<IndexItem>& items, const Array& values);

// ---- put.cc: in place; ChainerxError if x is in a graph or read-only ----
// Elements of the flattened array; `values` are taken in C order, again from the start where there
// are fewer of them.
CX_API void Put(const Array& x, const Array& indices, const Array& values,
                IndexBoundsMode mode = IndexBoundsMode::kRaise);
// Where `mask`, of the size of x, is not 0: the first value to the first such place, and so on.
CX_API void Place(const Array& x, const Array& mask, const Array& values);
// The same, where each value goes to the place that it has among all.
CX_API void PutMask(const Array& x, const Array& mask, const Array& values);
// The elements with equal indices. `wrap` goes on behind the last column of a tall matrix.
CX_API void FillDiagonal(const Array& x, const Array& values, bool wrap = false);

// x.ravel()[items] = values, which are taken in C order, again from the start where they are fewer.
CX_API void AssignFlat(const Array& x, const std::vector<IndexItem>& items, const Array& values);

// Elements along an axis (of the flattened arrays for nullopt), picked by `indices` for each place
// of the other axes; these are broadcast. Differentiable in x.
CX_API Array TakeAlongAxis(const Array& x, const Array& indices,
                           std::optional<int8_t> axis = int8_t{-1});
CX_API void PutAlongAxis(const Array& x, const Array& indices, const Array& values,
                         std::optional<int8_t> axis = int8_t{-1});

namespace internal {

// x[items] = rule(x[items], value), in place.
void Scatter(const char* op, const Array& x, const std::vector<IndexItem>& items,
             const Array& value, ScatterRule rule);
void ScatterToView(const Array& view, const Array& value, ScatterRule rule);
// x.ravel()[indices] = values, of which there are as many, in place. The caller has checked that x
// may be written to, and the dtypes.
void ScatterFlat(const char* op, const Array& x, const Array& indices, IndexBoundsMode mode,
                 const Array& values);
// DtypeError if `values` are of a higher kind of dtype than x.
CX_API void CheckWrittenDtype(const char* op, const Array& x, const Array& values);

}  // namespace internal
}  // namespace chainerx
