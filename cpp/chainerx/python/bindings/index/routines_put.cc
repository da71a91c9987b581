// Scatter to many elements of an array at once, and gather along an axis.
#include "chainerx/ops/index/index_update.h"
#include "chainerx/python/bounds_mode.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray/ndarray_index.h"
#include "chainerx/python/values.h"

namespace chainerx::python {
namespace {

#define CX_RAISES_WRITE                                                                        \
    "    DtypeError: If the dtype of the values is of a higher kind than that of the array.\n" \
    "    ChainerxError: If the array is in a graph, or read-only."

IndexBoundsMode ToPutMode(const char* op, PyObject* o) {
    return o != nullptr ? ToBoundsMode(op, o) : IndexBoundsMode::kRaise;
}

void CallPut(const Array& x, PyObject* ind, PyObject* v, PyObject* mode) {
    Put(x, ToIndices("put", "ind", ind, x.device()), ToValues("put", "v", x, v),
        ToPutMode("put", mode));
}

CX_ROUTINE(
    put,
    "a: ExistingArray, ind: ndarray | Sequence[int] | int, v: ndarray | Scalar, "
    "mode: str = 'raise') -> None",
    "Writes to elements of the flattened array, in place.\n\n"
    "Args:\n"
    "    a (ndarray): The array to write to, in no graph.\n"
    "    ind: Integers of any dtype and shape; among equal ones the last one wins.\n"
    "    v: Values in C order, an array, a number or a list; repeated from the start where they "
    "are\n"
    "        fewer. They are cast to the dtype of ``a``.\n"
    "    mode (str): What an index out of range does: 'raise' an IndexError, 'wrap' around, or\n"
    "        'clip'.\n"
    "Raises:\n"
    "    IndexError: For an index out of range.\n"
    "    ValueError: If there is no such mode.\n" CX_RAISES_WRITE) {
    CallPut(ToArray("put", "a", a[0]), a[1], a[2], a[3]);
    return Py_NewRef(Py_None);
}
CX_METHOD(put,
          "indices: ndarray | Sequence[int] | int, values: ndarray | Scalar, mode: str = 'raise') "
          "-> None",
          "See chainerx.put().") {
    CallPut(Self(self), a[0], a[1], a[2]);
    return Py_NewRef(Py_None);
}

CX_ROUTINE(
    place, "arr: ExistingArray, mask: ndarray, vals: ndarray | Scalar) -> None",
    "Writes successive values to the elements where a mask is true, in place.\n\n"
    "Args:\n"
    "    arr (ndarray): The array to write to, in no graph.\n"
    "    mask (ndarray): As many elements; not 0 means true.\n"
    "    vals: An array, a number or a list; repeated from the start where they are fewer. They "
    "are\n"
    "        cast to the dtype of ``arr``.\n"
    "Raises:\n"
    "    DimensionError: If the mask has another size.\n"
    "    ValueError: If there are no values, and the mask is true somewhere.\n" CX_RAISES_WRITE) {
    const Array& x = ToArray("place", "arr", a[0]);
    Place(x, ToIndices("place", "mask", a[1], x.device()), ToValues("place", "vals", x, a[2]));
    return Py_NewRef(Py_None);
}

CX_ROUTINE(putmask, "a: ExistingArray, mask: ndarray, values: ndarray | Scalar) -> None",
           "Writes the values at the positions where a mask is true, in place.\n\n"
           "Args:\n"
           "    a (ndarray): The array to write to, in no graph.\n"
           "    mask (ndarray): As many elements; not 0 means true.\n"
           "    values: An array, a number or a list; repeated to the shape of ``a`` if they are "
           "of another\n"
           "        size. Cast to the dtype of ``a``.\n"
           "Raises:\n"
           "    DimensionError: If the mask has another size.\n" CX_RAISES_WRITE) {
    const Array& x = ToArray("putmask", "a", a[0]);
    PutMask(x, ToIndices("putmask", "mask", a[1], x.device()),
            ToValues("putmask", "values", x, a[2]));
    return Py_NewRef(Py_None);
}

CX_ROUTINE(
    fill_diagonal, "a: ExistingArray, val: ndarray | Scalar, wrap: bool = False) -> None",
    "Writes to the main diagonal, in place.\n\n"
    "Args:\n"
    "    a (ndarray): 2 dimensions, or more of equal length; in no graph.\n"
    "    val: An array, a number or a list; repeated from the start where they are fewer.\n"
    "    wrap (bool): Whether the diagonal of a tall matrix wraps around after the last column.\n"
    "Raises:\n"
    "    DimensionError: If ``a`` has other dimensions.\n"
    "    ValueError: If there are no values.\n" CX_RAISES_WRITE) {
    const Array& x = ToArray("fill_diagonal", "a", a[0]);
    FillDiagonal(x, ToValues("fill_diagonal", "val", x, a[1]), ToBool(a[2], false));
    return Py_NewRef(Py_None);
}

CX_ROUTINE(add_at, "a: ExistingArray, indices: Any, b: ndarray | Scalar) -> None",
           "``a[indices] += b``, in place; values with equal indices accumulate, as in "
           "``numpy.add.at``.\n\n"
           "Args:\n"
           "    a (ndarray): The array to write to, in no graph.\n"
           "    indices: Any index of ``a``.\n"
           "    b: An array, a number or a list; broadcast. Cast to the dtype of ``a``.\n"
           "Raises:\n"
           "    IndexError: For an index out of range.\n"
           "    DimensionError: If ``b`` does not broadcast.\n" CX_RAISES_WRITE) {
    const Array& x = ToArray("add_at", "a", a[0]);
    AddAt(x, ToItems(a[1], x.device()), ToValues("add_at", "b", x, a[2]));
    return Py_NewRef(Py_None);
}

std::optional<int8_t> ToAxisOrLast(const char* op, PyObject* o) {
    return o == nullptr ? std::optional<int8_t>{int8_t{-1}} : ToOptionalAxis(op, "axis", o);
}

CX_ROUTINE(take_along_axis, "arr: ndarray, indices: ndarray, axis: int | None = -1) -> ndarray",
           "Takes elements along an axis by indices of their own for each position on the other "
           "axes, such as those of ``argsort``.\n\n"
           "Args:\n"
           "    arr (ndarray): Any dtype.\n"
           "    indices (ndarray): Integers, with as many dimensions; the other axes broadcast.\n"
           "    axis (int): None takes from the flattened array, at indices of 1 dimension.\n"
           "Returns:\n"
           "    ndarray: Differentiable in ``arr``, any order.\n"
           "Raises:\n"
           "    IndexError: For an index out of range.\n"
           "    DimensionError: If shapes do not fit, or there is no such axis.\n"
           "    DtypeError: If ``indices`` are not integers.") {
    const Array& x = ToArray("take_along_axis", "arr", a[0]);
    return Wrap(TakeAlongAxis(x, ToIndices("take_along_axis", "indices", a[1], x.device()),
                              ToAxisOrLast("take_along_axis", a[2])));
}

CX_ROUTINE(
    put_along_axis,
    "arr: ExistingArray, indices: ndarray, values: ndarray | Scalar, axis: int | None = -1) -> "
    "None",
    "Writes to elements along an axis by indices of their own for each position on the other axes, "
    "in place.\n\n"
    "Args:\n"
    "    arr (ndarray): The array to write to, in no graph.\n"
    "    indices (ndarray): Integers, with as many dimensions; the other axes broadcast.\n"
    "    values: An array, a number or a list; broadcast. Cast to the dtype of ``arr``.\n"
    "    axis (int): None writes to the flattened array, at indices of 1 dimension.\n"
    "Raises:\n"
    "    IndexError: For an index out of range.\n"
    "    DimensionError: If shapes do not fit, or there is no such axis.\n" CX_RAISES_WRITE) {
    const Array& x = ToArray("put_along_axis", "arr", a[0]);
    PutAlongAxis(x, ToIndices("put_along_axis", "indices", a[1], x.device()),
                 ToValues("put_along_axis", "values", x, a[2]),
                 ToAxisOrLast("put_along_axis", a[3]));
    return Py_NewRef(Py_None);
}

}  // namespace
}  // namespace chainerx::python
