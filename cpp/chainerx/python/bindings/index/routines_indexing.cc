// Take, nonzero, where, and gathers of chainer.
#include "chainerx/ops/index/index_update.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/index/take.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/bounds_mode.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"
#include "chainerx/python/values.h"

namespace chainerx::python {
namespace {

// Arguments in `a`: indices, axis, mode, out.
PyObject* CallTake(const Array& x, PyObject* const* a) {
    return Finish("take",
                  Take(x, ToIndices("take", "indices", a[0], x.device()),
                       ToOptionalAxis("take", "axis", a[1]), ToBoundsMode("take", a[2])),
                  a[3]);
}

CX_ROUTINE(_scatter, "values: ndarray, indices: ndarray, length: int) -> ndarray",
           "Adds the rows of ``values`` to ``length`` rows of zeros, at indices; for chainer.") {
    const Array& values = ToArray("_scatter", "values", a[0]);
    const Array& indices = ToArray("_scatter", "indices", a[1]);
    if (values.ndim() == 0 || indices.ndim() != 1 || indices.shape()[0] != values.shape()[0]) {
        throw DimensionError{"_scatter: values have shape ", values.shape(), ", but indices ",
                             indices.shape()};
    }
    internal::CheckIndices("_scatter", "indices", values, indices);
    Shape shape = values.shape();
    shape[0] = ToInt("_scatter", "length", a[2]);
    return Wrap(
        internal::TakeGrad(values, shape, 0, AsContiguous(indices), IndexBoundsMode::kRaise));
}

CX_ROUTINE(take,
           "a: ndarray, indices: ndarray | Sequence[int] | int, axis: int | None = None, "
           "mode: str | None = None, *, " CX_RESULT_OUT ") -> ndarray",
           "Takes elements along an axis, by integer indices.\n\n"
           "Args:\n"
           "    a (ndarray): Any dtype.\n"
           "    indices: Integers of any dtype and shape; negative ones count from the end.\n"
           "    axis (int): None takes from the flattened array.\n"
           "    mode (str): What an index out of range does: 'raise' an IndexError (default), "
           "'wrap' around, or 'clip'.\n" CX_RESULT_OUT_ARG
           "Returns:\n"
           "    ndarray: The shape of ``a``, with that of ``indices`` in place of the axis. "
           "Differentiable in ``a``, any order.\n"
           "Raises:\n"
           "    IndexError: For an index out of range.\n"
           "    DtypeError: If ``indices`` are not integers.\n"
           "    DimensionError: If there is no such axis.\n"
           "    ValueError: If there is no such mode.") {
    return CallTake(ToArray("take", "a", a[0]), a + 1);
}

CX_METHOD(take,
          "indices: ndarray | Sequence[int] | int, axis: int | None = None, mode: str | None = "
          "None, *, " CX_RESULT_OUT ") -> ndarray",
          "See chainerx.take().") {
    return CallTake(Self(self), a);
}

CX_ROUTINE(_select_item, "x: ndarray, t: ndarray) -> ndarray",
           "``x[i, t[i]]`` for each row ``i``; for chainer.") {
    return Wrap(SelectItem(ToArray("select_item", "x", a[0]), ToArray("select_item", "t", a[1])));
}

CX_ROUTINE(_embed_id, "ids: ndarray, w: ndarray, ignore_label: int) -> ndarray",
           "Rows of ``w``; zeros where ``ids`` equals ``ignore_label``; for chainer.") {
    return Wrap(EmbedId(ToArray("embed_id", "ids", a[0]), ToArray("embed_id", "w", a[1]),
                        ToInt("embed_id", "ignore_label", a[2])));
}

CX_ROUTINE(nonzero, "a: ndarray) -> tuple[ndarray, ...]",
           "Indices of the elements that are not 0.\n\n"
           "Args:\n"
           "    a (ndarray): 1 dimension or more, any dtype.\n"
           "Returns:\n"
           "    tuple of ndarray: Indices, one 1-d int64 array per dimension. Not differentiable.\n"
           "Raises:\n"
           "    DimensionError: If ``a`` has no dimensions.") {
    return WrapTuple(Nonzero(ToArray("nonzero", "a", a[0])));
}

CX_ROUTINE(
    copyto,
    "dst: ExistingArray, src: ndarray | Scalar, casting: str = 'no', where: ArrayLike = True) "
    "-> None",
    "Copies elements into an array, in place.\n\n"
    "Args:\n"
    "    dst (ndarray): The destination, in no graph.\n"
    "    src (ndarray or scalar): The source, broadcast to the shape of ``dst``. An array must\n"
    "        have its dtype, a number no higher kind.\n"
    "    casting (str): 'no'.\n"
    "    where (ndarray or bool): A mask of bool; elements of ``dst`` where it is False stay. A "
    "number is taken as its truth.\n"
    "Raises:\n"
    "    DtypeError: If the dtypes differ, a number is of a higher kind, or ``where`` is an array "
    "and not bool.\n"
    "    TypeError: If ``where`` is neither an array nor a number.\n"
    "    OverflowError: If an integer does not fit.\n"
    "    DimensionError: If ``src`` or ``where`` does not broadcast.\n"
    "    NotImplementedError: If ``casting`` is not 'no'.\n"
    "    ChainerxError: If ``dst`` is in a graph.") {
    const Array& dst = ToArray("copyto", "dst", a[0]);
    const Array src = !IsNdArray(a[1]) && TryScalar(a[1]) ? ToValues("copyto", "src", dst, a[1])
                                                          : ToArray("copyto", "src", a[1]);
    if (a[2] != nullptr) {
        const std::string_view casting = ToString("copyto", "casting", a[2]);
        if (casting == "equiv" || casting == "safe" || casting == "same_kind" ||
            casting == "unsafe") {
            throw NotImplementedError{"copyto: casting '", casting,
                                      "' is not implemented; cast src with astype()"};
        }
        if (casting != "no") throw ValueError{"copyto: unknown casting '", casting, "'"};
    }
    if (const auto number = a[3] != nullptr ? TryScalar(a[3]) : std::nullopt) {
        CopyTo(dst, src, number->To<bool>());
        return Py_NewRef(Py_None);
    }
    const std::optional<Array> mask = ToMask("copyto", a[3], dst.device());
    if (mask) {
        CheckDtype(IsBool(mask->dtype()), "copyto", "where", mask->dtype(), "bool");
        CopyTo(dst, src, *mask);
    } else {
        CopyTo(dst, src, true);
    }
    return Py_NewRef(Py_None);
}

CX_METHOD(fill, "value: float | ndarray) -> None",
          "Sets all elements to a number, or to the element of a 0-d array, in place.\n\n"
          "Raises:\n"
          "    ChainerxError: If one of the arrays is in a graph, or this one is read-only.\n"
          "    DtypeError: If the number is complex and the dtype is not.\n"
          "    OverflowError: If the number is beyond an integer dtype; fractions are truncated.") {
    if (IsNdArray(a[0]) && Self(a[0]).ndim() == 0) {
        internal::CheckWrittenDtype("fill", Self(self), Self(a[0]));
        CopyTo(Self(self), AsType(Self(a[0]), Self(self).dtype(), false), true);
        return Py_NewRef(Py_None);
    }
    Self(self).Fill(ToElement("fill", "value", a[0], Self(self).dtype()));
    return Py_NewRef(Py_None);
}

}  // namespace
}  // namespace chainerx::python
