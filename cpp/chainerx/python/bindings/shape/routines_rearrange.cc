// Concatenates, cuts, flips and rotates arrays.
#include "chainerx/ops/shape/rearrange.h"

#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/array_likes.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/values.h"

namespace chainerx::python {
namespace {

CX_ROUTINE(column_stack, "arrays: Sequence[ndarray]) -> ndarray",
           "Joins arrays along axis 1, with 1-d ones as columns.\n\n"
           "Args:\n"
           "    arrays (sequence of ndarray): A list or tuple. Dtypes are promoted.\n"
           "Returns:\n"
           "    ndarray: 2 dimensions or more. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If shapes do not fit, or there is no array.") {
    return Wrap(ColumnStack(Refs(ToArrays("column_stack", "arrays", a[0]))));
}

void SeeBlocks(PyObject* o, ArraysBeside& beside, int depth = 0) {
    beside.See(o);
    if (!PyList_Check(o) || depth == kMaxNdim) return;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(o); ++i) {
        SeeBlocks(PyList_GET_ITEM(o, i), beside, depth + 1);
    }
}

// Lists nested deeper than the maximum number of axes are an error, and could exhaust the stack.
Blocks ToBlocks(PyObject* o, int depth, PyObject* all) {
    if (!PyList_Check(o)) {
        if (IsNdArray(o)) return {Self(o), {}};
        ArraysBeside beside;
        SeeBlocks(all, beside);
        return {beside.Make("block", "arrays", o), {}};
    }
    if (depth == kMaxNdim) internal::ThrowTooManyDims(depth + 1);
    Blocks blocks;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(o); ++i) {
        blocks.parts.push_back(ToBlocks(PyList_GET_ITEM(o, i), depth + 1, all));
    }
    return blocks;
}

CX_ROUTINE(block, "arrays: Any) -> ndarray",
           "Assembles an array from nested lists of blocks.\n\n"
           "Args:\n"
           "    arrays: Nested lists of ndarrays or numbers, all equally deep. The innermost lists "
           "are joined along the last\n"
           "        axis, those around them along the one before, and so on. Dtypes are promoted.\n"
           "Returns:\n"
           "    ndarray: A copy. Differentiable, any order.\n"
           "Raises:\n"
           "    ValueError: If a list is empty, or lists are not equally deep.\n"
           "    DimensionError: If shapes do not fit.") {
    return Wrap(Block(ToBlocks(a[0], 0, a[0])));
}

CX_ROUTINE(
    append, "arr: ndarray, values: ndarray, axis: int | None = None) -> ndarray",
    "Appends values to an array.\n\n"
    "Args:\n"
    "    arr (ndarray): Any shape and dtype.\n"
    "    values (ndarray): The values to append, also a number or a list. Dtypes are promoted.\n"
    "    axis (int): The axis; None joins both arrays flattened.\n"
    "Returns:\n"
    "    ndarray: A copy. Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If shapes do not fit, or there is no such axis.") {
    const Array& x = ToArray("append", "arr", a[0]);
    return Wrap(
        Append(x, ToValues("append", "values", x, a[1]), ToOptionalAxis("append", "axis", a[2])));
}

// The indices given by a slice, or by an array or list of bool or integers.
std::vector<int64_t> ToPlaces(const char* op, const Array& x, PyObject* o, int64_t n) {
    if (PySlice_Check(o)) {
        Py_ssize_t start;
        Py_ssize_t stop;
        Py_ssize_t step;
        if (PySlice_Unpack(o, &start, &stop, &step) < 0) throw PythonError{};
        const Py_ssize_t count = PySlice_AdjustIndices(n, &start, &stop, step);
        std::vector<int64_t> places;
        for (Py_ssize_t k = 0; k < count; ++k) places.push_back(start + k * step);
        return places;
    }
    const Array given = ToIndices(op, "obj", o, x.device());
    CheckSameDevice(op, x.device(), given.device());
    if (given.ndim() != 1) {
        throw DimensionError{op, ": obj has shape ", given.shape(), ", expected one dimension"};
    }
    if (IsBool(given.dtype())) {
        if (given.shape()[0] != n) {
            throw DimensionError{op, ": obj is a bool array of length ", given.shape()[0],
                                 ", the axis has ", n};
        }
        return Nonzero(given)[0].ToHost<int64_t>();
    }
    if (!IsInt(given.dtype())) {
        throw DtypeError{op, ": obj must be of an integer dtype or bool, got ", given.dtype()};
    }
    return given.ToHost<int64_t>();
}

int64_t LengthOf(const char* op, const Array& x, std::optional<int8_t> axis) {
    return axis ? x.shape()[NormalizeAxis(op, *axis, x.ndim())] : x.GetTotalSize();
}

// Whether the object is an integer, or an array of one integer without dimensions.
bool IsOneIndex(PyObject* o) {
    if (IsNdArray(o)) return Self(o).ndim() == 0 && IsInt(Self(o).dtype());
    if (!PyObject_TypeCheck(o, Numpy().ndarray)) return PyIndex_Check(o) != 0;
    const Ref index{PyNumber_Index(o)};
    PyErr_Clear();
    return index.get() != nullptr;
}

CX_ROUTINE(insert,
           "arr: ndarray, obj: Any, values: ndarray | Scalar, axis: int | None = None) -> ndarray",
           "A copy with values inserted before given indices.\n\n"
           "Args:\n"
           "    arr (ndarray): Any shape and dtype.\n"
           "    obj: An index, or several as a slice, a list or an array, which may be a mask of "
           "bool. All\n"
           "        are indices of ``arr``.\n"
           "    values: An array, a number or a list; broadcast. For one index, its first axis "
           "runs along\n"
           "        ``axis``. Cast to the dtype of ``arr``.\n"
           "    axis (int): None inserts into the flattened array.\n"
           "Returns:\n"
           "    ndarray: Differentiable in ``arr`` and ``values``, any order.\n"
           "Raises:\n"
           "    IndexError: If an index is out of range.\n"
           "    DimensionError: If values do not fit, or there is no such axis.\n"
           "    DtypeError: If the dtype of the values is of a higher kind than that of ``arr``.") {
    const Array& x = ToArray("insert", "arr", a[0]);
    const Array values = ToValues("insert", "values", x, a[2]);
    const std::optional<int8_t> axis = ToOptionalAxis("insert", "axis", a[3]);
    if (IsOneIndex(a[1])) return Wrap(Insert(x, ToInt("insert", "obj", a[1]), values, axis));
    return Wrap(Insert(x, ToPlaces("insert", x, a[1], LengthOf("insert", x, axis)), values, axis));
}

CX_ROUTINE(
    delete, "arr: ndarray, obj: Any, axis: int | None = None) -> ndarray",
    "A copy without the elements at given indices of an axis.\n\n"
    "Args:\n"
    "    arr (ndarray): Any shape and dtype.\n"
    "    obj: An index, or several as a slice, a list or an array, which may be a mask of bool.\n"
    "    axis (int): None deletes from the flattened array.\n"
    "Returns:\n"
    "    ndarray: Differentiable, any order.\n"
    "Raises:\n"
    "    IndexError: If an index is out of range.\n"
    "    DimensionError: If there is no such axis, or a mask has another length.\n"
    "    DtypeError: If ``obj`` is an array of floats or complex numbers.") {
    const Array& x = ToArray("delete", "arr", a[0]);
    const std::optional<int8_t> axis = ToOptionalAxis("delete", "axis", a[2]);
    if (IsOneIndex(a[1])) return Wrap(Delete(x, {ToInt("delete", "obj", a[1])}, axis));
    return Wrap(Delete(x, ToPlaces("delete", x, a[1], LengthOf("delete", x, axis)), axis));
}

CX_ROUTINE(unstack, "x: ndarray, axis: int = 0) -> tuple[ndarray, ...]",
           "Splits an array into its slices along an axis, without that axis.\n\n"
           "Args:\n"
           "    x (ndarray): 1 dimension or more, any dtype.\n"
           "    axis (int): The axis to split.\n"
           "Returns:\n"
           "    tuple of ndarray: Views. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If there is no such axis.") {
    return WrapTuple(Unstack(ToArray("unstack", "x", a[0]),
                             a[1] != nullptr ? ToAxis("unstack", "axis", a[1]) : int8_t{0}));
}

CX_ROUTINE(resize, "a: ndarray, new_shape: ShapeLike) -> ndarray",
           "Fills a shape with the elements in C order, repeated as often as needed.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    new_shape (int or tuple of int): Shape of the result.\n"
           "Returns:\n"
           "    ndarray: A copy; zeros where ``a`` is empty. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If a size is negative.") {
    return Wrap(Resize(ToArray("resize", "a", a[0]), ToShape("resize", "new_shape", a[1])));
}

CX_ROUTINE(trim_zeros, "filt: ndarray, trim: str = 'fb', axis: Axis = None) -> ndarray",
           "Trims the zeros at the ends of the axes.\n\n"
           "Args:\n"
           "    filt (ndarray): 1 dimension or more, any dtype.\n"
           "    trim (str): 'f' trims at the front, 'b' at the back, 'fb' at both.\n"
           "    axis (int or tuple of int): The axes to trim; None means all.\n"
           "Returns:\n"
           "    ndarray: A view. Differentiable, any order.\n"
           "Raises:\n"
           "    ValueError: If ``trim`` is anything else.\n"
           "    DimensionError: If there is no such axis, or none at all.") {
    const Array& x = ToArray("trim_zeros", "filt", a[0]);
    bool front = true;
    bool back = true;
    if (a[1] != nullptr) {
        const std::string_view trim = ToString("trim_zeros", "trim", a[1]);
        const auto has = [trim](char lower, char upper) {
            return trim.find(lower) != trim.npos || trim.find(upper) != trim.npos;
        };
        front = has('f', 'F');
        back = has('b', 'B');
        if (trim.empty() || trim.find_first_not_of("fFbB") != trim.npos) {
            throw ValueError{"trim_zeros: trim must be 'f', 'b' or 'fb', got '", trim, "'"};
        }
    }
    return Wrap(TrimZeros(x, front, back, ToAxes("trim_zeros", "axis", a[2])));
}

CX_ROUTINE(
    rot90, "m: ndarray, k: int = 1, axes: Sequence[int] = (0, 1)) -> ndarray",
    "Rotates an array by 90 degrees in the plane of two axes.\n\n"
    "Args:\n"
    "    m (ndarray): 2 dimensions or more, any dtype.\n"
    "    k (int): Number of rotations; negative ones go the other way.\n"
    "    axes (tuple of int): The plane; rotation is from the first axis towards the second.\n"
    "Returns:\n"
    "    ndarray: A view. Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If there are no two such axes.") {
    const Array& x = ToArray("rot90", "m", a[0]);
    Axes axes{0, 1};
    if (a[2] != nullptr) {
        const OptionalAxes given = ToAxes("rot90", "axes", a[2]);
        if (!given || given->size() != 2) throw DimensionError{"rot90: axes are not two"};
        axes = *given;
    }
    return Wrap(Rot90(x, a[1] != nullptr ? ToInt("rot90", "k", a[1]) : 1, axes[0], axes[1]));
}

}  // namespace
}  // namespace chainerx::python
