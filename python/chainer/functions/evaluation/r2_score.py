"""How much of the variance of the truth a prediction explains."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions._precision import widened
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class R2_score(BuiltinFunction):
    """See `r2_score`."""

    is_called = True
    check_uses_attributes = False

    def __init__(self, sample_weight: None, multioutput: str) -> None:
        _check(sample_weight, multioutput)
        self.multioutput = multioutput

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('pred', 'true'))
        pred, true = in_types
        type_check.expect(
            pred.dtype.kind == 'f', true.dtype.kind == 'f', true.ndim >= 1, pred.shape == true.shape
        )

    @staticmethod
    def compose(
        pred: chainerx.ndarray, true: chainerx.ndarray, *, multioutput: str = 'uniform_average'
    ) -> chainerx.ndarray:
        dtype = pred.dtype
        # Sums of squares soon leave the range of float16.
        pred, true = (widened(x.as_grad_stopped()) for x in (pred, true))
        rest = chainerx.square(true - pred).sum(0)
        total = chainerx.square(true - true.mean(0)).sum(0)
        varies = total != 0
        score = chainerx.where(varies, 1 - rest / chainerx.where(varies, total, 1), 0)
        return (score if multioutput == 'raw_values' else score.mean()).astype(dtype)


def _check(sample_weight: None, multioutput: str) -> None:
    if sample_weight is not None:
        raise NotImplementedError('r2_score: sample_weight is given, expected None')
    if multioutput not in ('uniform_average', 'raw_values'):
        raise ValueError(
            f"r2_score: multioutput is {multioutput!r}, expected 'uniform_average' or 'raw_values'"
        )


def r2_score(
    pred: VariableLike,
    true: VariableLike,
    sample_weight: None = None,
    multioutput: str = 'uniform_average',
) -> variable.Variable:
    """The coefficient of determination, ``1 - sum((true - pred)**2) / sum((true - mean)**2)``.

    Args:
        pred (Variable or array): (N, ...), a float dtype.
        true (Variable or array): Same shape, a float dtype.
        sample_weight: None: weights are not supported.
        multioutput (str): 'uniform_average' for the mean over outputs, 'raw_values' for the score
            of each.

    Returns:
        Variable: One number, or the shape of ``pred`` without its first axis; the dtype of
        ``pred``. Where the truth is constant it is 0. Not differentiable: no
        gradient flows back.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: For an unknown ``multioutput``.
        NotImplementedError: If there are weights.
    """
    _check(sample_weight, multioutput)
    return R2_score.call(pred, true, multioutput=multioutput)
