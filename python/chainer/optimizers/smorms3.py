"""SMORMS3."""

from __future__ import annotations

import typing as tp

from chainer import optimizer
from chainer._optim.hyperparameter import FINITE, NON_NEGATIVE
from chainer.optimizers._declare import declare, hyper
from chainer.optimizers._rule import FormulaRule


@declare
class SMORMS3(optimizer.GradientMethod):
    """Simon Funk's SMORMS3.

    Source: http://sifter.org/~simon/journal/20150420.html.
    """

    lr: float = hyper('Upper bound of the learning rate.', default=0.001, limits=FINITE)
    eps: float = hyper('Keeps denominators from 0.', default=1e-16, limits=NON_NEGATIVE)


class SMORMS3Rule(FormulaRule, of=SMORMS3):
    """Update rule of `SMORMS3`: the learning rate follows how sure the gradients are."""

    fused = 'smorms3'

    def init_state(self, param: tp.Any) -> None:
        """Makes the states: a memory of one step, and zeros."""
        super().init_state(param)
        self._state['mem'] += 1  # type: ignore[index]

    @staticmethod
    def step(xp, p, grad, lr, eps, *, mem, g, g2) -> None:
        r = 1 / (mem + 1)
        g *= 1 - r
        g += r * grad
        g2 *= 1 - r
        g2 += r * grad * grad
        x = g * g / (g2 + eps)
        p -= grad * xp.minimum(x, lr) / (xp.sqrt(g2) + eps)
        mem *= 1 - x
        mem += 1
