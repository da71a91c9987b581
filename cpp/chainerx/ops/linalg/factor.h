// What needs a factored matrix: chainerx.linalg. Over the last two axes, of float32, float64,
// complex64 and complex128; DtypeError otherwise, DimensionError unless matrices are square.
#pragma once

#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::linalg {

// a^-1. A singular matrix is a KernelCheckError of `op`.
CX_API Array Inv(const Array& a, const char* op = "inv");

// a^-1 b. b is a vector if it has one axis; else the axes before the matrices broadcast.
CX_API Array Solve(const Array& a, const Array& b, const char* op = "solve");

// Singular matrices have a gradient, and that has one; a third one is a LinAlgError of theirs.
CX_API Array Det(const Array& a);

// The sign of the determinant (no gradient, unless it is complex) and the logarithm of its absolute
// value, which is real.
CX_API std::pair<Array, Array> Slogdet(const Array& a);

// The lower triangle L with a = L L^H. Reads the lower triangle of `a`, and of its diagonal the
// real parts; its gradient is Hermitian.
CX_API Array Cholesky(const Array& a);
// The upper triangle U with a = U^H U, `upper`; reads the upper triangle of `a`.
CX_API Array Cholesky(const Array& a, bool upper);

}  // namespace chainerx::linalg
