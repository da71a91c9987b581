// Softmax and its logarithm, and the cross entropy that uses them.
#include "chainerx/ops/norm/softmax.h"

#include "chainerx/python/convert.h"

namespace chainerx::python {
namespace {

// None means axis 1, as in the original.
Axes ToSoftmaxAxes(const char* op, PyObject* o) { return ToAxes(op, "axis", o).value_or(Axes{1}); }

CX_ROUTINE(softmax, "x: ndarray, axis: Axis = None) -> ndarray",
           "Softmax: ``exp(x) / sum(exp(x))`` along one axis, or along several together.\n\n"
           "Args:\n"
           "    x (ndarray): Any real dtype; integers are computed in float32.\n"
           "    axis (int or tuple of ints): Axes of the sum; None means axis 1.\n"
           "Returns:\n"
           "    ndarray: Shape of ``x``, C-contiguous. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If ``x`` has no such axis.") {
    return Wrap(Softmax(ToArray("softmax", "x", a[0]), ToSoftmaxAxes("softmax", a[1])));
}

CX_ROUTINE(log_softmax, "x: ndarray, axis: Axis = None) -> ndarray",
           "Logarithm of :func:`softmax`.\n\n"
           "Args:\n"
           "    x (ndarray): Any real dtype; integers are computed in float32.\n"
           "    axis (int or tuple of ints): Axes of the sum; None means axis 1.\n"
           "Returns:\n"
           "    ndarray: Shape of ``x``, C-contiguous. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If ``x`` has no such axis.\n"
           "Note:\n"
           "    Evaluated as ``(x - max) - log(sum(exp(x - max)))``; no overflow.") {
    return Wrap(LogSoftmax(ToArray("log_softmax", "x", a[0]), ToSoftmaxAxes("log_softmax", a[1])));
}

CX_ROUTINE(
    softmax_cross_entropy, "x1: ndarray, x2: ndarray, label_smoothing: float = 0.0) -> ndarray",
    "Cross entropy of softmax(x1) and the labels x2, per row.\n\n"
    "Args:\n"
    "    x1 (ndarray): (rows, classes), real.\n"
    "    x2 (ndarray): (rows,), integers from 0 to classes - 1, or -1 to ignore the row.\n"
    "    label_smoothing (float): The part of the target that is spread evenly over all classes, 0 "
    "to 1; the label gets the rest.\n"
    "Returns:\n"
    "    ndarray: (rows,), ``-log(softmax(x1)[i, x2[i]])``, 0 in ignored rows; with smoothing, "
    "mixed with the mean of ``-log(softmax(x1)[i])``. Differentiable in ``x1``, any order.\n"
    "Raises:\n"
    "    IndexError: If a label is out of range.\n"
    "    DimensionError: If the shapes do not fit.\n"
    "    DtypeError: If ``x1`` is not real, or ``x2`` not of an integer dtype.\n"
    "    ValueError: If ``label_smoothing`` is below 0, above 1, or nan.") {
    constexpr const char* kOp = "softmax_cross_entropy";
    return Wrap(SoftmaxCrossEntropy(ToArray(kOp, "x1", a[0]), ToArray(kOp, "x2", a[1]),
                                    a[2] == nullptr ? 0. : ToDouble(kOp, "label_smoothing", a[2])));
}

CX_ROUTINE(
    _softmax_cross_entropy,
    "x: ndarray, t: ndarray, ignore_label: int, mean: bool, label_smoothing: float = 0.0) -> "
    "ndarray",
    "Cross entropy of softmax(x) along axis 1 and the labels t, or its mean over the labels that "
    "are not ignored; for chainer.") {
    constexpr const char* kOp = "softmax_cross_entropy";
    return Wrap(SoftmaxCrossEntropy(ToArray(kOp, "x", a[0]), ToArray(kOp, "t", a[1]),
                                    ToInt(kOp, "ignore_label", a[2]), ToBool(a[3], false),
                                    a[4] == nullptr ? 0. : ToDouble(kOp, "label_smoothing", a[4])));
}

}  // namespace
}  // namespace chainerx::python
