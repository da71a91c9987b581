"""Iterators over datasets."""

from chainer.iterators.dali_iterator import DaliIterator as DaliIterator
from chainer.iterators.device_prefetch_iterator import (
    DevicePrefetchIterator as DevicePrefetchIterator,
)
from chainer.iterators.multiprocess_iterator import MultiprocessIterator as MultiprocessIterator
from chainer.iterators.multithread_iterator import MultithreadIterator as MultithreadIterator
from chainer.iterators.order_samplers import OrderSampler as OrderSampler
from chainer.iterators.order_samplers import ShuffleOrderSampler as ShuffleOrderSampler
from chainer.iterators.serial_iterator import SerialIterator as SerialIterator
