"""Random matrices of given singular values."""

from __future__ import annotations

import typing as tp

import numpy as np

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike


def _broadcast_to(array, shape):
    return np.broadcast_to(array, shape)


def generate_matrix(
    shape: tp.Sequence[int],
    dtype: DTypeLike = float,
    *,
    singular_values: float | np.ndarray | None = None,
) -> np.ndarray:
    """Random matrices with given singular values.

    Args:
        shape (tuple of ints): ``(..., m, n)``.
        dtype (dtype): float or complex.
        singular_values (float or array): Broadcast to ``(..., min(m, n))``; not negative.
    Returns:
        numpy.ndarray: ``u @ diag(singular_values) @ v`` of random unitary ``u`` and ``v``.
    """
    if len(shape) <= 1:
        raise ValueError(f'shape {shape} is invalid for matrices: too few axes')
    dtype = np.dtype(dtype)
    if dtype.kind not in 'fc':
        raise TypeError(f'dtype {dtype} is not supported')
    if singular_values is None:
        raise TypeError('singular_values is not given')
    *batch, m, n = shape
    k = min(m, n)
    s = _broadcast_to(np.asarray(singular_values), (*batch, k))
    if s.dtype.kind not in 'fiub':
        raise TypeError(f'singular values must be real, not {s.dtype}')
    if (s < 0).any():
        raise ValueError('negative singular value is given')
    a = np.random.standard_normal(tuple(shape))
    if dtype.kind == 'c':
        a = a + 1j * np.random.standard_normal(tuple(shape))
    u, _, v = np.linalg.svd(a, full_matrices=False)
    return np.asarray((u * s[..., None, :]) @ v, dtype)
