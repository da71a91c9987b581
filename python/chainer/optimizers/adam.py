"""Adam and its variants."""

from __future__ import annotations

import math
import typing as tp
import warnings

import numpy as np

from chainer import optimizer
from chainer._optim.hyperparameter import (
    BELOW_ONE,
    FINITE,
    NON_NEGATIVE,
    POSITIVE,
    Hyperparameter,
)
from chainer.optimizers._declare import declare, hyper
from chainer.optimizers._rule import FormulaRule, as_float, check_eps


@declare
class Adam(optimizer.GradientMethod):
    """Adam; with a weight decay rate, AdamW; with flags, AMSGrad, AdaBound and AMSBound.

    Source: Kingma and Ba, arXiv:1412.6980; Loshchilov and Hutter, arXiv:1711.05101; Reddi et al.,
    ICLR 2018; Luo et al., ICLR 2019.
    """

    alpha: float = hyper('Step size.', default=0.001, limits=FINITE)
    beta1: float = hyper('Decay of the average of gradients.', default=0.9, limits=BELOW_ONE)
    beta2: float = hyper('Decay of the average of their squares.', default=0.999, limits=BELOW_ONE)
    eps: float = hyper('Keeps the denominator from 0.', default=1e-8, limits=NON_NEGATIVE)
    eta: float = hyper('Schedule multiplier, also of the decay.', default=1.0, limits=FINITE)
    weight_decay_rate: float = hyper(
        'Weight decay, apart from the gradient.', default=0, limits=FINITE
    )
    amsgrad: bool = hyper('Whether the denominator never shrinks.', default=False)
    adabound: bool = hyper('Whether learning rates stay within bounds.', default=False)
    final_lr: float = hyper('Limit of the bounds in time.', default=0.1, limits=FINITE)
    gamma: float = hyper('How quickly the bounds draw together.', default=0.001, limits=POSITIVE)

    @property
    def alpha_t(self) -> float:
        """``alpha``, corrected for averages that started from 0, in the last update."""
        return _learning_rate(self.hyperparam, self.t)

    @property
    def lr(self) -> float:
        """The same as ``alpha_t``, which it is deprecated for."""
        _warn_of_lr(type(self).__name__, 'Adam.alpha_t')
        return self.alpha_t


class AdamRule(FormulaRule, of=Adam):
    """Update rule of `Adam` and its variants, which flags in the hyperparameters tell apart."""

    fused = 'adam'
    is_wide = True
    _rows = {  # noqa: RUF012
        (): 'adam',
        ('vhat',): 'amsgrad',
        ('low', 'high'): 'adabound',
        ('low', 'high', 'vhat'): 'amsbound',
    }
    # What bounds of AdaBound are relative to.
    initial_alpha: float

    def _prepare(self) -> None:
        if self.hyperparam.adabound and not hasattr(self, 'initial_alpha'):
            self.initial_alpha = self.hyperparam.alpha
            if self.initial_alpha == 0:
                raise ValueError(
                    'AdaBound: alpha must not be 0 at first: bounds are relative to it'
                )

    @property
    def fused_states(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the states: the averages, and for AMSGrad the largest one so far."""
        return ('m', 'v', 'vhat') if self.hyperparam.amsgrad else ('m', 'v')

    @property
    def alpha_t(self) -> float:
        """``alpha``, corrected for averages that started from 0.

        AdaBound keeps that of each element within `bounds`.
        """
        return _learning_rate(self.hyperparam, self.t)

    @property
    def lr(self) -> float:
        """The same as ``alpha_t``, which it is deprecated for."""
        _warn_of_lr(type(self).__name__, 'AdamRule.alpha_t')
        return self.alpha_t

    @property
    def bounds(self) -> tuple[float, float]:
        """Between what AdaBound keeps learning rates; they draw together with time."""
        if self.t == 0:
            raise RuntimeError(
                "Can't determine the bounds of AdaBound optimizer because the update steps have "
                'not been started.'
            )
        settings = super()._settings() + self._limit_of_bounds()
        *_, low, high = self._numbers_at(self.t, *settings)
        return low, high

    def _limit_of_bounds(self) -> tuple[float, float]:
        hp = self.hyperparam
        return float(hp.final_lr * hp.alpha / self.initial_alpha), float(hp.gamma)

    def _settings(self) -> tuple[float, ...]:
        if not self.hyperparam.adabound:
            return super()._settings()
        self._prepare()  # the flag may have been set since
        return super()._settings() + self._limit_of_bounds()

    def _numbers(self) -> tuple[float, ...]:
        # By the properties: a subclass may override them.
        _, *others = self._settings()
        if not self.hyperparam.adabound:
            return self.alpha_t, *others
        return self.alpha_t, *others[:-2], *self.bounds

    def _check_dtype(self, dtype: tp.Any) -> None:
        # That of what is computed in between.
        wide = np.dtype(np.float32) if dtype.itemsize == 2 else dtype
        check_eps('Adam', float(self.hyperparam.eps), wide)

    def _options(self) -> tuple[str, ...]:
        hp = self.hyperparam
        return ('low', 'high') * bool(hp.adabound) + ('vhat',) * bool(hp.amsgrad)

    def fused_key(self) -> tp.Hashable:
        """What rules have in common that make the same call; see `FormulaRule`."""
        return super().fused_key(), getattr(self, 'initial_alpha', None)

    @staticmethod
    def _numbers_at(
        t, alpha, beta1, beta2, eps, eta, weight_decay_rate, final_lr=None, gamma=None
    ) -> tuple[float, ...]:
        alpha_t = alpha * math.sqrt(1 - beta2**t) / (1 - beta1**t)
        if final_lr is None:
            return alpha_t, beta1, beta2, eps, eta, weight_decay_rate
        span = gamma * t
        low, high = final_lr * (1 - 1 / (span + 1)), final_lr * (1 + 1 / span)
        return alpha_t, beta1, beta2, eps, eta, weight_decay_rate, low, high

    @staticmethod
    def step(
        xp, p, g, alpha_t, beta1, beta2, eps, eta, rate, low=None, high=None, *, m, v, vhat=None
    ) -> None:
        m += (1 - beta1) * (g - m)
        v += (1 - beta2) * (g * g - v)
        if vhat is None:
            root = xp.sqrt(v) + eps
        else:
            vhat[...] = xp.maximum(vhat, v)
            root = xp.sqrt(vhat) + eps
        if low is None:
            change = eta * (alpha_t * m / root)
        else:
            change = eta * (xp.clip(alpha_t / root, low, high) * m)
        if rate != 0:
            p *= 1 - eta * rate
        p -= change.astype(p.dtype)


def _learning_rate(hp: Hyperparameter, t: int) -> float:
    if t == 0:
        raise RuntimeError(
            "Can't determine the learning rate of Adam optimizer because the update steps have not "
            "been started. What sets or shifts the rate takes the attribute 'alpha'."
        )
    alpha, beta1, beta2 = as_float(hp, 'alpha', 'beta1', 'beta2')
    return AdamRule._numbers_at(t, alpha, beta1, beta2, 0.0, 0.0, 0.0)[0]


def _warn_of_lr(owner: str, name: str) -> None:
    warnings.warn(
        f'{owner}.lr is deprecated. Use {name} instead.', DeprecationWarning, stacklevel=3
    )


_default: tp.Final = Adam._defaults


@declare
class AdamW(Adam):
    """Adam with weight decay apart from the gradient.

    Source: Loshchilov and Hutter, arXiv:1711.05101.
    """

    def __init__(
        self,
        alpha: float = _default.alpha,
        beta1: float = _default.beta1,
        beta2: float = _default.beta2,
        eps: float = _default.eps,
        eta: float = _default.eta,
        weight_decay_rate: float = _default.weight_decay_rate,
    ) -> None:
        super().__init__(alpha, beta1, beta2, eps, eta, weight_decay_rate)


@declare
class AMSGrad(Adam):
    """Adam whose denominator never shrinks.

    Source: Reddi et al., ICLR 2018.
    """

    def __init__(
        self,
        alpha: float = _default.alpha,
        beta1: float = _default.beta1,
        beta2: float = _default.beta2,
        eps: float = _default.eps,
        eta: float = _default.eta,
    ) -> None:
        super().__init__(alpha, beta1, beta2, eps, eta, amsgrad=True)


@declare
class AdaBound(Adam):
    """Adam with learning rates kept within bounds that draw together.

    Source: Luo et al., ICLR 2019.
    """

    def __init__(
        self,
        alpha: float = _default.alpha,
        beta1: float = _default.beta1,
        beta2: float = _default.beta2,
        final_lr: float = _default.final_lr,
        gamma: float = _default.gamma,
        eps: float = _default.eps,
        eta: float = _default.eta,
    ) -> None:
        super().__init__(
            alpha, beta1, beta2, eps, eta, adabound=True, final_lr=final_lr, gamma=gamma
        )


@declare
class AMSBound(Adam):
    """AMSGrad with learning rates kept within bounds that draw together.

    Source: Luo et al., ICLR 2019.
    """

    def __init__(
        self,
        alpha: float = _default.alpha,
        beta1: float = _default.beta1,
        beta2: float = _default.beta2,
        final_lr: float = _default.final_lr,
        gamma: float = _default.gamma,
        eps: float = _default.eps,
        eta: float = _default.eta,
    ) -> None:
        super().__init__(
            alpha,
            beta1,
            beta2,
            eps,
            eta,
            amsgrad=True,
            adabound=True,
            final_lr=final_lr,
            gamma=gamma,
        )
