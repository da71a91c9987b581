"""Images of another size."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import variable
from chainer._base.constants import constant
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.gradients import linear
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class ResizeImages(BuiltinFunction):
    """See `resize_images`.

    Attributes:
        out_H, out_W: Size of the output.
    """

    check_uses_attributes = False

    def __init__(self, output_shape: tp.Sequence[int], mode: str, align_corners: bool) -> None:
        self.out_H, self.out_W = _check(output_shape, mode)
        self.mode = mode
        self.align_corners = align_corners

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim == 4)

    @staticmethod
    def compose(
        x: chainerx.ndarray, *, out_H: int, out_W: int, mode: str, align_corners: bool
    ) -> chainerx.ndarray:
        _, _, height, width = x.shape
        if (out_H > 0 and height == 0) or (out_W > 0 and width == 0):
            raise ValueError(f'resize_images: x has shape {x.shape}, there is nothing to resize')
        return _resizer(x, out_H, out_W, mode, align_corners)


def _resize_both(
    x: chainerx.ndarray, height: int, width: int, mode: str, align_corners: bool
) -> chainerx.ndarray:
    return _resize(_resize(x, 2, height, mode, align_corners), 3, width, mode, align_corners)


_resizer = linear('resize_images', _resize_both, 4)


def _resize(
    x: chainerx.ndarray, axis: int, out: int, mode: str, align_corners: bool
) -> chainerx.ndarray:
    n = x.shape[axis]
    i = np.arange(out)

    def take(places: np.ndarray) -> chainerx.ndarray:
        return x.take(constant(places, x.device), axis)

    if mode == 'nearest':
        return take(i * n // max(out, 1))
    if align_corners:
        at = i * (n - 1) / max(out - 1, 1)
    else:
        at = np.clip((i + 0.5) * n / max(out, 1) - 0.5, 0, max(n - 1, 0))
    low = np.floor(at).astype('int64')
    weights = constant((at - low).reshape((-1,) + (1,) * (3 - axis)), x.device, x.dtype)
    return take(low) * (1 - weights) + take(np.minimum(low + 1, max(n - 1, 0))) * weights


def _is_whole(m: object) -> bool:
    is_whole_float = isinstance(m, float | np.floating) and m.is_integer()
    return is_whole_float or isinstance(m, int | np.integer)


def _check(output_shape: tp.Sequence[int], mode: str) -> tuple[int, int]:
    if mode not in ('nearest', 'bilinear'):
        raise ValueError(f"resize_images: mode is {mode!r}, expected 'bilinear' or 'nearest'")
    try:
        height, width = output_shape
    except (TypeError, ValueError) as error:
        raise type(error)(
            f'resize_images: output_shape is {output_shape!r}, expected a height and a width'
        ) from None
    if not all(map(_is_whole, (height, width))):
        raise TypeError(f'resize_images: output_shape is {output_shape!r}, expected integers')
    if height <= 0 or width <= 0:
        raise ValueError(
            f'resize_images: output_shape is {output_shape!r}, expected positive sizes'
        )
    return int(height), int(width)


def resize_images(
    x: VariableLike,
    output_shape: tp.Sequence[int],
    *,
    mode: str = 'bilinear',
    align_corners: bool = True,
) -> variable.Variable:
    """Images of another size, by interpolation between the nearest pixels.

    Args:
        x (Variable or array): (N, C, H, W), a float dtype.
        output_shape (pair of int): Height and width of the result.
        mode (str): 'bilinear', or 'nearest' for the pixel in whose place the new one begins.
        align_corners (bool): Whether the centres of the corners stay where they are, or the outer
            edges of images; for 'bilinear' only.

    Returns:
        Variable: (N, C, *output_shape). Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is no such array.
        TypeError: If ``output_shape`` is no pair of int.
        ValueError: If it is not positive, images are empty, or the mode is unknown.
    """
    out_h, out_w = _check(output_shape, mode)
    return ResizeImages.call(x, out_H=out_h, out_W=out_w, mode=mode, align_corners=align_corners)
