// What routines over batches of matrices share: checks, and shapes.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"

namespace chainerx::internal {

// DtypeError unless float32, float64, complex64 or complex128.
void CheckPrecision(const char* op, const char* name, const Array& x);
// The same, and DimensionError with fewer than two axes.
void CheckMatrices(const char* op, const Array& a, const char* name = "a");
// The same, and DimensionError unless they are square.
void CheckSquareMatrices(const char* op, const Array& a, const char* name = "a");
// The Hermitian matrices of which these are the lower triangles, after the check. Differentiable.
Array HermitianOfLower(const char* op, const Array& a);

// complex64 of float32 and of complex64, else complex128.
inline Dtype ComplexOf(Dtype dtype) {
    return RealDtype(dtype) == Dtype::kFloat32 ? Dtype::kComplex64 : Dtype::kComplex128;
}

// Of real matrices the same, and the transposed ones: no copies.
Array Conjugate(const Array& x);
Array Adjoint(const Array& x);
// Half the sum with the adjoint.
Array HermitianPart(const Array& x);

inline int64_t RowsOf(const Array& x) { return x.shape()[x.ndim() - 2]; }
inline int64_t ColumnsOf(const Array& x) { return x.shape()[x.ndim() - 1]; }

// All axes but the last two.
inline Shape BatchOf(const Array& x) { return Shape(x.shape().begin(), x.shape().end() - 2); }
Shape WithMatrix(Shape batch, int64_t rows, int64_t columns);
Shape WithVector(Shape batch, int64_t n);

// An array for a kernel to write, after the check that its size can be counted.
Array EmptyOf(const char* op, const Shape& shape, Dtype dtype, Device& device);
// A contiguous copy for a kernel to write to, outside all graphs.
Array WorkingCopy(const Array& x);

// Adds an axis for vectors to be matrices of one column, or one row; takes the last one away.
Array ToColumn(const Array& x);
Array ToRow(const Array& x);
Array FromColumn(const Array& x);

// The first n rows, or columns, of matrices. Views.
Array FirstRows(const Array& x, int64_t n);
Array FirstColumns(const Array& x, int64_t n);

}  // namespace chainerx::internal
