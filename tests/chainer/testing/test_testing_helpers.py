"""The smaller helpers of `chainer.testing`."""

import os
import random
import subprocess
import sys
import unittest
import unittest.mock
import warnings

import chainer
import numpy as np
import pytest
from chainer import testing
from chainer.testing import array, attr, condition, doctest_helper, matrix


def test_every_name_and_submodule():
    import importlib

    names = (
        'BackendConfig FunctionTestCase FunctionTestError InitializerArgument '
        'LinkInitializersTestCase LinkTestCase LinkTestError _bundle array assert_allclose '
        'assert_warns attr backend distribution_unittest fix_random from_pytest_parameterize '
        'function_link generate_matrix generate_seed get_trainer_with_mock_updater helper '
        'inject_backend_tests matrix parameterize parameterize_pytest parameterized patch product '
        'product_dict random run_module save_and_load save_and_load_hdf5 save_and_load_npz '
        'serializer training unary_math_function_test unary_math_function_unittest with_requires '
        'without_requires'
    )
    for name in names.split():
        assert getattr(testing, name) is not None
    submodules = (
        '_bundle array attr backend condition distribution_test doctest_helper function_link '
        'helper matrix parameterized random serializer training unary_math_function_test'
    )
    for name in submodules.split():
        importlib.import_module(f'chainer.testing.{name}')
    with pytest.raises(AttributeError, match='nothing_such'):
        _ = testing.nothing_such


def test_import_chainer_imports_no_test_framework():
    code = (
        'import sys, chainer\n'
        "print([m for m in ('pytest', '_pytest', 'unittest', 'chainer.testing', "
        "'chainer.gradient_check') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == '[]'


def test_works_without_pytest():
    code = (
        'import sys\n'
        "sys.modules['pytest'] = None\n"
        'from chainer import gradient_check, testing\n'
        'testing.assert_allclose(1.0, 1.0)\n'
        'assert not testing.attr.is_available()\n'
        'try:\n'
        '    testing.attr.slow(len)\n'
        'except RuntimeError as error:\n'
        '    print(error)\n'
    )
    result = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True
    )
    assert 'chainer.testing.attr is not available' in result.stdout


# assert_allclose


@pytest.mark.parametrize(
    ('x', 'y'),
    [
        (1.0, 1.0),
        (np.ones(2), np.ones(2) + 1e-4),
        (np.ones(2, 'e'), np.ones(2, 'd')),
        (np.array(np.nan), np.array(np.nan)),
        (np.array([np.inf, -np.inf]), np.array([np.inf, -np.inf])),
        ([1, 2], np.array([1, 2])),
        (np.ones(2), 1.0),
        (np.ones(0), np.ones(0)),
        (np.array([True]), np.array([True])),
        (np.array([1 + 1j]), np.array([1 + 1j])),
    ],
)
def test_allclose(x, y):
    testing.assert_allclose(x, y)
    testing.array.assert_allclose(y, x)


@pytest.mark.parametrize(
    ('x', 'y'),
    [
        (1.0, 1.001),
        (np.ones(2), np.ones(3)),
        (np.ones((2, 1)), np.ones((1, 2))),
        (np.array([np.nan, 1]), np.array([1, 1])),
        (np.array([np.inf, 1]), np.array([-np.inf, 1])),
        (np.array([True]), np.array([False])),
        (np.array([1 + 1j]), np.array([1 + 2j])),
        (np.array([0, 1], 'u1'), np.array([1, 1], 'u1')),
    ],
)
def test_not_allclose(x, y):
    with pytest.raises(AssertionError, match='assert_allclose failed'):
        testing.assert_allclose(x, y)


def test_allclose_message_shows_the_worst_element():
    x = np.ones((2, 3), 'f')
    y = x.copy()
    y[0, 1], y[1, 2] = 1.1, 1.5
    with pytest.raises(AssertionError) as info:
        testing.assert_allclose(x, y, atol=0, rtol=1e-2)
    message = str(info.value)
    for line in (
        'shape: (2, 3) (2, 3)',
        'dtype: float32 float32',
        'i: (1, 2)',
        'x[i]: 1.0',
        'y[i]: 1.5',
        'absolute error[i]: 0.5',
        'relative tolerance * |y[i]|: 0.015',
        'absolute tolerance: 0',
    ):
        assert f'  {line}\n' in message


def test_allclose_order_of_tolerances():
    testing.assert_allclose(1.0, 1.1, 0.2, 0)
    with pytest.raises(AssertionError):
        testing.assert_allclose(1.0, 1.1, 0, 0.05)


def test_allclose_of_other_backends():
    import chainerx

    x = chainerx.array([1.0, 2.0])
    testing.assert_allclose(x, np.array([1.0, 2.0]))
    testing.assert_allclose([1.0, 2.0], x)
    testing.assert_allclose(chainer.Variable(x), np.array([1.0, 2.0]))
    with pytest.raises(AssertionError):
        testing.assert_allclose(x, chainer.Variable(np.array([1.0, 3.0])))
    with pytest.raises(AssertionError):
        testing.assert_allclose(x.astype('bfloat16'), x + 1)
    with pytest.raises(TypeError):
        testing.assert_allclose(None, None)


# Layouts


@pytest.mark.parametrize('shape', [(3,), (2, 3), (2, 1), (4, 2, 3)])
@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_noncontiguous(shape, device):
    device = chainer.get_device(device)
    x = np.random.RandomState(0).rand(*shape).astype('f')
    y = array._as_noncontiguous_array(device.send(x))
    assert isinstance(y, device.supported_array_types)
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    np.testing.assert_array_equal(chainer.backend.CpuDevice().send(y), x)
    contiguous = y.flags.c_contiguous if device.xp is np else y.is_contiguous
    assert not contiguous


def test_noncontiguous_of_arrays_with_one_layout():
    for x in (np.ones(()), np.ones(0), np.ones((2, 0)), None):
        assert array._as_noncontiguous_array(x) is x
    pair = array._as_noncontiguous_array((np.ones(3), None))
    assert type(pair) is tuple
    assert not pair[0].flags.c_contiguous
    assert type(array._as_noncontiguous_array([np.ones(3)])) is list


# Random numbers


@testing.fix_random()
class TestFixRandom(unittest.TestCase):
    def setUp(self):
        self.drawn = np.random.rand(2)

    def test_state(self):
        expected = np.random.RandomState(100)
        assert (self.drawn == expected.rand(2)).all()
        assert testing.generate_seed() == expected.randint(0x7FFFFFFF) == 1823289175
        assert random.random() == random.Random(100).random()

    def test_state_again(self):
        self.test_state()


class TestFixRandomOfDerived(TestFixRandom):
    def test_derived(self):
        self.test_state()


def test_fix_random_restores():
    np.random.seed(5)
    random.seed(5)
    expected = np.random.RandomState(5).rand(), random.Random(5).random()

    @testing.fix_random()
    def draw():
        return np.random.rand(), random.random(), testing.generate_seed()

    assert draw() == draw()
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(TestFixRandom).run(result)
    assert result.wasSuccessful()
    assert result.testsRun == 2
    assert (np.random.rand(), random.random()) == expected


def test_fix_random_restores_after_errors():
    @testing.fix_random()
    class Case(unittest.TestCase):
        def setUp(self):
            raise KeyError

        def test_it(self):
            pass

    @testing.fix_random()
    def fail():
        raise KeyError

    state = np.random.get_state(legacy=False)
    result = unittest.TestResult()
    Case('test_it').run(result)
    assert len(result.errors) == 1
    with pytest.raises(KeyError):
        fail()
    np.testing.assert_equal(np.random.get_state(legacy=False), state)
    with pytest.raises(AssertionError, match='not set up'):
        testing.generate_seed()


def test_fix_random_by_chance(monkeypatch):
    @testing.fix_random()
    def draw():
        return np.random.rand()

    monkeypatch.setenv('CHAINER_TEST_RANDOM_NONDETERMINISTIC', '1')
    assert draw() != draw()
    monkeypatch.setenv('CHAINER_TEST_RANDOM_NONDETERMINISTIC', '0')
    assert draw() == draw()


def test_fix_random_without_setup():
    with pytest.raises(AttributeError, match='setup_method'):

        @testing.fix_random()
        class Plain:
            pass

    with pytest.raises(TypeError):
        testing.fix_random()(3)


# Conditions


class Counted(unittest.TestCase):
    __test__ = False  # fails on purpose
    passes: set = set()  # noqa: RUF012  # replaced by each test
    n = 0
    log: list = []  # noqa: RUF012

    def setUp(self):
        Counted.log.append('setUp')

    def tearDown(self):
        Counted.log.append('tearDown')

    def body(self):
        Counted.n += 1
        assert Counted.n in self.passes, f'run {Counted.n}'

    test_retry = condition.retry(3)(body)
    test_repeat = condition.repeat(3)(body)
    test_some = condition.repeat_with_success_at_least(5, 2)(body)

    @condition.retry(3)
    def test_skip(self):
        Counted.n += 1
        self.skipTest('s')


@pytest.mark.parametrize(
    ('name', 'passes', 'runs', 'outcome'),
    [
        ('test_retry', {1}, 1, None),
        ('test_retry', {3}, 3, None),
        ('test_retry', {4}, 3, 'Fail: 3, Success: 0'),
        ('test_repeat', {1, 2, 3}, 3, None),
        ('test_repeat', {1, 3}, 2, 'Fail: 1, Success: 1'),
        ('test_some', {1, 2}, 2, None),
        ('test_some', {4, 5}, 5, None),
        ('test_some', {1}, 5, 'Fail: 4, Success: 1'),
    ],
)
def test_conditions(monkeypatch, name, passes, runs, outcome):
    monkeypatch.setattr(Counted, 'passes', passes)
    monkeypatch.setattr(Counted, 'n', 0)
    monkeypatch.setattr(Counted, 'log', [])
    case = Counted(name)
    if outcome is None:
        getattr(case, name)()
    else:
        with pytest.raises(AssertionError) as info:
            getattr(case, name)()
        assert outcome in str(info.value)
        assert 'The first error message:\nAssertionError: run' in str(info.value)
    assert Counted.n == runs
    assert Counted.log == ['setUp', 'tearDown'] * runs


def test_conditions_of_skips_and_plain_classes(monkeypatch):
    monkeypatch.setattr(Counted, 'n', 0)
    with pytest.raises(unittest.SkipTest):
        Counted('test_skip').test_skip()
    assert Counted.n == 1

    class Plain:
        n = 0

        @condition.retry(3)
        def test_it(self):
            self.n += 1
            assert self.n == 3

    plain = Plain()
    plain.test_it()
    assert plain.n == 3
    with pytest.raises(ValueError, match='min_success'):
        condition.repeat_with_success_at_least(1, 2)


# Requirements


@pytest.mark.parametrize(
    ('requirements', 'satisfied'),
    [
        (('numpy',), True),
        (('numpy>=1.0',), True),
        (('numpy<1',), False),
        (('numpy>=1,<100', 'pytest'), True),
        (('no-such-package',), False),
        (('numpy', 'no-such-package>2'), False),
        ((), True),
    ],
)
def test_requirements(requirements, satisfied):
    def test():
        return 3

    run = {True: testing.with_requires, False: testing.without_requires}[satisfied]
    skip = {True: testing.without_requires, False: testing.with_requires}[satisfied]
    assert run(*requirements)(test)() == 3
    with pytest.raises(unittest.SkipTest, match='requires: '):
        skip(*requirements)(test)()
    assert doctest_helper.skipif_requires_satisfied(*requirements) is satisfied


def test_malformed_requirement():
    for decorate in (testing.with_requires, testing.without_requires):
        with pytest.raises(ValueError, match='numpy!!'):
            decorate('no-such-package', 'numpy!!')


def test_requirements_without_packaging(monkeypatch):
    monkeypatch.setitem(sys.modules, 'packaging.requirements', None)
    with pytest.raises(RuntimeError, match=r"packaging is needed.*'numpy>=1'"):
        testing.with_requires('numpy>=1')


def test_doctest_conditions(monkeypatch):
    assert doctest_helper.skipif(True) is True
    assert doctest_helper.skipif_not_enough_cuda_devices(1) is False
    monkeypatch.setattr(attr, '_gpu_limit', 0)
    assert doctest_helper.skipif_not_enough_cuda_devices(1) is True
    assert doctest_helper.skipif_not_enough_cuda_devices(0) is False


# Warnings, patches, modules


def test_assert_warns():
    with testing.assert_warns(UserWarning):
        warnings.warn('x', UserWarning, stacklevel=1)
    with testing.assert_warns(Warning):
        warnings.warn('x', DeprecationWarning, stacklevel=1)
    with (
        pytest.raises(AssertionError, match=r'UserWarning not triggered$'),
        testing.assert_warns(UserWarning),
    ):
        pass
    with (
        pytest.raises(AssertionError, match='only DeprecationWarning'),
        testing.assert_warns(UserWarning),
    ):
        warnings.warn('x', DeprecationWarning, stacklevel=1)
    with pytest.raises(KeyError), testing.assert_warns(UserWarning):
        raise KeyError


def test_patch():
    with testing.patch('os.path.join') as mock:
        assert os.path.join('a', 'b') == os.sep.join('ab')
    mock.assert_called_once_with('a', 'b')
    with testing.patch('os.path.join', return_value=4) as mock:
        assert os.path.join('a', 'b') == 4
    with testing.patch('os.path.join', wraps=None) as mock:
        assert os.path.join('a', 'b') is mock.return_value
    with testing.patch('os.path.join', autospec=True) as mock, pytest.raises(TypeError):
        os.path.join()
    with testing.patch('os.path.join', 5):
        assert os.path.join == 5

    @testing.patch('chainer.testing.matrix._broadcast_to')
    def test(mock):
        matrix._broadcast_to(np.ones(2), (1, 2))
        return mock.call_count

    assert test() == 1
    with pytest.raises(AttributeError):
        testing.patch('os.path.no_such_name')
    with pytest.raises(ImportError, match='no_such_module'):
        testing.patch('no_such_module.name')


def test_run_module():
    with unittest.mock.patch('pytest.main') as main:
        testing.run_module('some.module', 'file.py')
        main.assert_not_called()
        testing.run_module('__main__', 'file.py')
    assert main.call_args.args[0][0] == 'file.py'


# Matrices


@pytest.mark.parametrize(
    ('shape', 'dtype', 'singular_values', 'expected'),
    [
        ((2, 3), float, [1, 2], [2, 1]),
        ((3, 2), 'f', 3, [3, 3]),
        ((4, 2, 3), float, [1, 2], [[2, 1]] * 4),
        ((2, 2, 2), float, [[1, 2], [3, 0]], [[2, 1], [3, 0]]),
        ((2, 2), np.complex64, 2, [2, 2]),
        ((0, 2), float, [], []),
    ],
)
def test_generate_matrix(shape, dtype, singular_values, expected):
    x = testing.generate_matrix(shape, dtype=dtype, singular_values=singular_values)
    assert (x.shape, x.dtype) == (shape, np.dtype(dtype))
    actual = np.linalg.svd(x, compute_uv=False)
    np.testing.assert_allclose(actual, expected, atol=1e-5)
    if x.size:
        other = testing.generate_matrix(shape, dtype=dtype, singular_values=singular_values)
        assert (x != other).any()


@pytest.mark.parametrize(
    ('error', 'match', 'shape', 'kwargs'),
    [
        (ValueError, 'too few axes', (2,), {'singular_values': 1}),
        (TypeError, 'int64 is not supported', (2, 2), {'dtype': 'int64', 'singular_values': 1}),
        (TypeError, 'not given', (2, 2), {}),
        (ValueError, 'negative', (2, 2), {'singular_values': [1, -1]}),
        (ValueError, 'broadcast', (2, 2), {'singular_values': [1, 2, 3]}),
        (TypeError, 'must be real', (2, 2), {'singular_values': 1j}),
        (TypeError, 'foo', (2, 2), {'foo': 1}),
    ],
)
def test_generate_matrix_invalid(error, match, shape, kwargs):
    with pytest.raises(error, match=match):
        testing.generate_matrix(shape, **kwargs)


# Files and trainers


def test_save_and_load():
    seen = []

    def load(path, dst):
        with open(path) as f:
            dst.append(f.read())

    def save(path, src):
        seen.append(path)
        with open(path, 'w') as f:
            f.write(src)

    dst = []
    testing.save_and_load('text', dst, 'name.txt', save, load)
    assert dst == ['text']
    assert os.path.basename(seen[0]) == 'name.txt'
    assert not os.path.exists(seen[0])


def test_trainer_with_mock_updater(monkeypatch):
    """A trainer with a mock updater counts iterations; the trainer only receives arguments."""
    import types

    training = types.ModuleType('chainer.training')
    training.Trainer = lambda updater, trigger, extensions: (updater, trigger, extensions)
    monkeypatch.setitem(sys.modules, 'chainer.training', training)
    updater, trigger, extensions = testing.get_trainer_with_mock_updater(
        (4, 'iteration'), 2.5, ['extension']
    )
    assert trigger == (4, 'iteration')
    assert extensions == ['extension']
    seen = []
    for _ in range(5):
        updater.update()
        seen.append(
            (
                updater.iteration,
                updater.epoch,
                updater.epoch_detail,
                updater.is_new_epoch,
                updater.previous_epoch_detail,
            )
        )
    assert seen == [
        (1, 0, 0.4, False, 0),
        (2, 0, 0.8, False, 0.4),
        (3, 1, 1.2, True, 0.8),
        (4, 1, 1.6, False, 1.2),
        (5, 2, 2.0, True, 1.6),
    ]
    assert updater.get_all_optimizers() == {}
