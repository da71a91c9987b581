"""Decorators that run one test body with chainerx and with NumPy; constructors of odd arrays."""

from __future__ import annotations

import functools
import typing as tp

import numpy as np
import pytest

import chainerx
from chainerx.testing import array

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument


class _Ignore:
    def __repr__(self):
        return 'chainerx.testing.ignore()'


_IGNORE = _Ignore()


def ignore() -> tp.Any:
    """What a test body returns, under both modules, to have nothing compared.

    Returns:
        The same object each time.
    """
    return _IGNORE


def _run(test, args, kwargs):
    try:
        return test(*args, **kwargs), None
    except Exception as error:  # errors of the body are compared, too
        return None, error


def _check_errors(chainerx_error, numpy_error, accept_error):
    for error, name, other in (
        (chainerx_error, 'chainerx', numpy_error),
        (numpy_error, 'numpy', chainerx_error),
    ):
        if error is None:
            raise AssertionError(
                f'only {"numpy" if name == "chainerx" else "chainerx"} raised '
                f'{type(other).__name__}: {other}'
            ) from other
        if not isinstance(error, accept_error):
            raise AssertionError(
                f'{name} raised {type(error).__name__}, which accept_error does not list: {error}'
            ) from error


def _compare(check, actual, expected):
    if isinstance(actual, (list, tuple)):
        assert type(actual) is type(expected), (type(actual), type(expected))
        assert len(actual) == len(expected), (len(actual), len(expected))
        for a, e in zip(actual, expected, strict=True):
            _compare(check, a, e)
        return
    if actual is _IGNORE or expected is _IGNORE:
        assert actual is expected, 'only one of the modules returned ignore()'
        return
    if actual is None or expected is None:
        raise AssertionError(
            f'nothing to compare: chainerx returned {actual!r}, numpy {expected!r}'
        )
    if isinstance(actual, chainerx.ndarray):
        assert isinstance(expected, (np.ndarray, np.generic)), type(expected)
        assert actual.device is chainerx.get_default_device(), (
            f'result is on {actual.device}, the default device is {chainerx.get_default_device()}'
        )
        check(actual, expected)
        return
    if isinstance(actual, (np.ndarray, np.generic)):
        raise AssertionError(f'the body returned {type(actual)} under xp=chainerx')
    assert type(actual) is type(expected), (
        f'{actual!r} is {type(actual)}, but {expected!r} is {type(expected)}'
    )
    assert actual == expected, f'{actual!r} != {expected!r}'


def _decorator(check, name, accept_error):
    if isinstance(accept_error, list):
        accept_error = tuple(accept_error)

    def decorate(test):
        # The argument stays in the signature that pytest sees; without a value pytest would take it
        # for a fixture.
        @pytest.mark.parametrize(name, [None])
        @functools.wraps(test)
        def run_both(*args, **kwargs):
            kwargs[name] = chainerx
            actual, chainerx_error = _run(test, args, kwargs)
            kwargs[name] = np
            expected, numpy_error = _run(test, args, kwargs)
            if chainerx_error is not None or numpy_error is not None:
                _check_errors(chainerx_error, numpy_error, accept_error)
            else:
                _compare(check, actual, expected)

        return run_both

    return decorate


def numpy_chainerx_allclose(
    *,
    rtol: float = 1e-7,
    atol: float = 0,
    equal_nan: bool = True,
    err_msg: str = '',
    verbose: bool = True,
    name: str = 'xp',
    dtype_check: bool | None = None,
    strides_check: bool | None = None,
    accept_error: type[BaseException] | tuple[type[BaseException], ...] = (),
    **kwargs: Argument,
) -> tp.Any:
    """Runs a test with ``xp=chainerx`` and ``xp=numpy`` and compares what it returns.

    The results are arrays, equal scalars of one type, or lists and tuples of them; chainerx's
    arrays must be on the default device. An error passes only if both modules raise, each one of
    ``accept_error``.

    Args:
        rtol, atol, equal_nan, err_msg, verbose: As in `assert_allclose`.
        name (str): The argument of the test that takes the module.
        dtype_check, strides_check (bool): As in `assert_allclose_ex`.
        accept_error (class or tuple of classes): Errors that may be the outcome.
        **kwargs: ``float16_rtol`` and so on, as in `assert_allclose_ex`.
    Returns:
        A decorator of tests.
    """

    def check(actual, expected):
        array.assert_allclose_ex(
            actual,
            expected,
            rtol,
            atol,
            equal_nan,
            err_msg,
            verbose,
            dtype_check=dtype_check,
            strides_check=strides_check,
            **kwargs,
        )

    return _decorator(check, name, accept_error)


def numpy_chainerx_array_equal(
    *,
    err_msg: str = '',
    verbose: bool = True,
    name: str = 'xp',
    dtype_check: bool | None = None,
    strides_check: bool | None = None,
    accept_error: type[BaseException] | tuple[type[BaseException], ...] = (),
) -> tp.Any:
    """As `numpy_chainerx_allclose`, with exact comparison.

    Args:
        err_msg, verbose: As in `assert_array_equal`.
        name (str): The argument of the test that takes the module.
        dtype_check, strides_check (bool): As in `assert_array_equal_ex`.
        accept_error (class or tuple of classes): Errors that may be the outcome.
    Returns:
        A decorator of tests.
    """

    def check(actual, expected):
        array.assert_array_equal_ex(
            actual,
            expected,
            err_msg,
            verbose,
            dtype_check=dtype_check,
            strides_check=strides_check,
        )

    return _decorator(check, name, accept_error)


class _DeviceBuffer(np.ndarray):
    """Exports the buffer protocol over memory of a device that the host can address.

    Called as ``(data, shape, dtype, device=None)`` or ``(shape, dtype, data, device=None)``.
    """

    _owner: chainerx.ndarray  # keeps the memory alive

    def __new__(cls, *args, device=None, **kwargs):
        if len(args) == 4:
            *args, device = args  # type: ignore[assignment]
        names = ('data', 'shape', 'dtype')
        if len(args) > 1 and not isinstance(args[1], (tuple, int)):
            names = ('shape', 'dtype', 'data')
        kwargs.update(zip(names, args, strict=False))
        host = np.array(kwargs['data'], chainerx.dtype(kwargs['dtype']))
        owner = chainerx.array(host.reshape(kwargs['shape']), device=device)
        self = chainerx.to_numpy(owner, copy=False).view(cls)
        self._owner = owner
        return self


def _fromnumpy(array, keepstrides=False, device=None):
    """Copies a NumPy array to chainerx, on request with its strides (any sign, gaps, zeros)."""
    if not keepstrides:
        return chainerx.array(array, device=device)
    steps = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
    if array.size == 0:
        steps = []
    first = -sum(s for s in steps if s < 0)
    nbytes = first + sum(s for s in steps if s > 0) + array.itemsize
    memory = np.zeros(nbytes, np.uint8)
    copy = np.ndarray(array.shape, array.dtype, memory, first, array.strides)
    copy[...] = array
    result = chainerx.array(copy, copy=False, device=device)
    if result.strides != array.strides:
        raise ValueError(f'{result.device} does not keep strides {array.strides}')
    return result
