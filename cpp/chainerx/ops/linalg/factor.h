// Routines that factor matrices: chainerx.linalg. They work over the last two axes, for float32,
// float64, complex64 and complex128; DtypeError otherwise, DimensionError unless matrices are
// square.
#pragma once

#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::linalg {

// Returns a^-1. A singular matrix is a KernelCheckError of `op`.
CX_API Array Inv(const Array& a, const char* op = "inv");

// Returns a^-1 b. b is a vector if it has one axis; else the axes before the matrices broadcast.
CX_API Array Solve(const Array& a, const Array& b, const char* op = "solve");

// Singular matrices have first and second derivatives; the third is a LinAlgError.
CX_API Array Det(const Array& a);

// Returns the sign of the determinant, which has a gradient only if it is complex, and the
// logarithm of its absolute value, which is real.
CX_API std::pair<Array, Array> Slogdet(const Array& a);

// Returns the lower triangular L with a = L L^H. Reads the lower triangle of `a`, and only the real
// parts of its diagonal; its gradient is Hermitian.
CX_API Array Cholesky(const Array& a);
// With `upper`, returns the upper triangular U with a = U^H U, and reads the upper triangle of `a`.
CX_API Array Cholesky(const Array& a, bool upper);

}  // namespace chainerx::linalg
