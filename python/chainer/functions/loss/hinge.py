"""The hinge loss."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions._index_errors import of_labels
from chainer.functions.loss._reduction import check_reduce, mean
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Hinge(BuiltinFunction):
    """See `hinge`."""

    is_called = True
    check_uses_attributes = False

    def _prepare(self) -> None:
        _check(self.norm, self.reduce)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 't'))
        x, t = in_types
        type_check.expect(
            x.dtype.kind == 'f',
            t.dtype.kind == 'i',
            x.ndim == 2,
            t.ndim == 1,
            x.shape[0] == t.shape[0],
        )

    @staticmethod
    def compose(
        x: chainerx.ndarray, t: chainerx.ndarray, *, norm: str = 'L1', reduce: str = 'mean'
    ) -> chainerx.ndarray:
        try:
            losses = chainerx.hinge(x, t, 1.0 if norm == 'L1' else 2.0)
        except IndexError as error:
            raise of_labels(error) from None
        return losses if reduce == 'no' else mean(losses, max(len(x), 1))


def _check(norm: str, reduce: str) -> None:
    if norm not in ('L1', 'L2'):
        raise NotImplementedError(f"hinge: norm is {norm!r}, expected 'L1' or 'L2'")
    check_reduce('hinge', reduce)


def hinge(
    x: VariableLike, t: VariableLike, norm: str = 'L1', reduce: str = 'mean'
) -> variable.Variable:
    """The hinge loss of one class against the rest, ``max(0, 1 - s * x) ** p``.

    The sign ``s`` is 1 at the right class and -1 at the others; ``p`` is 1 or 2.

    Args:
        x (Variable or array): Scores, (rows, classes), a float dtype.
        t (Variable or array): Labels, (rows,), integers from 0 to classes - 1.
        norm (str): 'L1' or 'L2'.
        reduce (str): 'mean' for the sum over classes and mean over rows, 'no' for the losses
            themselves.

    Returns:
        Variable: One number, or the shape of ``x``. Differentiable in ``x``, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        IndexError: If a label is out of range.
        ValueError: For an unknown ``reduce``.
        NotImplementedError: For an unknown ``norm``.
    """
    _check(norm, reduce)
    return Hinge.call(x, t, norm=norm, reduce=reduce)
