"""M-SVAG."""

from __future__ import annotations

from chainer import optimizer
from chainer._optim.hyperparameter import BELOW_ONE, FINITE
from chainer.optimizers._declare import declare, hyper
from chainer.optimizers._rule import FormulaRule


@declare
class MSVAG(optimizer.GradientMethod):
    """M-SVAG: momentum with a factor per element for the variance of its gradients.

    Source: Balles and Hennig, arXiv:1705.07774.
    """

    lr: float = hyper('Learning rate.', default=0.1, limits=FINITE)
    beta: float = hyper('Decay of the averages.', default=0.9, limits=BELOW_ONE)
    eta: float = hyper('Schedule multiplier.', default=1.0, limits=FINITE)
    weight_decay_rate: float = hyper(
        'Weight decay, apart from the gradient.', default=0, limits=FINITE
    )


class MSVAGRule(FormulaRule, of=MSVAG):
    """Update rule of `MSVAG`: momentum, weighed down where gradients vary."""

    fused = 'msvag'

    @staticmethod
    def _numbers_at(t, lr, beta, eta, weight_decay_rate):
        power = beta**t
        rho = (1 - beta) * (1 + power) / ((1 + beta) * (1 - power))
        # In the first step the variance is unknown, and rho is 1.
        return lr, beta, eta, weight_decay_rate, 1 - power, min(rho, 0.9999)

    @staticmethod
    def step(xp, p, g, lr, beta, eta, weight_decay_rate, correction, rho, *, m, v) -> None:
        m += (1 - beta) * (g - m)
        v += (1 - beta) * (g * g - v)
        mean = m / correction
        square = mean * mean
        spread = square + rho * ((v / correction - square) / (1 - rho))
        # 0 / 0 is 0 here, where the mean is 0, too.
        factor = xp.clip(square / xp.where(spread == 0, 1, spread), 0, 1)
        p -= eta * (lr * mean * factor + weight_decay_rate * p)
