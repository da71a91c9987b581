"""Connectionist temporal classification."""

from __future__ import annotations

import numbers
import typing as tp

import chainerx
import numpy as np
from chainerx._core import _connectionist_temporal_classification

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions._index_errors import of_labels
from chainer.functions._of_arrays import logsumexp as _logsumexp  # noqa: F401  (for libraries)
from chainer.functions.array.stack import stack
from chainer.functions.loss._reduction import check_reduce, mean
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike

_NAME: tp.Final = 'connectionist_temporal_classification'


class ConnectionistTemporalClassification(BuiltinFunction):
    """See `connectionist_temporal_classification`."""

    is_called = True
    check_uses_attributes = True

    def _prepare(self) -> None:
        check_reduce(_NAME, self.reduce)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('input_length', 'label_length', 't', 'x'))
        input_length, label_length, t, x = in_types
        for lengths in (input_length, label_length):
            type_check.expect(
                lengths.dtype.kind == 'i', lengths.ndim == 1, lengths.shape[0] == x.shape[1]
            )
        type_check.expect(
            t.dtype.kind == 'i',
            t.ndim == 2,
            x.ndim == 3,
            x.dtype.kind == 'f',
            t.shape[0] == x.shape[1],
            self.blank_symbol < x.shape[2],
        )

    @staticmethod
    def compose(
        input_length: chainerx.ndarray,
        label_length: chainerx.ndarray,
        t: chainerx.ndarray,
        x: chainerx.ndarray,
        *,
        blank_symbol: int,
        reduce: str = 'mean',
    ) -> chainerx.ndarray:
        try:
            losses = _connectionist_temporal_classification(
                x, t, input_length, label_length, blank_symbol
            )
        except IndexError as error:
            raise of_labels(error) from None
        return losses if reduce == 'no' else mean(losses, max(len(losses), 1))


def connectionist_temporal_classification(
    x: VariableLike | tp.Sequence[VariableLike],
    t: VariableLike,
    blank_symbol: int,
    input_length: VariableLike | None = None,
    label_length: VariableLike | None = None,
    reduce: str = 'mean',
) -> variable.Variable:
    """The loss of labels whose places in a longer sequence are not known.

    It is minus the logarithm of the probability that steps drawn from ``softmax(x)`` give the
    labels, once symbols that repeat are taken for one and blanks are left out.

    Args:
        x (sequence of Variable or array): Scores, step by step, (rows, classes), a float dtype; or
            all of them, (steps, rows, classes), as one Variable or array.
        t (Variable or array): Labels, (rows, labels), integers.
        blank_symbol (int): The class that stands for no label.
        input_length (Variable or array): (rows,), integers: how many steps of each row count; None
            for all.
        label_length (Variable or array): (rows,), integers: how many labels; None for all.
        reduce (str): 'mean', or 'no' for the losses themselves.

    Returns:
        Variable: 0-d, or (rows,); the dtype of ``x``. Differentiable in ``x``, twice.

    Raises:
        InvalidType: If dtypes or shapes do not fit, or ``blank_symbol`` is no class.
        IndexError: If a label or a length is out of range, or a row has fewer steps than its
            labels need: one each, and one between equal neighbours.
        TypeError: If ``blank_symbol`` is no integer, or ``x`` neither a sequence nor an array.
        ValueError: For an unknown ``reduce``, a negative ``blank_symbol``, or no steps.

    Source: Graves et al., ICML 2006.
    """
    check_reduce(_NAME, reduce)
    if isinstance(blank_symbol, bool) or not isinstance(blank_symbol, numbers.Integral):
        raise TypeError(f'{_NAME}: blank_symbol is {blank_symbol!r}, expected an int')
    if blank_symbol < 0:
        raise ValueError(f'{_NAME}: blank_symbol is {blank_symbol}, expected at least 0')
    steps = _join_steps(x)
    n_steps, n_rows = steps.shape[:2]
    device = steps.device
    if input_length is None:
        input_length = device.send(np.full(n_rows, n_steps, np.int32))
    if label_length is None:
        n_labels = t.shape[1] if t.ndim == 2 else 0
        label_length = device.send(np.full(n_rows, n_labels, np.int32))
    return ConnectionistTemporalClassification.call(
        input_length, label_length, t, steps, blank_symbol=int(blank_symbol), reduce=reduce
    )


def _join_steps(x: VariableLike | tp.Sequence[VariableLike]) -> variable.Variable:
    if not isinstance(x, (list, tuple)):
        if getattr(x, 'ndim', None) != 3:
            raise TypeError(
                f'{_NAME}: x is a {type(x).__name__}, expected a list of (rows, classes), or '
                '(steps, rows, classes)'
            )
        return variable.as_variable(x)
    if not x:
        raise ValueError(f'{_NAME}: x has length 0, expected at least 1')
    return stack(x)
