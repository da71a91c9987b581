"""The BlackOut loss."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.gradients import recomputed
from chainer.functions._precision import widened
from chainer.functions.loss._reduction import check_reduce, mean
from chainer.functions.loss._sampling import expect_rows_and_classes, scores_of
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


def _losses(
    x: chainerx.ndarray, t: chainerx.ndarray, w: chainerx.ndarray, samples: chainerx.ndarray
) -> chainerx.ndarray:
    x = widened(x)
    right = scores_of('black_out', 't', x, w, chainerx.expand_dims(t, 1))
    wrong = scores_of('black_out', 'samples', x, w, samples)
    log_p = chainerx.log_softmax(chainerx.concatenate([right, wrong], 1), axis=1)
    # log(1 - p), where p may be nearly 1.
    return -(log_p[:, 0] + chainerx.log(-chainerx.expm1(log_p[:, 1:])).sum(1))


# Keeps no rows of W.
_losses_again = recomputed('black_out', _losses)


class BlackOut(BuiltinFunction):
    """See `black_out`."""

    check_uses_attributes = False

    def _prepare(self) -> None:
        check_reduce('black_out', self.reduce)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 't', 'W', 'samples'))
        x, t, w, samples = in_types
        expect_rows_and_classes(x, t, w)
        type_check.expect(
            samples.dtype.kind == 'i', samples.ndim == 2, samples.shape[0] == x.shape[0]
        )

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        t: chainerx.ndarray,
        w: chainerx.ndarray,
        samples: chainerx.ndarray,
        *,
        reduce: str = 'mean',
    ) -> chainerx.ndarray:
        losses = _losses_again(x, t, w, samples)
        loss = losses if reduce == 'no' else mean(losses, max(len(losses), 1))
        return loss.astype(chainerx.result_type(x, w))


def black_out(
    x: VariableLike, t: VariableLike, W: VariableLike, samples: VariableLike, reduce: str = 'mean'
) -> variable.Variable:
    """The BlackOut loss: a softmax over the right class and some sampled ones.

    Where ``p`` is the softmax of the scores ``x @ W.T`` of these classes, it is
    ``-log(p[right]) - sum(log(1 - p[sampled]))``.

    Args:
        x (Variable or array): (rows, features), a float dtype.
        t (Variable or array): The right classes, (rows,), integers.
        W (Variable or array): (classes, features), a float dtype.
        samples (Variable or array): (rows, samples), integers: classes drawn for each row.
        reduce (str): 'mean', or 'no' for the losses themselves.

    Returns:
        Variable: 0-d, or (rows,); the wider of the dtypes. Differentiable in ``x`` and ``W``, any
        order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        IndexError: If a class is out of range.
        ValueError: For an unknown ``reduce``.

    Source: Ji et al., ICLR 2016, with one weight for all classes.
    """
    check_reduce('black_out', reduce)
    return BlackOut.call(x, t, W, samples, reduce=reduce)
