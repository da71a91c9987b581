"""Patches of images, for any number of dimensions."""

from __future__ import annotations

import itertools
import typing as tp

import numpy as np

from chainer import backend

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray


def get_conv_outsize(size: int, k: int, s: int, p: int, cover_all: bool = False, d: int = 1) -> int:
    """The size of the output of a convolution along one axis.

    Args:
        size: Size of the input.
        k: Size of the kernel.
        s: Stride.
        p: Padding at both ends.
        cover_all: Whether all input takes part, if need be by more padding at the end.
        d: Dilation: distance of neighbouring elements of the kernel.

    Returns:
        int: 0 or less if the kernel does not fit.
    """
    dk = k + (k - 1) * (d - 1)
    return (size + p * 2 - dk + (s - 1 if cover_all else 0)) // s + 1


def get_deconv_outsize(
    size: int, k: int, s: int, p: int, cover_all: bool = False, d: int = 1
) -> int:
    """The size of the output of a transposed convolution along one axis.

    Args:
        size: Size of the input.
        k: Size of the kernel.
        s: Stride.
        p: Padding that is left out at both ends.
        cover_all: As for `get_conv_outsize`, of which this is the inverse.
        d: Dilation: distance of neighbouring elements of the kernel.

    Returns:
        int: 0 or less if there is no output.
    """
    dk = k + (k - 1) * (d - 1)
    return s * (size - 1) + dk - (s - 1 if cover_all else 0) - 2 * p


def _im2col(
    img: np.ndarray,
    ksize: tuple[int, ...],
    stride: tuple[int, ...],
    pad: tuple[int, ...],
    pval: float,
    outs: tuple[int, ...],
    dilate: tuple[int, ...],
) -> np.ndarray:
    """The columns of any number of dimensions: a strided view of the padded image, copied."""
    dims = img.shape[2:]
    after = (
        max(0, (k - 1) * d + (o - 1) * s + 1 - n - p)
        for n, k, s, p, o, d in zip(dims, ksize, stride, pad, outs, dilate, strict=True)
    )
    width = ((0, 0), (0, 0), *zip(pad, after, strict=True))
    padded = np.pad(img, width, constant_values=pval) if any(map(any, width)) else img
    steps = padded.strides[2:]
    view = np.lib.stride_tricks.as_strided(
        padded,
        (*img.shape[:2], *ksize, *outs),
        (
            *padded.strides[:2],
            *(n * d for n, d in zip(steps, dilate, strict=True)),
            *(n * s for n, s in zip(steps, stride, strict=True)),
        ),
        writeable=False,
    )
    return view.copy()


def _col2im(
    col: tp.Any,
    stride: tuple[int, ...],
    pad: tuple[int, ...],
    dims: tuple[int, ...],
    dilate: tuple[int, ...],
) -> np.ndarray:
    """The sum of columns of any number of dimensions, at their places in the image."""
    ndim = len(dims)
    ksize, outs = col.shape[2 : 2 + ndim], col.shape[2 + ndim :]
    spans = [(o - 1) * s + 1 for o, s in zip(outs, stride, strict=True)]
    extents = (
        max(n + p, (k - 1) * d + span)
        for n, p, k, d, span in zip(dims, pad, ksize, dilate, spans, strict=True)
    )
    img = np.zeros((*col.shape[:2], *extents), col.dtype)
    every = slice(None)
    for place in itertools.product(*map(range, ksize)):
        window = [
            slice(k * d, k * d + span, s)
            for k, d, span, s in zip(place, dilate, spans, stride, strict=True)
        ]
        img[(every, every, *window)] += col[(every, every, *place)]
    return img[(every, every, *(slice(p, p + n) for p, n in zip(pad, dims, strict=True)))]


def _on_host(x: NdArray, func: tp.Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Computes with NumPy and returns an array of the kind, and on the device, of ``x``."""
    device = backend.get_device_from_array(x)
    return device.send(func(backend.CpuDevice().send(x)))
