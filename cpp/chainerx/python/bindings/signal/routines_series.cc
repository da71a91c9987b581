// Routines for sampled functions: differences, integrals, interpolation, ranges.
#include "chainerx/ops/signal/series.h"

#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/array_or_scalar.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/device.h"
#include "chainerx/python/elementwise.h"
#include "chainerx/python/values.h"

namespace chainerx::python {
namespace {

// Nullopt for null and None, else the result of ToValues().
std::optional<Array> ToOptional(const char* op, const char* name, const Array& x, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    return ToValues(op, name, x, o);
}

// The same for an argument beside x; a number is promoted with x.
std::optional<Array> ToBeside(const char* op, const char* name, const Array& x, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    const auto number = IsNdArray(o) ? std::nullopt : TryScalar(o);
    if (!number) return ToValues(op, name, x, o);
    const Scalar value = ToScalar(op, name, o);
    const Dtype dtype = ResultType(x.dtype(), value);
    internal::CheckIntFits(op, dtype, value);
    return Full({}, value, dtype, x.device());
}

int8_t ToAxisOr(const char* op, PyObject* o, int8_t fallback) {
    return o != nullptr ? ToAxis(op, "axis", o) : fallback;
}

CX_ROUTINE(
    diff,
    "a: ndarray, n: int = 1, axis: int = -1, prepend: ndarray | Scalar | None = None, "
    "append: ndarray | Scalar | None = None) -> ndarray",
    "Differences of adjacent elements along an axis.\n\n"
    "Args:\n"
    "    a (ndarray): 1 dimension or more, any dtype; for bool, whether they differ.\n"
    "    n (int): Number of times that differences are taken.\n"
    "    axis (int): The axis.\n"
    "    prepend, append (ndarray): Arrays or numbers that are joined to ``a`` first. Dtypes are "
    "promoted.\n"
    "Returns:\n"
    "    ndarray: The axis is shorter by ``n``; ``a`` itself for 0. Differentiable, any order.\n"
    "Raises:\n"
    "    ValueError: If ``n`` is negative.\n"
    "    DimensionError: If shapes do not fit, or there is no such axis.") {
    const Array& x = ToArray("diff", "a", a[0]);
    return Wrap(Diff(x, a[1] != nullptr ? ToInt("diff", "n", a[1]) : 1, ToAxisOr("diff", a[2], -1),
                     ToBeside("diff", "prepend", x, a[3]), ToBeside("diff", "append", x, a[4])));
}

CX_ROUTINE(ediff1d,
           "ary: ndarray, to_end: ndarray | Scalar | None = None, "
           "to_begin: ndarray | Scalar | None = None) -> ndarray",
           "Differences of adjacent elements of the flattened array.\n\n"
           "Args:\n"
           "    ary (ndarray): Any shape, numbers.\n"
           "    to_end, to_begin (ndarray): Values appended and prepended to the differences; cast "
           "to the dtype\n"
           "        of ``ary``.\n"
           "Returns:\n"
           "    ndarray: 1-d. Differentiable, any order.\n"
           "Raises:\n"
           "    DtypeError: If ``ary`` is bool, or the others are of a higher kind than ``ary``.") {
    const Array& x = ToArray("ediff1d", "ary", a[0]);
    return Wrap(Ediff1d(x, ToOptional("ediff1d", "to_end", x, a[1]),
                        ToOptional("ediff1d", "to_begin", x, a[2])));
}

CX_ROUTINE(gradient,
           "f: ndarray, *varargs: ndarray | Scalar, axis: Axis = None, edge_order: int = 1) -> Any",
           "The derivative of a sampled function, by central differences.\n\n"
           "Args:\n"
           "    f (ndarray): Samples; integers are computed in float32.\n"
           "    *varargs (ndarray): Spacing of the samples: 1 by default, a number for all axes, "
           "or for each\n"
           "        axis a number or a vector of coordinates.\n"
           "    axis (int or tuple of int): The axes; None means all.\n"
           "    edge_order (int): The order of accuracy at the ends, 1 or 2.\n"
           "Returns:\n"
           "    ndarray or tuple of ndarray: The shape of ``f``; one array per axis, if there are "
           "several.\n"
           "    Differentiable in ``f`` and the spacing, any order.\n"
           "Raises:\n"
           "    ValueError: If an axis is too short, or ``edge_order`` neither 1 nor 2.\n"
           "    DimensionError: If the spacing does not fit, or there is no such axis.\n"
           "    DtypeError: If ``f`` is bool.") {
    const Array& x = ToArray("gradient", "f", a[0]);
    std::vector<ArrayOrScalar> spacing;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a[1]); ++i) {
        PyObject* o = PyTuple_GET_ITEM(a[1], i);
        if (PyList_Check(o) || PyObject_TypeCheck(o, Numpy().ndarray)) {
            spacing.push_back(ToValues("gradient", "varargs", x, o));
        } else {
            spacing.push_back(ToArrayOrScalar("gradient", "varargs", o));
        }
    }
    const int64_t edge_order = a[3] != nullptr ? ToInt("gradient", "edge_order", a[3]) : 1;
    const std::vector<Array> out =
        Gradient(x, spacing, ToAxes("gradient", "axis", a[2]),
                 static_cast<int>(std::clamp<int64_t>(edge_order, 0, 3)));
    return out.size() == 1 ? Wrap(out[0]) : WrapTuple(out);
}

CX_ROUTINE(trapezoid,
           "y: ndarray, x: ndarray | None = None, dx: ndarray | Scalar = 1.0, axis: int = -1) -> "
           "ndarray",
           "The integral along an axis, by the trapezoidal rule.\n\n"
           "Args:\n"
           "    y (ndarray): Samples; integers are computed in float32.\n"
           "    x (ndarray): Their coordinates: a vector, or of the shape of ``y``.\n"
           "    dx (float): Their spacing, if ``x`` is not given.\n"
           "    axis (int): The axis.\n"
           "Returns:\n"
           "    ndarray: ``y`` without the axis. Differentiable in all, any order.\n"
           "Raises:\n"
           "    DimensionError: If shapes do not broadcast, or there is no such axis.\n"
           "    DtypeError: If ``y`` is bool.") {
    const Array& y = ToArray("trapezoid", "y", a[0]);
    return Wrap(Trapezoid(
        y, ToOptional("trapezoid", "x", y, a[1]),
        a[2] != nullptr ? ToArrayOrScalar("trapezoid", "dx", a[2]) : ArrayOrScalar{Scalar{1.0}},
        ToAxisOr("trapezoid", a[3], -1)));
}

CX_ROUTINE(unwrap,
           "p: ndarray, discont: float | None = None, axis: int = -1, *, "
           "period: float = 6.283185307179586) -> ndarray",
           "Unwraps angles: adds multiples of a period to remove jumps.\n\n"
           "Args:\n"
           "    p (ndarray): Angles or other periodic values; integers are computed in float32.\n"
           "    discont (float): The largest jump that is kept; at least half a period.\n"
           "    axis (int): The axis.\n"
           "    period (float): The period.\n"
           "Returns:\n"
           "    ndarray: The shape of ``p``. Differentiable, any order.\n"
           "Raises:\n"
           "    ValueError: If the period is not positive.\n"
           "    DimensionError: If there is no such axis.\n"
           "    DtypeError: If ``p`` is bool or complex.") {
    std::optional<double> discont;
    if (Given(a[1])) discont = ToDouble("unwrap", "discont", a[1]);
    return Wrap(Unwrap(ToArray("unwrap", "p", a[0]), discont, ToAxisOr("unwrap", a[2], -1),
                       a[3] != nullptr ? ToDouble("unwrap", "period", a[3]) : 6.283185307179586));
}

#define CX_CUMULATIVE(py, Name, what)                                                            \
    CX_ROUTINE(                                                                                  \
        py,                                                                                      \
        "x: ndarray, *, axis: int | None = None, dtype: DtypeLike | None = None, "               \
        "include_initial: bool = False, " CX_RESULT_OUT ") -> ndarray",                          \
        "Cumulative " what                                                                       \
        " along an axis, with the name and parameters of the array API.\n\n"                     \
        "Args:\n"                                                                                \
        "    x (ndarray): Any dtype; integers are computed in int64 or uint64, bool in int64.\n" \
        "    axis (int): The axis; it may be omitted for 1-d arrays only.\n"                     \
        "    dtype: To compute in. Default: that of ``x``; int64 or uint64 for integers.\n"      \
        "    include_initial (bool): Whether the result begins with that of no "                 \
        "elements.\n" CX_RESULT_OUT_ARG                                                          \
        "Returns:\n"                                                                             \
        "    ndarray: Differentiable, any order.\n"                                              \
        "Raises:\n"                                                                              \
        "    ValueError: If the axis is required and not given.\n"                               \
        "    DimensionError: If there is no such axis.") {                                       \
        std::optional<Dtype> dtype;                                                              \
        if (Given(a[2])) dtype = ToDtype(a[2]);                                                  \
        return Finish(#py,                                                                       \
                      Name(ToArray(#py, "x", a[0]), ToOptionalAxis(#py, "axis", a[1]), dtype,    \
                           ToBool(a[3], false)),                                                 \
                      a[4]);                                                                     \
    }
CX_CUMULATIVE(cumulative_sum, CumulativeSum, "totals")
CX_CUMULATIVE(cumulative_prod, CumulativeProd, "products")
#undef CX_CUMULATIVE

OverlapMode ToOverlap(const char* op, PyObject* o, OverlapMode fallback) {
    if (o == nullptr) return fallback;
    const std::string_view mode = ToString(op, "mode", o);
    if (mode == "full") return OverlapMode::kFull;
    if (mode == "same") return OverlapMode::kSame;
    if (mode == "valid") return OverlapMode::kValid;
    throw ValueError{op, ": mode must be 'full', 'same' or 'valid', got '", mode, "'"};
}

#define CX_CONVOLVE(py, Name, first, fallback, kFallback)                                     \
    CX_ROUTINE(py, "a: ndarray, v: ndarray, mode: str = '" fallback "') -> ndarray",          \
               first                                                                          \
               "\n\n"                                                                         \
               "Args:\n"                                                                      \
               "    a (ndarray): One dimension, numbers.\n"                                   \
               "    v (ndarray): Likewise. Dtypes are promoted.\n"                            \
               "    mode (str): The relative positions that count: 'full' all with overlap, " \
               "'same' as many as\n"                                                          \
               "        the longer one has elements, 'valid' those with complete overlap.\n"  \
               "Returns:\n"                                                                   \
               "    ndarray: 1-d. Differentiable in both, any order.\n"                       \
               "Raises:\n"                                                                    \
               "    ValueError: If one is empty, or there is no such mode.\n"                 \
               "    DimensionError: If one is not 1-d.\n"                                     \
               "    DtypeError: If one is bool.") {                                           \
        return Wrap(Name(ToArray(#py, "a", a[0]), ToArray(#py, "v", a[1]),                    \
                         ToOverlap(#py, a[2], OverlapMode::kFallback)));                      \
    }
CX_CONVOLVE(convolve, Convolve, "The convolution of two vectors.", "full", kFull)
CX_CONVOLVE(correlate, Correlate,
            "The cross-correlation of two vectors: ``sum(a[n + k] * conj(v[n]))``.", "valid",
            kValid)
#undef CX_CONVOLVE

CX_ROUTINE(
    interp,
    "x: ndarray | Scalar, xp: ndarray, fp: ndarray, left: Scalar | None = None, "
    "right: Scalar | None = None, period: float | None = None) -> ndarray",
    "Piecewise linear interpolation between points.\n\n"
    "Args:\n"
    "    x (ndarray): Where to interpolate; any shape, real; also a number.\n"
    "    xp (ndarray): Coordinates of the points, (n,), ascending; real.\n"
    "    fp (ndarray): Their values, (n,).\n"
    "    left, right (float): The values beyond the points. Default: those of the first and the "
    "last point.\n"
    "    period (float): The period of the coordinates, which then need not ascend.\n"
    "Returns:\n"
    "    ndarray: The shape of ``x``; integers are computed in float32. Differentiable in ``x``,\n"
    "    ``xp`` and ``fp``, any order.\n"
    "Raises:\n"
    "    ValueError: If there are no points, or the period is 0.\n"
    "    DimensionError: If ``xp`` and ``fp`` are not 1-d of equal length.\n"
    "    DtypeError: If ``x`` or ``xp`` is complex.") {
    const Array& xp = ToArray("interp", "xp", a[1]);
    const auto number = [&](const char* name, PyObject* o) {
        return Given(o) ? std::optional<Scalar>{ToScalar("interp", name, o)} : std::nullopt;
    };
    std::optional<double> period;
    if (Given(a[5])) period = ToDouble("interp", "period", a[5]);
    const Array x = IsNdArray(a[0]) ? Self(a[0])
                                    : Full({}, ToScalar("interp", "x", a[0]),
                                           FloatResult(xp.dtype()), xp.device());
    return Wrap(Interp(x, xp, ToArray("interp", "fp", a[2]), number("left", a[3]),
                       number("right", a[4]), period));
}

CX_ROUTINE(polyval, "p: ndarray, x: ndarray | Scalar) -> ndarray",
           "Evaluates a polynomial: ``p[0] * x**(n - 1) + ... + p[n - 1]``.\n\n"
           "Args:\n"
           "    p (ndarray): Coefficients, from the highest power down; 1-d.\n"
           "    x (ndarray): Where to evaluate; any shape, also a number.\n"
           "Returns:\n"
           "    ndarray: The shape of ``x``, promoted dtype. Differentiable in both, any order.\n"
           "Raises:\n"
           "    DimensionError: If ``p`` is not 1-d.\n"
           "    DtypeError: If one is bool.") {
    const Array& p = ToArray("polyval", "p", a[0]);
    return Wrap(Polyval(p, ToValues("polyval", "x", p, a[1])));
}

CX_ROUTINE(
    vander, "x: ndarray, N: int | None = None, increasing: bool = False) -> ndarray",
    "Vandermonde matrix: the powers of each element of a vector, in rows.\n\n"
    "Args:\n"
    "    x (ndarray): One dimension; integers are computed in int64 or uint64, bool in int64.\n"
    "    N (int): The number of powers, from 0 on. Default: the number of elements.\n"
    "    increasing (bool): Whether power 0 comes first, instead of last.\n"
    "Returns:\n"
    "    ndarray: 2-d. Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If ``x`` has other dimensions, or ``N`` is negative.") {
    std::optional<int64_t> n;
    if (Given(a[1])) n = ToInt("vander", "N", a[1]);
    return Wrap(Vander(ToArray("vander", "x", a[0]), n, ToBool(a[2], false)));
}

#define CX_ARGS_SPACE                        \
    "    num (int): The number of values.\n" \
    "    endpoint (bool): Whether the last value is ``stop``.\n"
#define CX_ARGS_PLACE                                                                             \
    "    dtype: Anything that numpy.dtype() accepts. Default: float32 or complex64, of arrays "   \
    "theirs.\n"                                                                                   \
    "    device (str or Device): Default: that of array ends, else the default device.\n"         \
    "    axis (int): The axis of the values in the result, for array ends.\n"                     \
    "Returns:\n"                                                                                  \
    "    ndarray: 1-d, in no graph; for array ends, with one more axis, differentiable in them, " \
    "any order.\n"                                                                                \
    "Raises:\n"                                                                                   \
    "    ChainerxError: If ``num`` is negative.\n"                                                \
    "    DimensionError: If arrays do not broadcast, or there is no such axis.\n"                 \
    "    DtypeError: If ends are complex, and ``dtype`` is not.\n"                                \
    "    DeviceError: If arrays are on another device than ``device``."

// The ends of ranges. Numbers beside arrays become arrays on the device of the first array; if all
// are numbers, they become arrays only if one is complex, or an axis is given.
struct Ends {
    Ends(const char* op, std::initializer_list<std::pair<const char*, PyObject*>> given,
         PyObject* device) {
        const Array* first = nullptr;
        bool is_complex = false;
        for (const auto& [name, o] : given) {
            if (o == nullptr) continue;
            if (first == nullptr && IsNdArray(o)) first = &Self(o);
            is_complex |= PyComplex_Check(o) != 0;
        }
        has_arrays = first != nullptr || is_complex;
        if (!has_arrays) return;
        if (first != nullptr && Given(device)) {
            CheckSameDevice(op, ToDevice(device), first->device());
        }
        for (const auto& [name, o] : given) {
            if (o == nullptr) continue;
            if (first != nullptr) {
                arrays.push_back(ToValues(op, name, *first, o));
            } else {
                arrays.push_back(
                    Full(Shape{}, ToScalar(op, name, o), Dtype::kComplex64, ToDevice(device)));
            }
        }
    }

    bool has_arrays;
    std::vector<Array> arrays;
};

std::optional<Dtype> ToOptionalDtype(PyObject* o) {
    return Given(o) ? std::optional<Dtype>{ToDtype(o)} : std::nullopt;
}

CX_ROUTINE(
    logspace,
    "start: complex | ndarray, stop: complex | ndarray, num: int = 50, "
    "endpoint: bool = True, base: complex | ndarray = 10.0, "
    "dtype: DtypeLike | None = None, device: DeviceLike | None = None, *, "
    "axis: int = 0) -> ndarray",
    "Logarithmically spaced values from ``base**start`` to ``base**stop``.\n\n"
    "Args:\n"
    "    start (float or complex): The first exponent; or an array of them.\n"
    "    stop (float or complex): The last exponent; or an array, broadcast with "
    "``start``.\n" CX_ARGS_SPACE
    "    base (float or complex): The base; or an array, broadcast with both.\n" CX_ARGS_PLACE) {
    const int8_t axis = ToAxisOr("logspace", a[7], 0);
    Ends ends{"logspace", {{"start", a[0]}, {"stop", a[1]}, {"base", a[4]}}, a[6]};
    if (ends.has_arrays) {
        std::vector<Array>& x = ends.arrays;
        if (x.size() == 2) x.push_back(Full(Shape{}, Scalar{10}, x[0].dtype(), x[0].device()));
        return Wrap(Logspace(x[0], x[1], a[2] != nullptr ? ToInt("logspace", "num", a[2]) : 50,
                             ToBool(a[3], true), x[2], ToOptionalDtype(a[5]), axis));
    }
    NormalizeAxis("logspace", axis, 1);
    return Wrap(Logspace(ToDouble("logspace", "start", a[0]), ToDouble("logspace", "stop", a[1]),
                         a[2] != nullptr ? ToInt("logspace", "num", a[2]) : 50, ToBool(a[3], true),
                         a[4] != nullptr ? ToDouble("logspace", "base", a[4]) : 10.0,
                         ToDtypeOr(a[5], kDefaultFloat), ToDevice(a[6])));
}

CX_ROUTINE(geomspace,
           "start: complex | ndarray, stop: complex | ndarray, num: int = 50, "
           "endpoint: bool = True, dtype: DtypeLike | None = None, "
           "device: DeviceLike | None = None, *, axis: int = 0) -> ndarray",
           "Geometrically spaced values from ``start`` to ``stop``: quotients are equal.\n\n"
           "Args:\n"
           "    start (float or complex): The first value; or an array of them.\n"
           "    stop (float or complex): The last value; or an array, broadcast with "
           "``start``.\n" CX_ARGS_SPACE CX_ARGS_PLACE
           "\n"
           "    ValueError: If a scalar end is 0, or the signs of real ones differ. For arrays and "
           "complex\n"
           "        numbers, the result is NaN where one end is 0.") {
    const int8_t axis = ToAxisOr("geomspace", a[6], 0);
    const Ends ends{"geomspace", {{"start", a[0]}, {"stop", a[1]}}, a[5]};
    if (ends.has_arrays) {
        return Wrap(Geomspace(ends.arrays[0], ends.arrays[1],
                              a[2] != nullptr ? ToInt("geomspace", "num", a[2]) : 50,
                              ToBool(a[3], true), ToOptionalDtype(a[4]), axis));
    }
    NormalizeAxis("geomspace", axis, 1);
    return Wrap(Geomspace(ToDouble("geomspace", "start", a[0]), ToDouble("geomspace", "stop", a[1]),
                          a[2] != nullptr ? ToInt("geomspace", "num", a[2]) : 50,
                          ToBool(a[3], true), ToDtypeOr(a[4], kDefaultFloat), ToDevice(a[5])));
}

#undef CX_ARGS_SPACE
#undef CX_ARGS_PLACE

}  // namespace
}  // namespace chainerx::python
