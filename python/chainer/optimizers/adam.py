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
    HyperparameterProxy,
    defaults,
)
from chainer.optimizers._rule import FormulaRule, as_float, check_eps

_default_hyperparam = defaults(
    'Adam',
    alpha=(0.001, FINITE),
    beta1=(0.9, BELOW_ONE),
    beta2=(0.999, BELOW_ONE),
    eps=(1e-8, NON_NEGATIVE),
    eta=(1.0, FINITE),
    weight_decay_rate=(0, FINITE),
    amsgrad=False,
    adabound=False,
    final_lr=(0.1, FINITE),
    gamma=(0.001, POSITIVE),
)


def _learning_rate(hp: Hyperparameter, t: int) -> float:
    """``alpha``, corrected for averages that started from 0."""
    if t == 0:
        raise RuntimeError(
            "Can't determine the learning rate of Adam optimizer because the update steps have not "
            'been started.'
        )
    alpha, beta1, beta2 = as_float(hp, 'alpha', 'beta1', 'beta2')
    return alpha * math.sqrt(1 - beta2**t) / (1 - beta1**t)


def _warn_of_lr(owner: str, name: str) -> None:
    warnings.warn(
        f'{owner}.lr is deprecated. Use {name} instead.', DeprecationWarning, stacklevel=3
    )


class AdamRule(FormulaRule):
    """Update rule of `Adam` and its variants, which flags in the hyperparameters tell apart.

    See :class:`chainer.optimizers.Adam` for the arguments.
    """

    fused = 'adam'
    # What bounds of AdaBound are relative to.
    initial_alpha: float

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        alpha: float | None = None,
        beta1: float | None = None,
        beta2: float | None = None,
        eps: float | None = None,
        eta: float | None = None,
        weight_decay_rate: float | None = None,
        amsgrad: bool | None = None,
        adabound: bool | None = None,
        final_lr: float | None = None,
        gamma: float | None = None,
    ) -> None:
        super().__init__(
            parent_hyperparam or _default_hyperparam,
            alpha=alpha,
            beta1=beta1,
            beta2=beta2,
            eps=eps,
            eta=eta,
            weight_decay_rate=weight_decay_rate,
            amsgrad=amsgrad,
            adabound=adabound,
            final_lr=final_lr,
            gamma=gamma,
        )
        if self.hyperparam.adabound:
            self._set_initial_alpha()

    def _set_initial_alpha(self) -> None:
        self.initial_alpha = self.hyperparam.alpha
        if self.initial_alpha == 0:
            raise ValueError('AdaBound: alpha must not be 0 at first: bounds are relative to it')

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
        final_lr = self._final_rate
        span = float(self.hyperparam.gamma) * self.t
        return final_lr * (1 - 1 / (span + 1)), final_lr * (1 + 1 / span)

    def _numbers(self) -> tuple[float, ...]:
        hp = self.hyperparam
        beta1, beta2, eps, eta, rate = as_float(
            hp, 'beta1', 'beta2', 'eps', 'eta', 'weight_decay_rate'
        )
        if hp.adabound:
            if not hasattr(self, 'initial_alpha'):  # the flag was set later
                self._set_initial_alpha()
            low, high = self.bounds
        else:
            low, high = -math.inf, math.inf
        return self.alpha_t, beta1, beta2, eps, eta, rate, low, high

    def _settings(self) -> tuple[float, ...]:
        hp = self.hyperparam
        plain = as_float(hp, 'alpha', 'beta1', 'beta2', 'eps', 'eta', 'weight_decay_rate')
        if not hp.adabound:
            return *plain, -math.inf, math.inf
        if not hasattr(self, 'initial_alpha'):  # the flag was set later
            self._set_initial_alpha()
        return *plain, self._final_rate, float(hp.gamma)

    @property
    def _final_rate(self) -> float:
        hp = self.hyperparam
        return float(hp.final_lr * hp.alpha / self.initial_alpha)

    def _check_dtype(self, dtype: tp.Any) -> None:
        # That of what is computed in between.
        wide = np.dtype(np.float32) if dtype.itemsize == 2 else dtype
        check_eps('Adam', float(self.hyperparam.eps), wide)

    def fused_call(self, dtype: tp.Any) -> tuple[str, tuple[str, ...], tuple[float, ...]] | None:
        """What the update computes, the routine by the flags; see `FormulaRule`."""
        call = super().fused_call(dtype)
        if call is None:
            return None
        hp = self.hyperparam
        name = ('amsbound' if hp.adabound else 'amsgrad') if hp.amsgrad else 'adam'
        if hp.adabound and not hp.amsgrad:
            name = 'adabound'
        return name, *call[1:]

    def fused_key(self) -> tp.Hashable:
        """What rules have in common that make the same call; see `FormulaRule`."""
        return super().fused_key(), getattr(self, 'initial_alpha', None)

    @staticmethod
    def step(xp: tp.Any, p: tp.Any, g: tp.Any, m: tp.Any, v: tp.Any, *more: tp.Any) -> None:
        """Updates parameter and states in place; ``more`` is ``vhat``, or not, and the numbers."""
        *vhat, alpha_t, beta1, beta2, eps, eta, rate, low, high = more
        dtype = p.dtype
        is_narrow = dtype.itemsize == 2
        if is_narrow:
            # The averages of squares of small numbers are 0 there.
            g, m16, v16 = g.astype(np.float32), m, v
            m, v = m.astype(np.float32), v.astype(np.float32)
        m += (1 - beta1) * (g - m)
        v += (1 - beta2) * (g * g - v)
        if is_narrow:
            m16[...] = m.astype(dtype)
            v16[...] = v.astype(dtype)
        largest = v
        if vhat:
            largest = xp.maximum(vhat[0].astype(v.dtype), v)
            vhat[0][...] = largest.astype(vhat[0].dtype)
        root = xp.sqrt(largest) + eps
        if low == -math.inf:
            change = eta * (alpha_t * m / root)
        else:
            change = eta * (xp.clip(alpha_t / root, low, high) * m)
        if rate != 0:
            p *= 1 - eta * rate
        p -= change.astype(dtype)


class Adam(optimizer.GradientMethod):
    """Adam; with a weight decay rate, AdamW; with flags, AMSGrad, AdaBound and AMSBound.

    Args:
        alpha (float): Step size.
        beta1 (float): Decay of the average of gradients.
        beta2 (float): Decay of the average of their squares.
        eps (float): Keeps the denominator from 0.
        eta (float): Schedule multiplier, also of the weight decay.
        weight_decay_rate (float): Weight decay, apart from the gradient.
        amsgrad (bool): Whether the denominator never shrinks.
        adabound (bool): Whether learning rates are kept within bounds that draw together.
        final_lr (float): What the bounds draw to.
        gamma (float): How quickly they do.

    Source: Kingma and Ba, arXiv:1412.6980; Loshchilov and Hutter, arXiv:1711.05101; Reddi et al.,
    ICLR 2018; Luo et al., ICLR 2019.
    """

    _limits = _default_hyperparam._limits[1]

    def __init__(
        self,
        alpha: float = _default_hyperparam.alpha,
        beta1: float = _default_hyperparam.beta1,
        beta2: float = _default_hyperparam.beta2,
        eps: float = _default_hyperparam.eps,
        eta: float = _default_hyperparam.eta,
        weight_decay_rate: float = _default_hyperparam.weight_decay_rate,
        amsgrad: bool = _default_hyperparam.amsgrad,
        adabound: bool = _default_hyperparam.adabound,
        final_lr: float = _default_hyperparam.final_lr,
        gamma: float = _default_hyperparam.gamma,
    ) -> None:
        super().__init__()
        self.hyperparam.alpha = alpha
        self.hyperparam.beta1 = beta1
        self.hyperparam.beta2 = beta2
        self.hyperparam.eps = eps
        self.hyperparam.eta = eta
        self.hyperparam.weight_decay_rate = weight_decay_rate
        self.hyperparam.amsgrad = amsgrad
        self.hyperparam.adabound = adabound
        self.hyperparam.final_lr = final_lr
        self.hyperparam.gamma = gamma

    alpha = HyperparameterProxy('alpha')
    beta1 = HyperparameterProxy('beta1')
    beta2 = HyperparameterProxy('beta2')
    eps = HyperparameterProxy('eps')
    eta = HyperparameterProxy('eta')
    weight_decay_rate = HyperparameterProxy('weight_decay_rate')
    amsgrad = HyperparameterProxy('amsgrad')
    adabound = HyperparameterProxy('adabound')
    final_lr = HyperparameterProxy('final_lr')
    gamma = HyperparameterProxy('gamma')

    def create_update_rule(self) -> AdamRule:
        """Makes a rule for one parameter."""
        return AdamRule(self.hyperparam)

    @property
    def alpha_t(self) -> float:
        """``alpha``, corrected for averages that started from 0, in the last update."""
        return _learning_rate(self.hyperparam, self.t)

    @property
    def lr(self) -> float:
        """The same as ``alpha_t``, which it is deprecated for."""
        _warn_of_lr(type(self).__name__, 'Adam.alpha_t')
        return self.alpha_t


class AdamW(Adam):
    """Adam with weight decay apart from the gradient.

    Args:
        alpha (float): Step size.
        beta1 (float): Decay of the average of gradients.
        beta2 (float): Decay of the average of their squares.
        eps (float): Keeps the denominator from 0.
        eta (float): Schedule multiplier, also of the weight decay.
        weight_decay_rate (float): Weight decay, apart from the gradient.

    Source:
        Loshchilov and Hutter, arXiv:1711.05101.
    """

    def __init__(
        self,
        alpha: float = _default_hyperparam.alpha,
        beta1: float = _default_hyperparam.beta1,
        beta2: float = _default_hyperparam.beta2,
        eps: float = _default_hyperparam.eps,
        eta: float = _default_hyperparam.eta,
        weight_decay_rate: float = _default_hyperparam.weight_decay_rate,
    ) -> None:
        super().__init__(alpha, beta1, beta2, eps, eta, weight_decay_rate)


class AMSGrad(Adam):
    """Adam whose denominator never shrinks.

    Args:
        alpha (float): Step size.
        beta1 (float): Decay of the average of gradients.
        beta2 (float): Decay of the average of their squares.
        eps (float): Keeps the denominator from 0.
        eta (float): Schedule multiplier.

    Source:
        Reddi et al., ICLR 2018.
    """

    def __init__(
        self,
        alpha: float = _default_hyperparam.alpha,
        beta1: float = _default_hyperparam.beta1,
        beta2: float = _default_hyperparam.beta2,
        eps: float = _default_hyperparam.eps,
        eta: float = _default_hyperparam.eta,
    ) -> None:
        super().__init__(alpha, beta1, beta2, eps, eta, amsgrad=True)


class AdaBound(Adam):
    """Adam with learning rates kept within bounds that draw together.

    Args:
        alpha (float): Step size.
        beta1 (float): Decay of the average of gradients.
        beta2 (float): Decay of the average of their squares.
        final_lr (float): What the bounds draw to.
        gamma (float): How quickly they do.
        eps (float): Keeps the denominator from 0.
        eta (float): Schedule multiplier.

    Source:
        Luo et al., ICLR 2019.
    """

    def __init__(
        self,
        alpha: float = _default_hyperparam.alpha,
        beta1: float = _default_hyperparam.beta1,
        beta2: float = _default_hyperparam.beta2,
        final_lr: float = _default_hyperparam.final_lr,
        gamma: float = _default_hyperparam.gamma,
        eps: float = _default_hyperparam.eps,
        eta: float = _default_hyperparam.eta,
    ) -> None:
        super().__init__(
            alpha, beta1, beta2, eps, eta, adabound=True, final_lr=final_lr, gamma=gamma
        )


class AMSBound(Adam):
    """AMSGrad with learning rates kept within bounds that draw together.

    Args:
        alpha (float): Step size.
        beta1 (float): Decay of the average of gradients.
        beta2 (float): Decay of the average of their squares.
        final_lr (float): What the bounds draw to.
        gamma (float): How quickly they do.
        eps (float): Keeps the denominator from 0.
        eta (float): Schedule multiplier.

    Source:
        Luo et al., ICLR 2019.
    """

    def __init__(
        self,
        alpha: float = _default_hyperparam.alpha,
        beta1: float = _default_hyperparam.beta1,
        beta2: float = _default_hyperparam.beta2,
        final_lr: float = _default_hyperparam.final_lr,
        gamma: float = _default_hyperparam.gamma,
        eps: float = _default_hyperparam.eps,
        eta: float = _default_hyperparam.eta,
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
