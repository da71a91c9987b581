// Elements chosen by integers or conditions.
#include "chainerx/ops/index/choose.h"

#include "chainerx/ops/shape/rearrange.h"
#include "chainerx/python/array_or_scalar.h"
#include "chainerx/python/bounds_mode.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"

namespace chainerx::python {
namespace {

// The device for lists: that of the first array beside them.
Device& DeviceOf(const Items& items, const Items& others) {
    for (const Items* list : {&items, &others}) {
        for (Py_ssize_t i = 0; i < list->size(); ++i) {
            if (IsNdArray((*list)[i])) return Self((*list)[i]).device();
        }
    }
    return GetDefaultDevice();
}

std::vector<Array> ToChoices(PyObject* o) {
    return IsNdArray(o) ? Unstack(Self(o)) : ToArrays("choose", "choices", o);
}

// Arguments in `a`: mode, out.
PyObject* CallChoose(const Array& x, const std::vector<Array>& arrays, PyObject* const* a) {
    const IndexBoundsMode mode =
        a[0] != nullptr ? ToBoundsMode("choose", a[0]) : IndexBoundsMode::kRaise;
    return Finish("choose", Choose(x, arrays, mode), a[1]);
}

CX_ROUTINE(
    choose,
    "a: ArrayLike, choices: Sequence[ndarray] | ndarray, mode: str = 'raise', *, " CX_RESULT_OUT
    ") -> ndarray",
    "Builds an array from several: each element of ``a`` is the index of the one to take from.\n\n"
    "Args:\n"
    "    a (ndarray or list): Integers or bool.\n"
    "    choices (sequence of ndarray): The arrays to take from, broadcast with ``a``; or one\n"
    "        array of them. Dtypes are promoted.\n"
    "    mode (str): What an index out of range does: 'raise', 'wrap' around, or "
    "'clip'.\n" CX_RESULT_OUT_ARG
    "Returns:\n"
    "    ndarray: Differentiable in the choices, any order.\n"
    "Raises:\n"
    "    ValueError: For an index out of range, no choices, or an unknown mode.\n"
    "    DimensionError: If shapes do not broadcast.\n"
    "    DtypeError: If ``a`` is not uint8.") {
    const std::vector<Array> arrays = ToChoices(a[1]);
    Device& device = arrays.empty() ? GetDefaultDevice() : arrays.front().device();
    return CallChoose(ToIndices("choose", "a", a[0], device), arrays, a + 2);
}
CX_METHOD(choose,
          "choices: Sequence[ndarray] | ndarray, mode: str = 'raise', *, " CX_RESULT_OUT
          ") -> ndarray",
          "See chainerx.choose().") {
    return CallChoose(Self(self), ToChoices(a[0]), a + 1);
}

CX_ROUTINE(select,
           "condlist: Sequence[ArrayLike], choicelist: Sequence[ndarray | Scalar], "
           "default: ndarray | Scalar = 0) -> ndarray",
           "Elements of several arrays: each from the first one whose condition holds.\n\n"
           "Args:\n"
           "    condlist (sequence of ndarray): Conditions, bool; lists are possible.\n"
           "    choicelist (sequence of ndarray): As many arrays or numbers. Dtypes are promoted.\n"
           "    default (ndarray): The value where no condition holds.\n"
           "Returns:\n"
           "    ndarray: All broadcast. Differentiable in the choices and the default, any order.\n"
           "Raises:\n"
           "    ValueError: If there are no conditions, or the lists are not equally long.\n"
           "    DimensionError: If shapes do not broadcast.\n"
           "    DtypeError: If a condition is not bool.") {
    for (int i = 0; i < 2; ++i) {
        if (PyList_Check(a[i]) || PyTuple_Check(a[i])) continue;
        throw TypeError{"select: ", i == 0 ? "condlist" : "choicelist",
                        " must be a list or tuple, got ", Py_TYPE(a[i])->tp_name};
    }
    const Items given{a[0]};
    const Items items{a[1]};
    Device& device = DeviceOf(items, given);
    std::vector<Array> conditions;
    for (Py_ssize_t i = 0; i < given.size(); ++i) {
        conditions.push_back(ToCondition("select", "condlist", given[i], device));
    }
    std::vector<ArrayOrScalar> choices;
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        choices.push_back(ToArrayOrScalar("select", "choicelist", items[i]));
    }
    return Wrap(Select(
        conditions, choices,
        a[2] != nullptr ? ToArrayOrScalar("select", "default", a[2]) : ArrayOrScalar{Scalar{0}}));
}

PyObject* CallCompress(PyObject* condition, const Array& x, PyObject* axis, PyObject* out) {
    return Finish("compress",
                  Compress(ToCondition("compress", "condition", condition, x.device()), x,
                           ToOptionalAxis("compress", "axis", axis)),
                  out);
}

CX_ROUTINE(compress,
           "condition: ArrayLike, a: ndarray, axis: int | None = None, " CX_RESULT_OUT
           ") -> ndarray",
           "Slices along an axis where a vector of conditions holds.\n\n"
           "Args:\n"
           "    condition: One dimension; not longer than the axis. Not 0 means that it holds.\n"
           "    a (ndarray): Any dtype.\n"
           "    axis (int): None selects from the flattened array.\n" CX_RESULT_OUT_ARG
           "Returns:\n"
           "    ndarray: Differentiable in ``a``, any order.\n"
           "Raises:\n"
           "    IndexError: If a condition beyond the end of the axis holds.\n"
           "    DimensionError: If ``condition`` is not 1-d, or there is no such axis.") {
    return CallCompress(a[0], ToArray("compress", "a", a[1]), a[2], a[3]);
}
CX_METHOD(compress, "condition: ArrayLike, axis: int | None = None, " CX_RESULT_OUT ") -> ndarray",
          "See chainerx.compress().") {
    return CallCompress(a[0], Self(self), a[1], a[2]);
}

CX_ROUTINE(extract, "condition: ArrayLike, arr: ndarray) -> ndarray",
           "The elements where a condition holds.\n\n"
           "Args:\n"
           "    condition (ndarray): Not 0 means that it holds; flattened.\n"
           "    arr (ndarray): Any shape and dtype; flattened.\n"
           "Returns:\n"
           "    ndarray: 1-d. Differentiable in ``arr``, any order.\n"
           "Raises:\n"
           "    IndexError: If the condition holds beyond the last element.") {
    const Array& x = ToArray("extract", "arr", a[1]);
    return Wrap(Extract(ToCondition("extract", "condition", a[0], x.device()), x));
}

}  // namespace
}  // namespace chainerx::python
