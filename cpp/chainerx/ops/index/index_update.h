// Functional updates of elements that an index picks, such as x.at[index].set(values), which return
// a new array; and functions that write to many elements of an array at once.
#pragma once

#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/kernels/index/scatter_rule.h"
#include "chainerx/ops/index/indexing.h"

namespace chainerx {

// Returns a copy of x in which `values`, broadcast, are combined with the elements that the index
// picks. If it picks an element several times, all its values are combined, in C order; kSet keeps
// the last. Has the dtype of x: DtypeError if that of `values` is of a higher category.
// Differentiable in both.
CX_API Array IndexUpdate(const Array& x, const std::vector<IndexItem>& items, const Array& values,
                         ScatterRule rule);
// Divides elements by, or raises them to, the product of their values.
CX_API Array IndexDivide(const Array& x, const std::vector<IndexItem>& items, const Array& values);
CX_API Array IndexPower(const Array& x, const std::vector<IndexItem>& items, const Array& values);

// Adds all values to their elements, in place. ChainerxError if x is in a graph or read-only.
CX_API void AddAt(const Array& x, const std::vector<IndexItem>& items, const Array& values);

// ---- put.cc: in place; ChainerxError if x is in a graph or read-only ----
// Writes to elements of the flattened array; `values` are taken in C order, and repeated if there
// are fewer.
CX_API void Put(const Array& x, const Array& indices, const Array& values,
                IndexBoundsMode mode = IndexBoundsMode::kRaise);
// Writes where `mask`, of the size of x, is not 0: the i-th value goes to the i-th such element.
CX_API void Place(const Array& x, const Array& mask, const Array& values);
// The same, but each element gets the value with its own flat index.
CX_API void PutMask(const Array& x, const Array& mask, const Array& values);
// Writes to the elements with equal indices. `wrap` continues below the last column of a tall
// matrix.
CX_API void FillDiagonal(const Array& x, const Array& values, bool wrap = false);

// Assigns x.ravel()[items] = values, which are taken in C order, and repeated if there are fewer.
CX_API void AssignFlat(const Array& x, const std::vector<IndexItem>& items, const Array& values);

// Returns elements along an axis (of the flattened arrays for nullopt); `indices` has the index for
// each position on the other axes, which are broadcast. Differentiable in x.
CX_API Array TakeAlongAxis(const Array& x, const Array& indices,
                           std::optional<int8_t> axis = int8_t{-1});
CX_API void PutAlongAxis(const Array& x, const Array& indices, const Array& values,
                         std::optional<int8_t> axis = int8_t{-1});

namespace internal {

// Applies x[items] = rule(x[items], value), in place.
void Scatter(const char* op, const Array& x, const std::vector<IndexItem>& items,
             const Array& value, ScatterRule rule);
void ScatterToView(const Array& view, const Array& value, ScatterRule rule);
// Assigns x.ravel()[indices] = values, of the same number, in place. The caller has checked that x
// may be written to, and the dtypes.
void ScatterFlat(const char* op, const Array& x, const Array& indices, IndexBoundsMode mode,
                 const Array& values);
// DtypeError if `values` are of a higher category than x.
CX_API void CheckWrittenDtype(const char* op, const Array& x, const Array& values);

}  // namespace internal
}  // namespace chainerx
