"""Helpers for test suites of functions, links and all that is written on chainer.

`attr`, `run_module` and `distribution_unittest` need pytest; the rest works without it.
"""

from chainer.testing import (
    array,
    attr,
    backend,
    condition,
    function_link,
    helper,
    matrix,
    parameterized,
    random,
    serializer,
    training,
    unary_math_function_test,
)
from chainer.testing.array import assert_allclose
from chainer.testing.backend import BackendConfig, inject_backend_tests
from chainer.testing.function_link import (
    FunctionTestBase,
    FunctionTestCase,
    FunctionTestError,
    InitializerArgument,
    LinkInitializersTestCase,
    LinkTestCase,
    LinkTestError,
)
from chainer.testing.helper import (
    assert_warns,
    patch,
    run_module,
    with_requires,
    without_requires,
)
from chainer.testing.matrix import generate_matrix
from chainer.testing.parameterized import (
    from_pytest_parameterize,
    parameterize,
    parameterize_pytest,
    product,
    product_dict,
)
from chainer.testing.random import fix_random, generate_seed
from chainer.testing.serializer import save_and_load, save_and_load_hdf5, save_and_load_npz
from chainer.testing.training import get_trainer_with_mock_updater
from chainer.testing.unary_math_function_test import unary_math_function_unittest

__all__ = [
    'BackendConfig',
    'FunctionTestBase',
    'FunctionTestCase',
    'FunctionTestError',
    'InitializerArgument',
    'LinkInitializersTestCase',
    'LinkTestCase',
    'LinkTestError',
    'array',
    'assert_allclose',
    'assert_warns',
    'attr',
    'backend',
    'condition',
    'fix_random',
    'from_pytest_parameterize',
    'function_link',
    'generate_matrix',
    'generate_seed',
    'get_trainer_with_mock_updater',
    'helper',
    'inject_backend_tests',
    'matrix',
    'parameterize',
    'parameterize_pytest',
    'parameterized',
    'patch',
    'product',
    'product_dict',
    'random',
    'run_module',
    'save_and_load',
    'save_and_load_hdf5',
    'save_and_load_npz',
    'serializer',
    'training',
    'unary_math_function_test',
    'unary_math_function_unittest',
    'with_requires',
    'without_requires',
]


def __getattr__(name):
    # The class carries marks of pytest, which users who only compare arrays need not have.
    if name == 'distribution_unittest':
        from chainer.testing import distribution_test

        return distribution_test.distribution_unittest
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
