// Products of vectors, matrices and arrays of more axes, named as in NumPy.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Sums over pairs of axes; with a number, over the last axes of `a` and the first axes of `b`.
CX_API Array Tensordot(const Array& a, const Array& b, const std::vector<int64_t>& axes_a,
                       const std::vector<int64_t>& axes_b);
CX_API Array Tensordot(const Array& a, const Array& b, int64_t n_axes = 2);

// Returns dot products over an axis, with the conjugate of x1 if it is complex; other axes
// broadcast.
CX_API Array Vecdot(const Array& x1, const Array& x2, int8_t axis = -1);
// Multiplies matrices (..., m, n) by vectors (..., n); conjugate vectors (..., m) by matrices (...,
// m, n).
CX_API Array Matvec(const Array& x1, const Array& x2);
CX_API Array Vecmat(const Array& x1, const Array& x2);

// For the flattened arrays: the outer product, and the dot product (with the conjugate of `a`).
CX_API Array Outer(const Array& a, const Array& b);
CX_API Array Vdot(const Array& a, const Array& b);
// Sums over the last axis of both.
CX_API Array Inner(const Array& a, const Array& b);
// Multiplies each element of `a` by all of `b`.
CX_API Array Kron(const Array& a, const Array& b);
// Returns cross products of vectors along axes of length 3; the other axes broadcast. The result
// has its vectors along axis_c.
CX_API Array Cross(const Array& a, const Array& b, int8_t axis_a = -1, int8_t axis_b = -1,
                   int8_t axis_c = -1);
// Returns the sum of a diagonal, in the dtype of Sum or in the given one.
CX_API Array Trace(const Array& a, int64_t offset = 0, int8_t axis1 = 0, int8_t axis2 = 1,
                   std::optional<Dtype> dtype = std::nullopt);
CX_API Array MatrixTranspose(const Array& x);

namespace linalg {

// Returns the matrix product of all arrays, in the order of least work. The first and the last may
// be vectors.
CX_API Array MultiDot(const std::vector<Array>& arrays);
// Returns the n-th power of a; the identity for 0, powers of the inverse for negative n.
CX_API Array MatrixPower(const Array& a, int64_t n);
// Returns the outer product of vectors, of one axis each.
CX_API Array Outer(const Array& x1, const Array& x2);
// Works over the last two axes.
CX_API Array Diagonal(const Array& x, int64_t offset = 0);
CX_API Array Trace(const Array& x, int64_t offset = 0, std::optional<Dtype> dtype = std::nullopt);
// Works along one axis of both; the result has its vectors there, too.
CX_API Array Cross(const Array& x1, const Array& x2, int8_t axis = -1);

// Returns the x with tensordot(a, x, x.ndim) = b; `axes` of a are moved to its end first.
CX_API Array Tensorsolve(const Array& a, const Array& b, const OptionalAxes& axes = std::nullopt);
// Returns the array whose tensordot with a, over the first `ind` axes of that, is the identity.
CX_API Array Tensorinv(const Array& a, int64_t ind = 2);

}  // namespace linalg
}  // namespace chainerx
