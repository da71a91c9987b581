"""Examples on their way into a model: datasets, iterators, converters."""

# ruff: noqa: F401
from chainer.dataset.convert import Converter, concat_examples, converter, to_device
from chainer.dataset.dataset_mixin import DatasetMixin
from chainer.dataset.iterator import Iterator
