// Convolutions.
#include "chainerx/ops/conv/conv.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/per_axis.h"

namespace chainerx::python {
namespace {

CX_ROUTINE(
    conv,
    "x: ndarray, w: ndarray, b: ndarray | None = None, stride: int | Sequence[int] = 1, "
    "pad: int | Sequence[int] | Sequence[Sequence[int]] = 0, cover_all: bool = False, "
    "dilate: int | Sequence[int] = 1, groups: int = 1) -> ndarray",
    "Convolution over 1 to 8 spatial axes; a cross-correlation, strictly, as ``w`` is not "
    "flipped.\n\n"
    "Args:\n"
    "    x (ndarray): (n, in_channels, ...), any real dtype.\n"
    "    w (ndarray): (out_channels, in_channels / groups, ...).\n"
    "    b (ndarray): (out_channels,), or None.\n"
    "    stride (int or tuple of int): Step of the window, for all axes or for each.\n"
    "    pad (int or tuple): Zero padding at both ends of the axes: one number, one per axis, or a "
    "pair (before, after) per axis.\n"
    "    cover_all (bool): Whether to add an output element where the last window would otherwise "
    "leave some of the input out.\n"
    "    dilate (int or tuple of int): Dilation: the distance of the elements of the window.\n"
    "    groups (int): Number of groups: outputs of a group depend on inputs of the same group "
    "only. It divides both numbers of channels.\n"
    "Returns:\n"
    "    ndarray: (n, out_channels, ...), each axis of length ``(length + pads - window) // stride "
    "+ 1``, where ``window = dilate * (w's length - 1) + 1``. Differentiable in all arrays, any "
    "order.\n"
    "Raises:\n"
    "    DimensionError: If shapes don't fit, or the window is longer than the padded input.\n"
    "    DtypeError: If a dtype is complex.") {
    std::optional<Array> b;
    if (Given(a[2])) b = ToArray("conv", "b", a[2]);
    const int64_t groups = a[7] == nullptr ? 1 : ToInt("conv", "groups", a[7]);
    return Wrap(Conv(ToArray("conv", "x", a[0]), ToArray("conv", "w", a[1]), b,
                     ToPerAxisOr("conv", "stride", a[3], 1), ToAxisPads("conv", a[4]),
                     ToBool(a[5], false), ToPerAxisOr("conv", "dilate", a[6], 1), groups));
}

CX_ROUTINE(
    conv_transpose,
    "x: ndarray, w: ndarray, b: ndarray | None = None, stride: int | Sequence[int] = 1, "
    "pad: int | Sequence[int] | Sequence[Sequence[int]] = 0, "
    "outsize: int | Sequence[int] | None = None, dilate: int | Sequence[int] = 1, "
    "groups: int = 1) -> ndarray",
    "Transposed convolution: the gradient of :func:`conv` with respect to its input.\n\n"
    "Args:\n"
    "    x (ndarray): (n, in_channels, ...), any real dtype.\n"
    "    w (ndarray): (in_channels, out_channels / groups, ...).\n"
    "    b (ndarray): (out_channels,), or None.\n"
    "    stride (int or tuple of int): Step of the window in the output, for all axes or for "
    "each.\n"
    "    pad (int or tuple): Number of elements cropped at both ends of the axes: one number, one "
    "per axis, or a pair (before, after) per axis.\n"
    "    outsize (int or tuple of int): Lengths of the result's spatial axes; ``conv``, with or "
    "without ``cover_all``, must map them to those of ``x``. None means the lengths given below.\n"
    "    dilate (int or tuple of int): Dilation: the distance of the elements of the window.\n"
    "    groups (int): Number of groups, see ``conv``.\n"
    "Returns:\n"
    "    ndarray: (n, out_channels, ...), each axis of length ``stride * (length - 1) + window - "
    "pads``, where ``window = dilate * (w's length - 1) + 1``. Differentiable in all arrays, any "
    "order.\n"
    "Raises:\n"
    "    DimensionError: If shapes don't fit.\n"
    "    DtypeError: If a dtype is complex.") {
    constexpr const char* kOp = "conv_transpose";
    std::optional<Array> b;
    if (Given(a[2])) b = ToArray(kOp, "b", a[2]);
    const std::optional<PerAxis> outsize = ToOptionalPerAxis(kOp, "outsize", a[5]);
    const int64_t groups = a[7] == nullptr ? 1 : ToInt(kOp, "groups", a[7]);
    return Wrap(ConvTranspose(ToArray(kOp, "x", a[0]), ToArray(kOp, "w", a[1]), b,
                              ToPerAxisOr(kOp, "stride", a[3], 1), ToAxisPads(kOp, a[4]), outsize,
                              ToPerAxisOr(kOp, "dilate", a[6], 1), groups));
}

// Casts y to the dtype of x: weights of another precision do not change that of the data.
PyObject* WrapAs(const Array& x, const Array& y) {
    return Wrap(y.dtype() == x.dtype() ? y : AsType(y, x.dtype()));
}

CX_ROUTINE(_conv,
           "x: ndarray, w: ndarray, b: ndarray | None, stride: int | Sequence[int], "
           "pad: int | Sequence[int], cover_all: bool, dilate: int | Sequence[int], groups: int) "
           "-> ndarray",
           "The public function with its result in the dtype of ``x``; for chainer.") {
    std::optional<Array> b;
    if (Given(a[2])) b = ToArray("conv", "b", a[2]);
    const Array& x = ToArray("conv", "x", a[0]);
    return WrapAs(x, Conv(x, ToArray("conv", "w", a[1]), b, ToPerAxis("conv", "stride", a[3]),
                          ToAxisPads("conv", a[4]), ToBool(a[5], false),
                          ToPerAxis("conv", "dilate", a[6]), ToInt("conv", "groups", a[7])));
}

CX_ROUTINE(_conv_transpose,
           "x: ndarray, w: ndarray, b: ndarray | None, stride: int | Sequence[int], "
           "pad: int | Sequence[int], outsize: Sequence[int] | None, "
           "dilate: int | Sequence[int], groups: int) -> ndarray",
           "The public function with its result in the dtype of ``x``; for chainer.") {
    constexpr const char* kOp = "conv_transpose";
    std::optional<Array> b;
    if (Given(a[2])) b = ToArray(kOp, "b", a[2]);
    const std::optional<PerAxis> outsize = ToOptionalPerAxis(kOp, "outsize", a[5]);
    const Array& x = ToArray(kOp, "x", a[0]);
    return WrapAs(x, ConvTranspose(x, ToArray(kOp, "w", a[1]), b, ToPerAxis(kOp, "stride", a[3]),
                                   ToAxisPads(kOp, a[4]), outsize, ToPerAxis(kOp, "dilate", a[6]),
                                   ToInt(kOp, "groups", a[7])));
}

}  // namespace
}  // namespace chainerx::python
