"""Gradients of links against numerical ones, in each float dtype, and initializers."""

from __future__ import annotations

import chainer
import numpy as np
from chainer import links as L
from chainer import testing
from chainer.initializers import Constant, Normal, Zero

BACKENDS = [{}, {'use_chainerx': True, 'chainerx_device': 'native:0'}]
all_backends = testing.inject_backend_tests(None, BACKENDS)
DTYPES = [np.float16, np.float32, np.float64]
TOLERANCE = {np.float16: 5e-2, np.float32: 1e-3, np.float64: 1e-4}


def normal(dtype):
    return Normal(1.0, dtype)


class LinkCase:
    """Base of the cases: random inputs of a shape, tolerances by dtype."""

    in_shape: tuple[int, ...] = (4, 3)

    def setUp(self):
        np.random.seed(0)
        loosest = {'rtol': TOLERANCE[self.dtype], 'atol': TOLERANCE[self.dtype]}
        self.check_forward_options = loosest
        # The numerical gradient is computed in float64 whatever the dtype.
        self.check_backward_options = {**loosest, 'dtype': np.float64}

    def generate_inputs(self):
        return (np.random.uniform(-1, 1, self.in_shape).astype(self.dtype),)


@testing.parameterize(
    *testing.product({
        'dtype': DTYPES, 'in_size': [None, 3], 'nobias': [False, True], 'n_batch_axes': [1, 2],
    })
)  # fmt: skip
@all_backends
class TestLinear(LinkCase, testing.LinkTestCase):
    def setUp(self):
        super().setUp()
        self.param_names = ('W',) if self.nobias else ('W', 'b')
        self.in_shape = (4, 2, 3) if self.n_batch_axes == 2 else (4, 3)

    def generate_params(self):
        return (normal(self.dtype),) if self.nobias else (normal(self.dtype),) * 2

    def create_link(self, initializers):
        return L.Linear(self.in_size, 2, self.nobias, *initializers)

    def forward(self, link, inputs, device):
        return (link(*inputs, n_batch_axes=self.n_batch_axes),)

    def forward_expected(self, link, inputs):
        y = inputs[0].astype('d') @ link.W.array.T.astype('d')
        return ((y if self.nobias else y + link.b.array).astype(self.dtype),)


@testing.parameterize(*testing.product({'dtype': DTYPES, 'ignore_label': [None, 2]}))
@all_backends
class TestEmbedID(LinkCase, testing.LinkTestCase):
    param_names = ('W',)

    def generate_params(self):
        return (normal(self.dtype),)

    def create_link(self, initializers):
        return L.EmbedID(4, 3, *initializers, ignore_label=self.ignore_label)

    def generate_inputs(self):
        return (np.array([[0, 2], [3, 0]], 'i'),)

    def forward_expected(self, link, inputs):
        (ids,) = inputs
        return (np.where((ids == self.ignore_label)[..., None], 0, link.W.array[ids]),)


@testing.parameterize(
    *testing.product({'dtype': DTYPES, 'axis_shape': [(0, (2,)), (1, (3, 4)), (2, (4,))]})
)
@all_backends
class TestScaleWithBias(LinkCase, testing.LinkTestCase):
    in_shape = (2, 3, 4)
    param_names = ('W',)

    def generate_params(self):
        return (normal(self.dtype),)

    def create_link(self, initializers):
        with chainer.using_config('dtype', self.dtype):
            link = L.Scale(*self.axis_shape, bias_term=True)
        initializers[0](link.W.array)
        link.bias.b.array[...] = np.arange(link.bias.b.size).reshape(link.bias.b.shape)
        return link

    def forward_expected(self, link, inputs):
        axis, shape = self.axis_shape
        full = (1,) * axis + shape + (1,) * (3 - axis - len(shape))
        return (inputs[0] * link.W.array.reshape(full) + link.bias.b.array.reshape(full),)


@all_backends
class TestInitializersOfLinear(testing.LinkInitializersTestCase):
    param_names = ('W', 'b')

    def generate_params(self):
        return Normal(1.0), Normal(1.0)

    def get_initializers(self):
        w = [Constant(2), 3.0, np.ones((2, 3))]
        b = [testing.InitializerArgument(None, Zero()), Constant(2), 3.0, np.ones(2)]
        return w, b

    def create_link(self, initializers):
        w, b = initializers
        return L.Linear(3, 2, initialW=w, initial_bias=b)

    def generate_inputs(self):
        return (np.random.uniform(-1, 1, (4, 3)).astype('f'),)

    def forward_expected(self, link, inputs):
        return (inputs[0] @ link.W.array.T + link.b.array,)


@all_backends
class TestInitializersOfEmbedID(testing.LinkInitializersTestCase):
    param_names = ('W',)

    def generate_params(self):
        return (Normal(1.0),)

    def get_initializers(self):
        return ([Constant(2), np.ones((4, 3))],)

    def create_link(self, initializers):
        return L.EmbedID(4, 3, *initializers)

    def generate_inputs(self):
        return (np.array([0, 2], 'i'),)

    def forward_expected(self, link, inputs):
        return (link.W.array[inputs[0]],)


testing.run_module(__name__, __file__)
