"""`unary_math_function_unittest` and `distribution_unittest` pass and fail correctly."""

import unittest

import chainer
import chainer.functions as F
import numpy as np
import pytest
from chainer import testing, utils
from chainer.testing import distribution_test


@pytest.fixture(autouse=True)
def seed():
    np.random.seed(0)


# unary_math_function_unittest


def failing_tests(bundle, tests):
    """The names of the tests that fail."""
    failed = set()
    for case in bundle.cases:
        for test in tests:
            result = unittest.TestResult()
            case.klass(test).run(result)
            if not result.wasSuccessful():
                failed.add(test)
    return failed


UNARY_TESTS = [
    f'test_{what}_{where}'
    for what in ('forward', 'backward', 'double_backward')
    for where in ('cpu', 'chainerx')
]


def decorate_unary(*args, monkeypatch, **kwargs):
    class TestUnary(unittest.TestCase):
        pass

    bundle = testing.unary_math_function_unittest(*args, **kwargs)(TestUnary)
    for case in bundle.cases:  # not to be collected here
        monkeypatch.delitem(globals(), case.class_name)
    return bundle


def test_unary_with_a_function_of_numpys(monkeypatch):
    bundle = decorate_unary(F.exp, func_expected=np.exp, monkeypatch=monkeypatch)
    assert failing_tests(bundle, UNARY_TESTS) == set()
    bundle = decorate_unary(F.exp, func_expected=np.expm1, monkeypatch=monkeypatch)
    assert failing_tests(bundle, UNARY_TESTS) == {'test_forward_cpu', 'test_forward_chainerx'}


def test_unary(monkeypatch):
    bundle = decorate_unary(F.exp, monkeypatch=monkeypatch)
    assert [case.class_name for case in bundle.cases] == [
        f'TestUnary_param_{i}_{{dtype={dtype}, shape={shape}}}'
        for i, (dtype, shape) in enumerate(
            (dtype, shape) for dtype in ('float16', 'float32', 'float64') for shape in ((3, 2), ())
        )
    ]
    assert not hasattr(bundle.cases[0].klass, 'test_label')
    assert failing_tests(bundle, UNARY_TESTS) == set()


def cube(x, dtype):
    return (x**3).astype(dtype)


class Cube(chainer.FunctionNode):
    factor = 1

    @property
    def label(self):
        return 'cube'

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (utils.force_array(inputs[0] ** 3),)

    def backward(self, indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        return (grad_outputs[0] * x * x * (3 * self.factor),)


class BadCube(Cube):
    factor = 1.5


def test_unary_of_a_class(monkeypatch):
    bundle = decorate_unary(Cube, cube, monkeypatch=monkeypatch)
    assert failing_tests(bundle, [*UNARY_TESTS, 'test_label']) == set()
    bundle = decorate_unary(BadCube, cube, monkeypatch=monkeypatch)
    assert failing_tests(bundle, [*UNARY_TESTS, 'test_label']) == {
        'test_backward_cpu',
        'test_backward_chainerx',
        'test_label',  # 'badcube' was expected
    }
    bundle = decorate_unary(
        Cube, lambda x, dtype: cube(x, dtype) * dtype(1.5), 'other', monkeypatch=monkeypatch
    )
    assert failing_tests(bundle, [*UNARY_TESTS, 'test_label']) == {
        'test_forward_cpu',
        'test_forward_chainerx',
        'test_label',
    }
    # A looser tolerance is respected.
    bundle = decorate_unary(
        BadCube, cube, 'cube', backward_options={'atol': 100}, monkeypatch=monkeypatch
    )
    assert failing_tests(bundle, [*UNARY_TESTS, 'test_label']) == set()


class CubeWithConstantSlope(Cube):
    def backward(self, indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        x = chainer.as_variable(x.array)  # no gradient goes through it
        return (grad_outputs[0] * x * x * 3,)


def test_options_of_one_order_are_not_those_of_the_other(monkeypatch):
    def failing(**options):
        bundle = decorate_unary(
            CubeWithConstantSlope, cube, 'cube', monkeypatch=monkeypatch, **options
        )
        return failing_tests(bundle, UNARY_TESTS)

    wrong = {'test_double_backward_cpu', 'test_double_backward_chainerx'}
    assert failing(backward_options={'atol': 100}) == wrong
    assert failing(double_backward_options={'atol': 100}) == set()


def test_unary_linear(monkeypatch):
    bundle = decorate_unary(
        lambda x: x * 3, lambda x, dtype: x * dtype(3), is_linear=True, monkeypatch=monkeypatch
    )
    assert failing_tests(bundle, UNARY_TESTS) == set()


def test_unary_data(monkeypatch):
    def make_data(shape, dtype):
        return tuple(np.full(shape, value, dtype) for value in (7, 1, 1))

    bundle = decorate_unary(F.sqrt, make_data=make_data, monkeypatch=monkeypatch)
    case = bundle.cases[2].klass('test_forward_cpu')
    case.setUp()
    assert (case.x == 7).all()
    assert failing_tests(bundle, UNARY_TESTS) == set()


@pytest.mark.parametrize(
    'argument', ['forward_options', 'backward_options', 'double_backward_options']
)
def test_unary_options_are_added_to_those_of_the_dtype(argument, monkeypatch):
    def options(**kwargs):
        cases = [
            case.klass('test_forward_cpu')
            for case in decorate_unary(F.exp, monkeypatch=monkeypatch, **kwargs).cases
        ]
        for case in cases:
            case.setUp()
        return [getattr(case, argument) for case in cases]

    given = {'atol': 0.5, 'other': 1}
    assert options(**{argument: given}) == [default | given for default in options()]
    assert given == {'atol': 0.5, 'other': 1}


def test_unary_differences_stay_in_float64_with_options(monkeypatch):
    bundle = decorate_unary(F.exp, backward_options={'eps': 1e-6}, monkeypatch=monkeypatch)
    assert failing_tests(bundle, UNARY_TESTS) == set()


def test_unary_invalid():
    def sq(x):
        return x * x

    with pytest.raises(ValueError, match="no functions corresponding to Chainer function 'sq'"):
        testing.unary_math_function_unittest(sq)
    with pytest.raises(ValueError, match='does not have its label'):
        testing.unary_math_function_unittest(F.exp, label_expected='exp')
    with pytest.raises(TypeError, match=r'unittest\.TestCase'):
        testing.unary_math_function_unittest(F.exp)(object)


# distribution_unittest


class Uniform:
    """A small distribution, on (0, high)."""

    support = 'positive'
    event_shape = ()

    def __init__(self, high):
        self.high = chainer.as_variable(high)
        self.batch_shape = self.high.shape

    @property
    def mean(self):
        return self.high / 2

    @property
    def variance(self):
        return self.high * self.high / 12

    @property
    def stddev(self):
        return self.high / np.float32(12**0.5)

    @property
    def entropy(self):
        return F.log(self.high)

    def prob(self, x):
        return 1 / F.broadcast_to(self.high, x.shape)

    def log_prob(self, x):
        return -F.log(F.broadcast_to(self.high, x.shape))

    def cdf(self, x):
        return x / F.broadcast_to(self.high, x.shape)

    def log_cdf(self, x):
        return F.log(self.cdf(x))

    def survival_function(self, x):
        return 1 - self.cdf(x)

    def log_survival_function(self, x):
        return F.log(self.survival_function(x))

    def icdf(self, x):
        return x * F.broadcast_to(self.high, x.shape)

    def sample(self, sample_shape=()):
        shape = sample_shape + self.batch_shape
        return chainer.Variable(np.random.uniform(0, self.high.array, shape).astype('f'))


TARGETS = distribution_test.TARGETS


class UniformCase(testing.distribution_unittest):
    __test__ = False
    sample_shape = (3,)

    def setUp_configure(self):
        from scipy import stats

        self.dist = Uniform
        self.scipy_dist = stats.uniform
        self.test_targets = set(TARGETS)
        self.shape = (2, 4)
        high = np.random.uniform(1, 3, self.shape).astype('f')
        self.params = {'high': high}
        self.scipy_params = {'loc': np.zeros_like(high), 'scale': high}
        self.support = 'positive'

    def sample_for_test(self):
        return np.random.uniform(0.1, 0.9, self.sample_shape + self.shape).astype('f')


def derive(base, **members):
    return type('Case', (base,), members)


def failing_targets(cls):
    failed = set()
    for target in TARGETS:
        result = unittest.TestResult()
        cls(f'test_{target}_cpu').run(result)
        assert result.testsRun == 1
        if result.failures or result.errors:
            failed.add(target)
    return failed


@pytest.mark.parametrize('onebyone', [False, True])
@pytest.mark.parametrize('is_variable', [False, True])
def test_distribution(onebyone, is_variable):
    pytest.importorskip('scipy')
    cls = derive(UniformCase, scipy_onebyone=onebyone, is_variable=is_variable)
    assert failing_targets(cls) == set()


@pytest.mark.parametrize('onebyone', [False, True])
@pytest.mark.parametrize('sample_shape', [(), (3,)])
def test_distribution_without_a_batch(onebyone, sample_shape):
    pytest.importorskip('scipy')

    class Single(UniformCase):
        def setUp_configure(self):
            super().setUp_configure()
            self.shape = ()
            self.params = {'high': np.float32(1.5).reshape(())}
            self.scipy_params = {'loc': 0.0, 'scale': 1.5}

    cls = derive(Single, scipy_onebyone=onebyone, sample_shape=sample_shape)
    assert failing_targets(cls) == set()


def test_wrong_distribution():
    pytest.importorskip('scipy')

    class Wrong(Uniform):
        support = 'real'
        event_shape = (1,)

        def __init__(self, high):
            super().__init__(high)
            self.high = self.high * 1.1
            self.batch_shape = (*self.batch_shape, 1)

    class Case(UniformCase):
        def setUp_configure(self):
            super().setUp_configure()
            self.dist = Wrong

    assert failing_targets(Case) == set(TARGETS)


def test_distribution_targets():
    pytest.importorskip('scipy')

    class Case(UniformCase):
        targets = ('mean',)

        def setUp_configure(self):
            super().setUp_configure()
            self.test_targets = set(self.targets)

    result = unittest.TestResult()
    Case('test_cdf_cpu').run(result)
    assert len(result.skipped) == 1
    result = unittest.TestResult()
    derive(Case, targets=('mean', 'median'))('test_mean_cpu').run(result)
    assert 'median' in result.errors[0][1]
    case = UniformCase('test_mean_cpu')
    case.setUp()
    assert len(list(case.scipy_onebyone_params_iter())) == 8
