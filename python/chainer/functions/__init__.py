"""Differentiable functions on variables and arrays."""

# ruff: noqa: F401
from chainer.functions.activation.relu import relu
from chainer.functions.array.get_item import get_item
from chainer.functions.math.basic_math import absolute, add
from chainer.functions.math.sum import sum
