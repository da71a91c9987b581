"""Filters of convolutions that resize images."""

from __future__ import annotations

import functools
import typing as tp

import numpy as np

from chainer import backend, initializer, types

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike


class _SamplingFilter(initializer.Initializer):
    def __init__(
        self, upsampling: bool = True, interpolation: str = 'linear', dtype: DTypeLike | None = None
    ) -> None:
        if interpolation != 'linear':
            raise ValueError(f'Unsupported interpolation method: {interpolation}')
        self._upsampling = upsampling
        self._get_filter_func = _get_linear_filter
        super().__init__(dtype)

    def __call__(self, array: types.NdArray) -> None:
        self._check(array)
        name = type(self).__name__
        if array.ndim < 3:
            raise ValueError(f'{name}: shape must be of length >= 3. Actual shape: {array.shape}')
        channels, channels_in, *ksize = array.shape
        if channels_in not in (channels, 1):
            raise ValueError(
                f'{name}: there must be one channel, or as many as on the other side. '
                f'Actual shape: {array.shape}'
            )
        for size in ksize:
            if size != ksize[0]:
                raise ValueError(f'ksize must be all same: {ksize[0]} != {size}')
        weight = np.zeros(array.shape)
        diagonal = range(channels)
        weight[diagonal, [0] * channels if channels_in == 1 else diagonal] = self._get_filter_func(
            ksize[0], len(ksize), upsampling=self._upsampling
        )
        backend.copyto(array, weight.astype(array.dtype))


def _get_linear_filter(size: int, ndim: int, upsampling: bool = True) -> np.ndarray:
    """A filter of linear interpolation: one line of it, multiplied along each dimension."""
    factor = (size + 1) // 2
    center = (size - 1) / 2
    line = 1 - abs(np.arange(size) - center) / factor if size else np.empty(0)
    if not upsampling:
        line = line / factor
    return functools.reduce(np.multiply.outer, [line] * ndim)


class UpsamplingDeconvFilter(_SamplingFilter):
    """Fills the weight of a transposed convolution that enlarges images by interpolation.

    The shape of the weight is (channels, channels or 1, size, ...); stride and padding are those of
    a kernel of that size.

    Args:
        interpolation: Only ``'linear'``.
        dtype: The dtype of the arrays that it is for; None is any.

    Source: Long et al., CVPR 2015.
    """

    def __init__(self, interpolation: str = 'linear', dtype: DTypeLike | None = None) -> None:
        super().__init__(True, interpolation, dtype)


class DownsamplingConvFilter(_SamplingFilter):
    """Fills the weight of a convolution that shrinks images by interpolation.

    Args:
        interpolation: Only ``'linear'``.
        dtype: The dtype of the arrays that it is for; None is any.

    Source: Long et al., CVPR 2015.
    """

    def __init__(self, interpolation: str = 'linear', dtype: DTypeLike | None = None) -> None:
        super().__init__(False, interpolation, dtype)
