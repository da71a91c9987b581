// Routines for sampled functions: differences, integrals, interpolation, ranges.
#include "chainerx/ops/signal/series.h"

#include "chainerx/core/error.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/array_or_scalar.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/device.h"
#include "chainerx/python/elementwise.h"
#include "chainerx/python/ndarray/ndarray.h"
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
    "Differences of neighbours along an axis.\n\n"
    "Args:\n"
    "    a (ndarray): 1 dimension or more, any dtype; of bools, whether they differ.\n"
    "    n (int): How many times.\n"
    "    axis (int): Which.\n"
    "    prepend, append (ndarray): What is joined to ``a`` before; numbers, too. Dtypes are "
    "promoted.\n"
    "Returns:\n"
    "    ndarray: The axis is shorter by ``n``; ``a`` itself for 0. Differentiable, any "
    "order.\n"
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
           "Differences of neighbours in the flattened array.\n\n"
           "Args:\n"
           "    ary (ndarray): Any shape, numbers.\n"
           "    to_end, to_begin (ndarray): What is joined to them behind and before; cast to the "
           "dtype of\n"
           "        ``ary``.\n"
           "Returns:\n"
           "    ndarray: 1-d. Differentiable, any order.\n"
           "Raises:\n"
           "    DtypeError: If ``ary`` is of bool, or the others of a higher kind than ``ary``.") {
    const Array& x = ToArray("ediff1d", "ary", a[0]);
    return Wrap(Ediff1d(x, ToOptional("ediff1d", "to_end", x, a[1]),
                        ToOptional("ediff1d", "to_begin", x, a[2])));
}

CX_ROUTINE(
    gradient,
    "f: ndarray, *varargs: ndarray | Scalar, axis: Axis = None, edge_order: int = 1) -> Any",
    "The derivative of a function of which there are samples, by central differences.\n\n"
    "Args:\n"
    "    f (ndarray): Samples; integers are computed in float32.\n"
    "    *varargs (ndarray): Distances of the samples: nothing for 1, a number for all axes, "
    "or for\n"
    "        each a number or a vector of coordinates.\n"
    "    axis (int or tuple of int): Along what; None is along all.\n"
    "    edge_order (int): The order of the differences at the ends, 1 or 2.\n"
    "Returns:\n"
    "    ndarray or tuple of ndarray: Of the shape of ``f``; one for each axis, if there are "
    "several.\n"
    "    Differentiable in ``f`` and the distances, any order.\n"
    "Raises:\n"
    "    ValueError: If an axis is too short, or ``edge_order`` neither 1 nor 2.\n"
    "    DimensionError: If distances do not fit, or there is no such axis.\n"
    "    DtypeError: If ``f`` is of bool.") {
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
           "    dx (float): Their distance, where there is no ``x``.\n"
           "    axis (int): Along which.\n"
           "Returns:\n"
           "    ndarray: ``y`` without the axis. Differentiable in all, any order.\n"
           "Raises:\n"
           "    DimensionError: If shapes do not broadcast, or there is no such axis.\n"
           "    DtypeError: If ``y`` is of bool.") {
    const Array& y = ToArray("trapezoid", "y", a[0]);
    return Wrap(Trapezoid(
        y, ToOptional("trapezoid", "x", y, a[1]),
        a[2] != nullptr ? ToArrayOrScalar("trapezoid", "dx", a[2]) : ArrayOrScalar{Scalar{1.0}},
        ToAxisOr("trapezoid", a[3], -1)));
}

CX_ROUTINE(unwrap,
           "p: ndarray, discont: float | None = None, axis: int = -1, *, "
           "period: float = 6.283185307179586) -> ndarray",
           "Adds multiples of a period, so that no step is too long.\n\n"
           "Args:\n"
           "    p (ndarray): Angles, or what else has a period; integers are computed in float32.\n"
           "    discont (float): The longest step that is left as it is; at least half a period.\n"
           "    axis (int): Along which.\n"
           "    period (float): The period.\n"
           "Returns:\n"
           "    ndarray: The shape of ``p``. Differentiable, any order.\n"
           "Raises:\n"
           "    ValueError: If the period is not positive.\n"
           "    DimensionError: If there is no such axis.\n"
           "    DtypeError: If ``p`` is of bool or complex.") {
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
        "Running " what                                                                          \
        " along an axis; the array API's name and parameters.\n\n"                               \
        "Args:\n"                                                                                \
        "    x (ndarray): Any dtype; integers are computed in int64 or uint64, bool in int64.\n" \
        "    axis (int): Which; may be left out for 1 dimension only.\n"                         \
        "    dtype: To compute in. Default: that of ``x``, int64 for small integers.\n"          \
        "    include_initial (bool): Whether that of nothing comes first.\n" CX_RESULT_OUT_ARG   \
        "Returns:\n"                                                                             \
        "    ndarray: Differentiable, any order.\n"                                              \
        "Raises:\n"                                                                              \
        "    ValueError: If the axis is needed and not given.\n"                                 \
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

#define CX_CONVOLVE(py, Name, first, fallback, kFallback)                                      \
    CX_ROUTINE(                                                                                \
        py, "a: ndarray, v: ndarray, mode: str = '" fallback "') -> ndarray",                  \
        first                                                                                  \
        "\n\nArgs:\n"                                                                          \
        "    a (ndarray): One dimension, numbers.\n"                                           \
        "    v (ndarray): The same. Dtypes are promoted.\n"                                    \
        "    mode (str): Which positions of the two count: 'full' where they meet, 'same' as " \
        "many as\n"                                                                            \
        "        the longer one has elements, 'valid' where the shorter one lies within.\n"    \
        "Returns:\n"                                                                           \
        "    ndarray: 1-d. Differentiable in both, any order.\n"                               \
        "Raises:\n"                                                                            \
        "    ValueError: If one is empty, or there is no such mode.\n"                         \
        "    DimensionError: If one has other dimensions.\n"                                   \
        "    DtypeError: If one is of bool.") {                                                \
        return Wrap(Name(ToArray(#py, "a", a[0]), ToArray(#py, "v", a[1]),                     \
                         ToOverlap(#py, a[2], OverlapMode::kFallback)));                       \
    }
CX_CONVOLVE(convolve, Convolve, "The convolution of two vectors.", "full", kFull)
CX_CONVOLVE(correlate, Correlate,
            "The cross-correlation of two vectors: ``sum(a[n + k] * conj(v[n]))``.", "valid",
            kValid)
#undef CX_CONVOLVE

CX_ROUTINE(interp,
           "x: ndarray | Scalar, xp: ndarray, fp: ndarray, left: Scalar | None = None, "
           "right: Scalar | None = None, period: float | None = None) -> ndarray",
           "Linear interpolation between points.\n\n"
           "Args:\n"
           "    x (ndarray): Where; any shape, real; a number, too.\n"
           "    xp (ndarray): Coordinates of the points, (n,), ascending; real.\n"
           "    fp (ndarray): Their values, (n,).\n"
           "    left, right (float): The values beyond the points. Default: those of the first and "
           "the last.\n"
           "    period (float): The period of the coordinates, which need not ascend then; nothing "
           "is beyond.\n"
           "Returns:\n"
           "    ndarray: The shape of ``x``; integers are computed in float32. Differentiable in "
           "``x``,\n"
           "    ``xp`` and ``fp``, any order.\n"
           "Raises:\n"
           "    ValueError: If there are no points, or the period is 0.\n"
           "    DimensionError: If ``xp`` and ``fp`` have not one length and dimension.\n"
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
           "A polynomial at given places: ``p[0] * x**(n - 1) + ... + p[n - 1]``.\n\n"
           "Args:\n"
           "    p (ndarray): Coefficients, from the highest power down; 1-d.\n"
           "    x (ndarray): Places, any shape; a number, too.\n"
           "Returns:\n"
           "    ndarray: The shape of ``x``, promoted dtype. Differentiable in both, any order.\n"
           "Raises:\n"
           "    DimensionError: If ``p`` has not 1 dimension.\n"
           "    DtypeError: If dtypes are bool.") {
    const Array& p = ToArray("polyval", "p", a[0]);
    return Wrap(Polyval(p, ToValues("polyval", "x", p, a[1])));
}

CX_ROUTINE(
    vander, "x: ndarray, N: int | None = None, increasing: bool = False) -> ndarray",
    "The powers of each element of a vector, in rows.\n\n"
    "Args:\n"
    "    x (ndarray): One dimension; integers are computed in int64 or uint64, bool in int64.\n"
    "    N (int): The number of powers, from 0 on. Default: that of elements.\n"
    "    increasing (bool): Whether the power 0 comes first, instead of last.\n"
    "Returns:\n"
    "    ndarray: 2-d. Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If ``x`` has other dimensions, or ``N`` is negative.") {
    std::optional<int64_t> n;
    if (Given(a[1])) n = ToInt("vander", "N", a[1]);
    return Wrap(Vander(ToArray("vander", "x", a[0]), n, ToBool(a[2], false)));
}

#define CX_ARGS_SPACE                   \
    "    num (int): How many values.\n" \
    "    endpoint (bool): Whether the last one is the end.\n"
#define CX_ARGS_PLACE                                                                    \
    "    dtype: All that numpy.dtype() takes. Default: float32 or complex64, of arrays " \
    "theirs.\n"                                                                          \
    "    device (str or Device): Default: the default device, of arrays theirs.\n"       \
    "    axis (int): Where the values of arrays are in the result.\n"                    \
    "Returns:\n    ndarray: One dimension, in no graph; of arrays, one more than they "  \
    "have, differentiable in them, any order.\n"                                         \
    "Raises:\n    ChainerxError: If ``num`` is negative.\n"                              \
    "    DimensionError: If arrays do not broadcast, or there is no such axis.\n"        \
    "    DtypeError: If ends are complex, and ``dtype`` is not.\n"                       \
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

CX_ROUTINE(logspace,
           "start: complex | ndarray, stop: complex | ndarray, num: int = 50, "
           "endpoint: bool = True, base: complex | ndarray = 10.0, "
           "dtype: DtypeLike | None = None, device: DeviceLike | None = None, *, "
           "axis: int = 0) -> ndarray",
           "Values from ``base**start`` to ``base**stop``, by equal factors.\n\n"
           "Args:\n"
           "    start (float or complex): The first exponent; or an array of them.\n"
           "    stop (float or complex): The last exponent; or an array, broadcast with "
           "``start``.\n" CX_ARGS_SPACE
           "    base (float or complex): What is raised; or an array, broadcast with "
           "both.\n" CX_ARGS_PLACE) {
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
           "Values from ``start`` to ``stop``, by equal factors.\n\n"
           "Args:\n"
           "    start (float or complex): The first value; or an array of them.\n"
           "    stop (float or complex): The last value; or an array, broadcast with "
           "``start``.\n" CX_ARGS_SPACE CX_ARGS_PLACE
           "\n    ValueError: If one number is 0, or signs of real ones differ. In arrays, and "
           "of complex\n        numbers, the result is NaN where one is 0.") {
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
