"""Patches of images as columns, and back."""

from __future__ import annotations

import itertools
import typing as tp

import numpy as np

from chainer import backend
from chainer.backends import cuda


def get_conv_outsize(size: int, k: int, s: int, p: int, cover_all: bool = False, d: int = 1) -> int:
    """The size of the output of a convolution along one axis.

    Args:
        size: Size of the input.
        k: Size of the kernel.
        s: Stride.
        p: Padding at both ends.
        cover_all: Whether all input takes part, if need be by more padding at the end.
        d: Dilation: distance of neighbouring elements of the kernel.
    """
    dk = k + (k - 1) * (d - 1)
    return (size + p * 2 - dk + (s - 1 if cover_all else 0)) // s + 1


def get_deconv_outsize(
    size: int, k: int, s: int, p: int, cover_all: bool = False, d: int = 1
) -> int:
    """The size of the output of a transposed convolution along one axis; see get_conv_outsize."""
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


def im2col_cpu(
    img: np.ndarray,
    kh: int,
    kw: int,
    sy: int,
    sx: int,
    ph: int,
    pw: int,
    pval: float = 0,
    cover_all: bool = False,
    dy: int = 1,
    dx: int = 1,
    out_h: int | None = None,
    out_w: int | None = None,
) -> np.ndarray:
    """Makes columns of the patches of images.

    Args:
        img: Images, of shape (N, C, H, W).
        kh, kw: Size of a patch.
        sy, sx: Stride.
        ph, pw: Padding at both ends.
        pval: Value of the padding.
        cover_all: Whether all input takes part.
        dy, dx: Dilation.
        out_h, out_w: Size of the output; None follows from the others.

    Returns:
        Array of shape (N, C, kh, kw, out_h, out_w).
    """
    out_h, out_w = _outsize_2d(img, kh, kw, sy, sx, ph, pw, cover_all, dy, dx, out_h, out_w)
    return _im2col(img, (kh, kw), (sy, sx), (ph, pw), pval, (out_h, out_w), (dy, dx))


def _outsize_2d(img, kh, kw, sy, sx, ph, pw, cover_all, dy, dx, out_h, out_w) -> tuple[int, int]:
    h, w = img.shape[2:]
    if out_h is None:
        out_h = get_conv_outsize(h, kh, sy, ph, cover_all, dy)
    assert out_h > 0, f'Height in the output should be positive. Actual: {out_h}'
    if out_w is None:
        out_w = get_conv_outsize(w, kw, sx, pw, cover_all, dx)
    assert out_w > 0, f'Width in the output should be positive. Actual: {out_w}'
    return out_h, out_w


def im2col_gpu(
    img, kh, kw, sy, sx, ph, pw, cover_all=False, dy=1, dx=1, out_h=None, out_w=None
) -> tp.Any:
    """As `im2col_cpu`, for CuPy arrays."""
    from chainer.utils import conv_nd

    cuda.check_cuda_available()
    outs = _outsize_2d(img, kh, kw, sy, sx, ph, pw, cover_all, dy, dx, out_h, out_w)
    return conv_nd._im2col_gpu(img, (kh, kw), (sy, sx), (ph, pw), outs, (dy, dx))


def im2col(
    img, kh, kw, sy, sx, ph, pw, cover_all=False, dy=1, dx=1, out_h=None, out_w=None
) -> tp.Any:
    """As `im2col_cpu`, for arrays of any kind."""
    args = (kh, kw, sy, sx, ph, pw)
    if isinstance(img, cuda.ndarray):
        return im2col_gpu(img, *args, cover_all, dy, dx, out_h, out_w)
    return _on_host(img, lambda x: im2col_cpu(x, *args, 0, cover_all, dy, dx, out_h, out_w))


def _on_host(x: tp.Any, func: tp.Callable[[np.ndarray], np.ndarray]) -> tp.Any:
    """Computes with NumPy and returns an array of the kind, and on the device, of ``x``."""
    device = backend.get_device_from_array(x)
    return device.send(func(backend.CpuDevice().send(x)))


def col2im_cpu(
    col: np.ndarray, sy: int, sx: int, ph: int, pw: int, h: int, w: int, dy: int = 1, dx: int = 1
) -> np.ndarray:
    """Sums columns into images, the adjoint of `im2col_cpu`.

    Args:
        col: Columns, of shape (N, C, kh, kw, out_h, out_w).
        sy, sx: Stride.
        ph, pw: Padding at both ends.
        h, w: Size of the images.
        dy, dx: Dilation.

    Returns:
        Array of shape (N, C, h, w).
    """
    return _col2im(col, (sy, sx), (ph, pw), (h, w), (dy, dx))


def col2im_gpu(col, sy, sx, ph, pw, h, w, dy=1, dx=1) -> tp.Any:
    """As `col2im_cpu`, for CuPy arrays."""
    from chainer.utils import conv_nd

    return conv_nd.col2im_nd_gpu(col, (sy, sx), (ph, pw), (h, w), (dy, dx))


def col2im(col, sy, sx, ph, pw, h, w, dy=1, dx=1) -> tp.Any:
    """As `col2im_cpu`, for arrays of any kind."""
    if isinstance(col, cuda.ndarray):
        return col2im_gpu(col, sy, sx, ph, pw, h, w, dy, dx)
    return _on_host(col, lambda x: col2im_cpu(x, sy, sx, ph, pw, h, w, dy, dx))
