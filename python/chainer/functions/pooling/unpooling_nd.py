"""Arrays made larger: each element in all places of a window."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer.functions.pooling._sizes import count_spatial, to_geometry, to_tuple
from chainer.functions.pooling.pooling_nd import _PoolingND

if tp.TYPE_CHECKING:
    from chainer._typing import PerAxis, VariableLike


class UnpoolingND(_PoolingND):
    """See `unpooling_nd`.

    Attributes:
        outs: Size of the output, before a call None where it follows from that of the input.
    """

    saved = ('outs',)

    def __init__(
        self,
        ndim: int,
        ksize: PerAxis,
        stride: PerAxis | None = None,
        pad: PerAxis = 0,
        outsize: PerAxis | None = None,
        cover_all: bool = True,
    ) -> None:
        super().__init__(ndim, ksize, stride, pad, cover_all)
        self.outs = _to_outs(type(self).__name__, outsize, ndim)

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
        outs: tuple[int, ...] | None,
    ) -> tuple[chainerx.ndarray, tuple[int, ...]]:
        y = chainerx.unpool(x, ksize, stride, pad, outs, cover_all)
        return y, y.shape[2:]


def _to_outs(op: str, outsize: PerAxis | None, n: int) -> tuple[int, ...] | None:
    return None if outsize is None else to_tuple(op, 'outsize', outsize, n)


def unpooling_nd(
    x: VariableLike,
    ksize: PerAxis,
    stride: PerAxis | None = None,
    pad: PerAxis = 0,
    outsize: tp.Sequence[int] | None = None,
    cover_all: bool = True,
) -> variable.Variable:
    """Puts each element to all places of its window; where windows overlap, the sum.

    Args:
        x (Variable or array): (N, C, d1, ..., dn), a float dtype.
        ksize (int or tuple of int): The size of the window, of all axes or of each.
        stride (int or tuple of int): Its steps; None is ``ksize``.
        pad (int or tuple of int): The border that is cut off at both ends of each axis.
        outsize (tuple of int): The lengths of these axes of the result; None is the smallest of
            those that a pooling makes the shape of ``x`` of.
        cover_all (bool): Whether that pooling is one with ``cover_all``.

    Returns:
        Variable: (N, C, ...). Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
        TypeError: If an argument is neither an int nor a tuple of them.
        ValueError: If the number of axes of ``x`` is 0, or does not fit to one or to the name.
        DimensionError: If ``outsize`` does not fit to the shape of ``x``, or the stride is below 1.
    """
    return _unpooling('unpooling_nd', None, x, ksize, stride, pad, outsize, cover_all)


def _unpooling(
    op: str,
    n: int | None,
    x: VariableLike,
    ksize: PerAxis,
    stride: PerAxis | None,
    pad: PerAxis,
    outsize: PerAxis | None,
    cover_all: bool,
) -> variable.Variable:
    ndim = count_spatial(op, x, n)
    size, step, pads = to_geometry(op, ndim, ksize, stride, pad)
    return UnpoolingND.call(
        x,
        ndim=ndim,
        ksize=size,
        stride=step,
        pad=pads,
        cover_all=cover_all,
        return_indices=False,
        outs=_to_outs(op, outsize, ndim),
    )


@documented_like(unpooling_nd)
def unpooling_1d(
    x: VariableLike,
    ksize: PerAxis,
    stride: PerAxis | None = None,
    pad: PerAxis = 0,
    outsize: PerAxis | None = None,
    cover_all: bool = True,
) -> variable.Variable:
    """`unpooling_nd` of one axis."""
    return _unpooling('unpooling_1d', 1, x, ksize, stride, pad, outsize, cover_all)


@documented_like(unpooling_nd)
def unpooling_3d(
    x: VariableLike,
    ksize: PerAxis,
    stride: PerAxis | None = None,
    pad: PerAxis = 0,
    outsize: PerAxis | None = None,
    cover_all: bool = True,
) -> variable.Variable:
    """`unpooling_nd` of three axes."""
    return _unpooling('unpooling_3d', 3, x, ksize, stride, pad, outsize, cover_all)
