// Elements chosen by integers or conditions.
#include "chainerx/ops/choosing.h"

#include "chainerx/core/error.h"
#include "chainerx/ops/rearrange.h"
#include "chainerx/python/array_or_scalar.h"
#include "chainerx/python/bounds_mode.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python {
namespace {

// a: choices, mode, out
PyObject* CallChoose(const Array& x, PyObject* const* a) {
    const std::vector<Array> arrays =
        IsNdArray(a[0]) ? Unstack(Self(a[0])) : ToArrays("choose", "choices", a[0]);
    const IndexBoundsMode mode =
        a[1] != nullptr ? ToBoundsMode("choose", a[1]) : IndexBoundsMode::kRaise;
    return Finish("choose", Choose(x, arrays, mode), a[2]);
}

CX_ROUTINE(
    choose,
    "a: ndarray, choices: Sequence[ndarray] | ndarray, mode: str = 'raise', *, " CX_RESULT_OUT
    ") -> ndarray",
    "For each element of ``a``, the element of the array with that number.\n\n"
    "Args:\n"
    "    a (ndarray): Integers or bool.\n"
    "    choices (sequence of ndarray): What is chosen from, broadcast with ``a``; or an "
    "array of\n"
    "        such. Dtypes are promoted.\n"
    "    mode (str): What an index out of range does: 'raise', 'wrap' around, or "
    "'clip'.\n" CX_RESULT_OUT_ARG
    "Returns:\n"
    "    ndarray: Differentiable in the choices, any order.\n"
    "Raises:\n"
    "    ValueError: For an index out of range, no choices, or an unknown mode.\n"
    "    DimensionError: If shapes do not broadcast.\n"
    "    DtypeError: If ``a`` is of another dtype.") {
    return CallChoose(ToArray("choose", "a", a[0]), a + 1);
}
CX_METHOD(choose,
          "choices: Sequence[ndarray] | ndarray, mode: str = 'raise', *, " CX_RESULT_OUT
          ") -> ndarray",
          "See chainerx.choose().") {
    return CallChoose(Self(self), a);
}

CX_ROUTINE(select,
           "condlist: Sequence[ndarray], choicelist: Sequence[ndarray | Scalar], "
           "default: ndarray | Scalar = 0) -> ndarray",
           "Elements of the array whose condition is the first that holds.\n\n"
           "Args:\n"
           "    condlist (sequence of ndarray): Conditions, of bool.\n"
           "    choicelist (sequence of ndarray): As many arrays or numbers. Dtypes are "
           "promoted.\n"
           "    default (ndarray): What stands where none holds.\n"
           "Returns:\n"
           "    ndarray: All broadcast. Differentiable in the choices and the default, any order.\n"
           "Raises:\n"
           "    ValueError: If there are no conditions, or the lists are not equally long.\n"
           "    DimensionError: If shapes do not broadcast.\n"
           "    DtypeError: If a condition is not of bool.") {
    const std::vector<Array> conditions = ToArrays("select", "condlist", a[0]);
    if (!PyList_Check(a[1]) && !PyTuple_Check(a[1])) {
        throw TypeError{"select: choicelist must be a list or tuple, got ", Py_TYPE(a[1])->tp_name};
    }
    const Ref list = TrySequence(a[1]);
    const Items items{list.get()};
    std::vector<ArrayOrScalar> choices;
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        choices.push_back(ToArrayOrScalar("select", "choicelist", items[i]));
    }
    return Wrap(Select(
        conditions, choices,
        a[2] != nullptr ? ToArrayOrScalar("select", "default", a[2]) : ArrayOrScalar{Scalar{0}}));
}

Array ToCondition(const char* op, const Array& x, PyObject* o) {
    return ToIndices(op, "condition", o, x.device());
}

PyObject* CallCompress(PyObject* condition, const Array& x, PyObject* axis, PyObject* out) {
    return Finish("compress",
                  Compress(ToCondition("compress", x, condition), x,
                           ToOptionalAxis("compress", "axis", axis)),
                  out);
}

CX_ROUTINE(
    compress,
    "condition: ndarray | Sequence[bool], a: ndarray, axis: int | None = None, " CX_RESULT_OUT
    ") -> ndarray",
    "What a vector of conditions selects on an axis.\n\n"
    "Args:\n"
    "    condition: One dimension; not longer than the axis. Not 0 means that it holds.\n"
    "    a (ndarray): Any dtype.\n"
    "    axis (int): None selects from the flattened array.\n" CX_RESULT_OUT_ARG
    "Returns:\n"
    "    ndarray: Differentiable in ``a``, any order.\n"
    "Raises:\n"
    "    IndexError: If a condition behind the end of the axis holds.\n"
    "    DimensionError: If ``condition`` has other dimensions, or there is no such axis.") {
    return CallCompress(a[0], ToArray("compress", "a", a[1]), a[2], a[3]);
}
CX_METHOD(compress,
          "condition: ndarray | Sequence[bool], axis: int | None = None, " CX_RESULT_OUT
          ") -> ndarray",
          "See chainerx.compress().") {
    return CallCompress(a[0], Self(self), a[1], a[2]);
}

CX_ROUTINE(extract, "condition: ndarray, arr: ndarray) -> ndarray",
           "The elements where a condition holds.\n\n"
           "Args:\n"
           "    condition (ndarray): Not 0 means that it holds; flattened.\n"
           "    arr (ndarray): Any shape and dtype; flattened.\n"
           "Returns:\n"
           "    ndarray: 1-d. Differentiable in ``arr``, any order.\n"
           "Raises:\n"
           "    IndexError: If the condition holds behind the last element.") {
    const Array& x = ToArray("extract", "arr", a[1]);
    return Wrap(Extract(ToCondition("extract", x, a[0]), x));
}

}  // namespace
}  // namespace chainerx::python
