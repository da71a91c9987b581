"""AdaDelta."""

from __future__ import annotations

from chainer import optimizer
from chainer._optim.hyperparameter import FRACTION, NON_NEGATIVE
from chainer.optimizers._declare import declare, hyper
from chainer.optimizers._rule import FormulaRule


@declare
class AdaDelta(optimizer.GradientMethod):
    """AdaDelta.

    Source: Zeiler, arXiv:1212.5701.
    """

    rho: float = hyper('Decay of the averages.', default=0.95, limits=FRACTION)
    eps: float = hyper('Keeps the fraction from 0 / 0.', default=1e-6, limits=NON_NEGATIVE)


class AdaDeltaRule(FormulaRule, of=AdaDelta):
    """Update rule of `AdaDelta`: steps as large as past ones were, on average."""

    fused = 'ada_delta'

    @staticmethod
    def step(xp, p, g, rho, eps, *, msg, msdx) -> None:
        msg *= rho
        msg += (1 - rho) * g * g
        dx = xp.sqrt((msdx + eps) / (msg + eps)) * g
        msdx *= rho
        msdx += (1 - rho) * dx * dx
        p -= dx
