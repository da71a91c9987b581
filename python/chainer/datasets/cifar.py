"""Small photographs of things (A. Krizhevsky, 2009)."""

from __future__ import annotations

import os
import tarfile
import typing as tp

import numpy as np

from chainer._base.docstrings import documented_like
from chainer.dataset import download
from chainer.datasets._images import examples

if tp.TYPE_CHECKING:
    from chainer._typing import Dataset, DTypeLike

NAME: tp.Final = 'pfnet/chainer/cifar'
_URL: tp.Final = 'https://www.cs.toronto.edu/~kriz/'


class _Kind(tp.NamedTuple):
    archive: str
    sums: tuple[str, str]  # MD5 and SHA-256
    n_labels: int  # bytes before an image, of which the last counts
    train: list[str]
    test: str


# The archives without pickles: an image is its labels, then 3072 bytes.
KINDS: tp.Final = {
    'cifar-10': _Kind(
        'cifar-10-binary.tar.gz',
        (
            'c32a1d4ab5d03f1284b67883e8d87530',
            'c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd',
        ),
        1,
        [f'data_batch_{i}.bin' for i in range(1, 6)],
        'test_batch.bin',
    ),
    'cifar-100': _Kind(
        'cifar-100-binary.tar.gz',
        (
            '03b5dce01913d631647c71ecec9e9cb8',
            '58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec',
        ),
        2,
        ['train.bin'],
        'test.bin',
    ),
}


def get_cifar10(
    withlabel: bool = True, ndim: int = 3, scale: float = 1.0, dtype: DTypeLike | None = None
) -> tuple[Dataset, Dataset]:
    """Photographs of 10 kinds of things: 50000 of 32 x 32 to train with, 10000 to test with.

    They are downloaded once; where files can be put by hand is said if that fails.

    Args:
        withlabel (bool): Whether examples are pairs of image and label, or only images.
        ndim (int): 1: images are vectors; 3: of shape (3, 32, 32).
        scale (float): The brightest value; the darkest is 0.
        dtype (dtype): Of the images; None for ``chainer.config.dtype``.

    Returns:
        tuple: Both datasets.

    Raises:
        ValueError: If ``ndim`` is none of these.
        OSError: If they can't be had.
    """
    return _load('cifar-10', withlabel, ndim, scale, dtype)


@documented_like(get_cifar10)
def get_cifar100(
    withlabel: bool = True, ndim: int = 3, scale: float = 1.0, dtype: DTypeLike | None = None
) -> tuple[Dataset, Dataset]:
    """Photographs of 100 kinds of things: 50000 of 32 x 32 to train with, 10000 to test with.

    Args:
        withlabel (bool): Whether examples are pairs of image and (fine) label, or only images.
    """
    return _load('cifar-100', withlabel, ndim, scale, dtype)


def _load(
    name: str, withlabel: bool, ndim: int, scale: float, dtype: DTypeLike | None
) -> tuple[Dataset, Dataset]:
    if ndim not in (1, 3):
        raise ValueError(f'ndim of images must be 1 or 3, not {ndim}')
    path = os.path.join(download.get_dataset_directory(NAME), f'{name}.npz')
    raw = download.cache_or_load_file(path, lambda path: _make(KINDS[name], path), _read)
    datasets = []
    for part in ('train', 'test'):
        images, labels = raw[f'{part}_x'], raw[f'{part}_y']
        images = images.reshape((-1, 3072) if ndim == 1 else (-1, 3, 32, 32))
        datasets.append(examples(images, labels, withlabel, scale, dtype, np.int32))
    return datasets[0], datasets[1]


def _read(path: str) -> dict[str, np.ndarray]:
    with np.load(path) as data:
        return dict(data)


def _make(kind: _Kind, path: str) -> dict[str, np.ndarray]:
    archive = download.fetch(NAME, kind.archive, [_URL + kind.archive], *kind.sums)
    parts: dict[str, tp.Any] = {}
    # Members are read, never unpacked: no name of the archive becomes a path.
    with tarfile.open(archive) as tar:
        members = {os.path.basename(m.name): m for m in tar.getmembers() if m.isfile()}
        for part, names in (('train', kind.train), ('test', [kind.test])):
            rows = []
            for name in names:
                if name not in members:
                    raise ValueError(f'{archive}: {name!r} is missing; delete it')
                data = np.frombuffer(tp.cast(tp.Any, tar.extractfile(members[name])).read(), 'u1')
                width = kind.n_labels + 3072
                if data.size % width:
                    raise ValueError(f'{archive}: {name!r} is not whole; delete it')
                rows.append(data.reshape(-1, width))
            all_rows = np.concatenate(rows)
            parts[f'{part}_x'] = np.ascontiguousarray(all_rows[:, kind.n_labels :])
            parts[f'{part}_y'] = np.ascontiguousarray(all_rows[:, kind.n_labels - 1])
    with open(path, 'wb') as file:
        np.savez_compressed(file, **parts)
    return parts
