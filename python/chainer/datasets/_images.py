"""Small images as examples."""

from __future__ import annotations

import typing as tp

import numpy as np

import chainer
from chainer.datasets.tuple_dataset import TupleDataset

if tp.TYPE_CHECKING:
    from chainer._typing import Dataset, DTypeLike


def examples(
    images: np.ndarray,
    labels: np.ndarray,
    withlabel: bool,
    scale: float,
    dtype: DTypeLike | None,
    label_dtype: DTypeLike,
) -> Dataset:
    """A dataset of images of 0 to 255, brought to 0 to ``scale``.

    Returns:
        TupleDataset or ndarray: Pairs of image and label, or only images.
    """
    dtype = np.dtype(chainer.get_dtype(dtype))
    # In float32 at least, because images of 16 bits or integers can't be scaled as they are.
    factor = np.result_type(dtype, np.float32).type(scale / 255.0)
    scaled = (images.astype(factor.dtype) * factor).astype(dtype)
    return TupleDataset(scaled, labels.astype(label_dtype)) if withlabel else scaled
