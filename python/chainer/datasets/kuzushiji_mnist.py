"""Characters of old Japanese books in the form of MNIST (T. Clanuwat et al., 2018)."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer._base.docstrings import documented_like
from chainer.datasets import mnist

if tp.TYPE_CHECKING:
    from chainer._typing import Dataset, DTypeLike

KUZUSHIJI: tp.Final = mnist.Source(
    'pfnet/chainer/kuzushiji_mnist',
    ['http://codh.rois.ac.jp/kmnist/dataset/kmnist/'],
    {
        'train-images-idx3-ubyte.gz': (
            'bdb82020997e1d708af4cf47b453dcf7',
            '51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4',
        ),
        'train-labels-idx1-ubyte.gz': (
            'e144d726b3acfaa3e44228e80efcd344',
            'e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17',
        ),
        't10k-images-idx3-ubyte.gz': (
            '5c965bf0a639b31b8f53240b1b52f4d7',
            'edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5',
        ),
        't10k-labels-idx1-ubyte.gz': (
            '7320c461ea6c1c855c0b718fb2a4b134',
            '20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c',
        ),
    },
)


def get_kuzushiji_mnist_labels() -> list[tuple[str, str]]:
    """Return the meaning of the labels.

    Returns:
        list: Of pairs: how a character is read, and its form of today.
    """
    names = 'o お,ki き,su す,tsu つ,na な,ha は,ma ま,ya や,re れ,wo を'
    return [(a, b) for a, b in (pair.split() for pair in names.split(','))]


@documented_like(mnist.get_mnist)
def get_kuzushiji_mnist(
    withlabel: bool = True,
    ndim: int = 1,
    scale: float = 1.0,
    dtype: DTypeLike | None = None,
    label_dtype: DTypeLike = np.int32,
    rgb_format: bool = False,
) -> tuple[Dataset, Dataset]:
    """Japanese characters: 60000 images of 28 x 28 to train with, 10000 to test with."""
    return mnist.load(KUZUSHIJI, withlabel, ndim, scale, dtype, label_dtype, rgb_format)
