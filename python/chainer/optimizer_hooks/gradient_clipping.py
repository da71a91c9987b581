"""Clipping by the norm of all gradients."""

from __future__ import annotations

import itertools
import math
import operator
import typing as tp

import numpy as np
from chainerx._core import engine

from chainer import backend
from chainer._optim.hyperparameter import NON_NEGATIVE_BOUND
from chainer.optimizer_hooks._gradient import changing, squared_norm
from chainer.utils import force_array


class GradientClipping:
    """Scales all gradients so that their norm, taken together, is at most ``threshold``.

    Args:
        threshold (float): Largest norm.
    """

    name = 'GradientClipping'
    timing = 'pre'

    def __init__(self, threshold: float) -> None:
        NON_NEGATIVE_BOUND.check(self.name, 'threshold', threshold)
        self.threshold = threshold

    def __call__(self, opt: tp.Any) -> None:
        # A parameter in two places has one gradient.
        params = list({id(param): param for param in opt.target.params(False)}.values())
        if engine.is_capturing():
            _clip_on_device(params, float(self.threshold))
            return
        norm = math.sqrt(_sum_sqnorm_grads(params))
        if not norm > self.threshold and not math.isnan(norm):
            return
        rate = float(self.threshold) / norm
        for param in params:
            with changing(param) as (_, _, g):
                if g is not None:
                    param.grad = force_array(g * rate)


def _clip_on_device(params: tp.Iterable[tp.Any], threshold: float) -> None:
    """The same in a step that is recorded, where the host may not look at the norm.

    Of gradients that stay as they are the rate is 1.
    """
    grads = []
    for param in params:
        with changing(param) as (_, _, g):
            if g is not None:
                grads.append((param, g))
    if not grads:
        return
    xp = backend.get_array_module(grads[0][1])
    with backend.using_device(grads[0][0].device):
        norms = xp.stack([squared_norm(g) for _, g in grads]).astype('float64')
        norm = xp.sqrt(xp.cumsum(norms)[-1])  # added in the order of the parameters
        rate = xp.where(norm <= threshold, xp.ones_like(norm), threshold / norm)
        for param, g in grads:
            with changing(param):
                param.grad = force_array(g * rate.astype(g.dtype))


def _sum_sqnorm_grads(params: tp.Iterable[tp.Any]) -> float:
    norms = []
    for param in params:
        with changing(param) as (_, _, g):
            if g is not None:
                norms.append((backend.get_device_from_array(g), squared_norm(g)))
    total = 0.0
    for device, group in itertools.groupby(norms, operator.itemgetter(0)):
        values = [norm for _, norm in group]
        if device.xp is not np:
            # One array, since the host waits for each; added in the order of the parameters.
            with backend.using_device(device):
                values = device.xp.stack(values).tolist()
        for value in values:
            total += float(value)
    return total
