"""The maxima of windows."""

from __future__ import annotations

import functools
import typing as tp

import chainerx
from chainerx._core import _max_pool_kept

from chainer import configuration
from chainer._base.docstrings import documented_like
from chainer.functions.pooling._sizes import count_spatial, to_geometry
from chainer.functions.pooling.pooling_nd import _PoolingND

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, PerAxis, VariableLike


class MaxPoolingND(_PoolingND):
    """See `max_pooling_nd`."""

    saved = ('_kept',)

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
    ) -> tuple[chainerx.ndarray, chainerx.ndarray | None]:
        # Without a graph there is nobody to ask for the indices.
        needed = return_indices or configuration.config.enable_backprop
        return _max_pool_kept(x, ksize, stride, pad, cover_all, needed)

    @functools.cached_property  # so that an export knows the array
    def indexes(self) -> NdArray:
        """The numbers that the maxima have in their windows, in C order, int64."""
        return self._kept.astype('int64')


def max_pooling_nd(
    x: VariableLike,
    ksize: PerAxis,
    stride: PerAxis | None = None,
    pad: PerAxis = 0,
    cover_all: bool = True,
    return_indices: bool = False,
) -> tp.Any:
    """The maximum of each window that slides over the axes behind that of channels.

    Args:
        x (Variable or array): (N, C, d1, ..., dn), a float dtype.
        ksize (int or tuple of int): The size of the window, of all axes or of each.
        stride (int or tuple of int): Its steps; None is ``ksize``.
        pad (int or tuple of int): The padding at both ends of each axis; never the maximum.
        cover_all (bool): Whether there is one more window where some of the input would be left
            out.
        return_indices (bool): Whether the indices are returned, too.

    Returns:
        Variable, or a tuple of it and an array: (N, C, ...). Differentiable, any order. The
        indices, int64, are the numbers of the maxima in their windows, in C order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
        TypeError: If ``ksize``, ``stride`` or ``pad`` is neither an int nor a tuple of them.
        ValueError: If the number of axes of ``x`` is 0, or does not fit to these or to the name.
        DimensionError: If the window is larger than the padded input, or the stride below 1.

    Note:
        NaN is the maximum. The first of equal elements gets the gradient.
    """
    return _max_pooling('max_pooling_nd', None, x, ksize, stride, pad, cover_all, return_indices)


def _max_pooling(
    op: str,
    n: int | None,
    x: VariableLike,
    ksize: PerAxis,
    stride: PerAxis | None,
    pad: PerAxis,
    cover_all: bool,
    return_indices: bool,
) -> tp.Any:
    ndim = count_spatial(op, x, n)
    size, step, pads = to_geometry(op, ndim, ksize, stride, pad)
    if return_indices:
        f = MaxPoolingND(ndim, size, step, pads, cover_all, True)
        (y,) = f.apply((x,))
        return y, f.indexes
    return MaxPoolingND.call(
        x,
        ndim=ndim,
        ksize=size,
        stride=step,
        pad=pads,
        cover_all=cover_all,
        return_indices=False,
    )


@documented_like(max_pooling_nd)
def max_pooling_1d(
    x: VariableLike,
    ksize: PerAxis,
    stride: PerAxis | None = None,
    pad: PerAxis = 0,
    cover_all: bool = True,
    return_indices: bool = False,
) -> tp.Any:
    """`max_pooling_nd` of one axis."""
    return _max_pooling('max_pooling_1d', 1, x, ksize, stride, pad, cover_all, return_indices)


@documented_like(max_pooling_nd)
def max_pooling_2d(
    x: VariableLike,
    ksize: PerAxis,
    stride: PerAxis | None = None,
    pad: PerAxis = 0,
    cover_all: bool = True,
    return_indices: bool = False,
) -> tp.Any:
    """`max_pooling_nd` of images."""
    return _max_pooling('max_pooling_2d', 2, x, ksize, stride, pad, cover_all, return_indices)


@documented_like(max_pooling_nd)
def max_pooling_3d(
    x: VariableLike,
    ksize: PerAxis,
    stride: PerAxis | None = None,
    pad: PerAxis = 0,
    cover_all: bool = True,
    return_indices: bool = False,
) -> tp.Any:
    """`max_pooling_nd` of three axes."""
    return _max_pooling('max_pooling_3d', 3, x, ksize, stride, pad, cover_all, return_indices)
