"""Examples on their way into a model: datasets, iterators, converters."""

from chainer.dataset import tabular as tabular
from chainer.dataset.convert import ConcatWithAsyncTransfer as ConcatWithAsyncTransfer
from chainer.dataset.convert import Converter as Converter
from chainer.dataset.convert import concat_examples as concat_examples
from chainer.dataset.convert import converter as converter
from chainer.dataset.convert import to_device as to_device
from chainer.dataset.dataset_mixin import DatasetMixin as DatasetMixin
from chainer.dataset.download import cache_or_load_file as cache_or_load_file
from chainer.dataset.download import cached_download as cached_download
from chainer.dataset.download import get_dataset_directory as get_dataset_directory
from chainer.dataset.download import get_dataset_root as get_dataset_root
from chainer.dataset.download import set_dataset_root as set_dataset_root
from chainer.dataset.iterator import Iterator as Iterator
from chainer.dataset.tabular.tabular_dataset import TabularDataset as TabularDataset
