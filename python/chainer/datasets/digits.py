"""Handwritten digits that the package scikit-learn brings: no download."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer.datasets._images import examples

if tp.TYPE_CHECKING:
    from chainer._typing import Dataset, DTypeLike


def get_digits(
    withlabel: bool = True,
    ndim: int = 3,
    scale: float = 1.0,
    dtype: DTypeLike | None = None,
    label_dtype: DTypeLike = np.int32,
) -> tuple[Dataset, Dataset]:
    """Handwritten digits: 1437 images of 8 x 8 to train with, 360 to test with.

    They are the test set of E. Alpaydin and C. Kaynak's Optical Recognition of Handwritten Digits
    (1998). The package scikit-learn has them; which belong to which dataset is always the same.

    Args:
        withlabel (bool): Whether examples are pairs of image and label, or only images.
        ndim (int): 1: images are vectors; 2: of shape (8, 8); 3: of shape (1, 8, 8).
        scale (float): The value of the darkest ink; paper is 0.
        dtype (dtype): Of the images; None for ``chainer.config.dtype``.
        label_dtype (dtype): Of the labels.

    Returns:
        tuple: Both datasets.

    Raises:
        ImportError: If scikit-learn is missing.
        ValueError: If ``ndim`` is none of these.
    """
    if ndim not in (1, 2, 3):
        raise ValueError(f'ndim of images must be 1, 2 or 3, not {ndim}')
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise ImportError(
            'get_digits takes its images from the package scikit-learn, which is missing: '
            'pip install scikit-learn'
        ) from None
    images, labels = load_digits(return_X_y=True)
    images = images.reshape(-1, *((64,), (8, 8), (1, 8, 8))[ndim - 1])
    order = np.random.RandomState(0).permutation(len(images))
    datasets = []
    for part in (order[:1437], order[1437:]):
        # Ink has 16 steps.
        datasets.append(
            examples(images[part], labels[part], withlabel, scale * 255 / 16, dtype, label_dtype)
        )
    return datasets[0], datasets[1]
