"""Arrays with a margin."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Pad(BuiltinFunction):
    """See `pad`.

    Attributes:
        keywords (dict): Further arguments.
    """

    check_uses_attributes = False

    def __init__(
        self,
        pad_width: int | tp.Sequence[int] | tp.Sequence[tp.Sequence[int]] | np.ndarray,
        mode: str,
        **keywords: object,
    ) -> None:
        _check(mode, keywords)
        self.pad_width = pad_width
        self.mode = mode
        self.keywords = keywords

    @property
    def pad_bw(self) -> np.ndarray:
        """The widths as a pair, or a pair for each axis."""
        width = np.asarray(self.pad_width)
        return np.broadcast_to(width, (2,)) if width.ndim == 0 else width

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        *,
        pad_width: int | tp.Sequence[int] | tp.Sequence[tp.Sequence[int]],
        mode: str,
        keywords: dict[str, tp.Any],
    ) -> chainerx.ndarray:
        return chainerx.pad(x, pad_width, mode, **keywords)


# The options of each mode.
_MODES = {
    'constant': ('constant_values',),
    'edge': (),
    'linear_ramp': ('end_values',),
    'maximum': ('stat_length',),
    'mean': ('stat_length',),
    'median': ('stat_length',),
    'minimum': ('stat_length',),
    'reflect': ('reflect_type',),
    'symmetric': ('reflect_type',),
    'wrap': (),
    'empty': (),
}


def _check(mode: str, keywords: tp.Iterable[str]) -> None:
    if mode not in _MODES:
        raise ValueError(f'pad: mode is {mode!r}, expected one of {", ".join(_MODES)}')
    if unknown := set(keywords) - {*_MODES[mode]}:
        raise ValueError(f'pad: mode {mode!r} takes no {sorted(unknown)[0]!r}')


def pad(
    x: VariableLike,
    pad_width: int | tp.Sequence[int] | tp.Sequence[tp.Sequence[int]] | np.ndarray,
    mode: str,
    **keywords: object,
) -> variable.Variable:
    """An array with elements added before and after each axis.

    Args:
        x (Variable or array): Any shape, any float dtype.
        pad_width: Pairs of widths, one per axis or one for all; a number means both.
        mode (str): 'constant', 'edge', 'linear_ramp', 'maximum', 'mean', 'median', 'minimum',
            'reflect', 'symmetric', 'wrap' or 'empty', as in `numpy.pad`.
        **keywords: Options of the mode, as in `numpy.pad`: ``constant_values``, ``end_values``,
            ``stat_length``, ``reflect_type``.

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
