"""Arrays one behind the other."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Concat(BuiltinFunction):
    """See `concat`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() > 0)
        ndim = type_check.eval(in_types[0].ndim)
        if self.axis >= 0:
            type_check.expect(in_types[0].ndim > type_check.make_variable(self.axis, 'axis'))
        else:
            type_check.expect(-in_types[0].ndim <= self.axis)
        expect_joinable(in_types, self.axis % ndim if ndim else 0)

    @staticmethod
    def compose(*xs: chainerx.ndarray, axis: int = 1) -> chainerx.ndarray:
        return chainerx.concatenate(xs, axis)


def concat(xs: tp.Iterable[VariableLike], axis: int = 1) -> variable.Variable:
    """Joins arrays along an axis that they have.

    Args:
        xs (iterable of Variable or array): One or more, of one dtype; the same shapes, but for the
            length of this axis.
        axis (int): See above; negative ones count from the end.

    Returns:
        Variable: The dtype of ``xs``; the axis has the sum of their lengths. Differentiable in all
        of them, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit, or there is no array.
        TypeError: If ``axis`` is no integer, or ``xs`` no iterable of them.
    """
    xs = to_sequence('concat', xs)
    if not isinstance(axis, int):
        raise TypeError(f'concat: axis is {axis!r}, expected an int')
    return Concat.call(*xs, axis=axis)


def expect_joinable(in_types: InTypes, axis: int) -> None:
    """The type check of arrays that are joined along an axis."""
    type_check.expect(in_types.size() > 0)
    first = in_types[0]
    ndim = type_check.eval(first.ndim)
    for x in in_types[1:]:
        type_check.expect(first.dtype == x.dtype, first.ndim == x.ndim)
        for d in range(ndim):
            if d != axis:
                type_check.expect(first.shape[d] == x.shape[d])


def to_sequence(op: str, xs: tp.Iterable[VariableLike]) -> tp.Sequence[VariableLike]:
    """Return the items of an iterable as a nonempty list or tuple.

    Raises:
        InvalidType: If it has nothing.
        TypeError: For a variable or an array in the place of several of them.
    """
    if isinstance(xs, variable.Variable) or hasattr(xs, 'dtype'):
        raise TypeError(f'{op}: xs is a {type(xs).__name__}, expected a list or tuple')
    if not isinstance(xs, list | tuple):
        xs = tuple(xs)
    if not xs:
        label = ''.join(map(str.capitalize, op.split('_')))
        with type_check._naming(label):
            type_check.expect(type_check.make_variable(0, 'in_types.size') > 0)
    return xs
