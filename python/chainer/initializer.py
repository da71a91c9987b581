"""The base of initializers."""

from __future__ import annotations

import typing as tp

from chainer import types, utils
from chainer._base import environment

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, NdArray


class Initializer:
    """Fills an array, in place.

    Args:
        dtype: The dtype of the arrays that it is for; None is any.
    """

    def __init__(self, dtype: DTypeLike | None = None) -> None:
        self.dtype = dtype

    def __call__(self, array: types.NdArray) -> None:
        """Fills ``array``, of any kind, on any device."""
        raise NotImplementedError

    def _check(self, array: NdArray) -> None:
        if self.dtype is not None and array.dtype != environment.get_dtype(self.dtype):
            raise ValueError(
                f'{type(self).__name__}: dtype of the array is {array.dtype}, expected {self.dtype}'
            )


def get_fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many inputs an output of a weight depends on, and how many outputs an input is part of.

    Args:
        shape: Shape of the weight: outputs, inputs, and sizes of the kernel if there is one.

    Returns:
        tuple of int: Both numbers.

    Raises:
        ValueError: If there are less than two axes.
    """
    if len(shape) < 2:
        raise ValueError(f'shape must be of length >= 2. Actual shape: {shape}')
    receptive_field = utils.size_of_shape(shape[2:])
    return shape[1] * receptive_field, shape[0] * receptive_field
