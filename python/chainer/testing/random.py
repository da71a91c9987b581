"""Random numbers that are the same in each run of a test.

With ``CHAINER_TEST_RANDOM_NONDETERMINISTIC`` set to other than 0 they differ, which finds tests
that pass by luck.
"""

import functools
import inspect
import os
import random as _random
import typing as tp
import unittest

import numpy as np

from chainer.backends import cuda
from chainer.testing import _bundle

_SEED = 100

_nest_count = 0
_saved: tuple[tp.Any, tp.Any] | None = None


def do_setup(deterministic: bool = True) -> None:
    """Saves the states of the random generators and seeds them.

    Args:
        deterministic (bool): False seeds them by chance.
    """
    global _saved
    _saved = (np.random.get_state(), _random.getstate())
    seed = _SEED if deterministic else None
    np.random.seed(seed)
    _random.seed(seed)
    if cuda.available:
        cuda.cupy.random.seed(seed)


def do_teardown() -> None:
    """Restores the states saved by ``do_setup``; CuPy's, which can't be saved, is seeded anew."""
    global _saved
    assert _saved is not None, 'random is not set up'
    numpy_state, python_state = _saved
    _saved = None
    np.random.set_state(numpy_state)
    _random.setstate(python_state)
    if cuda.available:
        cuda.cupy.random.seed(None)


def _setup_random() -> None:
    # Only the outermost counts: a class and its base may both be decorated.
    global _nest_count
    if _nest_count == 0:
        nondeterministic = os.environ.get('CHAINER_TEST_RANDOM_NONDETERMINISTIC', '0')
        do_setup(deterministic=nondeterministic in ('', '0'))
    _nest_count += 1


def _teardown_random() -> None:
    global _nest_count
    assert _nest_count > 0, 'random is not set up'
    _nest_count -= 1
    if _nest_count == 0:
        do_teardown()


def generate_seed() -> int:
    """A seed drawn from the state that ``fix_random`` set.

    Returns:
        int: At least 0, below ``2 ** 31 - 1``.

    Raises:
        AssertionError: Outside of `fix_random`.
    """
    assert _nest_count > 0, 'random is not set up'
    return int(np.random.randint(0x7FFFFFFF))


def _fix_function(function):
    @functools.wraps(function)
    def run(*args, **kwargs):
        _setup_random()
        try:
            return function(*args, **kwargs)
        finally:
            _teardown_random()

    return run


def _fix_class(cls: type, setup_method: str, teardown_method: str) -> None:
    setup, teardown = (getattr(cls, name, None) for name in (setup_method, teardown_method))
    if setup is None and setup_method == 'setUp' and not issubclass(cls, unittest.TestCase):
        raise AttributeError(
            f'{cls.__name__} has no setUp, and no runner would call one: for a class that is not a '
            "unittest.TestCase use fix_random(setup_method='setup_method', "
            "teardown_method='teardown_method')"
        )

    def run_setup(self, *args, **kwargs):
        _setup_random()
        try:
            return setup(self, *args, **kwargs) if setup else None
        except BaseException:  # runners only tear down tests that were set up
            _teardown_random()
            raise

    def run_teardown(self, *args, **kwargs):
        try:
            return teardown(self, *args, **kwargs) if teardown else None
        finally:
            _teardown_random()

    # pytest passes arguments by the signature.
    setattr(
        cls,
        setup_method,
        functools.wraps(setup)(run_setup) if setup else lambda self: run_setup(self),
    )
    setattr(
        cls,
        teardown_method,
        functools.wraps(teardown)(run_teardown) if teardown else lambda self: run_teardown(self),
    )


def fix_random(*, setup_method: str = 'setUp', teardown_method: str = 'tearDown') -> tp.Any:
    """Decorator of a test or a class of tests: NumPy's and Python's random numbers are fixed.

    Each test starts from the same state; the previous state is restored afterwards.

    Args:
        setup_method, teardown_method (str): For a class: names of the methods that run before and
            after each test. The states are set before the former, restored after the latter.

    Returns:
        A decorator.

    Raises:
        TypeError: If something else is decorated.
    """

    def decorate(target):
        if isinstance(target, _bundle._ParameterizedTestCaseBundle):
            for case in target.cases:
                _fix_class(case.klass, setup_method, teardown_method)
            return target
        if isinstance(target, type):
            _fix_class(target, setup_method, teardown_method)
            return target
        if inspect.isroutine(target):
            return _fix_function(target)
        raise TypeError(f'fix_random decorates a function or a class, not {type(target)}')

    return decorate
