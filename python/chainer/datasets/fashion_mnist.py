"""Clothes in the form of MNIST (H. Xiao, K. Rasul, R. Vollgraf, 2017)."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer._base.docstrings import documented_like
from chainer.datasets import mnist

if tp.TYPE_CHECKING:
    from chainer._typing import Dataset, DTypeLike

FASHION: tp.Final = mnist.Source(
    'pfnet/chainer/fashion-mnist',
    ['http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/'],
    {
        'train-images-idx3-ubyte.gz': (
            '8d4fb7e6c68d591d4c3dfef9ec88bf0d',
            '3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84',
        ),
        'train-labels-idx1-ubyte.gz': (
            '25c81989df183df01b3e8a0aad5dffbe',
            'a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845',
        ),
        't10k-images-idx3-ubyte.gz': (
            'bef4ecab320f06d8554ea6380940ec79',
            '346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073',
        ),
        't10k-labels-idx1-ubyte.gz': (
            'bb300cfdad3c16e7a12a480ee83cd310',
            '67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5',
        ),
    },
)


def get_fashion_mnist_labels() -> list[str]:
    """Return the meaning of the labels.

    Returns:
        list: Of names.
    """
    names = 'T-shirt/top,Trouser,Pullover,Dress,Coat,Sandal,Shirt,Sneaker,Bag,Ankle boot'
    return names.split(',')


@documented_like(mnist.get_mnist)
def get_fashion_mnist(
    withlabel: bool = True,
    ndim: int = 1,
    scale: float = 1.0,
    dtype: DTypeLike | None = None,
    label_dtype: DTypeLike = np.int32,
    rgb_format: bool = False,
) -> tuple[Dataset, Dataset]:
    """Clothes: 60000 images of 28 x 28 to train with, 10000 to test with."""
    return mnist.load(FASHION, withlabel, ndim, scale, dtype, label_dtype, rgb_format)
