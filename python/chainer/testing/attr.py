"""Marks of tests that need a device or time, for pytest's ``-m``.

``CHAINER_TEST_GPU_LIMIT`` is the number of GPUs that tests may use; tests that need more are
skipped.
"""

import os
import unittest

_error: Exception | None = None
try:
    import pytest
except ImportError as error:  # users who only compare arrays need no marks
    _error = error

_gpu_limit = int(os.environ.get('CHAINER_TEST_GPU_LIMIT', '-1'))


def get_error() -> Exception | None:
    """Why the marks are not available, None if they are."""
    return _error


def is_available() -> bool:
    """Whether pytest is there."""
    return _error is None


def check_available() -> None:
    """Raises RuntimeError if pytest is not there."""
    if _error is not None:
        raise RuntimeError(
            f'{__name__} is not available.\n\nReason: {type(_error).__name__}: {_error}'
        )


def _mark(name: str, args, kwargs):
    check_available()
    return getattr(pytest.mark, name)(*args, **kwargs)


def chainerx(*args, **kwargs):
    """Marks a test of chainerx arrays."""
    return _mark('chainerx', args, kwargs)


def cudnn(*args, **kwargs):
    """Marks a test that needs cuDNN."""
    return _mark('cudnn', args, kwargs)


def ideep(*args, **kwargs):
    """Marks a test that needs iDeep."""
    return _mark('ideep', args, kwargs)


def nccl(*args, **kwargs):
    """Marks a test that needs NCCL."""
    return _mark('nccl', args, kwargs)


def slow(*args, **kwargs):
    """Marks a test that takes long."""
    return _mark('slow', args, kwargs)


def multi_gpu(gpu_num: int):
    """Decorator that marks a test that needs ``gpu_num`` GPUs."""
    check_available()

    def decorate(test):
        skip = unittest.skipIf(0 <= _gpu_limit < gpu_num, f'{gpu_num} GPUs required')
        return skip(pytest.mark.gpu(test))

    return decorate


def gpu(f):
    """Marks a test that needs a GPU."""
    return multi_gpu(1)(f)
