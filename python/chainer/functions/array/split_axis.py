"""Arrays cut along an axis."""

from __future__ import annotations

import collections.abc as cabc
import operator
import typing as tp

import chainerx

from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    import numpy as np

    from chainer import variable
    from chainer._typing import Arrays, InTypes, VariableLike


class SplitAxis(BuiltinFunction):
    """See `split_axis`; one of ``indices`` and ``sections`` is None."""

    def __init__(self, indices_or_sections: int | tp.Sequence[int] | np.ndarray, axis: int) -> None:
        self.indices, self.sections = _to_points(indices_or_sections)
        self.axis = axis

    def _check_in_debug_mode(self, in_data: Arrays) -> None:
        if self.indices and list(self.indices) != sorted(self.indices):
            raise ValueError(f'split_axis: indices are {self.indices}, expected them sorted')

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() == 1)
        (x,) = in_types
        if self.axis >= 0:
            type_check.expect(x.ndim > self.axis)
        else:
            type_check.expect(-x.ndim <= self.axis)
        if self.sections is not None:
            sections = type_check.make_variable(self.sections, 'sections')
            type_check.expect(x.shape[self.axis] % sections == 0)
        elif self.indices:
            greatest = type_check.make_variable(max(self.indices), 'max_index')
            type_check.expect(x.shape[self.axis] >= greatest)

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        *,
        indices: tuple[int, ...] | None = None,
        sections: int | None = None,
        axis: int = 0,
    ) -> tuple[chainerx.ndarray, ...]:
        if sections is not None:
            return tuple(chainerx.split(x, sections, axis))
        return tuple(chainerx.split(x, list(indices or ()), axis))


@tp.overload
def split_axis(
    x: VariableLike,
    indices_or_sections: int | tp.Sequence[int] | np.ndarray,
    axis: int,
    force_tuple: tp.Literal[True] = True,
) -> tuple[variable.Variable, ...]: ...


@tp.overload
def split_axis(
    x: VariableLike,
    indices_or_sections: int | tp.Sequence[int] | np.ndarray,
    axis: int,
    force_tuple: bool,
) -> variable.Variable | tuple[variable.Variable, ...]: ...


def split_axis(
    x: VariableLike,
    indices_or_sections: int | tp.Sequence[int] | np.ndarray,
    axis: int,
    force_tuple: bool = True,
) -> variable.Variable | tuple[variable.Variable, ...]:
    """Cuts an array along an axis.

    Args:
        x (Variable or array): Any shape and dtype.
        indices_or_sections (int or sequence of int): How many parts of one length, or where to
            cut.
        axis (int): See above.
        force_tuple (bool): Whether one part comes in a tuple, too.

    Returns:
        tuple of Variable, or a Variable: Views. Differentiable, any order.

    Raises:
        InvalidType: If there is no such axis, or its length does not fit.
        TypeError: If ``indices_or_sections`` is neither, or has other numbers.
        ValueError: If the number of parts is not positive, or in debug mode, if where to cut is not
            sorted.
    """
    indices, sections = _to_points(indices_or_sections)
    ys = SplitAxis.call(x, indices=indices, sections=sections, axis=axis)
    return ys if force_tuple or len(ys) != 1 else ys[0]


def _to_points(indices_or_sections: tp.Any) -> tuple[tuple[int, ...] | None, int | None]:
    """Where to cut, or the number of parts."""
    ndim = getattr(indices_or_sections, 'ndim', None)
    if isinstance(indices_or_sections, int) or ndim == 0:
        sections = operator.index(indices_or_sections)
        if sections <= 0:
            raise ValueError(f'split_axis: indices_or_sections is {sections}, expected at least 1')
        return None, sections
    if isinstance(indices_or_sections, cabc.Sequence) or ndim == 1:
        return tuple(operator.index(i) for i in indices_or_sections), None
    raise TypeError(
        f'split_axis: indices_or_sections is {indices_or_sections!r}, expected an int or a '
        'sequence of int'
    )
