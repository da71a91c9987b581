"""Datasets."""

# ruff: noqa: F401
from chainer.datasets.tuple_dataset import TupleDataset
