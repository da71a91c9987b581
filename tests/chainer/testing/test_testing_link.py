"""`LinkTestCase` and `LinkInitializersTestCase` pass correct links and fail wrong ones."""

import unittest

import chainer
import chainer.functions as F
import numpy as np
import pytest
from chainer import initializers, testing
from chainer.testing import BackendConfig, LinkTestError
from testing.cases_of_testing import CONFIGS, make, run


@pytest.fixture(autouse=True)
def seed():
    np.random.seed(0)


@pytest.fixture(params=CONFIGS, ids=['numpy', 'chainerx'])
def config(request):
    return BackendConfig(request.param)


class Affine(chainer.Link):
    """y = x W^T + b, with b initialized by the first input."""

    gradient_factor = 1

    def __init__(self, initial_w=None, initial_b=0):
        super().__init__()
        with self.init_scope():
            self.w = chainer.Parameter(initializers._get_initializer(initial_w), (2, 3))
            self.b = chainer.Parameter(initializers._get_initializer(initial_b))

    def forward(self, x):
        if not self.b.is_initialized:
            self.b.initialize((2,))
        y = F.linear(x, self.w)
        (b,) = ScaledGradient(self.gradient_factor).apply((self.b,))
        return y + F.broadcast_to(b, y.shape)


class ScaledGradient(chainer.FunctionNode):
    def __init__(self, factor):
        self.factor = factor

    def forward(self, inputs):
        return (inputs[0].copy(),)

    def backward(self, indexes, grad_outputs):
        return (grad_outputs[0] * self.factor,)


class WrongAffine(Affine):
    gradient_factor = 2


class AffineCase(testing.LinkTestCase):
    __test__ = False
    param_names = ('w', 'b')
    link = Affine

    def generate_params(self):
        return initializers.Uniform(1.0), initializers.Normal(1.0)

    def generate_inputs(self):
        return (np.random.uniform(-1, 1, (4, 3)).astype('f'),)

    def create_link(self, initializers):
        return self.link(*initializers)

    def forward_expected(self, link, inputs):
        (x,) = inputs
        return (x.dot(link.w.array.T) + link.b.array,)


@pytest.mark.parametrize('test', ['forward', 'backward'])
def test_link(config, test):
    run(AffineCase, test, config)
    run(make(AffineCase, param_names=['w']), test, config)
    run(make(AffineCase, contiguous='C'), test, config)
    params = (np.ones((2, 3), 'f'), 0.5)
    run(make(AffineCase, generate_params=lambda self: params), test, config)


def test_link_methods(config):
    log = []

    class Case(AffineCase):
        def before_test(self, test_name):
            log.append(test_name)

        def generate_params(self):
            log.append('params')
            return super().generate_params()

        def create_link(self, initializers):
            log.append('link')
            return super().create_link(initializers)

        def generate_inputs(self):
            log.append('inputs')
            return super().generate_inputs()

        def forward(self, link, inputs, device):
            log.append('forward')
            assert device == config.device
            assert link.device == config.device
            return super().forward(link, inputs, device)

        def forward_expected(self, link, inputs):
            log.append('expected')
            assert type(link.w.array) is type(inputs[0]) is np.ndarray
            return super().forward_expected(link, inputs)

    run(Case, 'forward', config)
    assert log == ['test_forward', 'params', 'link', 'inputs', 'forward', 'expected']


@pytest.mark.parametrize(
    ('error', 'match', 'test', 'members'),
    [
        (
            LinkTestError,
            'do not match the expected',
            'forward',
            {'forward_expected': lambda self, link, inputs: (inputs[0].dot(link.w.array.T),)},
        ),
        (LinkTestError, 'backward is not implemented', 'backward', {'link': WrongAffine}),
        (LinkTestError, r'params\[1\].*DIFFERS', 'backward', {'link': WrongAffine}),
        (LinkTestError, "parameter named 'q'", 'backward', {'param_names': ('w', 'q')}),
        (TypeError, 'must return a chainer.Link', 'forward', {'create_link': lambda self, i: 3}),
        (ValueError, 'None initializer', 'forward', {'generate_params': lambda self: (None, 0)}),
        (TypeError, 'tuple or a list', 'forward', {'generate_params': lambda self: 1}),
        (unittest.SkipTest, 'skip_forward_test', 'forward', {'skip_forward_test': True}),
        (unittest.SkipTest, 'skip_backward_test', 'backward', {'skip_backward_test': True}),
    ],
)
def test_wrong_links(config, error, match, test, members):
    with pytest.raises(error, match=match):
        run(make(AffineCase, **members), test, config)


def test_wrong_gradient_of_a_parameter_that_is_not_named(config):
    run(make(AffineCase, link=WrongAffine, param_names=('w',)), 'backward', config)


class AffineInitializers(testing.LinkInitializersTestCase):
    __test__ = False
    param_names = ('w', 'b')
    generate_params = AffineCase.generate_params
    generate_inputs = AffineCase.generate_inputs

    def create_link(self, initializers):
        return Affine(*initializers)

    def get_initializers(self):
        return (
            [initializers.Constant(3), 2, np.ones((2, 3), 'f')],
            (5, testing.InitializerArgument(0, initializers.Zero())),
        )


def test_initializers(config):
    run(AffineInitializers, 'initializers', config)


@pytest.mark.parametrize(
    ('error', 'match', 'members'),
    [
        (LinkTestError, "Parameter 'w'", {'create_link': lambda self, i: Affine(1, i[1])}),
        (LinkTestError, "Parameter 'b'", {'create_link': lambda self, i: Affine(i[0])}),
        (
            LinkTestError,
            "Parameter 'w'",
            {
                'get_initializers': lambda self: (
                    [testing.InitializerArgument(1, initializers.One()), 1],
                    [testing.InitializerArgument(1, initializers.Zero())],
                )[::-1]
            },
        ),
        (TypeError, 'tuple or a list of', {'get_initializers': lambda self: [1, 2]}),
        (ValueError, 'None initializer', {'get_initializers': lambda self: [[None]]}),
        (ValueError, '3 entries', {'get_initializers': lambda self: [[1], [1], [1]]}),
    ],
)
def test_wrong_initializers(config, error, match, members):
    with pytest.raises(error, match=match):
        run(make(AffineInitializers, **members), 'initializers', config)


def test_initializer_argument():
    zero = initializers.Zero()
    argument = testing.InitializerArgument(None, zero)
    assert vars(argument) == {'argument_value': None, 'expected_initializer': zero}
