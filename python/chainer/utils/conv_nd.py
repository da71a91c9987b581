"""Patches of images of any number of dimensions as columns, and back."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer.backends import cuda
from chainer.utils import _patches, conv_nd_kernel
from chainer.utils._patches import get_conv_outsize

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray

Ints: tp.TypeAlias = tuple[int, ...]


def as_tuple(x: tp.Any, n: int) -> tuple:
    """A tuple of ``n`` elements, of a sequence of that length or of one value for all."""
    if hasattr(x, '__getitem__') and not np.isscalar(x):
        assert len(x) == n, f'expected {n} values, got {x!r}'
        return tuple(x)
    return (x,) * n


def _outs(
    img: NdArray, ksize: Ints, stride: Ints, pad: Ints, cover_all: bool, dilate: Ints
) -> Ints:
    dims = img.shape[2:]
    assert len(dims) == len(ksize) == len(stride) == len(pad), (
        f'numbers of dimensions differ: image {img.shape}, ksize {ksize}, stride {stride}, '
        f'pad {pad}'
    )
    outs = tuple(
        get_conv_outsize(n, k, s, p, cover_all, d)
        for n, k, s, p, d in zip(dims, ksize, stride, pad, dilate, strict=True)
    )
    assert all(out > 0 for out in outs), f'Output sizes should be positive. Actual: {outs}'
    return outs


def im2col_nd_cpu(
    img: np.ndarray,
    ksize: Ints,
    stride: Ints,
    pad: Ints,
    pval: float = 0,
    cover_all: bool = False,
    dilate: int | Ints = 1,
) -> np.ndarray:
    """Makes columns of the patches of images.

    Args:
        img: Images, of shape (N, C, d_1, ..., d_n).
        ksize: Size of a patch, n numbers.
        stride: n numbers.
        pad: Padding at both ends, n numbers.
        pval: Value of the padding.
        cover_all: Whether all input takes part.
        dilate: A number, or n of them.

    Returns:
        Array of shape (N, C, k_1, ..., k_n, out_1, ..., out_n).
    """
    dilate = as_tuple(dilate, len(ksize))
    outs = _outs(img, ksize, stride, pad, cover_all, dilate)
    return _patches._im2col(img, tuple(ksize), tuple(stride), tuple(pad), pval, outs, dilate)


def im2col_nd_gpu(img, ksize, stride, pad, cover_all=False, dilate=1) -> NdArray:
    """As `im2col_nd_cpu`, for CuPy arrays."""
    cuda.check_cuda_available()
    dilate = as_tuple(dilate, len(ksize))
    outs = _outs(img, ksize, stride, pad, cover_all, dilate)
    return _im2col_gpu(img, ksize, stride, pad, outs, dilate)


def _im2col_gpu(img, ksize, stride, pad, outs, dilate) -> NdArray:
    dims = img.shape[2:]
    col = cuda.cupy.empty((*img.shape[:2], *ksize, *outs), img.dtype)
    kernel = cuda.elementwise(*conv_nd_kernel.Im2colNDKernel.generate(len(dims)))
    kernel(img.reduced_view(), *dims, *outs, *ksize, *stride, *pad, *dilate, col)
    return col


def im2col_nd(img, ksize, stride, pad, cover_all=False, dilate=1) -> NdArray:
    """As `im2col_nd_cpu`, for arrays of any kind."""
    if isinstance(img, cuda.ndarray):
        return im2col_nd_gpu(img, ksize, stride, pad, cover_all, dilate)
    return _patches._on_host(
        img, lambda x: im2col_nd_cpu(x, ksize, stride, pad, 0, cover_all, dilate)
    )


def _check_col(col: NdArray, stride: Ints, pad: Ints, dims: Ints) -> None:
    assert {len(stride), len(pad), col.ndim / 2 - 1} == {len(dims)}, (
        f'numbers of dimensions differ: columns {col.shape}, stride {stride}, pad {pad}, '
        f'dims {dims}'
    )


def col2im_nd_cpu(
    col: np.ndarray, stride: Ints, pad: Ints, dims: Ints, dilate: int | Ints = 1
) -> np.ndarray:
    """Sums columns into images, the adjoint of `im2col_nd_cpu`.

    Args:
        col: Columns, of shape (N, C, k_1, ..., k_n, out_1, ..., out_n).
        stride: n numbers.
        pad: Padding at both ends, n numbers.
        dims: Size of the images, n numbers.
        dilate: A number, or n of them.

    Returns:
        Array of shape (N, C, d_1, ..., d_n).
    """
    _check_col(col, stride, pad, dims)
    dilate = as_tuple(dilate, len(dims))
    return _patches._col2im(col, tuple(stride), tuple(pad), tuple(dims), dilate)


def col2im_nd_gpu(col, stride, pad, dims, dilate=1) -> NdArray:
    """As `col2im_nd_cpu`, for CuPy arrays."""
    cuda.check_cuda_available()
    _check_col(col, stride, pad, dims)
    ndim = len(dims)
    ksize, outs = col.shape[2 : 2 + ndim], col.shape[2 + ndim :]
    img = cuda.cupy.empty((*col.shape[:2], *dims), col.dtype)
    kernel = cuda.elementwise(*conv_nd_kernel.Col2imNDKernel.generate(ndim))
    dilate = as_tuple(dilate, ndim)
    kernel(col.reduced_view(), *dims, *outs, *ksize, *stride, *pad, *dilate, img)
    return img


def col2im_nd(col, stride, pad, dims, dilate=1) -> NdArray:
    """As `col2im_nd_cpu`, for arrays of any kind."""
    if isinstance(col, cuda.ndarray):
        return col2im_nd_gpu(col, stride, pad, dims, dilate)
    return _patches._on_host(col, lambda x: col2im_nd_cpu(x, stride, pad, dims, dilate))
