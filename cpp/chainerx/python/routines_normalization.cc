// Normalizations.
#include "chainerx/ops/normalization.h"

#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {
namespace {

std::optional<Array> ToOptional(const char* op, const char* name, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    return ToArray(op, name, o);
}

double ToDoubleOr(const char* op, const char* name, PyObject* o, double fallback) {
    return o == nullptr ? fallback : ToDouble(op, name, o);
}

PyObject* WrapThree(const Array& y, const Array& mean, const Array& inv_std) {
    Ref tuple{PyTuple_New(3)};
    if (!tuple) throw PythonError{};
    PyTuple_SET_ITEM(tuple.get(), 0, Wrap(y));
    PyTuple_SET_ITEM(tuple.get(), 1, Wrap(mean));
    PyTuple_SET_ITEM(tuple.get(), 2, Wrap(inv_std));
    return tuple.Release();
}

CX_ROUTINE(
    batch_norm,
    "x: ndarray, gamma: ndarray, beta: ndarray, running_mean: ndarray | None, "
    "running_var: ndarray | None, eps: float = 2e-05, decay: float = 0.9, axis: Axis = None) -> "
    "ndarray",
    "Batch normalization, ``(x - mean) / sqrt(var + eps) * gamma + beta``, with the mean and\n"
    "the variance of ``x`` over ``axis``.\n\n"
    "Args:\n"
    "    x (ndarray): Any float dtype. What is computed is float64 where x is that, else float32.\n"
    "    gamma (ndarray): Scale, of the shape of ``x`` without ``axis`` (or with length 1 there); "
    "any float dtype, as the arrays that follow.\n"
    "    beta (ndarray): Shift, of the same shape.\n"
    "    running_mean (ndarray or None): Of the same shape; in place it becomes\n"
    "        ``decay * running_mean + (1 - decay) * mean``.\n"
    "    running_var (ndarray or None): The same with the unbiased variance.\n"
    "    eps (float): Added to the variance; not negative.\n"
    "    decay (float): How much of the running statistics stays.\n"
    "    axis (int or tuple of ints): What the statistics are taken over; None is axis 0.\n"
    "Returns:\n"
    "    ndarray: Shape, dtype and memory order of ``x``. Differentiable in ``x``, ``gamma`` and "
    "``beta``, any order.\n"
    "Raises:\n"
    "    DimensionError: If shapes do not fit, or ``x`` has no such axis.\n"
    "    DtypeError: If an array is of no real float dtype.\n"
    "    ValueError: If ``eps`` is negative, or the running statistics share memory.\n"
    "    ChainerxError: If they are read-only, or part of a graph.\n"
    "Note:\n"
    "    Where ``x`` is empty, running statistics stay as they are.\n"
    "Source: Ioffe and Szegedy, ICML 2015.") {
    constexpr const char* kOp = "batch_norm";
    return Wrap(BatchNorm(ToArray(kOp, "x", a[0]), ToArray(kOp, "gamma", a[1]),
                          ToArray(kOp, "beta", a[2]), ToOptional(kOp, "running_mean", a[3]),
                          ToOptional(kOp, "running_var", a[4]), ToDoubleOr(kOp, "eps", a[5], 2e-5),
                          ToDoubleOr(kOp, "decay", a[6], 0.9), ToAxes(kOp, "axis", a[7])));
}

CX_ROUTINE(_batch_norm,
           "x: ndarray, gamma: ndarray, beta: ndarray, running_mean: ndarray | None, "
           "running_var: ndarray | None, eps: float, decay: float, axis: Axis) -> "
           "tuple[ndarray, ndarray, ndarray]",
           "Same as :func:`batch_norm`, and the mean and ``1 / sqrt(var + eps)``, for chainer.") {
    constexpr const char* kOp = "batch_norm";
    const BatchNormResult out = BatchNormWithStatistics(
        ToArray(kOp, "x", a[0]), ToArray(kOp, "gamma", a[1]), ToArray(kOp, "beta", a[2]),
        ToOptional(kOp, "running_mean", a[3]), ToOptional(kOp, "running_var", a[4]),
        ToDouble(kOp, "eps", a[5]), ToDouble(kOp, "decay", a[6]), ToAxes(kOp, "axis", a[7]));
    return WrapThree(out.y, out.mean, out.inv_std);
}

CX_ROUTINE(fixed_batch_norm,
           "x: ndarray, gamma: ndarray, beta: ndarray, mean: ndarray, var: ndarray, "
           "eps: float = 2e-05, axis: Axis = None) -> ndarray",
           "Batch normalization with statistics that are given.\n\n"
           "Args:\n"
           "    x (ndarray): Any float dtype.\n"
           "    gamma (ndarray): Scale, of the shape of ``x`` without ``axis`` (or with length 1 "
           "there); any float dtype, as the arrays that follow.\n"
           "    beta (ndarray): Shift, of the same shape.\n"
           "    mean (ndarray): Of the same shape.\n"
           "    var (ndarray): Of the same shape.\n"
           "    eps (float): Added to the variance; not negative.\n"
           "    axis (int or tuple of ints): The axes that mean and variance lack; None is axis "
           "0.\n"
           "Returns:\n"
           "    ndarray: ``(x - mean) / sqrt(var + eps) * gamma + beta``, of shape, dtype and "
           "memory order of ``x``. Differentiable in all arrays, any order.\n"
           "Raises:\n"
           "    DimensionError: If shapes do not fit, or ``x`` has no such axis.\n"
           "    DtypeError: If an array is of no real float dtype.\n"
           "    ValueError: If ``eps`` is negative.") {
    constexpr const char* kOp = "fixed_batch_norm";
    return Wrap(FixedBatchNorm(ToArray(kOp, "x", a[0]), ToArray(kOp, "gamma", a[1]),
                               ToArray(kOp, "beta", a[2]), ToArray(kOp, "mean", a[3]),
                               ToArray(kOp, "var", a[4]), ToDoubleOr(kOp, "eps", a[5], 2e-5),
                               ToAxes(kOp, "axis", a[6])));
}

}  // namespace
}  // namespace chainerx::python
