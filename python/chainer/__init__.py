"""Chainer's API on the ChainerX engine: `Variable`, `Link`, functions, optimizers, training."""

__version__ = '7.8.1'
