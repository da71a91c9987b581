"""RMSprop."""

from __future__ import annotations

import typing as tp

from chainer import optimizer
from chainer._optim.hyperparameter import FINITE, FRACTION, NON_NEGATIVE
from chainer.optimizers._declare import declare, hyper
from chainer.optimizers._rule import FormulaRule, check_eps


@declare
class RMSprop(optimizer.GradientMethod):
    """RMSprop.

    Source: Tieleman and Hinton, COURSERA lecture 6.5, 2012.
    """

    lr: float = hyper('Learning rate.', default=0.01, limits=FINITE)
    alpha: float = hyper('Decay of the average.', default=0.99, limits=FRACTION)
    eps: float = hyper('Keeps the denominator from 0.', default=1e-8, limits=NON_NEGATIVE)
    eps_inside_sqrt: bool = hyper(
        'Whether ``eps`` is added before the root is taken.', default=False
    )


class RMSpropRule(FormulaRule, of=RMSprop):
    """Update rule of `RMSprop`: steps are divided by the root of an average of squares."""

    fused = 'rmsprop'

    def _check_dtype(self, dtype: tp.Any) -> None:
        check_eps('RMSprop', float(self.hyperparam.eps), dtype)

    @staticmethod
    def step(xp, p, g, lr, alpha, eps, eps_inside_sqrt, *, ms) -> None:
        ms *= alpha
        ms += (1 - alpha) * g * g
        p -= lr * g / (xp.sqrt(ms + eps) if eps_inside_sqrt else xp.sqrt(ms) + eps)
