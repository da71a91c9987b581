"""Layouts of memory other than that of the shape that users see.

A Variable with a layout keeps its array transposed. None is the standard layout; the names say
where the channels, axis 1 of the shape, lie in memory.
"""

from __future__ import annotations

import typing as tp

from chainer import backend

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, VariableLike

CUDNN_CHANNEL_FIRST_X: tp.Final = None
CUDNN_CHANNEL_FIRST_W: tp.Final = None
CUDNN_CHANNEL_LAST_X: tp.Final = 'CUDNN_CHANNEL_LAST_X'
CUDNN_CHANNEL_LAST_W: tp.Final = 'CUDNN_CHANNEL_LAST_W'

_CHANNEL_LAST = (CUDNN_CHANNEL_LAST_X, CUDNN_CHANNEL_LAST_W)


class _Unspecified:
    def __repr__(self) -> str:
        return '<unspecified>'


_unspecified = _Unspecified()


def _get_layout_transpose_axes(
    ndim: int, src_layout: str | None, dst_layout: str | None, inverse: bool = False
) -> tuple[int, ...] | None:
    """Axes to transpose an array with when its layout changes; None if nothing is to be done."""
    if src_layout == dst_layout:
        return None
    if (src_layout is None) == (dst_layout is None) or (src_layout or dst_layout) not in (
        _CHANNEL_LAST
    ):
        raise ValueError(f"Unknown layout conversion: from '{src_layout}' to '{dst_layout}'")
    if ndim < 3:
        raise ValueError(f'layout {src_layout or dst_layout} needs 3 dimensions, got {ndim}')
    spatial = tuple(range(2, ndim))
    if (dst_layout is None) == inverse:
        return (0, *spatial, 1)
    return (0, ndim - 1, *(i - 1 for i in spatial))


def _transpose_array(arr: NdArray, src_layout: str | None, dst_layout: str | None) -> NdArray:
    axes = _get_layout_transpose_axes(arr.ndim, src_layout, dst_layout)
    return arr if axes is None else arr.transpose(axes)


def _transpose_shape(
    shape: tuple[int, ...], src_layout: str | None, dst_layout: str | None
) -> tuple[int, ...]:
    axes = _get_layout_transpose_axes(len(shape), src_layout, dst_layout)
    return shape if axes is None else tuple(shape[i] for i in axes)


def get_raw_shape(arr_or_var: VariableLike) -> tuple[int, ...]:
    """The shape of the array as it lies in memory."""
    return getattr(arr_or_var, 'raw_array', arr_or_var).shape


def get_semantic_shape(
    arr_or_var: tp.Any, *, assumed_layout: tp.Any = _unspecified
) -> tuple[int, ...]:
    """The shape in the standard layout.

    Args:
        arr_or_var: Array or Variable.
        assumed_layout: The layout of an array; of a Variable it must be the one it has.
    """
    if hasattr(arr_or_var, 'raw_array'):
        if assumed_layout is not _unspecified and assumed_layout != arr_or_var.layout:
            raise ValueError(
                f'assumed_layout is {assumed_layout!r}, but the layout of the Variable is '
                f'{arr_or_var.layout!r}'
            )
        return arr_or_var.shape
    layout = None if assumed_layout is _unspecified else assumed_layout
    return _transpose_shape(backend._array_of(arr_or_var).shape, layout, None)
