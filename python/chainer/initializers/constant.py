"""Initializers without randomness."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import backend, initializer, types
from chainer.backends import cuda

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, NdArray


class Identity(initializer.Initializer):
    """Fills a square matrix with ``scale`` on the diagonal, and zero elsewhere.

    Args:
        scale: Value on the diagonal.
        dtype: The dtype of the arrays that it is for; None is any.
    """

    def __init__(self, scale: float | np.ndarray = 1.0, dtype: DTypeLike | None = None) -> None:
        self.scale = scale
        super().__init__(dtype)

    def __call__(self, array: types.NdArray) -> None:
        self._check(array)
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            raise ValueError(
                'Identity matrix initialization can only be used for 2D squared matrices. '
                f'Actual shape: {array.shape}'
            )
        backend.copyto(array, (np.eye(len(array)) * self.scale).astype(array.dtype))


def _is_broadcastable(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, to) == to
    except ValueError:
        return False


class _Constant(initializer.Initializer):
    fill_value: tp.Any = None

    def __init__(self, dtype: DTypeLike | None = None) -> None:
        if not (
            np.isscalar(self.fill_value)
            or isinstance(self.fill_value, (np.ndarray, chainerx.ndarray, cuda.ndarray))
        ):
            raise ValueError(
                'fill_value must be either scalar, numpy.ndarray, cupy.ndarray or '
                f'chainerx.ndarray. Actual: {type(self.fill_value)}'
            )
        super().__init__(dtype)

    def __call__(self, array: types.NdArray) -> None:
        self._check(array)
        value = self.fill_value
        if np.isscalar(value):
            value = np.asarray(value)
        if not _is_broadcastable(value.shape, array.shape):
            raise ValueError(
                f'{type(self).__name__}: fill_value of shape {value.shape} does not broadcast to '
                f'that of the array, {array.shape}'
            )
        backend.copyto(array, value.astype(array.dtype))


class Constant(_Constant):
    """Fills with a value.

    Args:
        fill_value: A scalar, or an array that can be broadcast to the arrays to fill.
        dtype: The dtype of the arrays that it is for; None is any.
    """

    def __init__(
        self, fill_value: types.ScalarValue | NdArray, dtype: DTypeLike | None = None
    ) -> None:
        self.fill_value = fill_value
        super().__init__(dtype)


class Zero(_Constant):
    """Fills with zero.

    Args:
        dtype: The dtype of the arrays that it is for; None is any.
    """

    fill_value = 0.0


class One(_Constant):
    """Fills with one.

    Args:
        dtype: The dtype of the arrays that it is for; None is any.
    """

    fill_value = 1.0


class NaN(_Constant):
    """Fills with NaN.

    Args:
        dtype: The dtype of the arrays that it is for; None is any.
    """

    fill_value = np.nan
