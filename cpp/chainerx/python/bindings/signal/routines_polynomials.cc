// Polynomials as vectors of coefficients.
#include "chainerx/ops/signal/polynomials.h"

#include <string_view>
#include <utility>

#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/values.h"

namespace chainerx::python {
namespace {

#define CX_COEFFICIENTS " Coefficients from the highest power down; 1-d, or a number.\n"
#define CX_RAISES_VECTOR                                              \
    "Raises:\n    DimensionError: If one has more than 1 dimension, " \
    "or they are on several devices.\n    DtypeError: If one is bool."

// One of the two is an ndarray, the other any argument of ToValues().
auto OfTwo(const char* op, const char* name1, const char* name2, PyObject* const* a,
           const auto& f) {
    if (IsNdArray(a[0])) return f(Self(a[0]), ToValues(op, name2, Self(a[0]), a[1]));
    const Array& x2 = ToArray(op, IsNdArray(a[1]) ? name2 : name1, IsNdArray(a[1]) ? a[1] : a[0]);
    return f(ToValues(op, name1, x2, a[0]), x2);
}

#define CX_POLY_BINARY(py, Name, doc, note)                                                \
    CX_ROUTINE(py, "a1: ndarray | Scalar, a2: ndarray | Scalar) -> ndarray",               \
               doc "\n\nArgs:\n    a1, a2 (ndarray):" CX_COEFFICIENTS                      \
                   "        At least one is an ndarray.\n"                                 \
                   "Returns:\n    ndarray: 1-d, promoted dtype. " note                     \
                   "Differentiable, any order.\n" CX_RAISES_VECTOR) {                      \
        return Wrap(OfTwo(#py, "a1", "a2", a,                                              \
                          [](const Array& x1, const Array& x2) { return Name(x1, x2); })); \
    }
CX_POLY_BINARY(polyadd, Polyadd, "The sum of two polynomials.", "")
CX_POLY_BINARY(polysub, Polysub, "The difference of two polynomials.", "")
CX_POLY_BINARY(polymul, Polymul, "The product of two polynomials.",
               "Leading zeros of\n"
               "    factors are dropped, which waits for the device. ")
#undef CX_POLY_BINARY

CX_ROUTINE(
    polydiv, "u: ndarray | Scalar, v: ndarray | Scalar) -> tuple[ndarray, ndarray]",
    "The quotient and the remainder of two polynomials.\n\n"
    "Args:\n"
    "    u (ndarray): The dividend." CX_COEFFICIENTS "    v (ndarray): The divisor." CX_COEFFICIENTS
    "        At least one of the two is an ndarray.\n"
    "Returns:\n"
    "    tuple of ndarray: Quotient and remainder, 1-d, of floats. Leading coefficients of the\n"
    "    remainder below 1e-8 are dropped, which waits for the device. Differentiable, any "
    "order.\n" CX_RAISES_VECTOR "\n    ValueError: If one is empty.") {
    const std::pair<Array, Array> y = OfTwo(
        "polydiv", "u", "v", a, [](const Array& x1, const Array& x2) { return Polydiv(x1, x2); });
    return WrapTuple({y.first, y.second});
}

CX_ROUTINE(polyder, "p: ndarray, m: int = 1) -> ndarray",
           "The derivative of a polynomial.\n\n"
           "Args:\n"
           "    p (ndarray):" CX_COEFFICIENTS
           "    m (int): Order of the derivative, at least 0.\n"
           "Returns:\n"
           "    ndarray: 1-d, of the dtype of ``p``, int64 for integers. Differentiable, any "
           "order.\n" CX_RAISES_VECTOR "\n    ValueError: If ``m`` is negative.") {
    return Wrap(
        Polyder(ToArray("polyder", "p", a[0]), a[1] != nullptr ? ToInt("polyder", "m", a[1]) : 1));
}

CX_ROUTINE(polyint, "p: ndarray, m: int = 1, k: ndarray | Scalar | None = None) -> ndarray",
           "The integral of a polynomial.\n\n"
           "Args:\n"
           "    p (ndarray):" CX_COEFFICIENTS
           "    m (int): Number of integrations, at least 0.\n"
           "    k (ndarray): Constants of integration, in order, or one for all. Default: 0.\n"
           "Returns:\n"
           "    ndarray: 1-d, of floats unless ``m`` is 0. Differentiable in both, any "
           "order.\n" CX_RAISES_VECTOR
           "\n    DimensionError: If there are too few constants.\n"
           "    ValueError: If ``m`` is negative.") {
    const Array& p = ToArray("polyint", "p", a[0]);
    std::optional<Array> k;
    if (Given(a[2])) {
        const Array floats = Zeros(Shape{}, FloatResult(p.dtype()), p.device());
        k = ToValues("polyint", "k", floats, a[2]);
    }
    return Wrap(Polyint(p, a[1] != nullptr ? ToInt("polyint", "m", a[1]) : 1, k));
}

CX_ROUTINE(poly, "seq_of_zeros: ndarray) -> ndarray",
           "The polynomial with given zeros, or the characteristic polynomial of a matrix.\n\n"
           "Args:\n"
           "    seq_of_zeros (ndarray): The zeros, 1-d, or a square matrix with these eigenvalues; "
           "integers\n"
           "        are computed in float32.\n"
           "Returns:\n"
           "    ndarray: Coefficients from the highest power down, of which the first is 1. Real "
           "if complex\n"
           "    zeros come in conjugate pairs; the check waits for the device. Differentiable in "
           "zeros, any\n"
           "    order, not in a matrix.\n"
           "Raises:\n"
           "    DimensionError: If it is neither.\n"
           "    DtypeError: If it is bool.") {
    return Wrap(Poly(ToArray("poly", "seq_of_zeros", a[0])));
}

CX_ROUTINE(
    roots, "p: ndarray) -> ndarray",
    "The zeros of a polynomial: the eigenvalues of its companion matrix.\n\n"
    "Args:\n"
    "    p (ndarray):" CX_COEFFICIENTS
    "        float32, float64, complex64 or complex128; integers are computed in float32.\n"
    "Returns:\n"
    "    ndarray: 1-d, complex, in no particular order. Not differentiable. Waits for the device.\n"
    "Raises:\n"
    "    DimensionError: If ``p`` has more than 1 dimension.\n"
    "    DtypeError: If it is of another dtype.\n"
    "    LinAlgError: If it is not finite.") {
    return Wrap(Roots(ToArray("roots", "p", a[0])));
}

CX_ROUTINE(
    polyfit,
    "x: ndarray, y: ndarray, deg: int, rcond: float | None = None, full: bool = False, "
    "w: ndarray | Sequence[float] | None = None, cov: bool | str = False) -> Any",
    "Fits a polynomial to points, by least squares.\n\n"
    "Args:\n"
    "    x (ndarray): Abscissas, 1-d; float32 or float64, integers are computed in float32.\n"
    "    y (ndarray): Values: as many, or a matrix with one column per polynomial.\n"
    "    deg (int): The degree.\n"
    "    rcond (float): Singular values up to this multiple of the largest count as 0. Default: "
    "the\n"
    "        number of points times the machine epsilon of the dtype.\n"
    "    full (bool): Whether to return the whole result of :func:`linalg.lstsq`.\n"
    "    w (ndarray): Weights of the residuals ``p(x) - y``, before they are squared.\n"
    "    cov (bool or str): Whether to return the covariance of the coefficients, scaled by the "
    "variance\n"
    "        of the residuals; 'unscaled' takes weights as inverse standard deviations.\n"
    "Returns:\n"
    "    ndarray or tuple: Coefficients from the highest power down, in columns as ``y`` has them. "
    "With\n"
    "    ``full`` also the residuals, rank, singular values and ``rcond``; else with ``cov`` the\n"
    "    covariance. Differentiable in ``x``, ``y`` and ``w``, as lstsq. Warns with a "
    "RuntimeWarning if the\n"
    "    points do not determine it, unless ``full``.\n"
    "Raises:\n"
    "    DimensionError: If shapes do not fit.\n"
    "    DtypeError: If one is of another dtype.\n"
    "    ValueError: If ``deg`` is negative, there are no points, or too few for a covariance.") {
    static constexpr const char* kOp = "polyfit";
    const Array& x = ToArray(kOp, "x", a[0]);
    const Array& y = ToArray(kOp, "y", a[1]);
    const int64_t deg = ToInt(kOp, "deg", a[2]);
    std::optional<double> rcond;
    if (Given(a[3])) rcond = ToDouble(kOp, "rcond", a[3]);
    std::optional<Array> w;
    if (Given(a[5])) w = ToValues(kOp, "w", Zeros({}, FloatResult(x.dtype()), x.device()), a[5]);
    const bool full = ToBool(a[4], false);
    bool unscaled = false;
    if (a[6] != nullptr && PyUnicode_Check(a[6])) {
        const std::string_view cov = ToString(kOp, "cov", a[6]);
        if (cov != "unscaled") {
            throw ValueError{kOp, ": cov is '", cov, "', expected a bool or 'unscaled'"};
        }
        unscaled = true;
    }
    if (!full && (unscaled || ToBool(a[6], false))) {
        const std::pair<Array, Array> found = PolyfitCovariance(x, y, deg, rcond, w, !unscaled);
        return WrapTuple({found.first, found.second});
    }
    const PolyfitResult found = Polyfit(x, y, deg, rcond, w);
    if (!full) {
        if (found.rank != deg + 1 &&
            PyErr_WarnEx(PyExc_RuntimeWarning,
                         "polyfit: the points do not determine the polynomial", 1) < 0) {
            throw PythonError{};
        }
        return Wrap(found.p);
    }
    return Py_BuildValue("(NNLNd)", Wrap(found.p), Wrap(found.residuals),
                         static_cast<long long>(found.rank), Wrap(found.s), found.rcond);
}

}  // namespace
}  // namespace chainerx::python
