// chainerx.linalg: norms.
#include "chainerx/ops/linalg/norm.h"

#include <string_view>

#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"

namespace chainerx::python {
namespace {

linalg::NormOrder ToOrder(const char* op, PyObject* o, const linalg::NormOrder& fallback) {
    if (!Given(o)) return fallback;
    if (!PyUnicode_Check(o)) return ToDouble(op, "ord", o);
    const std::string_view name = ToString(op, "ord", o);
    if (name == "fro" || name == "f") return linalg::NormOrder::Kind::kFrobenius;
    if (name == "nuc") return linalg::NormOrder::Kind::kNuclear;
    throw ValueError{op, ": ord is '", name, "', expected 'fro', 'nuc' or a number"};
}

#define CX_NORM_RETURNS                                                                          \
    "Returns:\n"                                                                                 \
    "    ndarray: A float dtype, real for complex numbers. Differentiable, any order, where it " \
    "is smooth.\n"

CX_LINALG(
    norm,
    "x: ndarray, ord: float | str | None = None, axis: Axis = None, keepdims: bool = False) "
    "-> ndarray",
    "Norms of vectors, or of matrices.\n\n"
    "Args:\n"
    "    x (ndarray): Any shape and dtype; integers are computed in the default float dtype.\n"
    "    ord (float or str): For vectors any number; for matrices ``'fro'``, ``'nuc'``, 1, -1, 2, "
    "-2, inf or -inf. None is the root of the sum of squares.\n"
    "    axis (int or tuple of int): One axis for vectors, two for matrices; None means all.\n"
    "    keepdims (bool): Whether these axes are kept, with length 1.\n" CX_NORM_RETURNS
    "Raises:\n"
    "    DimensionError: For another number of axes.\n"
    "    ValueError: If there is no such norm of vectors or matrices.\n"
    "    DtypeError: For the matrix norms ``'nuc'``, 2 and -2 of float16, bfloat16 and complex "
    "numbers.\n"
    "    LinAlgError: For these norms, as in :func:`svd`.\n"
    "Note:\n"
    "    The gradient of the Euclidean norm of zeros is 0.") {
    return Wrap(linalg::Norm(ToArray("norm", "x", a[0]), ToOrder("norm", a[1], {}),
                             ToAxes("norm", "axis", a[2]), ToKeepdims("norm", a[3])));
}

CX_LINALG(
    vector_norm,
    "x: ndarray, *, axis: Axis = None, ord: float = 2, keepdims: bool = False) -> ndarray",
    "Norms of vectors.\n\n"
    "Args:\n"
    "    x (ndarray): Any shape and dtype; integers are computed in the default float dtype.\n"
    "    axis (int or tuple of int): The axis or axes of the vectors; None means all.\n"
    "    ord (float): Any number, including inf and -inf.\n"
    "    keepdims (bool): Whether these axes are kept, with length 1.\n" CX_NORM_RETURNS
    "Raises:\n"
    "    DimensionError: If there is no such axis.\n"
    "    ValueError: If ``ord`` is NaN.\n"
    "Note:\n"
    "    The gradient of a norm that is 0 is 0, as is the gradient with respect to elements that "
    "are 0.") {
    return Wrap(linalg::VectorNorm(ToArray("vector_norm", "x", a[0]),
                                   ToAxes("vector_norm", "axis", a[1]),
                                   a[2] == nullptr ? 2 : ToDouble("vector_norm", "ord", a[2]),
                                   ToKeepdims("vector_norm", a[3])));
}

CX_LINALG(matrix_norm,
          "x: ndarray, *, ord: float | str = 'fro', keepdims: bool = False) -> ndarray",
          "Norms of matrices.\n\n"
          "Args:\n"
          "    x (ndarray): (..., m, n), any dtype.\n"
          "    ord (float or str): ``'fro'``, the root of the sum of squares; ``'nuc'``, the sum "
          "of singular values; 2 and -2,\n"
          "        the largest and the smallest one; 1 and -1, the largest and the smallest "
          "absolute column sum;\n"
          "        inf and -inf, the same of rows.\n"
          "    keepdims (bool): Whether the two axes are kept, with length 1.\n" CX_NORM_RETURNS
          "Raises:\n"
          "    DimensionError: If there are fewer than two axes.\n"
          "    ValueError: If there is no such norm.\n"
          "    DtypeError: For ``'nuc'``, 2 and -2 of float16, bfloat16 and complex numbers.\n"
          "    LinAlgError: For these norms, as in :func:`svd`.") {
    return Wrap(linalg::MatrixNorm(
        ToArray("matrix_norm", "x", a[0]),
        ToOrder("matrix_norm", a[1], linalg::NormOrder{linalg::NormOrder::Kind::kFrobenius}),
        ToKeepdims("matrix_norm", a[2])));
}

CX_LINALG(
    cond, "x: ndarray, p: float | str | None = None) -> ndarray",
    "Condition numbers: norms of matrices times the norms of their inverses.\n\n"
    "Args:\n"
    "    x (ndarray): (..., m, n), float32 or float64; square unless ``p`` is None, 2 or -2.\n"
    "    p (float or str): The ``ord`` of :func:`matrix_norm`; None means 2.\n"
    "Returns:\n"
    "    ndarray: (...), infinite for singular matrices if ``p`` is None or 2. Differentiable, any "
    "order, where it is smooth.\n"
    "Raises:\n"
    "    DimensionError: If matrices are empty, or not square.\n"
    "    DtypeError: For other dtypes.\n"
    "    ValueError: If there is no such norm.\n"
    "    LinAlgError: As in :func:`svd`; for other ``p``, if a matrix is singular.") {
    return Wrap(linalg::Cond(ToArray("cond", "x", a[0]), ToOrder("cond", a[1], {})));
}

}  // namespace
}  // namespace chainerx::python
