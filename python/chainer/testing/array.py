"""Comparison and layout of arrays of any backend."""

from __future__ import annotations

import typing as tp

import numpy as np

import chainer
from chainer._diagnostics.numerical_grad import _to_numpy

if tp.TYPE_CHECKING:
    from chainer._graph.variable import Variable
    from chainer._typing import ArrayLike


def _worst_element(x: np.ndarray, y: np.ndarray, atol: float, rtol: float) -> list[str]:
    """Lines on the element that is farthest beyond its tolerance."""
    x, y = np.broadcast_arrays(x, y)
    if x.dtype.kind not in 'fciub' or y.dtype.kind not in 'fciub' or x.size == 0:
        return []
    wide = np.complex128 if 'c' in (x.dtype.kind, y.dtype.kind) else np.float64
    with np.errstate(all='ignore'):
        error = np.abs(x.astype(wide) - y.astype(wide))
        tolerance = atol + rtol * np.abs(y.astype(wide))
        excess = np.where(x == y, -np.inf, error - tolerance)
        # A nan on one side only goes before any number.
        excess[np.isnan(excess)] = np.inf
        excess[np.isnan(x.astype(wide)) & np.isnan(y.astype(wide))] = -np.inf
        i = np.unravel_index(int(excess.argmax()), excess.shape)
        relative = error[i] / np.abs(y.astype(wide)[i])
    return [
        f'  i: {tuple(map(int, i))}',
        f'  x[i]: {x[i]}',
        f'  y[i]: {y[i]}',
        f'  relative error[i]: {relative}',
        f'  absolute error[i]: {error[i]}',
        f'  relative tolerance * |y[i]|: {tolerance[i] - atol}',
        f'  absolute tolerance: {atol}',
        f'  total tolerance: {tolerance[i]}',
    ]


def assert_allclose(
    x: ArrayLike | Variable,
    y: ArrayLike | Variable,
    atol: float = 1e-5,
    rtol: float = 1e-4,
    verbose: bool = True,
) -> None:
    """Raises AssertionError unless ``|x - y| <= atol + rtol * |y|`` everywhere.

    Args:
        x, y (arrays, Variables or scalars): Of any backends; dtypes are not compared.
        atol (float): Absolute tolerance.
        rtol (float): Relative tolerance.
        verbose (bool): Whether NumPy's part of the message shows the values.
    """
    x, y = _to_numpy(x), _to_numpy(y)
    try:
        np.testing.assert_allclose(x, y, atol=atol, rtol=rtol, verbose=verbose)
    except AssertionError as error:
        lines = [
            f'{error}',
            '',
            'assert_allclose failed:',
            f'  shape: {x.shape} {y.shape}',
            f'  dtype: {x.dtype} {y.dtype}',
        ]
        if x.shape == y.shape or x.ndim == 0 or y.ndim == 0:
            lines += _worst_element(x, y, atol, rtol)
        for name, value in (('x: ', x), ('y: ', y)):
            lines.append(name + np.array2string(value, prefix=name))
        raise AssertionError('\n'.join(lines) + '\n') from None


def _as_noncontiguous_array(array):
    """An equal array, on the same device, whose elements do not lie side by side.

    Lists and tuples are mapped; None, 0-d and empty arrays, which have no other layout, are
    returned as they are.
    """
    if array is None:
        return None
    if isinstance(array, (list, tuple)):
        return type(array)(map(_as_noncontiguous_array, array))
    if array.size <= 1:
        return array
    device = chainer.backend.get_device_from_array(array)
    with chainer.using_device(device):
        wide = device.xp.zeros((*array.shape[:-1], array.shape[-1] * 2), dtype=array.dtype)
    # Every second element of the last axis, and each axis backwards.
    view = wide[(slice(None, None, -1),) * (array.ndim - 1) + (slice(None, None, -2),)]
    view[...] = array
    return view
