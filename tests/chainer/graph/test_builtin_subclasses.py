"""User classes derived from built-in functions: their overrides are called."""

import abc

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Variable
from chainer.functions.activation.relu import ReLU
from chainer.functions.connection.linear import LinearFunction
from chainer.utils import type_check
from devices import assert_equal

A = np.array([-1, 2, -3], 'f')
Y = np.array([0, 2, 0], 'f')
SLOPE = np.array([0, 1, 0], 'f')


def forward_and_gradient(f, x):
    x = Variable(x)
    (y,) = f.apply((x,))
    assert y.creator is f
    assert type(y.array) is type(x.array)
    F.sum(y).backward()
    return y, x.grad


def over_cupy(x):
    return chainer.backend.get_array_module(chainer.backend.from_chx(x)) is not np


@pytest.mark.parametrize('name', ['forward', 'forward_cpu'])
def test_forward(make, name):
    if name == 'forward_cpu' and over_cupy(make(A)):
        name = 'forward_gpu'
    xp = chainer.backend.get_array_module(chainer.backend.from_chx(make(A)))

    def other(self, xs):
        return (xp.maximum(xs[0], 0) + 100,)

    y, gx = forward_and_gradient(type('Own', (ReLU,), {name: other})(), make(A))
    assert_equal(y, Y + 100)
    assert_equal(gx, SLOPE)

    def more(self, xs):
        (y,) = getattr(super(cls, self), name)(xs)
        return (y + 1,)

    cls = type('Own', (ReLU,), {name: more})
    y, gx = forward_and_gradient(cls(), make(A))
    assert_equal(y, Y + 1)
    assert_equal(gx, SLOPE)


def test_the_forward_of_other_kinds_is_not_called(make):
    def never(self, xs):
        raise AssertionError

    name = 'forward_cpu' if over_cupy(make(A)) else 'forward_gpu'
    y, gx = forward_and_gradient(type('Own', (ReLU,), {name: never})(), make(A))
    assert_equal(y, Y)
    assert_equal(gx, SLOPE)


def test_forward_chainerx():
    class Own(ReLU):
        def forward_chainerx(self, xs):
            return (super().forward_chainerx(xs)[0] + 1,)

        def forward_cpu(self, xs):
            return (super().forward_cpu(xs)[0] + 2,)

    for x, more in ((chainerx.array(A), 1), (A, 2)):
        y, gx = forward_and_gradient(Own(), x)
        assert_equal(y, Y + more)
        assert_equal(gx, SLOPE)


@pytest.mark.parametrize('name', ['backward', 'backward_accumulate'])
def test_backward(make, name):
    def other(self, indexes, gys, *_):
        return (gys[0] * 7,)

    y, gx = forward_and_gradient(type('Own', (ReLU,), {name: other})(), make(A))
    assert_equal(y, Y)
    assert_equal(gx, np.full_like(A, 7))

    def more(self, *args):
        (gx,) = getattr(super(cls, self), name)(*args)
        return (gx * 7,)

    cls = type('Own', (ReLU,), {name: more})
    _, gx = forward_and_gradient(cls(), make(A))
    assert_equal(gx, 7 * SLOPE)


def test_backward_from_retained_arrays(make):
    class Guided(ReLU):
        def backward(self, indexes, gys):
            (x,) = self.get_retained_inputs()
            (y,) = self.get_retained_outputs()
            assert_equal(x, A)
            assert_equal(y, Y)
            return (gys[0] * F.relu(gys[0]) * (y.array > 0),)

    _, gx = forward_and_gradient(Guided(), make(A))
    assert_equal(gx, SLOPE)


def test_built_in_backward_needs_no_input_retained(make):
    chainer.fallback_report(reset=True)

    class Own(ReLU):
        def forward(self, xs):
            self.retain_outputs((0,))
            return (np.maximum(xs[0], 0),)

    x = Variable(make(A))
    (y,) = Own().apply((x * 2,))  # whose input is not retained
    (g,) = chainer.grad([F.sum(y * y)], [x], enable_double_backprop=True)
    assert_equal(g, 8 * A * SLOPE)
    (gg,) = chainer.grad([g], [x])
    assert_equal(gg, 8 * SLOPE)
    (y,) = Own().apply((x,))
    if isinstance(x.array, chainerx.ndarray):
        x.array[...] = 0
        with pytest.raises(chainerx.GradientError, match='Own: input 0'):
            F.sum(y).backward()
        reasons = {row[0]: row[2] for row in chainer.fallback_report()}
        assert reasons['Own'] == 'forward is overridden'


def test_type_check(make):
    class Matrices(ReLU):
        def check_type_forward(self, in_types):
            super().check_type_forward(in_types)
            type_check.expect(in_types[0].ndim == 2)

    for _ in range(2):
        with pytest.raises(type_check.InvalidType, match='Matrices'):
            Matrices().apply((make(A),))
        with pytest.raises(type_check.InvalidType, match=r'dtype\.kind'):
            Matrices().apply((make(A.astype('i')),))
        ReLU().apply((make(A),))
    y, gx = forward_and_gradient(Matrices(), make(A[None]))
    assert_equal(gx, SLOPE[None])
    if isinstance(y.array, chainerx.ndarray):
        assert 'Matrices' not in str(chainer.fallback_report())


def test_methods_of_the_object_itself(make):
    f = ReLU()
    f.backward = lambda indexes, gys: (gys[0] * 7,)
    y, gx = forward_and_gradient(f, make(A))
    assert_equal(y, Y)
    assert_equal(gx, np.full_like(A, 7))
    f = ReLU()
    f.check_type_forward = lambda types: type_check.expect(types[0].ndim == 2)
    with pytest.raises(type_check.InvalidType):
        f.apply((make(A),))


@pytest.mark.parametrize('bias', [None, np.ones(2, 'f')])
def test_several_inputs(make, bias):
    class Own(LinearFunction):
        def forward(self, xs):
            (y,) = super().forward(xs)
            return (y + 1,)

    x, w = (Variable(make(np.arange(6, dtype='f').reshape(2, 3) + i)) for i in (0, 1))
    b = None if bias is None else Variable(make(bias))
    inputs = [v for v in (x, w, b) if v is not None]
    (y,) = Own().apply(inputs)
    expected = F.linear(x, w, b)
    assert_equal(y, chainer.backend.CpuDevice().send(expected.array) + 1)
    for out in (y, expected):
        gs = chainer.grad([F.sum(out * out.array)], inputs)
        assert all(g is not None for g in gs)
    F.sum(y).backward()
    assert_equal(x.grad, np.tile(chainer.backend.CpuDevice().send(w.array).sum(0), (2, 1)))
    if b is not None:
        assert_equal(b.grad, [2, 2])


def test_abstract_bases(make):
    class Named(abc.ABC):
        @abc.abstractmethod
        def name(self):
            """What it is called."""

    class Plain(ReLU, Named):
        def name(self):
            return 'plain'

    y, g = forward_and_gradient(Plain(), make(A))
    assert_equal(y.array, Y)
    assert_equal(g, SLOPE)
    assert y.creator.name() == 'plain'
