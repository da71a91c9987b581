"""Noise on gradients."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer._optim.hyperparameter import NON_NEGATIVE
from chainer.optimizer_hooks._gradient import changing
from chainer.utils import force_array


def exponential_decay_noise(
    xp: tp.Any, shape: tuple[int, ...], dtype: tp.Any, hook: tp.Any, opt: tp.Any
) -> tp.Any:
    """Gaussian noise whose variance falls with time: ``eta / (1 + t) ** 0.55``.

    Args:
        xp: Array module.
        shape, dtype: Of the noise.
        hook (GradientNoise): Has ``eta``.
        opt (UpdateRule): Has ``t``.
    """
    std = np.sqrt(hook.eta / np.power(1 + opt.t, 0.55))
    if xp is chainerx:
        # So that the same seed is the same noise on every device.
        return chainerx.array(np.random.normal(0, std, shape), dtype)
    return xp.random.normal(0, std, shape).astype(dtype)


class GradientNoise:
    """Adds noise to gradients.

    Args:
        eta (float): Scale, the variance of the first step.
        noise_func (callable): See `exponential_decay_noise`.

    Source: Neelakantan et al., arXiv:1511.06807.
    """

    name = 'GradientNoise'
    call_for_each_param = True
    timing = 'pre'

    def __init__(
        self, eta: float, noise_func: tp.Callable[..., tp.Any] = exponential_decay_noise
    ) -> None:
        NON_NEGATIVE.check(self.name, 'eta', eta)
        self.eta = eta
        self.noise_func = noise_func

    def __call__(self, rule: tp.Any, param: tp.Any) -> None:
        with changing(param) as (xp, _, g):
            if g is not None:
                param.grad = force_array(g + self.noise_func(xp, g.shape, g.dtype, self, rule))
