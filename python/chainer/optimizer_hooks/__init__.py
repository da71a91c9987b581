"""Hooks of optimizers, which change gradients before an update."""

from chainer.optimizer_hooks.gradient_clipping import GradientClipping as GradientClipping
from chainer.optimizer_hooks.gradient_hard_clipping import (
    GradientHardClipping as GradientHardClipping,
)
from chainer.optimizer_hooks.gradient_lars import GradientLARS as GradientLARS
from chainer.optimizer_hooks.gradient_noise import GradientNoise as GradientNoise
from chainer.optimizer_hooks.lasso import Lasso as Lasso
from chainer.optimizer_hooks.weight_decay import WeightDecay as WeightDecay
