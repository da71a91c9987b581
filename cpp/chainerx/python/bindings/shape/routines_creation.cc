// Creation routines.
#include "chainerx/ops/shape/creation.h"

#include <cmath>

#include "chainerx/core/overlap.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/rearrange.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/device.h"
#include "chainerx/python/element_order.h"
#include "chainerx/python/interop/buffers.h"
#include "chainerx/python/interop/cuda_array.h"
#include "chainerx/python/nested.h"
#include "chainerx/python/values.h"

namespace chainerx::python {
namespace {

Array Converted(const Array& x, PyObject* dtype, bool copy, PyObject* device) {
    Device& to = ToDeviceOr(device, x.device());
    if (&to == &x.device()) return AsType(x, ToDtypeOr(dtype, x.dtype()), copy);
    return AsType(x, ToDtypeOr(dtype, x.dtype()), false).ToDevice(to);
}

Array ToArrayOn(PyObject* object, PyObject* dtype, bool copy, PyObject* device) {
    if (IsNdArray(object)) return Converted(Self(object), dtype, copy, device);
    if (HasCudaArrayInterface(object)) {
        return Converted(FromCudaArrayInterface(object), dtype, copy, device);
    }
    std::optional<Dtype> d;
    if (Given(dtype)) d = ToDtype(dtype);
    const Array x =
        FromNumpy(object, d, copy ? Sharing::kNever : Sharing::kWherePossible, ToDevice(device));
    return WithGraphs(object, x);
}

// Whether an array made from the object shares its memory.
bool IsOverMemoryOf(PyObject* object, const Array& x) {
    if (IsNdArray(object)) return x.buffer() == Self(object).buffer();
    if (HasCudaArrayInterface(object)) {
        return x.raw_data() == FromCudaArrayInterface(object).raw_data();
    }
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_STRIDED_RO) != 0) {
        PyErr_Clear();
        return false;
    }
    const bool is_same = view.buf == x.raw_data();
    PyBuffer_Release(&view);
    return is_same;
}

// The argument `copy`: None copies if needed, True always, False never.
Array ToArrayCopied(const char* op, PyObject* const* a) {
    const bool copies = Given(a[3]) && ToBool(a[3], false);
    const Array x = InOrder(op, ToArrayOn(a[0], a[1], copies, a[2]), a[4]);
    if (Given(a[3]) && !copies && !IsOverMemoryOf(a[0], x)) {
        throw ValueError{op, ": copy is False, but what was given must be copied for ",
                         GetDtypeName(x.dtype()), " on ", x.device().name()};
    }
    return x;
}

// Reused memory may hold any byte, but a bool must be 0 or 1.
PyObject* WrapEmpty(const Array& x) {
    if (IsBool(x.dtype())) x.Fill(false);
    return Wrap(x);
}

#define CX_ARG_ORDER                                                                              \
    "    order (str): Memory layout: 'C', 'F', 'A' (F if ``object`` is F-contiguous, else C) or " \
    "'K' (that of ``object``).\n"
#define CX_ARG_NEW_ORDER "    order (str): Memory layout: 'C' or 'F'.\n"
#define CX_ARG_SHAPE "    shape (int or tuple of ints): Shape of the array.\n"
#define CX_ARG_DTYPE(fallback) \
    "    dtype: Anything that numpy.dtype() accepts. Default: " fallback ".\n"
#define CX_ARG_DEVICE \
    "    device (str or Device): Default: the default device, whatever the device of ``a``.\n"
#define CX_ARG_LIKE "    a (ndarray): The array that gives shape and dtype.\n"
#define CX_ARGS_MATRIX                                                   \
    "    N (int): The number of rows.\n"                                 \
    "    M (int): The number of columns. Default: the number of rows.\n" \
    "    k (int): The diagonal: 0 begins at (0, 0), 1 at (0, 1), -1 at (1, 0).\n"
#define CX_NEW "Returns:\n    ndarray: C-contiguous, in no graph.\n"
#define CX_RAISES_SHAPE                                                                 \
    "Raises:\n"                                                                         \
    "    DimensionError: If a size is negative or there are more than 10 dimensions.\n" \
    "    DtypeError: If there is no such dtype.\n"                                      \
    "    MemoryError: If there is not enough memory."

CX_ROUTINE(
    array,
    "object: Any, dtype: DtypeLike | None = None, copy: bool = True, "
    "device: DeviceLike | None = None, *, ndmin: int = 0, order: str | None = 'K') -> ndarray",
    "Creates an array from numbers, lists, NumPy arrays or buffers.\n\n"
    "Args:\n"
    "    object: Anything that numpy.asarray() accepts, or an ndarray, or lists of them, which "
    "stay in their graphs.\n"
    "    dtype: Default: as NumPy chooses.\n"
    "    copy (bool): If False, a NumPy array's memory is shared where possible.\n"
    "    device: Default: that of an ndarray, else the default device.\n"
    "    ndmin (int): Minimum number of dimensions; missing axes are prepended with length "
    "1.\n" CX_ARG_ORDER
    "Returns:\n"
    "    ndarray: An array on the device.\n"
    "Raises:\n"
    "    DimensionError: If ``ndmin`` is more than 10.") {
    const Array x = InOrder("array", ToArrayOn(a[0], a[1], ToBool(a[2], true), a[3]), a[5]);
    const int64_t lacking = a[4] != nullptr ? ToInt("array", "ndmin", a[4]) - x.ndim() : 0;
    if (lacking <= 0) return Wrap(x);
    Axes first;
    for (int64_t i = 0; i < lacking; ++i) first.push_back(static_cast<int8_t>(i));
    return Wrap(ExpandDims(x, first));
}

// What is said of two routines that differ in a word.
#define CX_AS_ARRAY(name, object, note)                                                           \
    CX_ROUTINE(name,                                                                              \
               object                                                                             \
               ": Any, dtype: DtypeLike | None = None, device: DeviceLike | None = None, "        \
               "copy: bool | None = None, *, order: str | None = 'K') -> ndarray",                \
               "Converts to an array, without a copy where none is needed" note                   \
               ".\n\n"                                                                            \
               "Args:\n"                                                                          \
               "    " object                                                                      \
               ": Anything that :func:`array` accepts.\n"                                         \
               "    dtype: Default: that of the object, or as NumPy chooses.\n"                   \
               "    device: Default: that of an ndarray, else the default device.\n"              \
               "    copy (bool): None copies only if needed, True always; False raises an error " \
               "instead.\n" CX_ARG_ORDER                                                          \
               "Returns:\n"                                                                       \
               "    ndarray: The ndarray itself if dtype and device fit; shares the memory of a " \
               "NumPy array.\n"                                                                   \
               "    Differentiable, any order.\n"                                                 \
               "Raises:\n"                                                                        \
               "    DtypeError: If ChainerX has no such dtype.\n"                                 \
               "    ValueError: If the memory of bools holds bytes other than 0 and 1 (use "      \
               ":func:`array`), or "                                                              \
               "if ``copy`` is False and a copy is needed.") {                                    \
        return Wrap(ToArrayCopied(#name, a));                                                     \
    }
CX_AS_ARRAY(asarray, "object", "")
CX_AS_ARRAY(asanyarray, "a", "; the same as :func:`asarray`")
#undef CX_AS_ARRAY

#define CX_AS_LAYOUT(name, AsLayout, layout)                                                    \
    CX_ROUTINE(                                                                                 \
        name,                                                                                   \
        "a: Any, dtype: DtypeLike | None = None, device: DeviceLike | None = None) -> ndarray", \
        "Converts to an array in " layout                                                       \
        " order, with at least one dimension.\n\n"                                              \
        "Args:\n"                                                                               \
        "    a: Anything that :func:`array` accepts.\n"                                         \
        "    dtype: Default: that of the object, or as NumPy chooses.\n"                        \
        "    device: Default: that of an ndarray, else the default device.\n"                   \
        "Returns:\n"                                                                            \
        "    ndarray: ``a`` itself if it already fits. Differentiable, any order.\n"            \
        "Raises:\n"                                                                             \
        "    DtypeError: If ChainerX has no such dtype.") {                                     \
        return Wrap(AsLayout(AtLeast1D(ToArrayOn(a[0], a[1], false, a[2]))));                   \
    }
CX_AS_LAYOUT(ascontiguousarray, AsContiguous, "C")
CX_AS_LAYOUT(asfortranarray, AsFortranArray, "Fortran")
#undef CX_AS_LAYOUT

CX_ROUTINE(copy, "a: ndarray, order: str | None = 'C') -> ndarray",
           "A copy.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n" CX_ARG_ORDER
           "Returns:\n"
           "    ndarray: On the same device. Differentiable, any order.") {
    return Wrap(CopyInOrder(ToArray("copy", "a", a[0]), a[1]));
}

CX_ROUTINE(empty,
           "shape: ShapeLike, dtype: DtypeLike | None = None, device: DeviceLike | None = None, *, "
           "order: str | None = 'C') -> "
           "ndarray",
           "An uninitialized array.\n\nArgs:\n" CX_ARG_SHAPE CX_ARG_DTYPE("float32")
               CX_ARG_DEVICE CX_ARG_NEW_ORDER
           "Returns:\n    ndarray: Contiguous, in no graph.\n" CX_RAISES_SHAPE) {
    const Array x =
        Empty(ToShape("empty", "shape", a[0]), ToDtypeOr(a[1], kDefaultFloat), ToDevice(a[2]));
    return WrapEmpty(InOrder("empty", x, a[3]));
}

CX_ROUTINE(ones,
           "shape: ShapeLike, dtype: DtypeLike | None = None, device: DeviceLike | None = None, *, "
           "order: str | None = 'C') -> "
           "ndarray",
           "An array of ones.\n\nArgs:\n" CX_ARG_SHAPE CX_ARG_DTYPE("float32")
               CX_ARG_DEVICE CX_ARG_NEW_ORDER
           "Returns:\n    ndarray: Contiguous, in no graph.\n" CX_RAISES_SHAPE) {
    const Array x =
        Ones(ToShape("ones", "shape", a[0]), ToDtypeOr(a[1], kDefaultFloat), ToDevice(a[2]));
    return Wrap(InOrder("ones", x, a[3]));
}

CX_ROUTINE(zeros,
           "shape: ShapeLike, dtype: DtypeLike | None = None, *, device: DeviceLike | None = None, "
           "order: str | None = 'C') "
           "-> ndarray",
           "An array of zeros.\n\nArgs:\n" CX_ARG_SHAPE CX_ARG_DTYPE("float32")
               CX_ARG_DEVICE CX_ARG_NEW_ORDER
           "Returns:\n    ndarray: Contiguous, in no graph.\n" CX_RAISES_SHAPE) {
    const Array x =
        Zeros(ToShape("zeros", "shape", a[0]), ToDtypeOr(a[1], kDefaultFloat), ToDevice(a[2]));
    return Wrap(InOrder("zeros", x, a[3]));
}

#define CX_ARG_FILL_VALUE \
    "    fill_value (number or ndarray): The fill value; an array is broadcast.\n"

// An array with the value of another, broadcast.
Array FullOf(const Shape& shape, const Array& value, Dtype dtype, Device& device) {
    return Full(shape, AsType(value, dtype, false).ToDevice(device));
}

CX_ROUTINE(full,
           "shape: ShapeLike, fill_value: float | ndarray, dtype: DtypeLike | None = None, "
           "device: DeviceLike | None = None) -> ndarray",
           "An array of one value.\n\nArgs:\n" CX_ARG_SHAPE CX_ARG_FILL_VALUE
               CX_ARG_DTYPE("bool, int32 or float32 by the kind of the number, "
           "or the dtype of the array")
           "    device (str or Device): Default: that of an array, else the default device. It "
           "may be\n"
           "        given as the third positional argument.\n"
           "Returns:\n"
           "    ndarray: New. Differentiable in the value, any order.\n"
           CX_RAISES_SHAPE "\n    OverflowError: If the dtype does not hold the value.") {
    const Shape shape = ToShape("full", "shape", a[0]);
    const bool device_is_third = a[3] == nullptr && Given(a[2]) && AsDevice(a[2]) != nullptr;
    PyObject* dtype = device_is_third ? nullptr : a[2];
    PyObject* device = device_is_third ? a[2] : a[3];
    if (IsNdArray(a[1])) {
        const Array& x = Self(a[1]);
        return Wrap(FullOf(shape, x, ToDtypeOr(dtype, x.dtype()),
                           Given(device) ? ToDevice(device) : x.device()));
    }
    if (Given(dtype)) {
        const Dtype given = ToDtypeOr(dtype, kDefaultFloat);
        return Wrap(
            Full(shape, ToElement("full", "fill_value", a[1], given), given, ToDevice(device)));
    }
    const Scalar value = ToScalar("full", "fill_value", a[1]);
    return Wrap(Full(shape, value, value.dtype(), ToDevice(device)));
}

// The attributes of an array like `a`, unless the caller gives others.
struct Like {
    Shape shape;
    Dtype dtype;
    Device& device;

    Like(const char* op, const Array& a, PyObject* device, PyObject* dtype, PyObject* shape)
        : shape{Given(shape) ? ToShape(op, "shape", shape) : a.shape()},
          dtype{ToDtypeOr(dtype, a.dtype())},
          device{ToDevice(device)} {}
};

#define CX_LIKE                                                               \
    ", device: DeviceLike | None = None, *, dtype: DtypeLike | None = None, " \
    "shape: ShapeLike | None = None) -> ndarray"
#define CX_ARGS_LIKE                       \
    CX_ARG_DEVICE                          \
    "    dtype: Default: that of ``a``.\n" \
    "    shape (int or tuple of ints): Default: that of ``a``.\n"

CX_ROUTINE(empty_like, "a: ndarray" CX_LIKE,
           "An uninitialized array of the shape and dtype of another, on the default "
           "device.\n\nArgs:\n" CX_ARG_LIKE CX_ARGS_LIKE CX_NEW CX_RAISES_SHAPE) {
    const Like like{"empty_like", ToArray("empty_like", "a", a[0]), a[1], a[2], a[3]};
    return WrapEmpty(Empty(like.shape, like.dtype, like.device));
}

CX_ROUTINE(full_like, "a: ndarray, fill_value: float | ndarray" CX_LIKE,
           "An array of one value with the shape and dtype of another, on the default "
           "device.\n\nArgs:\n" CX_ARG_LIKE CX_ARG_FILL_VALUE CX_ARGS_LIKE
           "Returns:\n    ndarray: New. Differentiable in the value, any order.\n" CX_RAISES_SHAPE
           "\n    OverflowError: If the dtype does not hold the value.") {
    const Like like{"full_like", ToArray("full_like", "a", a[0]), a[2], a[3], a[4]};
    if (IsNdArray(a[1])) return Wrap(FullOf(like.shape, Self(a[1]), like.dtype, like.device));
    const Scalar value = ToElement("full_like", "fill_value", a[1], like.dtype);
    return Wrap(Full(like.shape, value, like.dtype, like.device));
}

CX_ROUTINE(ones_like, "a: ndarray" CX_LIKE,
           "An array of ones with the shape and dtype of another, on the default "
           "device.\n\nArgs:\n" CX_ARG_LIKE CX_ARGS_LIKE CX_NEW CX_RAISES_SHAPE) {
    const Like like{"ones_like", ToArray("ones_like", "a", a[0]), a[1], a[2], a[3]};
    return Wrap(Ones(like.shape, like.dtype, like.device));
}

CX_ROUTINE(zeros_like, "a: ndarray" CX_LIKE,
           "An array of zeros with the shape and dtype of another, on the default "
           "device.\n\nArgs:\n" CX_ARG_LIKE CX_ARGS_LIKE CX_NEW CX_RAISES_SHAPE) {
    const Like like{"zeros_like", ToArray("zeros_like", "a", a[0]), a[1], a[2], a[3]};
    return Wrap(Zeros(like.shape, like.dtype, like.device));
}

#undef CX_LIKE
#undef CX_ARGS_LIKE

CX_ROUTINE(
    arange,
    "start: float, stop: float | None = None, step: float | None = None, "
    "dtype: DtypeLike | None = None, device: DeviceLike | None = None) -> ndarray",
    "Evenly spaced values from ``start``, or 0, up to ``stop``, excluded.\n\n"
    "Args:\n"
    "    start (number): The first value; the end if ``stop`` is not given.\n"
    "    stop (number): The end, excluded.\n"
    "    step (number): The step; 1 by default, it may be negative.\n" CX_ARG_DTYPE(
        "int32 or float32 by the kind of ``step``, or of ``start`` without one; float32 for a "
        "fractional ``start``") CX_ARG_DEVICE
    "Returns:\n"
    "    ndarray: One dimension, in no graph. Integers advance by integral steps, as in NumPy.\n"
    "Raises:\n"
    "    DimensionError: If ``step`` is 0.\n"
    "    OverflowError: If the dtype does not hold one of the ends.") {
    const Scalar first = ToScalar("arange", "start", a[0]);
    const Scalar step = Given(a[2]) ? ToScalar("arange", "step", a[2]) : Scalar{1};
    const Dtype dtype = ToDtypeOr(a[3], Given(a[2]) ? ArangeDtype(first, step) : first.dtype());
    if (!Given(a[1])) return Wrap(Arange(Scalar{0}, first, step, dtype, ToDevice(a[4])));
    return Wrap(Arange(first, ToScalar("arange", "stop", a[1]), step, dtype, ToDevice(a[4])));
}

CX_ROUTINE(
    linspace,
    "start: complex | ndarray, stop: complex | ndarray, num: int = 50, endpoint: bool = True, "
    "dtype: DtypeLike | None = None, device: DeviceLike | None = None, *, "
    "retstep: bool = False, axis: int = 0) -> Any",
    "Evenly spaced values from ``start`` to ``stop``.\n\n"
    "Args:\n"
    "    start (float or complex): The first value; or an array of them.\n"
    "    stop (float or complex): The end; or an array, broadcast with ``start``.\n"
    "    num (int): The number of values.\n"
    "    endpoint (bool): Whether the last value is ``stop``.\n" CX_ARG_DTYPE(
        "float32 or complex64, or the dtype of array ends; integer values are rounded down")
    "    device (str or Device): Default: that of array ends, else the default device.\n"
    "    retstep (bool): Whether to return the spacing as well.\n"
    "    axis (int): The axis of the values in the result, for array ends.\n"
    "Returns:\n"
    "    ndarray: 1-d, in no graph; for array ends, with one more axis, differentiable in both, "
    "any order. Or a tuple of that and the spacing, which is NaN for a single value.\n"
    "Raises:\n"
    "    DimensionError: If ``num`` is negative.\n"
    "    DimensionError: If arrays do not broadcast, or there is no such axis.\n"
    "    DeviceError: If arrays are on another device than ``device``.") {
    const int64_t num = a[2] != nullptr ? ToInt("linspace", "num", a[2]) : 50;
    const bool endpoint = ToBool(a[3], true);
    const int8_t axis = a[7] != nullptr ? ToAxis("linspace", "axis", a[7]) : int8_t{0};
    const int64_t intervals = endpoint ? num - 1 : num;
    const double share = intervals > 0 ? 1 / static_cast<double>(intervals) : NAN;
    if (IsNdArray(a[0]) || IsNdArray(a[1])) {
        const auto end = [&](const char* name, int i) {
            return IsNdArray(a[i]) ? Self(a[i]) : ToValues("linspace", name, Self(a[1 - i]), a[i]);
        };
        const Array start = end("start", 0);
        if (Given(a[5])) CheckSameDevice("linspace", ToDevice(a[5]), start.device());
        const Array stop = end("stop", 1);
        const std::optional<Dtype> dtype =
            Given(a[4]) ? std::optional<Dtype>{ToDtype(a[4])} : std::nullopt;
        const Array y = Linspace(start, stop, num, endpoint, dtype, axis);
        if (!ToBool(a[6], false)) return Wrap(y);
        return WrapTuple({y, (stop - start) * share});
    }
    if (PyComplex_Check(a[0]) || PyComplex_Check(a[1])) {
        const auto end = [&](const char* name, PyObject* o) {
            return Full(Shape{}, ToScalar("linspace", name, o), Dtype::kComplex128, ToDevice(a[5]));
        };
        const Array start = end("start", a[0]);
        const Array stop = end("stop", a[1]);
        const Array y =
            Linspace(start, stop, num, endpoint, ToDtypeOr(a[4], Dtype::kComplex64), axis);
        if (!ToBool(a[6], false)) return Wrap(y);
        const Ref values = Check(Wrap(y));
        const Ref step = Check(FromScalar((stop - start) * share));
        return Check(PyTuple_Pack(2, values.get(), step.get())).Release();
    }
    const double start = ToDouble("linspace", "start", a[0]);
    const double stop = ToDouble("linspace", "stop", a[1]);
    const Array y =
        Linspace(start, stop, num, endpoint, ToDtypeOr(a[4], kDefaultFloat), ToDevice(a[5]));
    NormalizeAxis("linspace", axis, 1);
    if (!ToBool(a[6], false)) return Wrap(y);
    const Ref values = Check(Wrap(y));
    const Ref step = Check(PyFloat_FromDouble((stop - start) * share));
    return Check(PyTuple_Pack(2, values.get(), step.get())).Release();
}

CX_ROUTINE(
    identity,
    "n: int, dtype: DtypeLike | None = None, device: DeviceLike | None = None) -> ndarray",
    "The identity matrix.\n\nArgs:\n    n (int): The number of rows and columns.\n" CX_ARG_DTYPE(
        "float32") CX_ARG_DEVICE CX_NEW CX_RAISES_SHAPE) {
    return Wrap(
        Identity(ToInt("identity", "n", a[0]), ToDtypeOr(a[1], kDefaultFloat), ToDevice(a[2])));
}

CX_ROUTINE(eye,
           "N: int, M: int | None = None, k: int = 0, dtype: DtypeLike | None = None, "
           "device: DeviceLike | None = None) -> ndarray",
           "A matrix of shape (N, M) with ones on diagonal k, zeros elsewhere.\n\n"
           "Args:\n" CX_ARGS_MATRIX CX_ARG_DTYPE("float64") CX_ARG_DEVICE CX_NEW CX_RAISES_SHAPE) {
    const int64_t n = ToInt("eye", "N", a[0]);
    return Wrap(Eye(n, Given(a[1]) ? ToInt("eye", "M", a[1]) : n, ToDiagonal("eye", "k", a[2]),
                    ToDtypeOr(a[3], Dtype::kFloat64), ToDevice(a[4])));
}

CX_ROUTINE(tri,
           "N: int, M: int | None = None, k: int = 0, dtype: DtypeLike | None = None, "
           "device: DeviceLike | None = None) -> ndarray",
           "A matrix of shape (N, M) with ones on and below diagonal k, zeros above.\n\n"
           "Args:\n" CX_ARGS_MATRIX CX_ARG_DTYPE("float32") CX_ARG_DEVICE CX_NEW CX_RAISES_SHAPE) {
    const int64_t n = ToInt("tri", "N", a[0]);
    return Wrap(Tri(n, Given(a[1]) ? ToInt("tri", "M", a[1]) : n, ToDiagonal("tri", "k", a[2]),
                    ToDtypeOr(a[3], kDefaultFloat), ToDevice(a[4])));
}

CX_ROUTINE(
    frombuffer,
    "buffer: Any, dtype: DtypeLike | None = None, count: int = -1, offset: int = 0, "
    "device: DeviceLike | None = None) -> ndarray",
    "A one-dimensional array over the memory of a buffer.\n\n"
    "Args:\n"
    "    buffer: Anything with the buffer protocol, C-contiguous. It is kept alive.\n"
    "    dtype: Dtype of the elements. Default: float32.\n"
    "    count (int): Number of elements; -1 takes all that is left.\n"
    "    offset (int): Bytes to skip at the start.\n"
    "    device: Default: the default device.\n"
    "Returns:\n"
    "    ndarray: It shares the memory on a native device, and is a copy on others. Read-only if "
    "the\n"
    "        buffer is.\n"
    "Raises:\n"
    "    ChainerxError: If the buffer has too few bytes, or not a whole number of elements.\n"
    "    TypeError: If it is not a buffer.\n"
    "    ValueError: If bools have bytes other than 0 and 1, or the buffer holds Python objects.") {
    return Wrap(FromBuffer(a[0], ToDtypeOr(a[1], kDefaultFloat),
                           a[2] != nullptr ? ToInt("frombuffer", "count", a[2]) : -1,
                           a[3] != nullptr ? ToInt("frombuffer", "offset", a[3]) : 0,
                           ToDevice(a[4])));
}

CX_ROUTINE(_extents_meet, "a: ExistingArray, b: ExistingArray) -> bool",
           "Whether the memory ranges from first to last element of two arrays overlap; for "
           "may_share_memory().") {
    const Array& x = ToArray("may_share_memory", "a", a[0]);
    const Array& y = ToArray("may_share_memory", "b", a[1]);
    const auto extent = [](const Array& array) {
        return internal::ExtentOf(array.raw_data(), array.shape(), array.strides(),
                                  array.GetItemSize());
    };
    const internal::Extent ex = extent(x);
    const internal::Extent ey = extent(y);
    // Compares devices, too, since different devices may use equal addresses.
    return PyBool_FromLong(&x.device() == &y.device() && ex.begin != ex.end && ey.begin != ey.end &&
                           ex.begin < ey.end && ey.begin < ex.end);
}

CX_ROUTINE(to_numpy, "array: ndarray, copy: bool = True) -> numpy.ndarray",
           "The values as a NumPy array.\n\n"
           "Args:\n"
           "    array (ndarray): On any device.\n"
           "    copy (bool): False shares the memory of an array on a native device.\n"
           "Returns:\n"
           "    numpy.ndarray: Of the same shape and dtype.") {
    return ToNumpy(ToArray("to_numpy", "array", a[0]), ToBool(a[1], true));
}

}  // namespace
}  // namespace chainerx::python
