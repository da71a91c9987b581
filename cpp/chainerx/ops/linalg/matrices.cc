#include "chainerx/ops/linalg/matrices.h"

#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {

void CheckPrecision(const char* op, const char* name, const Array& x) {
    const Dtype real = RealDtype(x.dtype());
    CheckDtype(real == Dtype::kFloat32 || real == Dtype::kFloat64, op, name, x.dtype(),
               "float32, float64, complex64 or complex128");
}

void CheckMatrices(const char* op, const Array& a, const char* name) {
    CheckPrecision(op, name, a);
    if (a.ndim() < 2) {
        throw DimensionError{
            op, ": ", name, " has ", static_cast<int>(a.ndim()), " axes, expected at least 2"};
    }
}

void CheckSquareMatrices(const char* op, const Array& a, const char* name) {
    CheckMatrices(op, a, name);
    if (RowsOf(a) != ColumnsOf(a)) {
        throw DimensionError{op,        ": ",  name,         " has matrices of ",
                             RowsOf(a), " x ", ColumnsOf(a), ", expected square ones"};
    }
}

Array HermitianOfLower(const char* op, const Array& a) {
    CheckSquareMatrices(op, a);
    const Array below = Tril(a, -1);
    const Array lower = IsComplex(a.dtype()) ? Add(below, Tril(Triu(Real(a)))) : Tril(a);
    return Add(lower, Adjoint(below));
}

Array Conjugate(const Array& x) { return IsComplex(x.dtype()) ? Conj(x) : x; }

Array Adjoint(const Array& x) { return SwapLast(Conjugate(x)); }

Array HermitianPart(const Array& x) { return Multiply(Add(x, Adjoint(x)), 0.5); }

Shape WithMatrix(Shape batch, int64_t rows, int64_t columns) {
    batch.push_back(rows);
    batch.push_back(columns);
    return batch;
}

Shape WithVector(Shape batch, int64_t n) {
    batch.push_back(n);
    return batch;
}

Array EmptyOf(const char* op, const Shape& shape, Dtype dtype, Device& device) {
    CheckedNBytes(op, shape, GetItemSize(dtype));
    return EmptyUnchecked(shape, dtype, device);
}

Array WorkingCopy(const Array& x) { return Copy(Detached(x)); }

Array ToColumn(const Array& x) { return Reshape(x, WithVector(x.shape(), 1)); }

Array ToRow(const Array& x) {
    Shape shape = x.shape();
    shape.insert(shape.ndim() - 1, 1);
    return Reshape(x, shape);
}

Array FromColumn(const Array& x) {
    return Reshape(x, Shape(x.shape().begin(), x.shape().end() - 1));
}

Array FirstRows(const Array& x, int64_t n) {
    const ArrayIndex index[] = {Ellipsis{}, Slice{0, n, 1}, Slice{}};
    return n == RowsOf(x) ? x : At(x, index);
}

Array FirstColumns(const Array& x, int64_t n) {
    const ArrayIndex index[] = {Ellipsis{}, Slice{0, n, 1}};
    return n == ColumnsOf(x) ? x : At(x, index);
}

}  // namespace chainerx::internal
