"""Noise on gradients."""

from __future__ import annotations

import contextlib
import typing as tp
import weakref

import chainerx
import numpy as np
from chainerx._core import engine

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

    def __getstate__(self) -> dict[str, tp.Any]:
        return {key: value for key, value in self.__dict__.items() if key != '_drawn'}

    def __call__(self, rule: tp.Any, param: tp.Any) -> None:
        with changing(param) as (xp, _, g):
            if g is None:
                return
            if engine.is_capturing():
                noise = self._draw_at_replays(xp, rule, param, g)
            else:
                noise = self.noise_func(xp, g.shape, g.dtype, self, rule)
            param.grad = force_array(g + noise)

    def _draw_at_replays(self, xp: tp.Any, rule: tp.Any, param: tp.Any, g: tp.Any) -> tp.Any:
        """In a step that is recorded: the noise of each replay, which the host draws before it."""
        drawn = self.__dict__.setdefault('_drawn', {})  # by parameter
        alive, noise = drawn.get(id(param), (None, None))
        if alive is None or alive() is not param or not _is_like(noise, g):
            noise = engine.unobserved(lambda: xp.empty_like(g))
            drawn[id(param)] = weakref.ref(param), noise
        # These may own the recording.
        hook, of_rule = weakref.ref(self), None if rule is None else weakref.ref(rule)
        # What a replay counts is counted after it; `rule` has already counted this update.
        ahead = 0

        def draw() -> None:
            mine, rule = hook(), None if of_rule is None else of_rule()
            if mine is None or (of_rule is not None and rule is None):
                return  # an update that has changed: it is not replayed
            with chainerx.no_backprop_mode(), _counted(rule, ahead):
                noise[...] = mine.noise_func(xp, noise.shape, noise.dtype, mine, rule)

        engine.capture_draw(draw)
        ahead = getattr(rule, '_ahead', 0)
        return noise


@contextlib.contextmanager
def _counted(rule: tp.Any, n: int) -> tp.Iterator[None]:
    """A context in which a rule has counted some more updates."""
    if n:
        rule.t += n
    try:
        yield
    finally:
        if n:
            rule.t -= n


def _is_like(x: tp.Any, y: tp.Any) -> bool:
    return x.shape == y.shape and x.dtype == y.dtype and x.device is y.device
