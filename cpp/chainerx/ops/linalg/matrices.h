// Checks and shapes shared by routines over batches of matrices.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"

namespace chainerx::internal {

// DtypeError unless float32, float64, complex64 or complex128.
void CheckPrecision(const char* op, const char* name, const Array& x);
// The same, and DimensionError for fewer than two axes.
void CheckMatrices(const char* op, const Array& a, const char* name = "a");
// The same, and DimensionError unless they are square.
void CheckSquareMatrices(const char* op, const Array& a, const char* name = "a");
// Returns the Hermitian matrices with these lower triangles, after the check. Differentiable.
Array HermitianOfLower(const char* op, const Array& a);

// Returns complex64 for float32 and complex64, else complex128.
inline Dtype ComplexOf(Dtype dtype) {
    return RealDtype(dtype) == Dtype::kFloat32 ? Dtype::kComplex64 : Dtype::kComplex128;
}

// The complex conjugate, and the conjugate transpose; for real matrices neither copies.
Array Conjugate(const Array& x);
Array Adjoint(const Array& x);
// Half the sum of the matrix and its adjoint.
Array HermitianPart(const Array& x);

inline int64_t RowsOf(const Array& x) { return x.shape()[x.ndim() - 2]; }
inline int64_t ColumnsOf(const Array& x) { return x.shape()[x.ndim() - 1]; }

// Returns the axes before the last two.
inline Shape BatchOf(const Array& x) { return Shape(x.shape().begin(), x.shape().end() - 2); }
Shape WithMatrix(Shape batch, int64_t rows, int64_t columns);
Shape WithVector(Shape batch, int64_t n);

// Allocates an array for a kernel to write, after checking that its size does not overflow.
Array EmptyOf(const char* op, const Shape& shape, Dtype dtype, Device& device);
// Returns a contiguous copy for a kernel to write to, outside all graphs.
Array WorkingCopy(const Array& x);

// Views vectors as matrices of one column, or one row; removes the last axis again.
Array ToColumn(const Array& x);
Array ToRow(const Array& x);
Array FromColumn(const Array& x);

// Returns views of the first n rows, or columns, of matrices.
Array FirstRows(const Array& x, int64_t n);
Array FirstColumns(const Array& x, int64_t n);

}  // namespace chainerx::internal
