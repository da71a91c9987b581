"""Comparison of arrays of NumPy and of chainerx in either order."""

from __future__ import annotations

import typing as tp

import numpy as np

import chainerx

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, ArrayLike


def _as_numpy(x):
    if isinstance(x, chainerx.ndarray):
        x = chainerx.to_numpy(x)
    x = np.asarray(x)
    # NumPy's comparisons don't know bfloat16; float32 holds all its values.
    return x.astype(np.float32) if x.dtype.name == 'bfloat16' else x


def assert_allclose(
    x: ArrayLike,
    y: ArrayLike,
    rtol: float = 1e-7,
    atol: float = 0,
    equal_nan: bool = True,
    err_msg: str = '',
    verbose: bool = True,
) -> None:
    """Raises AssertionError unless ``|x - y| <= atol + rtol * |y|`` everywhere.

    Args:
        x, y (ndarray, numpy.ndarray or number): In either order.
        rtol (float): Relative tolerance.
        atol (float): Absolute tolerance.
        equal_nan (bool): Whether NaN equals NaN.
        err_msg (str): What an error adds.
        verbose (bool): Whether it shows the values.
    Raises:
        AssertionError: Also if the shapes do not broadcast.
    """
    np.testing.assert_allclose(
        _as_numpy(x),
        _as_numpy(y),
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        err_msg=err_msg,
        verbose=verbose,
    )


def assert_array_equal(x: ArrayLike, y: ArrayLike, err_msg: str = '', verbose: bool = True) -> None:
    """Raises AssertionError unless shapes and values are the same; NaN equals NaN.

    Args:
        x, y (ndarray, numpy.ndarray or number): In either order.
        err_msg (str): What an error adds.
        verbose (bool): Whether it shows the values.
    Raises:
        AssertionError: If they differ.
    """
    np.testing.assert_array_equal(_as_numpy(x), _as_numpy(y), err_msg=err_msg, verbose=verbose)


def _preprocess(x, y, dtype_check, strides_check):
    """Applies the defaults of the two checks, then runs them."""
    if strides_check is None:
        strides_check = dtype_check is None or dtype_check
    if dtype_check is None:
        dtype_check = True
    if strides_check and not dtype_check:
        raise ValueError('strides_check=True has no meaning with dtype_check=False')
    if dtype_check:
        assert x.dtype == y.dtype, f'dtypes differ: {x.dtype} and {y.dtype}'
    # Versions of NumPy differ in the strides of empty arrays.
    if strides_check and np.prod(x.shape):
        assert x.strides == y.strides, f'strides differ: {x.strides} and {y.strides}'


def assert_array_equal_ex(
    x: ArrayLike,
    y: ArrayLike,
    *args: Argument,
    dtype_check: bool | None = None,
    strides_check: bool | None = None,
    **kwargs: Argument,
) -> None:
    """`assert_array_equal` that also compares dtype and strides.

    Args:
        x, y (ndarray or numpy.ndarray): In either order.
        *args: ``err_msg`` and ``verbose``.
        dtype_check (bool): False also leaves the strides out; None is True.
        strides_check (bool): None is the same as ``dtype_check``.
        **kwargs: The same by name.
    Raises:
        AssertionError: If they differ.
        ValueError: For ``strides_check=True`` with ``dtype_check=False``.
    """
    _preprocess(x, y, dtype_check, strides_check)
    assert_array_equal(x, y, *args, **kwargs)


def assert_allclose_ex(
    x: ArrayLike,
    y: ArrayLike,
    rtol: float | None = None,
    atol: float | None = None,
    *args: Argument,
    dtype_check: bool | None = None,
    strides_check: bool | None = None,
    **kwargs: Argument,
) -> None:
    """`assert_allclose` that also compares dtype and strides.

    Args:
        x, y (ndarray or numpy.ndarray): In either order.
        rtol (float): Relative tolerance; 1e-7 if None.
        atol (float): Absolute tolerance; 0 if None.
        *args: Further arguments of `assert_allclose`.
        dtype_check (bool): False also leaves the strides out; None is True.
        strides_check (bool): None is the same as ``dtype_check``.
        **kwargs: The same by name; ``float16_rtol``, ``float32_atol`` and so on are the tolerances
            where ``x`` has that dtype, which go before ``rtol`` and ``atol``.
    Raises:
        AssertionError: If they differ.
        ValueError: For ``strides_check=True`` with ``dtype_check=False``.
    """
    _preprocess(x, y, dtype_check, strides_check)
    tolerances = {'rtol': 1e-7 if rtol is None else rtol, 'atol': 0 if atol is None else atol}
    for key in list(kwargs):
        name, _, which = key.rpartition('_')
        if which in tolerances and name:
            chainerx.dtype(name)  # a misspelt dtype is an error, not an ignored tolerance
            value = kwargs.pop(key)
            if name == getattr(x, 'dtype', np.asarray(x).dtype).name:
                tolerances[which] = value
    assert_allclose(x, y, tolerances['rtol'], tolerances['atol'], *args, **kwargs)
