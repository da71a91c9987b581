// Products of vectors, matrices and arrays of more axes, by NumPy's names.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Summed over pairs of axes; with a number, over the last ones of `a` and the first ones of `b`.
CX_API Array Tensordot(const Array& a, const Array& b, const std::vector<int64_t>& axes_a,
                       const std::vector<int64_t>& axes_b);
CX_API Array Tensordot(const Array& a, const Array& b, int64_t n_axes = 2);

// Sums of products over an axis, the conjugates of x1 if it is complex; other axes broadcast.
CX_API Array Vecdot(const Array& x1, const Array& x2, int8_t axis = -1);
// Matrices (..., m, n) times vectors (..., n); conjugate vectors (..., m) times matrices (..., m,
// n).
CX_API Array Matvec(const Array& x1, const Array& x2);
CX_API Array Vecmat(const Array& x1, const Array& x2);

// Of the flattened arrays: all products, and their sum (with the conjugates of `a`).
CX_API Array Outer(const Array& a, const Array& b);
CX_API Array Vdot(const Array& a, const Array& b);
// Summed over the last axis of both.
CX_API Array Inner(const Array& a, const Array& b);
// Each element of `a` times all of `b`.
CX_API Array Kron(const Array& a, const Array& b);
// Vectors at right angles, along axes of length 3; the other axes broadcast. The result has its
// vectors along axis_c.
CX_API Array Cross(const Array& a, const Array& b, int8_t axis_a = -1, int8_t axis_b = -1,
                   int8_t axis_c = -1);
// The sum of a diagonal, as Sum has it, or in the dtype that is given.
CX_API Array Trace(const Array& a, int64_t offset = 0, int8_t axis1 = 0, int8_t axis2 = 1,
                   std::optional<Dtype> dtype = std::nullopt);
CX_API Array MatrixTranspose(const Array& x);

namespace linalg {

// The matrix product of all, in the order of the least work. The first and the last may be vectors.
CX_API Array MultiDot(const std::vector<Array>& arrays);
// a a ... a, n times; the identity for 0, powers of the inverse below.
CX_API Array MatrixPower(const Array& a, int64_t n);
// The product of vectors, of one axis each.
CX_API Array Outer(const Array& x1, const Array& x2);
// Over the last two axes.
CX_API Array Diagonal(const Array& x, int64_t offset = 0);
CX_API Array Trace(const Array& x, int64_t offset = 0, std::optional<Dtype> dtype = std::nullopt);
// Along one axis of both, where the result has it, too.
CX_API Array Cross(const Array& x1, const Array& x2, int8_t axis = -1);

// The x with tensordot(a, x, x.ndim) = b; `axes` of a are moved to its end first.
CX_API Array Tensorsolve(const Array& a, const Array& b, const OptionalAxes& axes = std::nullopt);
// The array whose tensordot with a, over the first `ind` axes of that, is the identity.
CX_API Array Tensorinv(const Array& a, int64_t ind = 2);

}  // namespace linalg
}  // namespace chainerx
