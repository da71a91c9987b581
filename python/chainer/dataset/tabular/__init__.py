"""Datasets in columns, from which parts are taken without reading the rest."""

# ruff: noqa: F401
from chainer.dataset.tabular.delegate_dataset import DelegateDataset
from chainer.dataset.tabular.from_data import from_data
