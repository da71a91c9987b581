"""Images shifted by up to half a filter, each group of channels in its own direction."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, PerAxis, VariableLike


class Shift(BuiltinFunction):
    """See `shift`."""

    def __init__(self, ksize: PerAxis = 3, dilate: PerAxis = 1) -> None:
        self.kh, self.kw = _pair('ksize', ksize)
        self.dy, self.dx = _pair('dilate', dilate)
        _check(self.kh, self.kw, self.dy, self.dx)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        (x,) = in_types
        type_check.expect(x.dtype.kind == 'f', x.ndim == 4, x.shape[1] >= self.kh * self.kw)

    @staticmethod
    def compose(x: chainerx.ndarray, *, kh: int, kw: int, dy: int, dx: int) -> chainerx.ndarray:
        _, c, h, w = x.shape
        offsets = [(dy * i, dx * j) for i in range(kh - 1, -1, -1) for j in range(kw - 1, -1, -1)]
        # The last group and the remaining channels stay in place.
        middle = len(offsets) // 2
        offsets[middle], offsets[-1] = offsets[-1], offsets[middle]
        size = c // len(offsets)
        ends = [*range(size, size * len(offsets), size), c]
        top, left = kh // 2 * dy, kw // 2 * dx
        padded = chainerx.pad(x, ((0, 0), (0, 0), (top, top), (left, left)))
        groups = [
            padded[:, begin:end, i : i + h, j : j + w]
            for begin, end, (i, j) in zip([0, *ends], ends, offsets, strict=False)
        ]
        return chainerx.concatenate(groups, 1)


def _check(kh: int, kw: int, dy: int, dx: int) -> None:
    for name, k in (('kh', kh), ('kw', kw)):
        if k < 0 or k % 2 == 0:
            raise ValueError(f'shift: {name} is {k}, expected an odd number')
    if dy <= 0 or dx <= 0:
        raise ValueError(f'shift: dilate is {(dy, dx)}, expected positive numbers')


def _pair(name: str, value: PerAxis) -> tuple[int, int]:
    pair = (value, value) if isinstance(value, int | np.integer) else tuple(value)
    if len(pair) != 2 or not all(isinstance(n, int | np.integer) for n in pair):
        raise TypeError(f'shift: {name} is {value!r}, expected an int or a pair of them')
    return int(pair[0]), int(pair[1])


def shift(x: VariableLike, ksize: PerAxis = 3, dilate: PerAxis = 1) -> variable.Variable:
    """Shifts images, as a filter with one 1 per channel would; zeros come in at the borders.

    Channels are divided into ``kh * kw`` groups, one for each place in the filter; those of the
    last group, with the rest of the division, are not shifted.

    Args:
        x (Variable or array): (N, C, H, W), a float dtype; ``C`` is at least ``kh * kw``.
        ksize (int or pair of int): Height and width of the filter; odd.
        dilate (int or pair of int): The distance between two places of the filter.

    Returns:
        Variable: Shape of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is no such array.
        TypeError: If ``ksize`` or ``dilate`` is neither an int nor a pair of them.
        ValueError: If ``ksize`` is even, or ``dilate`` not positive.

    Source: Wu et al., CVPR 2018.
    """
    kh, kw = _pair('ksize', ksize)
    dy, dx = _pair('dilate', dilate)
    _check(kh, kw, dy, dx)
    return Shift.call(x, kh=kh, kw=kw, dy=dy, dx=dx)
