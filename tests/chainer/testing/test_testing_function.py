"""`FunctionTestCase` passes correct functions and fails wrong ones."""

import unittest

import chainer
import chainer.functions as F
import numpy as np
import pytest
from chainer import gradient_check, testing
from chainer.testing import (
    BackendConfig,
    FunctionTestError,
    LinkTestError,
    function_link,
)
from testing.cases_of_testing import CONFIGS, FUNCTION_TESTS, make, run


@pytest.fixture(autouse=True)
def seed():
    np.random.seed(0)


@pytest.fixture(params=CONFIGS, ids=['numpy', 'chainerx'])
def config(request):
    return BackendConfig(request.param)


class Product(testing.FunctionTestCase):
    """A correct test of a correct function; the variants below have one fault each."""

    __test__ = False

    def generate_inputs(self):
        return (
            np.random.uniform(-1, 1, (2, 3)).astype('f'),
            np.random.uniform(-1, 1, (3,)).astype('f'),
        )

    def forward(self, inputs, device):
        a, b = inputs
        return (a * b * a,)

    def forward_expected(self, inputs):
        a, b = inputs
        return (a * b * a,)


@pytest.mark.parametrize('test', FUNCTION_TESTS)
@pytest.mark.parametrize('contiguous', [None, 'C'])
def test_function(config, test, contiguous):
    run(make(Product, contiguous=contiguous), test, config)


@testing.parameterize(*testing.product({'dtype': ['f2', 'f4', 'f8'], 'shape': [(), (3,), (2, 0)]}))
@testing.inject_backend_tests(None, list(CONFIGS))
class TestSquaredSum(testing.FunctionTestCase):
    """A test case as users write it."""

    def setUp(self):
        if self.dtype == 'f2':
            self.check_forward_options.update({'atol': 1e-2, 'rtol': 1e-2})
            self.check_backward_options.update({'atol': 1e-2, 'rtol': 1e-2})
            self.check_double_backward_options.update({'atol': 1e-2, 'rtol': 1e-2})

    def generate_inputs(self):
        return (np.random.uniform(-1, 1, self.shape).astype(self.dtype),)

    def forward(self, inputs, device):
        (x,) = inputs
        assert isinstance(x.array, device.supported_array_types)
        return F.sum(x * x), x * 3

    def forward_expected(self, inputs):
        (x,) = inputs
        return np.asarray((x * x).sum(), x.dtype), np.asarray(x * 3, x.dtype)


def test_options_are_of_the_instance():
    cls = make(Product, check_backward_options={'atol': 1})
    first, second = cls('test_forward'), cls('test_forward')
    first.check_forward_options['atol'] = 5
    first.check_backward_options['rtol'] = 5
    assert second.check_forward_options == {}
    assert second.check_backward_options == {'atol': 1}
    assert Product.check_forward_options is None


@pytest.mark.parametrize('base', [testing.FunctionTestCase, function_link.FunctionTestBase])
def test_name_is_known_before_the_test(config, base):
    seen = []

    class Case(base):
        forward, generate_inputs = Product.forward, Product.generate_inputs
        forward_expected = Product.forward_expected

        def before_test(self, test_name):
            seen.append((self.test_name, test_name))

    for test in FUNCTION_TESTS:
        case = Case() if base is function_link.FunctionTestBase else Case(f'test_{test}')
        assert case.test_name is None
        getattr(case, f'run_test_{test}')(config)
        assert seen.pop() == (f'test_{test}', f'test_{test}')


def test_layouts_reach_the_comparison(config):
    """Results of forward and forward_expected are compared in their layouts."""
    seen = []

    class Case(Product):
        def forward(self, inputs, device):
            y = inputs[0].array
            return chainer.Variable(y[:, ::-1]), chainer.Variable(y[:, ::2])

        def forward_expected(self, inputs):
            return inputs[0][:, ::-1], inputs[0][:, ::2]

        def check_forward_outputs(self, outputs, expected_outputs):
            seen.extend([y.strides for y in (*outputs, *expected_outputs)])
            super().check_forward_outputs(outputs, expected_outputs)

    for contiguous, strides in (('C', [(12, -4), (12, 8)]), (None, [(-24, 8), (-24, -16)])):
        run(make(Case, contiguous=contiguous), 'forward', config)
        assert seen == strides * 2
        seen.clear()


def test_order_and_arguments_of_the_methods(config):
    log = []

    class Case(Product):
        def before_test(self, test_name):
            log.append(test_name)

        def generate_inputs(self):
            log.append('inputs')
            assert isinstance(self.backend_config, BackendConfig)
            return super().generate_inputs()

        def forward(self, inputs, device):
            log.append('forward')
            assert device == config.device
            assert chainer.config.use_ideep == 'never'
            assert all(isinstance(x, chainer.Variable) and x.requires_grad for x in inputs)
            if device.xp is np and len(log) < 6:  # before the differences
                assert not any(x.array.flags.c_contiguous for x in inputs)
            return super().forward(inputs, device)

        def forward_expected(self, inputs):
            log.append('expected')
            assert all(type(x) is np.ndarray for x in inputs)
            return super().forward_expected(inputs)

        def generate_grad_outputs(self, outputs_template):
            log.append('grad_outputs')
            assert [x.shape for x in outputs_template] == [(2, 3)]
            return super().generate_grad_outputs(outputs_template)

        def generate_grad_grad_inputs(self, inputs_template):
            log.append('grad_grad_inputs')
            assert [x.shape for x in inputs_template] == [(2, 3), (3,)]
            return super().generate_grad_grad_inputs(inputs_template)

        def check_forward_outputs(self, outputs, expected_outputs):
            log.append('check')
            assert all(type(x) is np.ndarray for x in outputs + expected_outputs)
            super().check_forward_outputs(outputs, expected_outputs)

    run(Case, 'forward', config)
    assert log == ['test_forward', 'inputs', 'expected', 'forward', 'check']
    log.clear()
    run(Case, 'backward', config)
    assert log[:4] == ['test_backward', 'inputs', 'expected', 'grad_outputs']
    assert set(log[4:]) == {'forward'}
    log.clear()
    run(Case, 'double_backward', config)
    assert log[:4] == ['test_double_backward', 'inputs', 'expected', 'grad_outputs']
    assert log[4] == 'grad_grad_inputs'
    assert set(log[5:]) == {'forward'}


@pytest.mark.parametrize('test', FUNCTION_TESTS)
def test_skips(test):
    with pytest.raises(unittest.SkipTest, match=f'skip_{test}_test is set'):
        run(make(Product, **{f'skip_{test}_test': True}), test, BackendConfig({}))


def returning(method, value):
    def wrapped(self, *args):
        result = getattr(Product, method)(self, *args)
        return value(result) if callable(value) else value

    return {method: wrapped}


@pytest.mark.parametrize(
    ('match', 'members'),
    [
        ('do not match the expected values', returning('forward_expected', lambda y: (y[0] * 2,))),
        ('Shapes and/or dtypes', returning('forward_expected', lambda y: (y[0].astype('d'),))),
        ('Shapes and/or dtypes', returning('forward_expected', lambda y: (y[0][0],))),
        (r'Number of outputs \(1, 2\)', returning('forward_expected', lambda y: (y[0], y[0]))),
        (r'Number of outputs \(0, 1\)', returning('forward', ())),
        ('must return a tuple', returning('forward', lambda y: y[0])),
        ('must return a tuple', returning('forward', list)),
        ('tuple of Variables', returning('forward', lambda y: (y[0].array,))),
    ],
)
def test_wrong_forward(config, match, members):
    with pytest.raises(FunctionTestError, match=match):
        run(make(Product, **members), 'forward', config)


def test_wrong_forward_is_shown():
    members = returning('forward_expected', lambda y: (y[0] * 2,))
    with pytest.raises(FunctionTestError) as info:
        run(make(Product, **members), 'forward', BackendConfig({}))
    for part in (
        'Indices of outputs that do not match: 0\n',
        'Expected shapes and dtypes: (2, 3):float32\n',
        'Error details of output [0]:',
        'relative error[i]: 0.5',
    ):
        assert part in str(info.value)


def test_tolerances_of_forward():
    members = returning('forward_expected', lambda y: (y[0] * np.float32(1.01),))
    case = make(Product, **members)('test_forward')
    with pytest.raises(FunctionTestError):
        case.test_forward(BackendConfig({}))
    case.check_forward_options.update({'rtol': 0.02})
    case.test_forward(BackendConfig({}))


@pytest.mark.parametrize(
    ('error', 'test', 'members'),
    [
        (TypeError, 'forward', returning('generate_inputs', list)),
        (TypeError, 'forward', {'generate_inputs': lambda self: (1.0,)}),
        (TypeError, 'forward', {'generate_inputs': lambda self: (chainer.Variable(np.ones(1)),)}),
        (TypeError, 'forward', returning('forward_expected', lambda y: y[0])),
        (TypeError, 'backward', {'generate_grad_outputs': lambda self, t: list(t)}),
        (TypeError, 'double_backward', {'generate_grad_grad_inputs': lambda self, t: list(t)}),
        (
            ValueError,
            'backward',
            {'generate_grad_outputs': lambda self, t: (np.ones((3, 3), 'f'),)},
        ),
        (ValueError, 'backward', {'generate_grad_outputs': lambda self, t: ()}),
        (AssertionError, 'forward', {'contiguous': 'F'}),
        (KeyError, 'forward', {'forward_expected': lambda self, inputs: {}['x']}),
        (KeyError, 'backward', {'forward': lambda self, inputs, device: {}['x']}),
    ],
)
def test_wrong_tests(config, error, test, members):
    """A faulty test raises an error of its own, not a failure of the function."""
    with pytest.raises(error) as info:
        run(make(Product, **members), test, config)
    assert not isinstance(info.value, FunctionTestError)


@pytest.mark.parametrize('method', ['generate_inputs', 'forward', 'forward_expected'])
def test_methods_to_override(method):
    cls = make(Product, **{method: getattr(testing.FunctionTestCase, method)})
    with pytest.raises(NotImplementedError, match=method):
        run(cls, 'forward', BackendConfig({}))


def test_modified_inputs(config):
    def modify(self, inputs, device):
        y = inputs[0] * 2
        array = inputs[1].array
        array[0] = 5
        return (y,)

    with pytest.raises(FunctionTestError, match=r'modified during forward\.') as info:
        run(make(Product, forward=modify), 'forward', config)
    assert 'Indices of modified inputs: 1\n' in str(info.value)
    assert 'Input[1]:\nOriginal:\n' in str(info.value)

    def modify_expected(self, inputs):
        y = inputs[0] * 2
        inputs[0][0] = 5
        return (y,)

    with pytest.raises(FunctionTestError, match='modified during forward_expected'):
        run(make(Product, forward_expected=modify_expected), 'forward', config)


class WrongProduct(chainer.FunctionNode):
    def __init__(self, factor, is_constant):
        self.factor = factor
        self.is_constant = is_constant

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        return (inputs[0] * inputs[1],)

    def backward(self, indexes, grad_outputs):
        a, b = self.get_retained_inputs()
        (gy,) = grad_outputs
        if self.is_constant:
            a = a.array
        return gy * b, gy * a * self.factor


def wrong_product(factor, is_constant):
    class Case(Product):
        def generate_inputs(self):
            return tuple(np.random.uniform(-1, 1, (2, 3)).astype('f') for _ in range(2))

        def forward(self, inputs, device):
            return WrongProduct(factor, is_constant).apply(inputs)

        def forward_expected(self, inputs):
            return (inputs[0] * inputs[1],)

    return Case


@pytest.mark.parametrize(
    ('factor', 'is_constant', 'wrong'),
    [(1, False, None), (1.5, False, 'backward'), (1, True, 'double_backward')],
)
def test_wrong_gradients(config, factor, is_constant, wrong):
    cls = wrong_product(factor, is_constant)
    for test in FUNCTION_TESTS:
        if test != wrong:
            run(cls, test, config)
            continue
        with pytest.raises(FunctionTestError) as info:
            run(cls, test, config)
        name = test.replace('_', ' ')
        assert str(info.value).startswith(
            f'{name} is not implemented correctly\n\n(caused by)\nAssertionError: check_{test} '
        )


def test_dodge_nondifferentiable(config):
    values = iter([0.0, 1e-4, 0.5, 0.5])

    class Case(testing.FunctionTestCase):
        dodge_nondifferentiable = True

        def generate_inputs(self):
            return (np.full((2,), next(values), 'f'),)

        def forward(self, inputs, device):
            return (abs(inputs[0]),)

        def forward_expected(self, inputs):
            return (abs(inputs[0]),)

    run(Case, 'backward', config)
    assert len(list(values)) == 1
    values = iter([0.0] * 1000)
    with pytest.raises(gradient_check.NondifferentiableError):
        run(Case, 'backward', config)
    assert len(list(values)) == 900  # it gives up


def test_inputs_and_outputs_without_gradient(config):
    class Case(testing.FunctionTestCase):
        def generate_inputs(self):
            return np.random.uniform(0.5, 1, 3).astype('f'), np.array([1, 2, 3], 'i'), None

        def forward(self, inputs, device):
            x, i, nothing = inputs
            assert nothing is None
            return x * x * i.array.astype('f'), chainer.Variable(i.array * 2)

        def forward_expected(self, inputs):
            x, i, _ = inputs
            return (x * x * i.astype('f')), i * 2

    for test in FUNCTION_TESTS:
        run(Case, test, config)


def test_base_without_framework(config):
    class Case(function_link.FunctionTestBase):
        generate_inputs = Product.generate_inputs
        forward = Product.forward
        forward_expected = Product.forward_expected

    assert not issubclass(Case, unittest.TestCase)
    case = Case()
    case.run_test_forward(config)
    case.run_test_backward(config)
    case.run_test_double_backward(config)
    assert case.backend_config is config


# Errors


@pytest.mark.parametrize('error_class', [FunctionTestError, LinkTestError])
def test_error_classes(error_class):
    assert issubclass(error_class, AssertionError)
    error_class.check(True, 'message')
    with pytest.raises(error_class, match=r'^message$'):
        error_class.check(False, 'message')
    with pytest.raises(error_class, match=r'^message$'):
        error_class.fail('message')
    with pytest.raises(error_class, match=r'^message\n\n\(caused by\)\nValueError: q\n$') as info:
        error_class.fail('message', ValueError('q'))
    assert isinstance(info.value.__cause__, ValueError)
    with pytest.raises(error_class, match='prefix'), error_class.raise_if_fail('prefix'):
        raise AssertionError('x')
    with pytest.raises(ValueError, match=r'^x$'), error_class.raise_if_fail('prefix'):
        raise ValueError('x')
    with (
        pytest.raises(error_class, match='prefix'),
        error_class.raise_if_fail('prefix', (ValueError, KeyError)),
    ):
        raise ValueError('x')


# Links
