// Joins, splits, repeats, and makes views that add or drop axes.
#include <cmath>
#include <type_traits>

#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/python/casting.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"
#include "chainerx/python/values.h"

namespace chainerx::python {
namespace {

#define CX_JOIN_DTYPE "dtype: DtypeLike | None = None, casting: str = 'same_kind'"
#define CX_JOIN_DTYPE_ARGS \
    "    dtype: Dtype of the result; by default the promoted one.\n" CX_CASTING_ARG

CX_ROUTINE(
    concatenate,
    "arrays: Sequence[ndarray], axis: int | None = 0, " CX_RESULT_OUT ", *, " CX_JOIN_DTYPE
    ") -> ndarray",
    "Joins arrays along an existing axis.\n\n"
    "Args:\n"
    "    arrays: A list or tuple; all shapes agree except on the axis. Dtypes are promoted.\n"
    "    axis (int): None joins the flattened arrays.\n" CX_RESULT_OUT_ARG CX_JOIN_DTYPE_ARGS
    "Returns:\n    ndarray: Differentiable, any order.\n"
    "Raises:\n    DimensionError: If shapes do not fit, or there is no array."
    "\n    ValueError: If there is no such ``casting``.") {
    const std::vector<Array> arrays = ToParts("concatenate", a[0], a[3], a[4], a[2]);
    std::optional<int8_t> axis = 0;
    if (a[1] != nullptr) axis = ToOptionalAxis("concatenate", "axis", a[1]);
    return Finish("concatenate", Concatenate(arrays, axis), a[2]);
}

CX_ALIAS(concat, concatenate)

CX_ROUTINE(stack,
           "arrays: Sequence[ndarray], axis: int = 0, " CX_RESULT_OUT ", *, " CX_JOIN_DTYPE
           ") -> ndarray",
           "Joins arrays along a new axis.\n\n"
           "Args:\n"
           "    arrays (sequence of ndarray): A list or tuple, of one shape. Dtypes are promoted.\n"
           "    axis (int): Its position in the result.\n" CX_RESULT_OUT_ARG CX_JOIN_DTYPE_ARGS
           "Returns:\n"
           "    ndarray: Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If shapes differ, or there is no array or no such axis.\n"
           "    ValueError: If there is no such ``casting``.") {
    const std::vector<Array> arrays = ToParts("stack", a[0], a[3], a[4], a[2]);
    return Finish("stack",
                  Stack(arrays, a[1] != nullptr ? ToAxis("stack", "axis", a[1]) : int8_t{0}), a[2]);
}

CX_ROUTINE(
    hstack, "arrays: Sequence[ndarray], *, " CX_JOIN_DTYPE ") -> ndarray",
    "Joins arrays side by side: along axis 1, or 0 if they have only one.\n\n"
    "Args:\n"
    "    arrays (sequence of ndarray): A list or tuple. Dtypes are promoted.\n" CX_JOIN_DTYPE_ARGS
    "Returns:\n"
    "    ndarray: Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If shapes do not fit, or there is no array."
    "\n    ValueError: If there is no such ``casting``.") {
    return Wrap(HStack(Refs(ToParts("hstack", a[0], a[1], a[2]))));
}

CX_ROUTINE(vstack, "arrays: Sequence[ndarray], *, " CX_JOIN_DTYPE ") -> ndarray",
           "Joins arrays along axis 0.\n\n"
           "Args:\n"
           "    arrays (sequence of ndarray): A list or tuple. Dtypes are promoted. 1-d ones are "
           "rows.\n" CX_JOIN_DTYPE_ARGS
           "Returns:\n"
           "    ndarray: 2 dimensions or more. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If shapes do not fit, or there is no array."
           "\n    ValueError: If there is no such ``casting``.") {
    return Wrap(VStack(Refs(ToParts("vstack", a[0], a[1], a[2]))));
}

CX_ALIAS(row_stack, vstack)

CX_ROUTINE(dstack, "arrays: Sequence[ndarray]) -> ndarray",
           "Joins arrays along axis 2, after :func:`atleast_3d`.\n\n"
           "Args:\n"
           "    arrays (sequence of ndarray): A list or tuple. Dtypes are promoted.\n"
           "Returns:\n"
           "    ndarray: 3 dimensions or more. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If shapes do not fit, or there is no array.") {
    return Wrap(DStack(Refs(ToArrays("dstack", "arrays", a[0]))));
}

// A number of sections given as a float, or as an array without dimensions.
std::optional<double> TryFloat(const char* op, PyObject* parts) {
    const std::optional<Scalar> scalar = TryScalar(parts);
    if (scalar && scalar->kind() == DtypeKind::kFloat) return scalar->To<double>();
    if (!IsNdArray(parts) && PyObject_TypeCheck(parts, Numpy().ndarray) == 0) return std::nullopt;
    const Ref ndim = Check(PyObject_GetAttrString(parts, "ndim"));
    if (ToInt(op, "ndim", ndim.get()) != 0) return std::nullopt;
    const Ref number = Check(PyObject_CallMethod(parts, "tolist", nullptr));
    if (!PyFloat_Check(number.get())) return std::nullopt;
    return PyFloat_AS_DOUBLE(number.get());
}

// Calls f with the number of sections, or with the indices at which to split.
PyObject* CallSplit(const char* op, PyObject* parts, auto&& f) {
    if (const auto number = TryFloat(op, parts)) {
        const double v = *number;
        if (!(v == std::nearbyint(v) && std::abs(v) < 0x1p62)) {
            throw ValueError{op, ": the number of sections must be an integer, got ", v};
        }
        return WrapList(f(static_cast<int64_t>(v)));
    }
    if (const auto indices = TryInts(op, "indices_or_sections", parts)) {
        return WrapList(f(*indices));
    }
    return WrapList(f(ToInt(op, "indices_or_sections", parts)));
}

CX_ROUTINE(
    split,
    "ary: ndarray, indices_or_sections: Indices, axis: int = 0) -> "
    "list[ndarray]",
    "Splits an array into parts along an axis.\n\n"
    "Args:\n"
    "    ary (ndarray): Any shape and dtype.\n"
    "    indices_or_sections: The number of equal parts, or a sequence or array of the indices\n"
    "        where parts begin.\n"
    "    axis (int): The axis to split.\n"
    "Returns:\n"
    "    list of ndarray: Views. Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If the axis can't be split equally, or there is no such axis.\n"
    "    ValueError: If the number of parts is not an integer.") {
    const Array& x = ToArray("split", "ary", a[0]);
    const int8_t axis = a[2] != nullptr ? ToAxis("split", "axis", a[2]) : int8_t{0};
    return CallSplit("split", a[1], [&](const auto& parts) { return Split(x, parts, axis); });
}

CX_ROUTINE(array_split,
           "ary: ndarray, indices_or_sections: Indices, axis: int = 0) -> "
           "list[ndarray]",
           "Splits an array into parts along an axis, which need not be equal.\n\n"
           "Args:\n"
           "    ary (ndarray): Any shape and dtype.\n"
           "    indices_or_sections: The number of parts, of which the first ones are longer by "
           "one; or a\n"
           "        sequence or array of the indices where parts begin.\n"
           "    axis (int): The axis to split.\n"
           "Returns:\n"
           "    list of ndarray: Views. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If the number is not positive, or there is no such axis.\n"
           "    ValueError: If it is not an integer.") {
    const Array& x = ToArray("array_split", "ary", a[0]);
    const int8_t axis = a[2] != nullptr ? ToAxis("array_split", "axis", a[2]) : int8_t{0};
    return CallSplit("array_split", a[1], [&](const auto& parts) {
        if constexpr (std::is_same_v<decltype(parts), const int64_t&>) {
            return ArraySplit(x, parts, axis);
        } else {
            return Split(x, parts, axis, "array_split");
        }
    });
}

#define CX_SPLIT(name, Name, text, dimensions)                                                     \
    CX_ROUTINE(                                                                                    \
        name, "ary: ndarray, indices_or_sections: Indices) -> list[ndarray]",                      \
        text                                                                                       \
        "\n\n"                                                                                     \
        "Args:\n"                                                                                  \
        "    ary (ndarray): " dimensions                                                           \
        " or more, any dtype.\n"                                                                   \
        "    indices_or_sections: The number of equal parts, or a sequence or array of the "       \
        "indices\n"                                                                                \
        "        where parts begin.\n"                                                             \
        "Returns:\n"                                                                               \
        "    list of ndarray: Views. Differentiable, any order.\n"                                 \
        "Raises:\n"                                                                                \
        "    DimensionError: If the axis can't be split equally, or there are fewer dimensions.\n" \
        "    ValueError: If the number of parts is not an integer.") {                             \
        const Array& x = ToArray(#name, "ary", a[0]);                                              \
        return CallSplit(#name, a[1], [&](const auto& parts) { return Name(x, parts); });          \
    }
CX_SPLIT(hsplit, HSplit, "Splits an array into parts along axis 1, or 0 if it is 1-d.",
         "1 dimension")
CX_SPLIT(vsplit, VSplit, "Splits an array into parts along axis 0.", "2 dimensions")
CX_SPLIT(dsplit, DSplit, "Splits an array into parts along axis 2.", "3 dimensions")
#undef CX_SPLIT

PyObject* CallRepeat(const Array& x, PyObject* repeats, PyObject* axis) {
    const std::optional<int8_t> a = ToOptionalAxis("repeat", "axis", axis);
    if (const auto counts = TryInts("repeat", "repeats", repeats)) {
        return Wrap(Repeat(x, *counts, a));
    }
    return Wrap(Repeat(x, ToInt("repeat", "repeats", repeats), a));
}

CX_ROUTINE(repeat, "a: ndarray, repeats: Indices, axis: int | None = None) -> ndarray",
           "Repeats each element along an axis.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    repeats: The number of repetitions: one for all, or a sequence or array with one "
           "per element.\n"
           "    axis (int): None repeats the elements of the flattened array.\n"
           "Returns:\n"
           "    ndarray: Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If a number is negative, their count does not fit, or there is no "
           "such axis.") {
    return CallRepeat(ToArray("repeat", "a", a[0]), a[1], a[2]);
}

CX_METHOD(repeat, "repeats: Indices, axis: int | None = None) -> ndarray",
          "See chainerx.repeat().") {
    return CallRepeat(Self(self), a[0], a[1]);
}

CX_ROUTINE(as_strided,
           "x: ndarray, shape: ShapeLike, strides: ShapeLike, storage_offset: int | None = None) "
           "-> ndarray",
           "A view of the memory of an array, with any shape and strides.\n\n"
           "Args:\n"
           "    x (ndarray): Any shape and dtype.\n"
           "    shape (tuple of int): Shape of the view.\n"
           "    strides (tuple of int): For each axis, the distance of its elements, counted in "
           "elements (in numpy.lib.stride_tricks.as_strided, in bytes).\n"
           "    storage_offset (int): The position of the first element in the memory, which may "
           "begin before ``x``. By default that of ``x``.\n"
           "Returns:\n"
           "    ndarray: A view, read-only if elements overlap. Differentiable, any order; "
           "elements of ``x`` that overlap in memory share the gradient.\n"
           "Raises:\n"
           "    DimensionError: If the view exceeds the memory, or strides do not fit.") {
    std::optional<int64_t> offset;
    if (Given(a[3])) offset = ToInt("as_strided", "storage_offset", a[3]);
    const Shape strides = ToShape("as_strided", "strides", a[2]);
    return Wrap(AsStrided(ToArray("as_strided", "x", a[0]), ToShape("as_strided", "shape", a[1]),
                          Strides(strides.begin(), strides.end()), offset));
}

CX_ROUTINE(broadcast_to, "array: ndarray, shape: ShapeLike) -> ndarray",
           "Broadcasts an array to a shape.\n\n"
           "Args:\n"
           "    array (ndarray): Any shape and dtype.\n"
           "    shape (tuple of int): A shape that ``array`` broadcasts to.\n"
           "Returns:\n"
           "    ndarray: A view, with stride 0 along repeated axes. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If the shapes do not fit.") {
    return Wrap(BroadcastTo(ToArray("broadcast_to", "array", a[0]),
                            ToShape("broadcast_to", "shape", a[1])));
}

CX_ROUTINE(broadcast_arrays, "*args: ndarray) -> tuple[ndarray, ...]",
           "Broadcasts arrays to their common shape.\n\n"
           "Args:\n"
           "    *args (ndarray): One or more, of any dtypes.\n"
           "Returns:\n"
           "    tuple of ndarray: Views. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If the shapes do not fit.\n"
           "    TypeError: If there are no arrays.") {
    if (PyTuple_GET_SIZE(a[0]) == 0) throw TypeError{"broadcast_arrays: no arrays were given"};
    return WrapTuple(BroadcastArrays(ToArrays("broadcast_arrays", "args", a[0])));
}

CX_ROUTINE(
    diag, "v: ndarray, k: int = 0) -> ndarray",
    "Extracts a diagonal of a matrix, or builds a matrix with a diagonal.\n\n"
    "Args:\n"
    "    v (ndarray): 2-d, the matrix; or 1-d, the diagonal. Any dtype.\n"
    "    k (int): Which diagonal: 0 is the main one, those above it are positive.\n"
    "Returns:\n"
    "    ndarray: The diagonal, a view; or a new matrix, 0 elsewhere. Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If ``v`` has neither 1 nor 2 dimensions.") {
    return Wrap(Diag(ToArray("diag", "v", a[0]), ToDiagonal("diag", "k", a[1])));
}

CX_ROUTINE(_diagonal, "x: ndarray, offset: int, axis1: int, axis2: int) -> ndarray",
           "A view of the diagonal along two axes, as the last dimension; for chainer.") {
    const Array& x = ToArray("diagonal", "x", a[0]);
    const auto axis = [&](const char* name, PyObject* o) {
        return NormalizeAxis("diagonal", ToInt("diagonal", name, o), x.ndim());
    };
    return Wrap(
        Diagonal(x, ToInt("diagonal", "offset", a[1]), axis("axis1", a[2]), axis("axis2", a[3])));
}

CX_ROUTINE(diagflat, "v: ndarray, k: int = 0) -> ndarray",
           "Builds a matrix with the flattened array as a diagonal.\n\n"
           "Args:\n"
           "    v (ndarray): Any shape and dtype.\n"
           "    k (int): Which diagonal: 0 is the main one, those above it are positive.\n"
           "Returns:\n"
           "    ndarray: 2-d, 0 elsewhere. Differentiable, any order.") {
    return Wrap(DiagFlat(ToArray("diagflat", "v", a[0]), ToDiagonal("diagflat", "k", a[1])));
}

CX_ROUTINE(
    tril, "m: ndarray, k: int = 0) -> ndarray",
    "A copy with zeros above a diagonal of the last two axes.\n\n"
    "Args:\n"
    "    m (ndarray): 1 dimension or more, any dtype; a 1-d array becomes each row of a square.\n"
    "    k (int): Which diagonal: 0 is the main one, those above it are positive.\n"
    "Returns:\n"
    "    ndarray: Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If there are no dimensions.") {
    return Wrap(Tril(ToArray("tril", "m", a[0]), ToDiagonal("tril", "k", a[1])));
}

CX_ROUTINE(
    triu, "m: ndarray, k: int = 0) -> ndarray",
    "A copy with zeros below a diagonal of the last two axes.\n\n"
    "Args:\n"
    "    m (ndarray): 1 dimension or more, any dtype; a 1-d array becomes each row of a square.\n"
    "    k (int): Which diagonal: 0 is the main one, those above it are positive.\n"
    "Returns:\n"
    "    ndarray: Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If there are no dimensions.") {
    return Wrap(Triu(ToArray("triu", "m", a[0]), ToDiagonal("triu", "k", a[1])));
}

CX_ROUTINE(
    meshgrid,
    "*xi: ndarray, copy: bool = False, sparse: bool = False, indexing: str = 'xy') -> "
    "tuple[ndarray, ...]",
    "Coordinate arrays of a grid.\n\n"
    "Args:\n"
    "    *xi (ndarray): The coordinates along each axis, flattened; of any dtypes.\n"
    "    copy (bool): Whether to return copies, which can be written to (NumPy's default).\n"
    "    sparse (bool): Whether to return arrays of length 1 along the axes of the others, instead "
    "of broadcast ones.\n"
    "    indexing (str): 'ij', or 'xy', where the first array varies along the second axis.\n"
    "Returns:\n"
    "    tuple of ndarray: Views in the shape of the grid, or copies. Differentiable, any order.\n"
    "Raises:\n"
    "    ValueError: If ``indexing`` is neither.") {
    bool swap = true;
    if (a[3] != nullptr) {
        const std::string_view indexing = ToString("meshgrid", "indexing", a[3]);
        if (indexing != "xy" && indexing != "ij") {
            throw ValueError{"meshgrid: indexing must be 'xy' or 'ij', got '", indexing, "'"};
        }
        swap = indexing == "xy";
    }
    std::vector<Array> grid = Meshgrid(ToArrays("meshgrid", "xi", a[0]), swap, ToBool(a[2], false));
    if (ToBool(a[1], false)) {
        for (Array& x : grid) x = Copy(x);
    }
    return WrapTuple(grid);
}

}  // namespace
}  // namespace chainerx::python
