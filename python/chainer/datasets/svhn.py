"""Numbers of houses in photographs (Y. Netzer et al., 2011)."""

from __future__ import annotations

import functools
import os
import typing as tp

import numpy as np

from chainer.dataset import download
from chainer.datasets._images import examples

if tp.TYPE_CHECKING:
    from chainer._typing import Dataset, DTypeLike

NAME: tp.Final = 'pfnet/chainer/svhn'
_URL: tp.Final = 'http://ufldl.stanford.edu/housenumbers/'
_SUMS: tp.Final = {
    'train': (
        'e26dedcc434d2e4c54c9b2d4a06d8373',
        '435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8',
    ),
    'test': (
        'eb5a983be6a315427106f1b164d9cef3',
        'cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b',
    ),
    'extra': (
        'a93ce644f1a588dc4d68dda5feec44a7',
        'a133a4beb38a00fcdda90c9489e0c04f900b660ce8a316a5e854838379a71eb3',
    ),
}


def file_name(part: str) -> str:
    """Of the file of ``'train'``, ``'test'`` or ``'extra'``."""
    return f'{part}_32x32.mat'


def get_svhn(
    withlabel: bool = True,
    scale: float = 1.0,
    dtype: DTypeLike | None = None,
    label_dtype: DTypeLike = np.int32,
    add_extra: bool = False,
) -> tuple[Dataset, ...]:
    """Digits of house numbers: 73257 images of 32 x 32 to train with, 26032 to test with.

    The package SciPy reads the files, which come from Matlab.

    Args:
        withlabel (bool): Whether examples are pairs of image and label, or only images.
        scale (float): The brightest value; the darkest is 0.
        dtype (dtype): Of the images, which have the shape (3, 32, 32); None for
            ``chainer.config.dtype``.
        label_dtype (dtype): Of the labels: the digits themselves.
        add_extra (bool): Whether a third dataset of 531131 easier images is given.

    Returns:
        tuple: The datasets to train and to test with, and the extra one.

    Raises:
        ImportError: If SciPy is missing.
        OSError: If they can't be had.
    """
    folder = download.get_dataset_directory(NAME)
    datasets = []
    for part in ('train', 'test', *(('extra',) if add_extra else ())):
        path = os.path.join(folder, f'{part}.npz')
        images, labels = download.cache_or_load_file(path, functools.partial(_make, part), _read)
        images = images.reshape(-1, 3, 32, 32)
        datasets.append(examples(images, labels, withlabel, scale, dtype, label_dtype))
    return tuple(datasets)


def _read(path: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(path) as data:
        return data['x'], data['y']


def _make(part: str, path: str) -> tuple[np.ndarray, np.ndarray]:
    try:
        from scipy import io
    except ImportError:
        raise ImportError(
            'files of Matlab are read by the package SciPy, which is missing: pip install scipy'
        ) from None
    name = file_name(part)
    data = io.loadmat(download.fetch(NAME, name, [_URL + name], *_SUMS[part]))
    images = np.ascontiguousarray(data['X'].transpose(3, 2, 0, 1))
    labels = data['y'].ravel() % 10  # 10 stands for 0
    with open(path, 'wb') as file:
        np.savez_compressed(file, x=images, y=labels)
    return images, labels
