"""Arrays with a margin."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check


class Pad(BuiltinFunction):
    """See `pad`.

    Attributes:
        keywords (dict): Further arguments.
    """

    check_uses_attributes = False

    def __init__(self, pad_width: tp.Any, mode: str, **keywords: tp.Any) -> None:
        _check(mode, keywords)
        self.pad_width = pad_width
        self.mode = mode
        self.keywords = keywords

    @property
    def pad_bw(self) -> np.ndarray:
        """The widths as a pair, or a pair for each axis."""
        width = np.asarray(self.pad_width)
        return np.broadcast_to(width, (2,)) if width.ndim == 0 else width

    def check_type_forward(self, in_types: tp.Any) -> None:
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        *,
        pad_width: tp.Any,
        mode: str,
        keywords: dict[str, tp.Any],
    ) -> chainerx.ndarray:
        values = keywords.get('constant_values', 0)
        if np.ndim(values) == 0:
            return chainerx.pad(x, pad_width, mode, values)
        widths = np.broadcast_to(pad_width, (x.ndim, 2)).tolist()
        for axis, pair in enumerate(np.broadcast_to(values, (x.ndim, 2)).tolist()):
            for side in (0, 1):
                width = np.zeros((x.ndim, 2), int)
                width[axis, side] = widths[axis][side]
                x = chainerx.pad(x, width.tolist(), mode, pair[side])
        return x


_MODES = ('constant', 'edge', 'reflect', 'symmetric', 'wrap')


def _check(mode: str, keywords: tp.Iterable[str]) -> None:
    if mode not in _MODES:
        raise ValueError(f'pad: mode is {mode!r}, expected one of {", ".join(_MODES)}')
    if unknown := set(keywords) - ({'constant_values'} if mode == 'constant' else set()):
        raise ValueError(f'pad: mode {mode!r} takes no {sorted(unknown)[0]!r}')


def pad(x: tp.Any, pad_width: tp.Any, mode: str, **keywords: tp.Any) -> variable.Variable:
    """An array with elements added before and after each axis.

    Args:
        x (Variable or array): Any shape, any float dtype.
        pad_width: Pairs of widths, one per axis or one for all; a number means both.
        mode (str): 'constant', 'edge', 'reflect', 'symmetric' or 'wrap', as in `numpy.pad`.
        **keywords: ``constant_values``, the value for mode 'constant' (default: 0); may be given
            for each axis and side, too.

    Returns:
        Variable: The dtype of ``x``; each axis is longer by its widths. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
        ValueError: If widths do not fit, or there is no such mode or keyword.
    """
    _check(mode, keywords)
    if isinstance(pad_width, np.ndarray):
        pad_width = pad_width.tolist()
    return Pad.call(x, pad_width=pad_width, mode=mode, keywords=keywords)
