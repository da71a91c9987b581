"""AdaGrad."""

from __future__ import annotations

from chainer import optimizer
from chainer._optim.hyperparameter import FINITE, NON_NEGATIVE
from chainer.optimizers._declare import declare, hyper
from chainer.optimizers._rule import FormulaRule


@declare
class AdaGrad(optimizer.GradientMethod):
    """AdaGrad.

    Source: Duchi et al., JMLR 12, 2011.
    """

    lr: float = hyper('Learning rate.', default=0.001, limits=FINITE)
    eps: float = hyper('Keeps the denominator from 0.', default=1e-8, limits=NON_NEGATIVE)


class AdaGradRule(FormulaRule, of=AdaGrad):
    """Update rule of `AdaGrad`: ``h += g ** 2; p -= lr * g / (sqrt(h) + eps)``."""

    fused = 'ada_grad'

    @staticmethod
    def step(xp, p, g, lr, eps, *, h) -> None:
        h += g * g
        p -= lr * g / (xp.sqrt(h) + eps)
