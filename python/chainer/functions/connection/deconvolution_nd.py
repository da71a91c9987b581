"""Transposed convolution over any number of axes."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import _conv_transpose

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer._graph.builtin import BuiltinFunction
from chainer.functions._windows import per_axis
from chainer.functions.connection.convolution_nd import check_ndim, over_one_axis
from chainer.functions.connection.deconvolution_2d import check_types
from chainer.utils import conv

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, PerAxis, Shape, VariableLike

OP: tp.Final = 'deconvolution_nd'


class DeconvolutionND(BuiltinFunction):
    """See `deconvolution_nd`.

    Attributes:
        cover_all: Whether the convolution of which this is the gradient covers all.
    """

    saved = ('outs', 'cover_all')
    argument_names: tp.ClassVar[dict[str, str]] = {'outs': 'outsize'}

    def _prepare(self) -> None:
        for name, value in self._values().items():
            if name in ('stride', 'pad', 'dilate') or (name == 'outs' and value is not None):
                argument = self.argument_names.get(name, name)
                setattr(self, name, per_axis(OP, argument, value, self.ndim))

    def check_type_forward(self, in_types: InTypes) -> None:
        outs = (None,) * self.ndim if self.outs is None else self.outs
        check_types(in_types, self.ndim, self.stride, self.pad, outs, self.dilate, self.groups)

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        w: chainerx.ndarray,
        b: chainerx.ndarray | None = None,
        *,
        ndim: int,
        stride: tp.Any = 1,
        pad: tp.Any = 0,
        outs: Shape | None = None,
        dilate: tp.Any = 1,
        groups: int = 1,
    ) -> tuple[chainerx.ndarray, tuple[int, ...], bool]:
        if ndim == 0:
            y = over_one_axis(_conv_transpose, x, w, b, 1, 0, None, 1, groups)
        else:
            y = _conv_transpose(x, w, b, stride, pad, outs, dilate, groups)
        found = y.shape[2:]
        cover_all = outs is not None and any(
            conv.get_conv_outsize(n, k, s, p, d=d) != m
            for n, k, s, p, d, m in zip(
                found, w.shape[2:], stride, pad, dilate, x.shape[2:], strict=True
            )
        )
        return y, found, cover_all


def deconvolution_nd(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: PerAxis = 1,
    pad: PerAxis = 0,
    outsize: PerAxis | None = None,
    dilate: PerAxis = 1,
    groups: int = 1,
) -> variable.Variable:
    """Transposed convolution over 0 to 8 axes: the gradient of `convolution_nd` in its input.

    Args:
        x (Variable or array): (N, ins, d_1, ..., d_n), a float dtype.
        W (Variable or array): (ins, outs / groups, k_1, ..., k_n), a float dtype.
        b (Variable or array): (outs,), a float dtype; or None.
        stride (int or tuple of int): Distance of the windows in the output.
        pad (int or tuple of int): The border that is cut off at both ends of each axis.
        outsize (tuple of int): The lengths of the axes of the output: some of which
            `convolution_nd` would make those of ``x``, with ``cover_all`` or without. None: those
            below.
        dilate (int or tuple of int): Distance of the elements of the window.
        groups (int): As that of `convolution_nd`.

    Returns:
        Variable: (N, outs, l_1, ..., l_n) in the dtype of ``x``, where ``l = stride * (d - 1) +
        window - 2 * pad`` and ``window = dilate * (k - 1) + 1``. Differentiable in all of them,
        any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        TypeError: If a value for the axes is neither an int nor a sequence of them.
        ValueError: If nothing is left of the output, or for a ``stride`` of 0 and the like.
    """
    ndim = len(x.shape) - 2
    return DeconvolutionND.call(
        x,
        W,
        b,
        ndim=ndim,
        stride=per_axis(OP, 'stride', stride, ndim),
        pad=per_axis(OP, 'pad', pad, ndim),
        outs=None if outsize is None else per_axis(OP, 'outsize', outsize, ndim),
        dilate=per_axis(OP, 'dilate', dilate, ndim),
        groups=groups,
    )


@documented_like(deconvolution_nd)
def deconvolution_1d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: PerAxis = 1,
    pad: PerAxis = 0,
    outsize: PerAxis | None = None,
    dilate: PerAxis = 1,
    groups: int = 1,
) -> variable.Variable:
    """Transposed convolution over one axis; see `deconvolution_nd`.

    Raises:
        ValueError: If ``x`` has another number of axes, or nothing is left of the output.
    """
    check_ndim('deconvolution_1d', x, 1)
    return deconvolution_nd(x, W, b, stride, pad, outsize, dilate, groups)


@documented_like(deconvolution_nd)
def deconvolution_3d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: PerAxis = 1,
    pad: PerAxis = 0,
    outsize: PerAxis | None = None,
    dilate: PerAxis = 1,
    groups: int = 1,
) -> variable.Variable:
    """Transposed convolution over three axes; see `deconvolution_nd`.

    Raises:
        ValueError: If ``x`` has another number of axes, or nothing is left of the output.
    """
    check_ndim('deconvolution_3d', x, 3)
    return deconvolution_nd(x, W, b, stride, pad, outsize, dilate, groups)
