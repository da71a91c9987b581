"""Patches of images as columns, and back."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer._base.docstrings import documented_like
from chainer.backends import cuda
from chainer.utils import conv_nd
from chainer.utils._patches import (  # noqa: F401  (outsizes: where v7 has them)
    _col2im,
    _im2col,
    _on_host,
    get_conv_outsize,
    get_deconv_outsize,
)

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray


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


@documented_like(im2col_cpu)
def im2col_gpu(
    img: NdArray,
    kh: int,
    kw: int,
    sy: int,
    sx: int,
    ph: int,
    pw: int,
    cover_all: bool = False,
    dy: int = 1,
    dx: int = 1,
    out_h: int | None = None,
    out_w: int | None = None,
) -> NdArray:
    """Makes columns of the patches of images that are CuPy arrays.

    Returns:
        cupy.ndarray: (N, C, kh, kw, out_h, out_w), of the dtype of ``img``.
    """
    cuda.check_cuda_available()
    outs = _outsize_2d(img, kh, kw, sy, sx, ph, pw, cover_all, dy, dx, out_h, out_w)
    return conv_nd._im2col_gpu(img, (kh, kw), (sy, sx), (ph, pw), outs, (dy, dx))


@documented_like(im2col_cpu)
def im2col(
    img: NdArray,
    kh: int,
    kw: int,
    sy: int,
    sx: int,
    ph: int,
    pw: int,
    cover_all: bool = False,
    dy: int = 1,
    dx: int = 1,
    out_h: int | None = None,
    out_w: int | None = None,
) -> NdArray:
    """Makes columns of the patches of images.

    Returns:
        array: (N, C, kh, kw, out_h, out_w), of the dtype of ``img``.
    """
    args = (kh, kw, sy, sx, ph, pw)
    if isinstance(img, cuda.ndarray):
        return im2col_gpu(img, *args, cover_all, dy, dx, out_h, out_w)
    return _on_host(img, lambda x: im2col_cpu(x, *args, 0, cover_all, dy, dx, out_h, out_w))


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


def col2im_gpu(
    col: NdArray,
    sy: int,
    sx: int,
    ph: int,
    pw: int,
    h: int,
    w: int,
    dy: int = 1,
    dx: int = 1,
) -> NdArray:
    """Sums columns that are CuPy arrays into images, the adjoint of `im2col_gpu`.

    Args:
        col: Columns, (N, C, kh, kw, out_h, out_w).
        sy, sx: Stride.
        ph, pw: Padding at both ends.
        h, w: Size of the images.
        dy, dx: Dilation.

    Returns:
        cupy.ndarray: (N, C, h, w), of the dtype of ``col``.
    """
    return conv_nd.col2im_nd_gpu(col, (sy, sx), (ph, pw), (h, w), (dy, dx))


def col2im(
    col: NdArray,
    sy: int,
    sx: int,
    ph: int,
    pw: int,
    h: int,
    w: int,
    dy: int = 1,
    dx: int = 1,
) -> NdArray:
    """Sums columns into images, the adjoint of `im2col`.

    Args:
        col: Columns, (N, C, kh, kw, out_h, out_w).
        sy, sx: Stride.
        ph, pw: Padding at both ends.
        h, w: Size of the images.
        dy, dx: Dilation.

    Returns:
        array: (N, C, h, w), of the dtype of ``col``.
    """
    if isinstance(col, cuda.ndarray):
        return col2im_gpu(col, sy, sx, ph, pw, h, w, dy, dx)
    return _on_host(col, lambda x: col2im_cpu(x, sy, sx, ph, pw, h, w, dy, dx))
