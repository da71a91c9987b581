// chainerx.linalg: factorizations and solvers.
#include "chainerx/ops/linalg/factor.h"

#include "chainerx/python/convert.h"
#include "chainerx/python/named_tuple.h"

namespace chainerx::python {
namespace {

PyStructSequence_Field g_slogdet_fields[] = {
    {"sign", "Signs of the determinants, of absolute value 1, or 0."},
    {"logabsdet", "The logarithms of the absolute values of the determinants."},
    {nullptr, nullptr}};
NamedTuple g_slogdet{"chainerx.linalg.SlogdetResult", "Result of slogdet.", g_slogdet_fields};

#define CX_DTYPES "float32, float64, complex64 or complex128"
#define CX_ARGS_A "\n\nArgs:\n    a (ndarray): (..., n, n), " CX_DTYPES "."
#define CX_RAISES                                                                  \
    "Raises:\n    DtypeError: For other dtypes.\n    DimensionError: If matrices " \
    "are not square.\n"

CX_LINALG(inv, "a: ndarray) -> ndarray",
          "Inverses of matrices." CX_ARGS_A
          "\n"
          "Returns:\n    ndarray: Shape and dtype of ``a``. Differentiable, any order.\n" CX_RAISES
          "    LinAlgError: If a matrix is singular.\n"
          "Note:\n    :func:`solve` is faster and more precise than a product with the inverse.") {
    return Wrap(linalg::Inv(ToArray("inv", "a", a[0])));
}

CX_LINALG(solve, "a: ndarray, b: ndarray) -> ndarray",
          "The solution ``x`` of ``a @ x = b``." CX_ARGS_A
          "\n"
          "    b (ndarray): (n,), or (..., n, k), of one of these dtypes. The axes before the "
          "matrices broadcast.\n"
          "Returns:\n"
          "    ndarray: (..., n) or (..., n, k), the promoted dtype. Differentiable in both, any "
          "order.\n" CX_RAISES "    LinAlgError: If a matrix is singular.") {
    return Wrap(linalg::Solve(ToArray("solve", "a", a[0]), ToArray("solve", "b", a[1])));
}

CX_LINALG(det, "a: ndarray) -> ndarray",
          "Determinants of matrices." CX_ARGS_A
          "\n"
          "Returns:\n"
          "    ndarray: (...), 0 for singular matrices. Differentiable, any order; for singular "
          "matrices twice, a third derivative raises a LinAlgError.\n" CX_RAISES) {
    return Wrap(linalg::Det(ToArray("det", "a", a[0])));
}

CX_LINALG(slogdet, "a: ndarray) -> SlogdetResult",
          "Sign and logarithm of determinants, which may themselves be out of the range of "
          "floats." CX_ARGS_A
          "\n"
          "Returns:\n"
          "    tuple of ndarray: ``sign``, 1, -1 or a complex number of absolute value 1, and 0 "
          "for singular matrices;\n"
          "    ``logabsdet``, real. Differentiable, any order, except for signs of real matrices; "
          "backward through a singular one raises a LinAlgError.\n" CX_RAISES) {
    const auto [sign, log] = linalg::Slogdet(ToArray("slogdet", "a", a[0]));
    return g_slogdet.Make({sign, log});
}

CX_LINALG(cholesky, "a: ndarray, *, upper: bool = False) -> ndarray",
          "Cholesky factors: lower triangles ``l`` with ``a = l @ l^H``, or upper ones ``u`` with "
          "``a = u^H @ u``, where ``^H`` is the conjugate transpose.\n\n"
          "Args:\n"
          "    a (ndarray): (..., n, n), " CX_DTYPES
          "; symmetric or Hermitian. Only the triangle of the result is read, and of the diagonal "
          "only the real parts.\n"
          "    upper (bool): Whether to return upper triangles.\n"
          "Returns:\n"
          "    ndarray: Shape and dtype of ``a``. Differentiable, any order; the gradient is "
          "symmetric or Hermitian.\n" CX_RAISES
          "    LinAlgError: If a matrix is not positive definite.") {
    return Wrap(linalg::Cholesky(ToArray("cholesky", "a", a[0]), ToBool(a[1], false)));
}

}  // namespace
}  // namespace chainerx::python
