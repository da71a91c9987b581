"""Handwritten digits (Y. LeCun, C. Cortes, C. Burges), and datasets of the same form."""

from __future__ import annotations

import functools
import gzip
import os
import typing as tp

import numpy as np

from chainer.dataset import download
from chainer.datasets._images import examples

if tp.TYPE_CHECKING:
    from chainer._typing import Dataset, DTypeLike

_FILES: tp.Final = {
    'train': ('train-images-idx3-ubyte.gz', 'train-labels-idx1-ubyte.gz'),
    'test': ('t10k-images-idx3-ubyte.gz', 't10k-labels-idx1-ubyte.gz'),
}


class Source(tp.NamedTuple):
    """Where a dataset of this form is.

    Attributes:
        name (str): Of its folder.
        urls (list of str): The prefixes of file names; the official one last.
        sums (dict): MD5 and SHA-256 sums of the files.
    """

    name: str
    urls: list[str]
    sums: dict[str, tuple[str, ...]]


MNIST: tp.Final = Source(
    'pfnet/chainer/mnist',
    ['https://ossci-datasets.s3.amazonaws.com/mnist/', 'http://yann.lecun.com/exdb/mnist/'],
    {
        'train-images-idx3-ubyte.gz': (
            'f68b3c2dcbeaaa9fbdd348bbdeb94873',
            '440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609',
        ),
        'train-labels-idx1-ubyte.gz': (
            'd53e105ee54ea40749a09fcbcd1e9432',
            '3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c',
        ),
        't10k-images-idx3-ubyte.gz': (
            '9fb629c4189551a2d022fa330f9573f3',
            '8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6',
        ),
        't10k-labels-idx1-ubyte.gz': (
            'ec29112dd5afa0611ce80d1b7f02629c',
            'f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6',
        ),
    },
)


def get_mnist(
    withlabel: bool = True,
    ndim: int = 1,
    scale: float = 1.0,
    dtype: DTypeLike | None = None,
    label_dtype: DTypeLike = np.int32,
    rgb_format: bool = False,
) -> tuple[Dataset, Dataset]:
    """Handwritten digits: 60000 images of 28 x 28 to train with, 10000 to test with.

    They are downloaded once; where files can be put by hand is said if that fails.

    Args:
        withlabel (bool): Whether examples are pairs of image and label, or only images.
        ndim (int): 1: images are vectors; 2: of shape (28, 28); 3: of shape (1, 28, 28).
        scale (float): The value of white; black is 0.
        dtype (dtype): Of the images; None for ``chainer.config.dtype``.
        label_dtype (dtype): Of the labels.
        rgb_format (bool): Whether images with ``ndim=3`` have three channels, all the same.

    Returns:
        tuple: Both datasets.

    Raises:
        ValueError: If ``ndim`` is none of these.
        OSError: If they can't be had.
    """
    return load(MNIST, withlabel, ndim, scale, dtype, label_dtype, rgb_format)


def load(
    source: Source,
    withlabel: bool,
    ndim: int,
    scale: float,
    dtype: DTypeLike | None,
    label_dtype: DTypeLike,
    rgb_format: bool,
) -> tuple[Dataset, Dataset]:
    """The datasets of a source."""
    if ndim not in (1, 2, 3):
        raise ValueError(f'ndim of images must be 1, 2 or 3, not {ndim}')
    folder = download.get_dataset_directory(source.name)
    datasets = []
    for part in _FILES:
        images, labels = download.cache_or_load_file(
            os.path.join(folder, f'{part}.npz'),
            functools.partial(_make, source, part),
            _read,
        )
        if ndim == 2:
            images = images.reshape(-1, 28, 28)
        elif ndim == 3:
            images = images.reshape(-1, 1, 28, 28)
            if rgb_format:
                images = np.broadcast_to(images, (len(images), 3, 28, 28))
        datasets.append(examples(images, labels, withlabel, scale, dtype, label_dtype))
    return datasets[0], datasets[1]


def _read(path: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(path) as data:
        return data['x'], data['y']


def _make(source: Source, part: str, path: str) -> tuple[np.ndarray, np.ndarray]:
    images_file, labels_file = (
        download.fetch(source.name, name, [url + name for url in source.urls], *source.sums[name])
        for name in _FILES[part]
    )
    images = _read_idx(images_file, 3).reshape(-1, 784)
    labels = _read_idx(labels_file, 1)
    if len(images) != len(labels):
        raise ValueError(f'{images_file}: {len(images)} images, but {len(labels)} labels')
    with open(path, 'wb') as file:
        np.savez_compressed(file, x=images, y=labels)
    return images, labels


def _read_idx(path: str, ndim: int) -> np.ndarray:
    """Bytes in the format IDX: 0, 0, 8, the number of axes, their lengths, then the bytes."""
    try:
        with gzip.open(path) as file:
            data = file.read()
    except (OSError, EOFError) as error:
        raise ValueError(f'{path}: no whole gzip file ({error}); delete it') from error
    begin = 4 + 4 * ndim
    shape = tuple(np.frombuffer(data[4:begin].ljust(4 * ndim, b'\0'), '>i4'))
    if data[:4] != bytes([0, 0, 8, ndim]) or len(data) != begin + np.prod(shape, dtype=int):
        raise ValueError(f'{path}: no IDX file of bytes with {ndim} axes; delete it')
    return np.frombuffer(data, np.uint8, offset=begin).reshape(shape)
