"""Methods of Variable that call functions: same values, gradients, creators and errors."""

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Variable
from chainer.utils import type_check
from devices import assert_equal, to_numpy

A = np.arange(6, dtype='f').reshape(2, 3) + 1

CALLS = {  # the method, the function
    'T': (lambda x: x.T, lambda x: F.transpose(x)),
    'transpose': (lambda x: x.transpose(), lambda x: F.transpose(x)),
    'transpose(None)': (lambda x: x.transpose(None), lambda x: F.transpose(x)),
    'transpose(1, 0)': (lambda x: x.transpose(1, 0), lambda x: F.transpose(x, (1, 0))),
    'transpose((-1, 0))': (lambda x: x.transpose((-1, 0)), lambda x: F.transpose(x, (-1, 0))),
    'transpose([1, 0])': (lambda x: x.transpose([1, 0]), lambda x: F.transpose(x, (1, 0))),
    'reshape(3, 2)': (lambda x: x.reshape(3, 2), lambda x: F.reshape(x, (3, 2))),
    'reshape((6,))': (lambda x: x.reshape((6,)), lambda x: F.reshape(x, (6,))),
    'reshape([2, -1, 1])': (lambda x: x.reshape([2, -1, 1]), lambda x: F.reshape(x, (2, -1, 1))),
    'reshape(6)': (lambda x: x.reshape(6), lambda x: F.reshape(x, (6,))),
    'reshape(int64)': (lambda x: x.reshape(np.int64(6)), lambda x: F.reshape(x, (6,))),
    'sum': (lambda x: x.sum(), lambda x: F.sum(x)),
    'sum(0)': (lambda x: x.sum(0), lambda x: F.sum(x, 0)),
    'sum(keepdims)': (lambda x: x.sum(keepdims=True), lambda x: F.sum(x, None, True)),
    'sum(-1, True)': (lambda x: x.sum((-1,), True), lambda x: F.sum(x, -1, True)),
    'mean': (lambda x: x.mean(), lambda x: F.average(x)),
    'mean(0)': (lambda x: x.mean(0), lambda x: F.average(x, 0)),
    'mean(keepdims)': (
        lambda x: x.mean(axis=1, keepdims=True),
        lambda x: F.average(x, 1, keepdims=True),
    ),
    '[0]': (lambda x: x[0], lambda x: F.get_item(x, 0)),
    '[-1]': (lambda x: x[-1], lambda x: F.get_item(x, (-1,))),
    '[0, 1]': (lambda x: x[0, 1], lambda x: F.get_item(x, (0, 1))),
}


@pytest.mark.parametrize('name', CALLS)
def test_methods_are_functions(make, name):
    results = []
    for call in CALLS[name]:
        x = Variable(make(A))
        y = call(x)
        assert type(y) is Variable
        assert y.requires_grad
        z = F.sum(y * y)
        z.backward(enable_double_backprop=True)
        g = x.grad_var
        x.cleargrad()
        F.sum(g * g).backward()
        results.append((y, x))
    (y, x), (expected, x2) = results
    np.testing.assert_array_equal(to_numpy(y.array), to_numpy(expected.array))
    assert y.dtype == expected.dtype
    assert_equal(x.grad, to_numpy(x2.grad))
    assert y.rank == expected.rank
    f, g = y.creator, expected.creator
    assert type(f) is type(g)
    assert f.inputs[0].get_variable() is x
    for attribute in ('axes', 'shape', 'slices', 'axis', 'keepdims'):
        assert getattr(f, attribute, None) == getattr(g, attribute, None)


@pytest.mark.parametrize(
    'a', [np.float32(3), np.zeros((0, 3), 'f'), np.ones((2, 3, 4), 'd')[:, ::-1], A.T[::-1]]
)
def test_layouts(make, a):
    a = np.asarray(a)
    x = Variable(make(a))
    assert_equal(x.T, a.T)
    assert_equal(x.reshape(a.size, 1), a.reshape(a.size, 1))
    assert_equal(x.sum(), a.sum())
    if a.ndim and len(a):
        assert_equal(x[0], a[0])
    else:
        with pytest.raises(IndexError):
            x[0]


def test_the_shape_that_it_has(make):
    x = Variable(make(A))
    assert x.reshape(2, 3) is x
    assert x.reshape(np.int64(2), 3) is x
    assert x.reshape((2, 3)) is x


def test_integers_have_no_sum(make):
    x = Variable(make(np.arange(3)), requires_grad=False)
    with pytest.raises(type_check.InvalidType):
        x.sum()
    assert_equal(x.reshape(3, 1), np.arange(3).reshape(3, 1))


def test_errors(make):
    x = Variable(make(A))
    for call in (lambda: x.reshape(7), lambda: x.reshape(), lambda: x.reshape(2**70, 3)):
        with pytest.raises(type_check.InvalidType):
            call()
    with pytest.raises(ValueError, match='transpose'):
        x.transpose(0, 0)
    for bad in (2, -3, 2**63 - 1):
        with pytest.raises(IndexError, match='getitem'):
            x[bad]
    with pytest.raises(IndexError):
        x[2**64]
    for call in (
        lambda: x.sum(0, 1, 2, 3),
        lambda: x.sum(0, foo=1),
        lambda: x.sum(out=A),
        lambda: x.mean(0, True),
        lambda: chainer.Parameter().T,
        lambda: chainer.Parameter().sum(),
        lambda: chainer.Parameter().reshape(1),
        lambda: chainer.Parameter()[0],
    ):
        with pytest.raises(TypeError):
            call()


def test_without_a_graph(make):
    x = Variable(make(A))
    with chainer.no_backprop_mode():
        for y in (x.T, x.reshape(6), x.sum(), x[0]):
            assert y.creator is None
            assert y.requires_grad
    y = Variable(make(A), requires_grad=False).T
    assert not y.requires_grad
    assert y.creator is not None


def test_hooks_see_them(make):
    x = Variable(make(A))
    with chainer.function_hooks.TimerHook() as hook:
        x.T, x.reshape(6), x.sum(), x[0]
    assert [name for name, _ in hook.call_history] == ['Transpose', 'Reshape', 'Sum', 'GetItem']


def test_a_transpose_of_the_users():
    class Mine(Variable):
        def transpose(self, *axes):
            return 'mine'

    assert Mine(A).T == 'mine'
    p = chainer.Parameter(A.copy())
    assert_equal(p.T, A.T)


@pytest.mark.parametrize('value', [None, np.zeros(5, 'f'), np.zeros((3, 2), 'f')])
def test_a_length_that_gives_the_variable_another_array(value):
    class Three:
        def __index__(self):
            x.array = value
            return 3

    x = Variable(np.arange(6, dtype='f').reshape(2, 3))
    if value is None:
        with pytest.raises(TypeError, match='uninitialized'):
            x.reshape(2, Three())
    elif value.size == 5:
        with pytest.raises(chainerx.DimensionError, match=r'\(5,\)'):
            x.reshape(2, Three())
    else:
        assert x.reshape(2, Three()).shape == (2, 3)
