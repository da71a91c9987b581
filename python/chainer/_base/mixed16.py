"""The dtype-like sentinel of mixed precision."""

from __future__ import annotations

import typing as tp

import numpy as np


class _Mixed16:
    """Stands for float16 data with float32 where precision matters, such as parameters of
    normalization and the copies that optimizers update. There is one instance.
    """

    dtype = np.dtype(np.float16)

    _instance: tp.ClassVar[_Mixed16 | None] = None

    def __new__(cls) -> _Mixed16:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "dtype('mixed16')"

    def __reduce__(self) -> str:
        return 'mixed16'


# Users know the class and the object as members of the package.
_Mixed16.__module__ = 'chainer'

mixed16 = _Mixed16()
