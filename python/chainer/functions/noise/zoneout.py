"""Zoneout."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import engine

from chainer import configuration, variable
from chainer._graph.builtin import BuiltinFunction, _as_chainerx
from chainer.utils import argument, type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, NdArray, VariableLike


class Zoneout(BuiltinFunction):
    """See `zoneout`.

    Attributes:
        flag_h: Which elements are those of ``h``.
        flag_x: Which elements are those of ``x``.
    """

    saved = ('flag_h', 'flag_x')
    check_uses_attributes = False
    flag_x: NdArray

    def __init__(self, zoneout_ratio: float) -> None:
        super().__init__(zoneout_ratio)
        _check_ratio(zoneout_ratio)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('h', 'x'))
        h, x = in_types
        type_check.expect(h.dtype.kind == 'f', h.dtype == x.dtype, h.shape == x.shape)

    @staticmethod
    def compose(
        h: chainerx.ndarray,
        x: chainerx.ndarray,
        *,
        zoneout_ratio: float,
        flag_h: NdArray | None = None,
    ) -> tuple[chainerx.ndarray, chainerx.ndarray, chainerx.ndarray]:
        flag_h = engine.zoneout_flags(h, zoneout_ratio) if flag_h is None else _as_chainerx(flag_h)
        return chainerx.where(flag_h, h, x), flag_h, chainerx.logical_not(flag_h)


def _check_ratio(ratio: float) -> None:
    if not 0.0 <= ratio <= 1.0:
        raise ValueError(f'zoneout: ratio is {ratio}, expected 0 <= ratio <= 1')


def zoneout(
    h: VariableLike, x: VariableLike, ratio: float = 0.5, **removed: object
) -> variable.Variable:
    """In training, elements of the old state at random, those of the new one elsewhere.

    Args:
        h (Variable or array): The old state; any shape, any float dtype.
        x (Variable or array): The new state; same shape and dtype.
        ratio (float): The probability of the old state, from 0 to 1.

    Returns:
        Variable: Shape and dtype of ``x``; ``x`` itself where ``chainer.config.train`` is False.
        Differentiable in both, any order.

    Raises:
        InvalidType: If dtypes or shapes differ, or are no floats.
        ValueError: If ``ratio`` is out of range.

    Note:
        The numbers come from a generator of its own, whose key is drawn from `numpy.random`.
    Source: Krueger et al., ICLR 2017.
    """
    if removed:
        argument.check_unexpected_kwargs(
            removed, train='train argument is not supported anymore. Use chainer.using_config'
        )
        argument.assert_kwargs_empty(removed)
    _check_ratio(ratio)
    if configuration.config.train:
        return Zoneout.call(h, x, zoneout_ratio=ratio, flag_h=None)
    return variable.as_variable(x)
