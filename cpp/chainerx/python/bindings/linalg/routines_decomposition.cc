// chainerx.linalg: decompositions, and functions computed by them.
#include "chainerx/ops/linalg/decomposition.h"

#include <string_view>

#include "chainerx/core/openblas.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/named_tuple.h"

namespace chainerx::python {
namespace {

PyStructSequence_Field g_svd_fields[] = {{"U", "Left singular vectors, in columns."},
                                         {"S", "Singular values, in descending order."},
                                         {"Vh", "Conjugate right singular vectors, in rows."},
                                         {nullptr, nullptr}};
PyStructSequence_Field g_eig_fields[] = {{"eigenvalues", "One eigenvalue per eigenvector."},
                                         {"eigenvectors", "Eigenvectors, in columns."},
                                         {nullptr, nullptr}};
PyStructSequence_Field g_qr_fields[] = {
    {"Q", "Orthonormal columns."}, {"R", "An upper triangle."}, {nullptr, nullptr}};
NamedTuple g_svd{"chainerx.linalg.SVDResult", "Result of svd.", g_svd_fields};
NamedTuple g_eigh{"chainerx.linalg.EighResult", "Result of eigh.", g_eig_fields};
NamedTuple g_eig{"chainerx.linalg.EigResult", "Result of eig.", g_eig_fields};
NamedTuple g_qr{"chainerx.linalg.QRResult", "Result of qr.", g_qr_fields};

bool ToLower(const char* op, PyObject* o) {
    if (o == nullptr) return true;
    const std::string_view name = ToString(op, "UPLO", o);
    if (name == "L" || name == "l") return true;
    if (name == "U" || name == "u") return false;
    throw ValueError{op, ": UPLO is '", name, "', expected L or U"};
}

std::optional<double> ToOptionalDouble(const char* op, const char* name, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    return ToDouble(op, name, o);
}

std::optional<linalg::Limit> ToLimit(const char* op, const char* name, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    if (IsNdArray(o)) return Self(o);
    return ToDouble(op, name, o);
}

#define CX_DTYPES "float32, float64, complex64 or complex128"
#define CX_MATRICES "\n\nArgs:\n    a (ndarray): (..., m, n), " CX_DTYPES ".\n"
#define CX_SYMMETRIC                                                                            \
    "\n\n"                                                                                      \
    "Args:\n"                                                                                   \
    "    a (ndarray): (..., n, n), symmetric or Hermitian; " CX_DTYPES                          \
    ".\n"                                                                                       \
    "    UPLO (str): Which triangle of ``a`` is read: ``'L'``, the lower one, or ``'U'``, the " \
    "upper one; imaginary parts on the diagonal are ignored.\n"
#define CX_PHASES(which)                                                                          \
    "\n"                                                                                          \
    "    Vectors of complex matrices are determined up to a phase, " which                        \
    "\n"                                                                                          \
    "    Gradients are correct for losses that do not depend on it, such as those of ``abs(v)`` " \
    "or of projections ``v @ v^H``.\n"                                                            \
    "    For other losses they depend on LAPACK's choice and mean nothing; this is not checked."
#define CX_DTYPE_ERROR "Raises:\n    DtypeError: For other dtypes.\n"
#define CX_FEW_AXES "    DimensionError: If ``a`` has fewer than two axes.\n"
#define CX_NOT_SQUARE "    DimensionError: If matrices are not square.\n"
#define CX_NO_RESULT                                                                      \
    "    LinAlgError: If a matrix has NaN or infinite values, if the iteration does not " \
    "converge, or if there is no LAPACK."
#define CX_EQUAL                                                                                \
    "\n"                                                                                        \
    "Note:\n"                                                                                   \
    "    Vectors that belong to equal values are not unique, so their gradient is not finite; " \
    "that of the values is."

CX_LINALG(svd,
          "a: ndarray, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = "
          "False) -> Any",
          "Singular value decomposition, ``a = U @ diag(S) @ Vh``." CX_MATRICES
          "    full_matrices (bool): Whether ``U`` and ``Vh`` are square; otherwise they have one "
          "column, or row, per singular value.\n"
          "    compute_uv (bool): Whether to compute ``U`` and ``Vh``.\n"
          "    hermitian (bool): Whether ``a`` is symmetric or Hermitian; only its lower triangle "
          "is read then.\n"
          "Returns:\n"
          "    tuple of ndarray: ``U``, ``S`` and ``Vh``, a named tuple; or ``S`` alone, real, in "
          "descending order. Differentiable, any order, except for ``U`` and ``Vh`` that are "
          "completed to squares.\n" CX_DTYPE_ERROR CX_FEW_AXES CX_NO_RESULT CX_EQUAL
              CX_PHASES("the same one for both vectors of a pair.")) {
    const Array& x = ToArray("svd", "a", a[0]);
    const bool hermitian = ToBool(a[3], false);
    if (!ToBool(a[2], true)) return Wrap(linalg::Svdvals(x, hermitian, "svd"));
    const linalg::SvdResult y = linalg::Svd(x, ToBool(a[1], true), hermitian);
    return g_svd.Make({y.u, y.s, y.vh});
}

CX_LINALG(
    svdvals, "x: ndarray) -> ndarray",
    "Singular values, in descending order.\n\n"
    "Args:\n    x (ndarray): (..., m, n), " CX_DTYPES
    ".\n"
    "Returns:\n    ndarray: (..., min(m, n)), real. Differentiable, any order.\n" CX_DTYPE_ERROR
    "    DimensionError: If ``x`` has fewer than two axes.\n" CX_NO_RESULT) {
    return Wrap(linalg::Svdvals(ToArray("svdvals", "x", a[0])));
}

CX_LINALG(eigh, "a: ndarray, UPLO: str = 'L') -> EighResult",
          "Eigenvalues and eigenvectors of symmetric or Hermitian matrices." CX_SYMMETRIC
          "Returns:\n"
          "    tuple of ndarray: ``eigenvalues`` (..., n), real, ascending, and ``eigenvectors`` "
          "(..., n, n), in columns; a named tuple.\n"
          "    Differentiable, any order; the gradient is symmetric or "
          "Hermitian.\n" CX_DTYPE_ERROR CX_NOT_SQUARE
          "    ValueError: If ``UPLO`` is neither ``'L'`` nor ``'U'``.\n" CX_NO_RESULT CX_EQUAL
              CX_PHASES("each by its own.")) {
    const auto [w, v] = linalg::Eigh(ToArray("eigh", "a", a[0]), ToLower("eigh", a[1]));
    return g_eigh.Make({w, v});
}

CX_LINALG(eigvalsh, "a: ndarray, UPLO: str = 'L') -> ndarray",
          "Eigenvalues of symmetric or Hermitian matrices, ascending." CX_SYMMETRIC
          "Returns:\n"
          "    ndarray: (..., n), real. Differentiable, any order; the gradient is symmetric or "
          "Hermitian.\n" CX_DTYPE_ERROR CX_NOT_SQUARE
          "    ValueError: If ``UPLO`` is neither ``'L'`` nor ``'U'``.\n" CX_NO_RESULT) {
    return Wrap(linalg::Eigvalsh(ToArray("eigvalsh", "a", a[0]), ToLower("eigvalsh", a[1])));
}

CX_LINALG(eig, "a: ndarray) -> EigResult",
          "Eigenvalues and eigenvectors of square matrices.\n\n"
          "Args:\n    a (ndarray): (..., n, n), " CX_DTYPES
          ".\n"
          "Returns:\n"
          "    tuple of ndarray: ``eigenvalues`` (..., n), in no particular order, and "
          "``eigenvectors`` (..., n, n), in columns; a named tuple. Both are complex, even if all "
          "values are real.\n" CX_DTYPE_ERROR CX_NOT_SQUARE CX_NO_RESULT
          "\n"
          "Note:\n"
          "    Not differentiable: backward raises a GradientError.") {
    const auto [w, v] = linalg::Eig(ToArray("eig", "a", a[0]));
    return g_eig.Make({w, v});
}

CX_LINALG(eigvals, "a: ndarray) -> ndarray",
          "Eigenvalues of square matrices.\n\n"
          "Args:\n    a (ndarray): (..., n, n), " CX_DTYPES
          ".\n"
          "Returns:\n"
          "    ndarray: (..., n), complex, in no particular order. Not differentiable: backward "
          "raises a GradientError.\n" CX_DTYPE_ERROR CX_NOT_SQUARE CX_NO_RESULT) {
    return Wrap(linalg::Eigvals(ToArray("eigvals", "a", a[0])));
}

CX_LINALG(
    qr, "a: ndarray, mode: str = 'reduced') -> Any",
    "QR decomposition, ``a = Q @ R``: orthonormal columns, and an upper triangle with a real "
    "diagonal." CX_MATRICES
    "    mode (str): ``'reduced'``: ``Q`` has min(m, n) columns; ``'complete'``: m. ``'r'``: only "
    "the reduced ``R``. ``'raw'``: LAPACK's Householder reflectors, transposed, and their "
    "factors.\n"
    "Returns:\n"
    "    tuple of ndarray: ``Q`` and ``R``, a named tuple; or one array for ``'r'``. "
    "Differentiable, any order.\n" CX_DTYPE_ERROR CX_FEW_AXES
    "    ValueError: If ``mode`` is none of the four.\n"
    "    LinAlgError: If there is no LAPACK; in backward, if columns are linearly dependent.\n"
    "Note:\n"
    "    ``'raw'`` has no gradient, nor has ``'complete'`` with more rows than columns, where the "
    "columns that complete the basis are not unique: backward raises a GradientError.") {
    const Array& x = ToArray("qr", "a", a[0]);
    const std::string_view mode = a[1] == nullptr ? "reduced" : ToString("qr", "mode", a[1]);
    if (mode == "r") return Wrap(linalg::QrR(x));
    linalg::QrMode known = linalg::QrMode::kReduced;
    if (mode == "complete") {
        known = linalg::QrMode::kComplete;
    } else if (mode == "raw") {
        known = linalg::QrMode::kRaw;
    } else if (mode != "reduced") {
        throw ValueError{"qr: mode is '", mode, "', expected reduced, complete, r or raw"};
    }
    const auto [q, r] = linalg::Qr(x, known);
    return g_qr.Make({q, r});
}

CX_LINALG(pinv,
          "a: ndarray, rcond: float | ndarray | None = None, hermitian: bool = False, *, "
          "rtol: float | ndarray | None = None) -> ndarray",
          "Moore-Penrose pseudo-inverses of matrices." CX_MATRICES
          "    rcond (float or ndarray): Singular values up to this multiple of the largest one "
          "count as 0; by default\n"
          "        the machine epsilon of the dtype times max(m, n), at least 1e-15. An array is "
          "broadcast to ``(...)``.\n"
          "    hermitian (bool): Whether ``a`` is symmetric or Hermitian; only its lower triangle "
          "is read then.\n"
          "    rtol (float or ndarray): Alias of ``rcond``.\n"
          "Returns:\n"
          "    ndarray: (..., n, m). Differentiable, any order, where the number of singular "
          "values that count is locally constant; where nonzero ones are cut off, second "
          "derivatives are those of :func:`svd`.\n" CX_DTYPE_ERROR
          "    DimensionError: If ``a`` has fewer than two axes, or is ``hermitian`` and not "
          "square, or limits do not broadcast.\n    ValueError: If both ``rcond`` and ``rtol`` are "
          "given.\n" CX_NO_RESULT) {
    // NumPy's default is 1e-15 because it computes float32, too, in float64. In float32 itself,
    // singular values below its resolution are rounding errors, and so would be their inverses.
    const std::optional<linalg::Limit> rcond = ToLimit("pinv", "rcond", a[1]);
    const std::optional<linalg::Limit> rtol = ToLimit("pinv", "rtol", a[3]);
    if (rcond && rtol) {
        throw ValueError{"pinv: rcond is ", linalg::ToString(*rcond), " and rtol is ",
                         linalg::ToString(*rtol), "; expected one of them"};
    }
    return Wrap(
        linalg::Pinv(ToArray("pinv", "a", a[0]), rcond ? rcond : rtol, ToBool(a[2], false)));
}

CX_LINALG(lstsq,
          "a: ndarray, b: ndarray, rcond: float | None = None) -> tuple[ndarray, ndarray, int, "
          "ndarray]",
          "Least squares: the ``x`` of minimal norm that minimizes ``norm(a @ x - b)``.\n\n"
          "Args:\n"
          "    a (ndarray): (m, n), " CX_DTYPES
          ".\n"
          "    b (ndarray): (m,) or (m, k), of one of these dtypes.\n"
          "    rcond (float): Singular values up to this multiple of the largest one count as 0. "
          "By default the machine epsilon of the dtype times max(m, n); a negative value means the "
          "epsilon itself.\n"
          "Returns:\n"
          "    tuple: ``x``, (n,) or (n, k); the squares of ``norm(a @ x - b)``, (1,) or (k,), or "
          "(0,) unless the rank is n and m > n; the rank of ``a``, an int; its singular "
          "values.\n" CX_DTYPE_ERROR "    DimensionError: If shapes do not fit.\n" CX_NO_RESULT
          "\n"
          "Note:\n"
          "    The solution and the residuals are differentiable in both arrays, any order. The "
          "rank is a number, and the singular values are not connected to ``a``; :func:`svdvals` "
          "gives differentiable ones.") {
    const linalg::LstsqResult y =
        linalg::Lstsq(ToArray("lstsq", "a", a[0]), ToArray("lstsq", "b", a[1]),
                      ToOptionalDouble("lstsq", "rcond", a[2]));
    const Ref x = Check(Wrap(y.x));
    const Ref residuals = Check(Wrap(y.residuals));
    const Ref rank = Check(PyLong_FromLongLong(y.rank));
    const Ref s = Check(Wrap(y.s));
    return Check(PyTuple_Pack(4, x.get(), residuals.get(), rank.get(), s.get())).Release();
}

CX_LINALG(
    matrix_rank,
    "A: ndarray, tol: float | ndarray | None = None, hermitian: bool = False, *, rtol: float | "
    "ndarray | None = None) -> ndarray",
    "Ranks of matrices: the number of singular values above a tolerance.\n\n"
    "Args:\n"
    "    A (ndarray): (..., m, n), or (n,); " CX_DTYPES
    ".\n"
    "    tol (float or ndarray): The tolerance. An array is broadcast to ``(...)``.\n"
    "    hermitian (bool): Whether ``A`` is symmetric or Hermitian; only its lower triangle is "
    "read then.\n"
    "    rtol (float or ndarray): The tolerance relative to the largest singular value; by default "
    "the machine epsilon of the dtype times max(m, n).\n"
    "Returns:\n"
    "    ndarray: (...), int64; for a vector, whether any element is not 0.\n" CX_DTYPE_ERROR
    "    DimensionError: If ``A`` is ``hermitian`` and not square, or limits do not broadcast.\n"
    "    ValueError: If both ``tol`` and ``rtol`` are given.\n" CX_NO_RESULT) {
    return Wrap(linalg::MatrixRank(ToArray("matrix_rank", "A", a[0]),
                                   ToLimit("matrix_rank", "tol", a[1]), ToBool(a[2], false),
                                   ToLimit("matrix_rank", "rtol", a[3])));
}

CX_LINALG(_is_lapack_available, ") -> bool",
          "Whether the BLAS library in use includes LAPACK, which decompositions need.") {
    return PyBool_FromLong(IsLapackAvailable() ? 1 : 0);
}

}  // namespace
}  // namespace chainerx::python
