// Normalizations.
#include "chainerx/ops/norm/normalization.h"

#include "chainerx/python/convert.h"

namespace chainerx::python {
namespace {

std::optional<Array> ToOptional(const char* op, const char* name, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    return ToArray(op, name, o);
}

double ToDoubleOr(const char* op, const char* name, PyObject* o, double fallback) {
    return o == nullptr ? fallback : ToDouble(op, name, o);
}

PyObject* WrapAll(const Normalized& all) {
    Ref tuple{PyTuple_New(3)};
    if (!tuple) throw PythonError{};
    PyTuple_SET_ITEM(tuple.get(), 0, Wrap(all.y));
    PyTuple_SET_ITEM(tuple.get(), 1, Wrap(all.mean));
    PyTuple_SET_ITEM(tuple.get(), 2, Wrap(all.inv_std));
    return tuple.Release();
}

CX_ROUTINE(
    batch_norm,
    "x: ndarray, gamma: ndarray, beta: ndarray, running_mean: ExistingArray | None, "
    "running_var: ExistingArray | None, eps: float = 2e-05, decay: float = 0.9, axis: Axis = None) "
    "-> "
    "ndarray",
    "Batch normalization, ``(x - mean) / sqrt(var + eps) * gamma + beta``, with the mean and\n"
    "the variance of ``x`` over ``axis``.\n\n"
    "Args:\n"
    "    x (ndarray): Any float dtype. Statistics are computed in float64 for float64, else in "
    "float32.\n"
    "    gamma (ndarray): Scale, of the shape of ``x`` without ``axis`` (or with length 1 there); "
    "any float dtype, as for the following arrays.\n"
    "    beta (ndarray): Shift, of the same shape.\n"
    "    running_mean (ndarray or None): The same shape; updated in place to\n"
    "        ``decay * running_mean + (1 - decay) * mean``.\n"
    "    running_var (ndarray or None): Likewise, with the unbiased variance.\n"
    "    eps (float): Added to the variance; not negative.\n"
    "    decay (float): Weight of the old running statistics.\n"
    "    axis (int or tuple of ints): Axes over which the statistics are computed; None means axis "
    "0.\n"
    "Returns:\n"
    "    ndarray: Shape, dtype and memory order of ``x``. Differentiable in ``x``, ``gamma`` and "
    "``beta``, any order.\n"
    "Raises:\n"
    "    DimensionError: If shapes do not fit, or ``x`` has no such axis.\n"
    "    DtypeError: If an array is not of a real float dtype.\n"
    "    ValueError: If ``eps`` is negative, or the running statistics share memory.\n"
    "    ChainerxError: If they are read-only, or part of a graph.\n"
    "Note:\n"
    "    An empty ``x`` leaves the running statistics as they are. If they share memory with\n"
    "    ``x`` or ``gamma``, backward raises an error, as it reads these again.\n"
    "Source: Ioffe and Szegedy, ICML 2015.") {
    constexpr const char* kOp = "batch_norm";
    return Wrap(BatchNorm(ToArray(kOp, "x", a[0]), ToArray(kOp, "gamma", a[1]),
                          ToArray(kOp, "beta", a[2]), ToOptional(kOp, "running_mean", a[3]),
                          ToOptional(kOp, "running_var", a[4]), ToDoubleOr(kOp, "eps", a[5], 2e-5),
                          ToDoubleOr(kOp, "decay", a[6], 0.9), ToAxes(kOp, "axis", a[7])));
}

CX_ROUTINE(_batch_norm,
           "x: ndarray, gamma: ndarray, beta: ndarray, running_mean: ExistingArray | None, "
           "running_var: ExistingArray | None, eps: float, decay: float, axis: Axis) -> "
           "tuple[ndarray, ndarray, ndarray]",
           "Same as :func:`batch_norm`, but also returns the mean and ``1 / sqrt(var + eps)``; for "
           "chainer.") {
    constexpr const char* kOp = "batch_norm";
    return WrapAll(BatchNormWithStatistics(
        ToArray(kOp, "x", a[0]), ToArray(kOp, "gamma", a[1]), ToArray(kOp, "beta", a[2]),
        ToOptional(kOp, "running_mean", a[3]), ToOptional(kOp, "running_var", a[4]),
        ToDouble(kOp, "eps", a[5]), ToDouble(kOp, "decay", a[6]), ToAxes(kOp, "axis", a[7])));
}

CX_ROUTINE(
    fixed_batch_norm,
    "x: ndarray, gamma: ndarray, beta: ndarray, mean: ndarray, var: ndarray, "
    "eps: float = 2e-05, axis: Axis = None) -> ndarray",
    "Batch normalization with given statistics.\n\n"
    "Args:\n"
    "    x (ndarray): Any float dtype.\n"
    "    gamma (ndarray): Scale, of the shape of ``x`` without ``axis`` (or with length 1 there); "
    "any float dtype, as for the following arrays.\n"
    "    beta (ndarray): Shift, of the same shape.\n"
    "    mean (ndarray): Mean, of the same shape.\n"
    "    var (ndarray): Variance, of the same shape.\n"
    "    eps (float): Added to the variance; not negative.\n"
    "    axis (int or tuple of ints): The axes that mean and variance lack; None means axis 0.\n"
    "Returns:\n"
    "    ndarray: ``(x - mean) / sqrt(var + eps) * gamma + beta``, of shape, dtype and memory "
    "order of ``x``. Differentiable in all arrays, any order.\n"
    "Raises:\n"
    "    DimensionError: If shapes do not fit, or ``x`` has no such axis.\n"
    "    DtypeError: If an array is not of a real float dtype.\n"
    "    ValueError: If ``eps`` is negative.") {
    constexpr const char* kOp = "fixed_batch_norm";
    return Wrap(FixedBatchNorm(ToArray(kOp, "x", a[0]), ToArray(kOp, "gamma", a[1]),
                               ToArray(kOp, "beta", a[2]), ToArray(kOp, "mean", a[3]),
                               ToArray(kOp, "var", a[4]), ToDoubleOr(kOp, "eps", a[5], 2e-5),
                               ToAxes(kOp, "axis", a[6])));
}

CX_ROUTINE(
    layer_norm,
    "x: ndarray, gamma: ndarray, beta: ndarray, eps: float = 1e-05, axis: Axis = None) -> "
    "ndarray",
    "Layer normalization, ``(x - mean) / sqrt(var + eps) * gamma + beta``, with the mean and\n"
    "the variance over ``axis``.\n\n"
    "Args:\n"
    "    x (ndarray): Any float dtype. Statistics are computed in float64 for float64, else in "
    "float32.\n"
    "    gamma (ndarray): Scale, of the shape of ``x`` along ``axis``; any float dtype.\n"
    "    beta (ndarray): Shift, likewise.\n"
    "    eps (float): Added to the variance; not negative.\n"
    "    axis (int or tuple of ints): Axes that are normalized together; None means the last axes, "
    "as many as ``gamma`` has.\n"
    "Returns:\n"
    "    ndarray: Shape and dtype of ``x``. Differentiable in all arrays, any order.\n"
    "Raises:\n"
    "    DimensionError: If shapes do not fit, or ``x`` has no such axis.\n"
    "    DtypeError: If an array is not of a real float dtype.\n"
    "    ValueError: If ``eps`` is negative.\n"
    "Source: Ba et al., Layer Normalization, 2016.") {
    constexpr const char* kOp = "layer_norm";
    return Wrap(LayerNorm(ToArray(kOp, "x", a[0]), ToArray(kOp, "gamma", a[1]),
                          ToArray(kOp, "beta", a[2]), ToDoubleOr(kOp, "eps", a[3], 1e-5),
                          ToAxes(kOp, "axis", a[4])));
}

CX_ROUTINE(
    _layer_norm, "x: ndarray, gamma: ndarray, beta: ndarray, eps: float) -> ndarray",
    "Same as :func:`layer_norm`, but does not keep the statistics for backward; for chainer.") {
    constexpr const char* kOp = "layer_norm";
    return Wrap(LayerNorm(ToArray(kOp, "x", a[0]), ToArray(kOp, "gamma", a[1]),
                          ToArray(kOp, "beta", a[2]), ToDouble(kOp, "eps", a[3]), std::nullopt,
                          false));
}

CX_ROUTINE(rms_norm,
           "x: ndarray, gamma: ndarray | None = None, eps: float = 1e-06, axis: Axis = None) -> "
           "ndarray",
           "RMS normalization, ``x / sqrt(mean(x ** 2) + eps) * gamma``.\n\n"
           "Args:\n"
           "    x (ndarray): Any float dtype. Statistics are computed in float64 for float64, else "
           "in float32.\n"
           "    gamma (ndarray): Scale, of the shape of ``x`` along ``axis``, any float dtype; "
           "None means 1.\n"
           "    eps (float): Added to the mean of squares; not negative.\n"
           "    axis (int or tuple of ints): Axes that are normalized together; None means the "
           "last axes, as many as ``gamma`` has, or one.\n"
           "Returns:\n"
           "    ndarray: Shape and dtype of ``x``. Differentiable in both arrays, any order.\n"
           "Raises:\n"
           "    DimensionError: If shapes do not fit, or ``x`` has no such axis.\n"
           "    DtypeError: If an array is not of a real float dtype.\n"
           "    ValueError: If ``eps`` is negative.\n"
           "Source: Zhang and Sennrich, NeurIPS 2019.") {
    constexpr const char* kOp = "rms_norm";
    return Wrap(RmsNorm(ToArray(kOp, "x", a[0]), ToOptional(kOp, "gamma", a[1]),
                        ToDoubleOr(kOp, "eps", a[2], 1e-6), ToAxes(kOp, "axis", a[3])));
}

CX_ROUTINE(
    group_norm,
    "x: ndarray, groups: int, gamma: ndarray, beta: ndarray, eps: float = 1e-05) -> ndarray",
    "Group normalization: the channels of each group of each example are normalized together.\n\n"
    "Args:\n"
    "    x (ndarray): (n, channels, ...), any float dtype. Statistics are computed in float64 for "
    "float64, else in float32.\n"
    "    groups (int): A divisor of the number of channels.\n"
    "    gamma (ndarray): Scale, (channels,); any float dtype.\n"
    "    beta (ndarray): Shift, (channels,); any float dtype.\n"
    "    eps (float): Added to the variance; not negative.\n"
    "Returns:\n"
    "    ndarray: Shape and dtype of ``x``. Differentiable in all arrays, any order.\n"
    "Raises:\n"
    "    DimensionError: If shapes do not fit.\n"
    "    DtypeError: If an array is not of a real float dtype.\n"
    "    ValueError: If ``groups`` does not divide the channels; if ``eps`` is negative.\n"
    "Source: Wu and He, ECCV 2018.") {
    constexpr const char* kOp = "group_norm";
    return Wrap(GroupNorm(ToArray(kOp, "x", a[0]), ToInt(kOp, "groups", a[1]),
                          ToArray(kOp, "gamma", a[2]), ToArray(kOp, "beta", a[3]),
                          ToDoubleOr(kOp, "eps", a[4], 1e-5)));
}

CX_ROUTINE(_group_norm,
           "x: ndarray, gamma: ndarray, beta: ndarray, groups: int, eps: float) -> "
           "tuple[ndarray, ndarray, ndarray]",
           "Same as :func:`group_norm`, but also returns the mean and ``1 / sqrt(var + eps)`` of "
           "all groups; for chainer.") {
    constexpr const char* kOp = "group_norm";
    return WrapAll(GroupNormWithStatistics(ToArray(kOp, "x", a[0]), ToInt(kOp, "groups", a[3]),
                                           ToArray(kOp, "gamma", a[1]), ToArray(kOp, "beta", a[2]),
                                           ToDouble(kOp, "eps", a[4])));
}

CX_ROUTINE(instance_norm,
           "x: ndarray, gamma: ndarray | None = None, beta: ndarray | None = None, "
           "eps: float = 1e-05) -> ndarray",
           "Instance normalization: each channel of each example is normalized separately.\n\n"
           "Args:\n"
           "    x (ndarray): (n, channels, ...), any float dtype. Statistics are computed in "
           "float64 for float64, else in float32.\n"
           "    gamma (ndarray): Scale, (channels,), any float dtype; None means 1.\n"
           "    beta (ndarray): Shift, likewise; None means 0.\n"
           "    eps (float): Added to the variance; not negative.\n"
           "Returns:\n"
           "    ndarray: Shape and dtype of ``x``. Differentiable in all arrays, any order.\n"
           "Raises:\n"
           "    DimensionError: If shapes do not fit.\n"
           "    DtypeError: If an array is not of a real float dtype.\n"
           "    ValueError: If ``eps`` is negative.\n"
           "Source: Ulyanov et al., Instance Normalization, 2016.") {
    constexpr const char* kOp = "instance_norm";
    return Wrap(InstanceNorm(ToArray(kOp, "x", a[0]), ToOptional(kOp, "gamma", a[1]),
                             ToOptional(kOp, "beta", a[2]), ToDoubleOr(kOp, "eps", a[3], 1e-5)));
}

CX_ROUTINE(local_response_normalization,
           "x: ndarray, n: int = 5, k: float = 2, alpha: float = 0.0001, beta: float = 0.75) -> "
           "ndarray",
           "Local response normalization: divides by the activity of adjacent channels,\n"
           "``x / (k + alpha * sum(x ** 2)) ** beta``.\n\n"
           "Args:\n"
           "    x (ndarray): (n, channels, ...), any float dtype. Statistics are computed in "
           "float64 for float64, else in float32.\n"
           "    n (int): Width of the window of channels: the sum covers each channel and ``n // "
           "2`` channels on both sides.\n"
           "    k (float): Offset.\n"
           "    alpha (float): Factor of the sum.\n"
           "    beta (float): Exponent.\n"
           "Returns:\n"
           "    ndarray: Shape and dtype of ``x``. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If ``x`` has fewer than 2 axes.\n"
           "    DtypeError: If ``x`` is not of a real float dtype.\n"
           "    ValueError: If ``n`` is negative.\n"
           "Source: Krizhevsky et al., NIPS 2012.") {
    constexpr const char* kOp = "local_response_normalization";
    return Wrap(LocalResponseNormalization(
        ToArray(kOp, "x", a[0]), a[1] == nullptr ? 5 : ToInt(kOp, "n", a[1]),
        ToDoubleOr(kOp, "k", a[2], 2), ToDoubleOr(kOp, "alpha", a[3], 1e-4),
        ToDoubleOr(kOp, "beta", a[4], 0.75)));
}

}  // namespace
}  // namespace chainerx::python
