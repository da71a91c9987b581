// Products of arrays, including those that chainerx.linalg has under the same name.
#include "chainerx/ops/linalg/products.h"

#include "chainerx/ops/shape/view.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/product_call.h"

namespace chainerx::python {
namespace {

int64_t ToIntOr(const char* op, const char* name, PyObject* o, int64_t fallback) {
    return o == nullptr ? fallback : ToIntNotBool(op, name, o);
}
int8_t ToAxisOr(const char* op, const char* name, PyObject* o, int8_t fallback) {
    return o == nullptr ? fallback : ToAxis(op, name, o);
}
std::optional<Dtype> ToOptionalDtype(PyObject* o) {
    if (!Given(o)) return std::nullopt;
    return ToDtype(o);
}
std::vector<int64_t> ToList(PyObject* o) {
    if (auto ints = TryInts("tensordot", "axes", o)) return *ints;
    return {ToIntNotBool("tensordot", "axes", o)};
}

#define CX_ANY(name) "    " name " (ndarray): Any shape and dtype.\n"
#define CX_DIFFERENTIABLE "Differentiable, any order.\n"

CX_ROUTINE(tensordot, "a: ndarray, b: ndarray, axes: Any = 2) -> ndarray",
           "Sums of products over pairs of axes.\n\n"
           "Args:\n" CX_ANY("a") CX_ANY("b")
           "    axes (int or pair of sequences of int): The axes of ``a`` and those of ``b``; or "
           "a number: as many last axes of ``a`` and first axes of ``b``.\n"
           "Returns:\n"
           "    ndarray: The other axes of ``a``, then those of ``b``. " CX_DIFFERENTIABLE
           "Raises:\n"
           "    DimensionError: If an axis does not exist, or the axes differ in number or "
           "length.\n"
           "    ValueError: If ``axes`` has not two items.") {
    const Array& x = ToArray("tensordot", "a", a[0]);
    const Array& y = ToArray("tensordot", "b", a[1]);
    if (a[2] == nullptr) return Wrap(Tensordot(x, y));
    const Ref pair = TrySequence(a[2]);
    if (!pair) return Wrap(Tensordot(x, y, ToIntNotBool("tensordot", "axes", a[2])));
    const Items items{pair.get()};
    if (items.size() != 2) {
        throw ValueError{"tensordot: axes has ", static_cast<int64_t>(items.size()),
                         " items, expected those of a and those of b"};
    }
    return Wrap(Tensordot(x, y, ToList(items[0]), ToList(items[1])));
}

CX_ROUTINE(vecdot,
           "x1: ndarray, x2: ndarray, axis: int = -1, *, out: ndarray | None = None, "
           "dtype: DtypeLike | None = None) -> ndarray",
           "Dot products of vectors, the first ones conjugated.\n\n"
           "Args:\n"
           "    x1, x2 (ndarray): At least one axis, any dtype; the other axes broadcast.\n"
           "    axis (int): The axis of the vectors.\n" CX_PRODUCT_ARGS
           "Returns:\n"
           "    ndarray: The remaining axes. " CX_DIFFERENTIABLE
           "Raises:\n    DimensionError: If shapes do not fit.") {
    const int8_t axis = ToAxisOr("vecdot", "axis", a[2], -1);
    return CallProduct("vecdot", a[0], a[1], a[3], a[4],
                       [axis](const Array& x1, const Array& x2) { return Vecdot(x1, x2, axis); });
}

CX_ROUTINE(matvec,
           "x1: ndarray, x2: ndarray, out: ndarray | None = None, *, "
           "dtype: DtypeLike | None = None) -> ndarray",
           "Products of matrices and vectors.\n\n"
           "Args:\n"
           "    x1 (ndarray): (..., m, n), any dtype.\n"
           "    x2 (ndarray): (..., n); the first axes broadcast.\n" CX_PRODUCT_ARGS
           "Returns:\n    ndarray: (..., m). " CX_DIFFERENTIABLE
           "Raises:\n    DimensionError: If shapes do not fit.") {
    return CallProduct("matvec", a[0], a[1], a[2], a[3],
                       [](const Array& x1, const Array& x2) { return Matvec(x1, x2); });
}

CX_ROUTINE(vecmat,
           "x1: ndarray, x2: ndarray, out: ndarray | None = None, *, "
           "dtype: DtypeLike | None = None) -> ndarray",
           "Products of conjugated vectors and matrices.\n\n"
           "Args:\n"
           "    x1 (ndarray): (..., n), any dtype.\n"
           "    x2 (ndarray): (..., n, m); the first axes broadcast.\n" CX_PRODUCT_ARGS
           "Returns:\n    ndarray: (..., m). " CX_DIFFERENTIABLE
           "Raises:\n    DimensionError: If shapes do not fit.") {
    return CallProduct("vecmat", a[0], a[1], a[2], a[3],
                       [](const Array& x1, const Array& x2) { return Vecmat(x1, x2); });
}

CX_ROUTINE(outer, "a: ndarray, b: ndarray, out: ndarray | None = None) -> ndarray",
           "Outer product: the products of all pairs of elements.\n\n"
           "Args:\n" CX_ANY("a") CX_ANY("b") CX_PRODUCT_OUT_ARG
           "Returns:\n    ndarray: (a.size, b.size). Differentiable, any order.") {
    return Finish("outer", Outer(ToArray("outer", "a", a[0]), ToArray("outer", "b", a[1])), a[2]);
}

CX_ROUTINE(inner, "a: ndarray, b: ndarray) -> ndarray",
           "Inner product: sums of products over the last axes.\n\n"
           "Args:\n" CX_ANY("a") CX_ANY("b")
           "Returns:\n    ndarray: The other axes of ``a``, then those of ``b``. " CX_DIFFERENTIABLE
           "Raises:\n    DimensionError: If the last axes have different lengths.") {
    return Wrap(Inner(ToArray("inner", "a", a[0]), ToArray("inner", "b", a[1])));
}

CX_ROUTINE(vdot, "a: ndarray, b: ndarray) -> ndarray",
           "Dot product of the flattened arrays, the first one conjugated.\n\n"
           "Args:\n" CX_ANY("a")
               CX_ANY("b") "Returns:\n    ndarray: (). " CX_DIFFERENTIABLE
                           "Raises:\n    DimensionError: If the arrays have different sizes.") {
    return Wrap(Vdot(ToArray("vdot", "a", a[0]), ToArray("vdot", "b", a[1])));
}

CX_ROUTINE(kron, "a: ndarray, b: ndarray) -> ndarray",
           "Kronecker product: each element of ``a`` times all of ``b``.\n\n"
           "Args:\n"
           "    a, b (ndarray): At most five axes, any dtype.\n"
           "Returns:\n"
           "    ndarray: Each axis has the product of the two lengths. " CX_DIFFERENTIABLE
           "Raises:\n    DimensionError: If there are too many axes.") {
    return Wrap(Kron(ToArray("kron", "a", a[0]), ToArray("kron", "b", a[1])));
}

CX_ROUTINE(cross,
           "a: ndarray, b: ndarray, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | "
           "None = None) -> ndarray",
           "Cross products of vectors in three dimensions.\n\n"
           "Args:\n"
           "    a, b (ndarray): An axis of length 3, any dtype but bool; the others broadcast.\n"
           "    axisa (int): The axis of the vectors in ``a``.\n"
           "    axisb (int): The axis of the vectors in ``b``.\n"
           "    axisc (int): The axis of the vectors in the result.\n"
           "    axis (int): If given, it replaces all three.\n"
           "Returns:\n"
           "    ndarray: The cross products. " CX_DIFFERENTIABLE
           "Raises:\n    DimensionError: If an axis has another length.\n"
           "    DtypeError: For bool.") {
    const auto axis = [&](const char* name, PyObject* o) {
        return Given(a[5]) ? ToAxis("cross", "axis", a[5]) : ToAxisOr("cross", name, o, -1);
    };
    return Wrap(Cross(ToArray("cross", "a", a[0]), ToArray("cross", "b", a[1]), axis("axisa", a[2]),
                      axis("axisb", a[3]), axis("axisc", a[4])));
}

CX_ROUTINE(matrix_transpose, "x: ndarray) -> ndarray",
           "Transposes the matrices of the last two axes.\n\n"
           "Args:\n"
           "    x (ndarray): At least two axes, any dtype.\n"
           "Returns:\n"
           "    ndarray: A view. " CX_DIFFERENTIABLE
           "Raises:\n    DimensionError: If there are fewer than two axes.") {
    return Wrap(MatrixTranspose(ToArray("matrix_transpose", "x", a[0])));
}

// ---- chainerx.linalg
CX_LINALG_ALIAS(matmul, matmul)
CX_LINALG_ALIAS(tensordot, tensordot)
CX_LINALG_ALIAS(vecdot, vecdot)
CX_LINALG_ALIAS(matrix_transpose, matrix_transpose)

CX_LINALG(outer, "x1: ndarray, x2: ndarray) -> ndarray",
          "Outer product of two vectors.\n\n"
          "Args:\n"
          "    x1, x2 (ndarray): 1-d, any dtype.\n"
          "Returns:\n"
          "    ndarray: (x1.size, x2.size). " CX_DIFFERENTIABLE
          "Raises:\n    DimensionError: For another number of axes.") {
    return Wrap(linalg::Outer(ToArray("outer", "x1", a[0]), ToArray("outer", "x2", a[1])));
}

CX_LINALG(cross, "x1: ndarray, x2: ndarray, *, axis: int = -1) -> ndarray",
          "Cross products of vectors in three dimensions.\n\n"
          "Args:\n"
          "    x1, x2 (ndarray): An axis of length 3, any dtype but bool; the others broadcast.\n"
          "    axis (int): The axis of the vectors, also in the result.\n"
          "Returns:\n"
          "    ndarray: The cross products. " CX_DIFFERENTIABLE
          "Raises:\n    DimensionError: If the axis has another length.\n"
          "    DtypeError: For bool.") {
    return Wrap(linalg::Cross(ToArray("cross", "x1", a[0]), ToArray("cross", "x2", a[1]),
                              ToAxisOr("cross", "axis", a[2], -1)));
}

CX_LINALG(diagonal, "x: ndarray, *, offset: int = 0) -> ndarray",
          "Diagonals of matrices.\n\n"
          "Args:\n    x (ndarray): (..., m, n), any dtype.\n"
          "    offset (int): Which diagonal: 0 is the main one, those above it are positive.\n"
          "Returns:\n    ndarray: The first axes, then the diagonal. A view. " CX_DIFFERENTIABLE
          "Raises:\n    DimensionError: If there are fewer than two axes.") {
    return Wrap(
        linalg::Diagonal(ToArray("diagonal", "x", a[0]), ToDiagonal("diagonal", "offset", a[1])));
}

CX_LINALG(trace, "x: ndarray, *, offset: int = 0, dtype: DtypeLike | None = None) -> ndarray",
          "Sums of diagonals of matrices.\n\n"
          "Args:\n"
          "    x (ndarray): (..., m, n), any dtype.\n"
          "    offset (int): Which diagonal: 0 is the main one, those above it are positive.\n"
          "    dtype (dtype): To compute in; by default that of :func:`sum`.\n"
          "Returns:\n"
          "    ndarray: (...). " CX_DIFFERENTIABLE
          "Raises:\n    DimensionError: If there are fewer than two axes.") {
    return Wrap(linalg::Trace(ToArray("trace", "x", a[0]), ToDiagonal("trace", "offset", a[1]),
                              ToOptionalDtype(a[2])));
}

CX_LINALG(multi_dot, "arrays: Sequence[ndarray], *, out: ndarray | None = None) -> ndarray",
          "The matrix product of several arrays, in the order of least work.\n\n"
          "Args:\n"
          "    arrays (sequence of ndarray): At least two matrices of any dtype; the first and the "
          "last may be vectors.\n" CX_PRODUCT_OUT_ARG
          "Returns:\n    ndarray: (m, n), without the axis that a vector lacks. " CX_DIFFERENTIABLE
          "Raises:\n"
          "    DimensionError: If shapes do not fit.\n"
          "    ValueError: If there are fewer than two arrays.") {
    return Finish("multi_dot", linalg::MultiDot(ToArrays("multi_dot", "arrays", a[0])), a[1]);
}

CX_LINALG(matrix_power, "a: ndarray, n: int) -> ndarray",
          "Powers of square matrices.\n\n"
          "Args:\n"
          "    a (ndarray): (..., m, m), any dtype; float32 or float64 if ``n`` is negative.\n"
          "    n (int): The exponent; 0 gives identities, a negative one powers of the inverse.\n"
          "Returns:\n"
          "    ndarray: Shape and dtype of ``a``. " CX_DIFFERENTIABLE
          "Raises:\n"
          "    DimensionError: If matrices are not square.\n"
          "    DtypeError: If ``n`` is negative and the dtype is another one.\n"
          "    LinAlgError: If ``n`` is negative and a matrix is singular.") {
    return Wrap(linalg::MatrixPower(ToArray("matrix_power", "a", a[0]),
                                    ToIntNotBool("matrix_power", "n", a[1])));
}

CX_LINALG(tensorsolve, "a: ndarray, b: ndarray, axes: Axis = None) -> ndarray",
          "The solution ``x`` of ``tensordot(a, x, x.ndim) = b``.\n\n"
          "Args:\n"
          "    a (ndarray): The axes of ``b``, then those of ``x``, both of one total size; "
          "float32 or float64.\n"
          "    b (ndarray): Any shape; float32 or float64.\n"
          "    axes (tuple of int): Axes of ``a`` that are moved to its end first.\n"
          "Returns:\n"
          "    ndarray: The last axes of ``a``. Differentiable in both, any order.\n"
          "Raises:\n"
          "    DimensionError: If shapes do not fit.\n"
          "    DtypeError: For other dtypes.\n"
          "    LinAlgError: If there is not exactly one solution.") {
    return Wrap(linalg::Tensorsolve(ToArray("tensorsolve", "a", a[0]),
                                    ToArray("tensorsolve", "b", a[1]),
                                    ToAxes("tensorsolve", "axes", a[2])));
}

CX_LINALG(tensorinv, "a: ndarray, ind: int = 2) -> ndarray",
          "The inverse with respect to :func:`tensordot`: ``tensordot(tensorinv(a), a, ind)`` is "
          "an identity.\n\n"
          "Args:\n"
          "    a (ndarray): The first ``ind`` axes have the total size of the others; float32 or "
          "float64.\n"
          "    ind (int): The number of first axes.\n"
          "Returns:\n"
          "    ndarray: The last axes of ``a``, then the first. " CX_DIFFERENTIABLE
          "Raises:\n    DimensionError: If the sizes differ.\n    DtypeError: For other dtypes.\n"
          "    ValueError: If ``ind`` is not positive, or larger than the number of axes.\n"
          "    LinAlgError: If there is no inverse.") {
    return Wrap(
        linalg::Tensorinv(ToArray("tensorinv", "a", a[0]), ToIntOr("tensorinv", "ind", a[1], 2)));
}

}  // namespace
}  // namespace chainerx::python
