"""Arrays cut along an axis."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check


class SplitAxis(BuiltinFunction):
    """See `split_axis`; one of ``indices`` and ``sections`` is None."""

    attributes: tp.ClassVar = {'indices': None, 'sections': None, 'axis': 0}
    indices: tuple[int, ...] | None
    sections: int | None
    axis: int

    def check_type_forward(self, in_types: tp.Any) -> None:
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
        x: chainerx.ndarray, indices: tuple[int, ...] | None, sections: int | None, axis: int
    ) -> tuple[chainerx.ndarray, ...]:
        if sections is not None:
            return tuple(chainerx.split(x, sections, axis))
        return tuple(chainerx.split(x, list(indices or ()), axis))


def split_axis(
    x: tp.Any, indices_or_sections: tp.Any, axis: int, force_tuple: bool = True
) -> tp.Any:
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
        TypeError: If ``indices_or_sections`` is neither.
        ValueError: If the number of parts is not positive.
    """
    indices, sections = None, None
    if isinstance(indices_or_sections, int):
        sections = indices_or_sections
        if sections <= 0:
            raise ValueError(f'split_axis: indices_or_sections is {sections}, expected at least 1')
    elif isinstance(indices_or_sections, list | tuple) or _is_vector(indices_or_sections):
        indices = tuple(int(i) for i in indices_or_sections)
    else:
        raise TypeError(
            f'split_axis: indices_or_sections is {indices_or_sections!r}, expected an int or a '
            'sequence of int'
        )
    ys = SplitAxis.call(x, indices, sections, axis)
    return ys if force_tuple or len(ys) != 1 else ys[0]


def _is_vector(x: tp.Any) -> bool:
    return getattr(x, 'ndim', None) == 1
