"""The means of windows."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer.functions.pooling._sizes import count_spatial, to_geometry
from chainer.functions.pooling.pooling_nd import _PoolingND

if tp.TYPE_CHECKING:
    from chainer._typing import PerAxis, VariableLike


class AveragePoolingND(_PoolingND):
    """See `average_pooling_nd`."""

    def __init__(
        self,
        ndim: int,
        ksize: PerAxis,
        stride: PerAxis | None = None,
        pad: PerAxis = 0,
        cover_all: bool = False,
        pad_value: int | None = 0,
    ) -> None:
        _check_pad_value(pad_value)
        super().__init__(ndim, ksize, stride, pad, cover_all)
        self.pad_value = pad_value

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        *,
        ndim: int,
        ksize: tuple[int, ...],
        stride: tuple[int, ...],
        pad: tuple[int, ...],
        cover_all: bool,
        return_indices: bool,
        pad_value: int | None,
    ) -> chainerx.ndarray:
        pad_mode = 'ignore' if pad_value is None else 'zero'
        return chainerx.average_pool(x, ksize, stride, pad, pad_mode, cover_all)


def _check_pad_value(pad_value: int | None) -> None:
    if pad_value is not None and pad_value != 0:
        raise ValueError(f'average_pooling_nd: pad_value must be either 0 or None, not {pad_value}')


def average_pooling_nd(
    x: VariableLike,
    ksize: PerAxis,
    stride: PerAxis | None = None,
    pad: PerAxis = 0,
    pad_value: int | None = 0,
) -> variable.Variable:
    """The mean of each window that slides over the axes behind that of channels.

    Args:
        x (Variable or array): (N, C, d1, ..., dn), a float dtype.
        ksize (int or tuple of int): The size of the window, of all axes or of each.
        stride (int or tuple of int): Its steps; None is ``ksize``.
        pad (int or tuple of int): The padding at both ends of each axis.
        pad_value (int or None): 0 counts the padding as zeros; None leaves it out of the means.

    Returns:
        Variable: (N, C, ...). Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
        TypeError: If ``ksize``, ``stride`` or ``pad`` is neither an int nor a tuple of them.
        ValueError: If the number of axes of ``x`` is 0, or does not fit to these or to the name; or
            ``pad_value`` is something else.
        DimensionError: If the window is larger than the padded input, or the stride below 1.
    """
    return _average_pooling('average_pooling_nd', None, x, ksize, stride, pad, pad_value)


def _average_pooling(
    op: str,
    n: int | None,
    x: VariableLike,
    ksize: PerAxis,
    stride: PerAxis | None,
    pad: PerAxis,
    pad_value: int | None,
) -> variable.Variable:
    ndim = count_spatial(op, x, n)
    size, step, pads = to_geometry(op, ndim, ksize, stride, pad)
    _check_pad_value(pad_value)
    return AveragePoolingND.call(
        x,
        ndim=ndim,
        ksize=size,
        stride=step,
        pad=pads,
        cover_all=False,
        return_indices=False,
        pad_value=pad_value,
    )


@documented_like(average_pooling_nd)
def average_pooling_1d(
    x: VariableLike,
    ksize: PerAxis,
    stride: PerAxis | None = None,
    pad: PerAxis = 0,
    pad_value: int | None = 0,
) -> variable.Variable:
    """`average_pooling_nd` of one axis."""
    return _average_pooling('average_pooling_1d', 1, x, ksize, stride, pad, pad_value)


@documented_like(average_pooling_nd)
def average_pooling_3d(
    x: VariableLike,
    ksize: PerAxis,
    stride: PerAxis | None = None,
    pad: PerAxis = 0,
    pad_value: int | None = 0,
) -> variable.Variable:
    """`average_pooling_nd` of three axes."""
    return _average_pooling('average_pooling_3d', 3, x, ksize, stride, pad, pad_value)
