"""Datasets."""

from chainer.datasets.cifar import get_cifar10 as get_cifar10
from chainer.datasets.cifar import get_cifar100 as get_cifar100
from chainer.datasets.concatenated_dataset import ConcatenatedDataset as ConcatenatedDataset
from chainer.datasets.dict_dataset import DictDataset as DictDataset
from chainer.datasets.digits import get_digits as get_digits
from chainer.datasets.fashion_mnist import get_fashion_mnist as get_fashion_mnist
from chainer.datasets.fashion_mnist import get_fashion_mnist_labels as get_fashion_mnist_labels
from chainer.datasets.image_dataset import ImageDataset as ImageDataset
from chainer.datasets.image_dataset import LabeledImageDataset as LabeledImageDataset
from chainer.datasets.image_dataset import LabeledZippedImageDataset as LabeledZippedImageDataset
from chainer.datasets.image_dataset import MultiZippedImageDataset as MultiZippedImageDataset
from chainer.datasets.image_dataset import ZippedImageDataset as ZippedImageDataset
from chainer.datasets.kuzushiji_mnist import get_kuzushiji_mnist as get_kuzushiji_mnist
from chainer.datasets.kuzushiji_mnist import (
    get_kuzushiji_mnist_labels as get_kuzushiji_mnist_labels,
)
from chainer.datasets.mnist import get_mnist as get_mnist
from chainer.datasets.pickle_dataset import PickleDataset as PickleDataset
from chainer.datasets.pickle_dataset import PickleDatasetWriter as PickleDatasetWriter
from chainer.datasets.pickle_dataset import open_pickle_dataset as open_pickle_dataset
from chainer.datasets.pickle_dataset import open_pickle_dataset_writer as open_pickle_dataset_writer
from chainer.datasets.ptb import get_ptb_words as get_ptb_words
from chainer.datasets.ptb import get_ptb_words_vocabulary as get_ptb_words_vocabulary
from chainer.datasets.sub_dataset import SubDataset as SubDataset
from chainer.datasets.sub_dataset import (
    get_cross_validation_datasets as get_cross_validation_datasets,
)
from chainer.datasets.sub_dataset import (
    get_cross_validation_datasets_random as get_cross_validation_datasets_random,
)
from chainer.datasets.sub_dataset import split_dataset as split_dataset
from chainer.datasets.sub_dataset import split_dataset_n as split_dataset_n
from chainer.datasets.sub_dataset import split_dataset_n_random as split_dataset_n_random
from chainer.datasets.sub_dataset import split_dataset_random as split_dataset_random
from chainer.datasets.svhn import get_svhn as get_svhn
from chainer.datasets.text_dataset import TextDataset as TextDataset
from chainer.datasets.transform_dataset import TransformDataset as TransformDataset
from chainer.datasets.tuple_dataset import TupleDataset as TupleDataset
