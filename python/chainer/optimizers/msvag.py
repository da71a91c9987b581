"""M-SVAG."""

from __future__ import annotations

import typing as tp

from chainer import optimizer
from chainer._optim.hyperparameter import (
    BELOW_ONE,
    FINITE,
    Hyperparameter,
    HyperparameterProxy,
    defaults,
)
from chainer.optimizers._rule import FormulaRule, as_float

_default_hyperparam = defaults(
    'MSVAG',
    lr=(0.1, FINITE),
    beta=(0.9, BELOW_ONE),
    eta=(1.0, FINITE),
    weight_decay_rate=(0, FINITE),
)


class MSVAGRule(FormulaRule):
    """Update rule of `MSVAG`: momentum, weighed down where gradients vary.

    See :class:`chainer.optimizers.MSVAG` for the arguments.
    """

    fused = 'msvag'
    fused_states = ('m', 'v')

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        beta: float | None = None,
        eta: float | None = None,
        weight_decay_rate: float | None = None,
    ) -> None:
        super().__init__(
            parent_hyperparam or _default_hyperparam,
            lr=lr,
            beta=beta,
            eta=eta,
            weight_decay_rate=weight_decay_rate,
        )

    def _numbers(self) -> tuple[float, ...]:
        hp = self.hyperparam
        lr, beta, eta, rate = as_float(hp, 'lr', 'beta', 'eta', 'weight_decay_rate')
        power = beta**self.t
        rho = (1 - beta) * (1 + power) / ((1 + beta) * (1 - power))
        # In the first step the variance is unknown, and rho is 1.
        return lr, beta, eta, rate, 1 - power, min(rho, 0.9999)

    def _settings(self) -> tuple[float, ...]:
        plain = as_float(self.hyperparam, 'lr', 'beta', 'eta', 'weight_decay_rate')
        return *plain, 0.0, 0.0  # two follow from beta and the number of the update

    @staticmethod
    def step(
        xp: tp.Any,
        p: tp.Any,
        g: tp.Any,
        m: tp.Any,
        v: tp.Any,
        lr: float,
        beta: float,
        eta: float,
        weight_decay_rate: float,
        correction: float,
        rho: float,
    ) -> None:
        m += (1 - beta) * (g - m)
        v += (1 - beta) * (g * g - v)
        mean = m / correction
        square = mean * mean
        spread = square + rho * ((v / correction - square) / (1 - rho))
        # 0 / 0 is 0 here, where the mean is 0, too.
        factor = xp.clip(square / xp.where(spread == 0, 1, spread), 0, 1)
        p -= eta * (lr * mean * factor + weight_decay_rate * p)


class MSVAG(optimizer.GradientMethod):
    """M-SVAG: momentum with a factor per element for the variance of its gradients.

    Args:
        lr (float): Learning rate.
        beta (float): Decay of the averages.
        eta (float): Schedule multiplier.
        weight_decay_rate (float): Weight decay, apart from the gradient.

    Source: Balles and Hennig, arXiv:1705.07774.
    """

    _limits = _default_hyperparam._limits[1]

    def __init__(
        self,
        lr: float = _default_hyperparam.lr,
        beta: float = _default_hyperparam.beta,
        eta: float = _default_hyperparam.eta,
        weight_decay_rate: float = _default_hyperparam.weight_decay_rate,
    ) -> None:
        super().__init__()
        self.hyperparam.lr = lr
        self.hyperparam.beta = beta
        self.hyperparam.eta = eta
        self.hyperparam.weight_decay_rate = weight_decay_rate

    lr = HyperparameterProxy('lr')
    beta = HyperparameterProxy('beta')
    eta = HyperparameterProxy('eta')
    weight_decay_rate = HyperparameterProxy('weight_decay_rate')

    def create_update_rule(self) -> MSVAGRule:
        """Makes a rule for one parameter."""
        return MSVAGRule(self.hyperparam)
