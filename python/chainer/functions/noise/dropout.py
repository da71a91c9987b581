"""Dropout."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import engine

from chainer import configuration, variable
from chainer._graph.builtin import BuiltinFunction, _as_chainerx
from chainer.utils import argument, type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, NdArray, VariableLike


class Dropout(BuiltinFunction):
    """See `dropout`.

    Attributes:
        mask: The factors of the input.
    """

    saved = ('mask',)
    check_uses_attributes = False

    def _prepare(self) -> None:
        _check_ratio(self.dropout_ratio)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        *,
        dropout_ratio: float,
        mask: chainerx.ndarray | None = None,
        return_mask: bool = False,
    ) -> tuple[chainerx.ndarray, chainerx.ndarray]:
        mask = engine.dropout_mask(x, dropout_ratio) if mask is None else _as_chainerx(mask)
        return x * mask, mask


def _check_ratio(ratio: float) -> None:
    if isinstance(ratio, str):
        raise TypeError(f'dropout: ratio is {ratio!r}, expected a number')
    if not 0.0 <= ratio < 1.0:
        raise ValueError(f'dropout: ratio is {ratio}, expected 0 <= ratio < 1')


@tp.overload
def dropout(
    x: VariableLike,
    ratio: float = 0.5,
    *,
    mask: NdArray | None = None,
    return_mask: tp.Literal[False] = False,
    **removed: object,
) -> variable.Variable: ...


@tp.overload
def dropout(
    x: VariableLike,
    ratio: float = 0.5,
    *,
    mask: NdArray | None = None,
    return_mask: bool,
    **removed: object,
) -> tp.Any: ...


def dropout(
    x: VariableLike,
    ratio: float = 0.5,
    *,
    mask: NdArray | None = None,
    return_mask: bool = False,
    **removed: object,
) -> tp.Any:
    """In training, sets elements to 0 at random and scales the others by ``1 / (1 - ratio)``.

    Args:
        x (Variable or array): Any shape, any float dtype.
        ratio (float): The probability of a 0, from 0 to below 1.
        mask (array): Factors of the elements, instead of random ones.
        return_mask (bool): Whether the factors are returned, too.

    Returns:
        Variable, or a tuple of it and the mask: Shape and dtype of ``x``; ``x`` itself (and None)
        where ``chainer.config.train`` is False. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
        TypeError: If ``ratio`` is a text.
        ValueError: If ``ratio`` is out of range.

    Note:
        The numbers come from a generator of its own, whose key is drawn from `numpy.random`.
    Source: Srivastava et al., JMLR 2014.
    """
    if removed:
        argument.check_unexpected_kwargs(
            removed, train='train argument is not supported anymore. Use chainer.using_config'
        )
        argument.assert_kwargs_empty(removed)
    if not configuration.config.train:
        x = variable.as_variable(x)
        return (x, None) if return_mask else x
    _check_ratio(ratio)
    if not return_mask:
        return Dropout.call(x, dropout_ratio=ratio, mask=mask, return_mask=False)
    f = Dropout(ratio, mask, True)
    (y,) = f.apply((x,))
    return y, f.mask
