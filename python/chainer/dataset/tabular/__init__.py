"""Datasets in columns, from which parts are taken without reading the rest."""

from chainer.dataset.tabular.delegate_dataset import DelegateDataset as DelegateDataset
from chainer.dataset.tabular.from_data import from_data as from_data
