"""Layer-wise adaptive rate scaling."""

from __future__ import annotations

import typing as tp

from chainerx._core import engine

from chainer._optim.hyperparameter import FINITE, NON_NEGATIVE, NON_NEGATIVE_BOUND
from chainer.optimizer_hooks._gradient import changing, norm, squared_norm
from chainer.utils import force_array


class GradientLARS:
    """Scales the gradient of a parameter to the parameter's norm; then comes weight decay.

    Args:
        threshold (float): A parameter with a norm up to this has its gradient as it is.
        weight_decay (float): Coefficient.
        eps (float): Keeps the denominator from 0.

    Source: You et al., arXiv:1708.03888.
    """

    name = 'GradientLARS'
    call_for_each_param = True
    timing = 'pre'

    def __init__(
        self, threshold: float = 0.01, weight_decay: float = 0.0, eps: float = 1e-9
    ) -> None:
        NON_NEGATIVE_BOUND.check(self.name, 'threshold', threshold)
        FINITE.check(self.name, 'weight_decay', weight_decay)
        NON_NEGATIVE.check(self.name, 'eps', eps)
        self.threshold = threshold
        self.weight_decay = weight_decay
        self.eps = eps

    def __call__(self, rule: tp.Any, param: tp.Any) -> None:
        with changing(param) as (xp, p, g):
            if g is None:
                return
            decay = float(self.weight_decay)
            new = g + decay * p
            if g.dtype.itemsize == 2:  # where the rate of a small gradient would be infinite
                new = new.astype('float32')
            if engine.is_capturing():
                rate = self._rate_on_device(xp, p, g).astype(new.dtype)
            else:
                rate = self._rate(norm(xp, p), norm(xp, g))
            param.grad = force_array(rate * new, g.dtype)

    def _rate(self, p_norm: tp.Any, g_norm: tp.Any) -> tp.Any:
        rate = 1.0
        if p_norm > self.threshold:
            rate = p_norm / (float(self.eps) + g_norm + float(self.weight_decay) * p_norm)
        return rate

    def _rate_on_device(self, xp: tp.Any, p: tp.Any, g: tp.Any) -> tp.Any:
        """The same in a step that is recorded, where the host may not look at the norms."""
        if self.eps == 0:
            # As it is, a gradient of zeros is an error.
            engine.refuse_capture('GradientLARS divides by a norm, with eps 0')
        p_norm, g_norm = (xp.sqrt(squared_norm(x)).astype('float64') for x in (p, g))
        denominator = g_norm + float(self.eps) + float(self.weight_decay) * p_norm
        is_large = p_norm > float(self.threshold)
        return xp.where(is_large, p_norm / denominator, xp.ones_like(p_norm))
