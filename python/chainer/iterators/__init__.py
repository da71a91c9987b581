"""Iterators over datasets."""

# ruff: noqa: F401
from chainer.iterators.order_samplers import OrderSampler, ShuffleOrderSampler
from chainer.iterators.serial_iterator import SerialIterator
