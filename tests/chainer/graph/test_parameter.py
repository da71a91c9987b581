"""Parameters: immediate and deferred initialization."""

import copy
import pathlib
import pickle

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Parameter, Variable, initializers
from devices import DEVICES, to_numpy


def test_initialized():
    p = Parameter(initializers.Constant(3), (2, 3), name='W')
    assert p.is_initialized
    assert (p.name, p.shape, p.dtype) == ('W', (2, 3), np.float32)
    assert (p.array == 3).all()
    assert np.isnan(p.grad).all()
    assert p.update_rule is None
    assert p.loss_scale is None
    p.update()


@pytest.mark.parametrize(
    ('initializer', 'expected'),
    [
        (None, np.full(2, np.nan, 'f')),
        (2, np.full(2, 2, 'f')),
        (np.float64(2), np.full(2, 2, 'f')),
        (np.array([1.0, 2.0]), np.array([1, 2], 'f')),
    ],
)
def test_initializers(initializer, expected):
    p = Parameter(initializer, 2)
    np.testing.assert_array_equal(p.array, expected)


@pytest.mark.parametrize('xp', [np, chainerx])
def test_array_as_data(xp):
    a = xp.ones((2, 3), 'f')
    p = Parameter(a)
    assert p.array is a
    assert p.is_initialized
    assert p.grad is None


def test_uninitialized():
    p = Parameter(5, name='W')
    assert not p.is_initialized
    assert p.array is None
    assert p.dtype == np.float32
    assert p.xp is np
    with pytest.raises(RuntimeError, match='cleargrad'):
        _ = p.grad
    with pytest.raises(TypeError, match='initialize'):
        F.relu(p)
    with pytest.raises(AttributeError):
        _ = p.shape
    p.initialize((2,))
    np.testing.assert_array_equal(p.array, np.full(2, 5, 'f'))
    assert np.isnan(p.grad).all()
    F.sum(p * 2).backward()


@pytest.mark.filterwarnings('ignore:Variable.zerograd is deprecated')
@pytest.mark.parametrize(
    ('prepare', 'expected'),
    [
        (Parameter.cleargrad, None),
        (Parameter.zerograd, np.zeros(2, 'f')),
        (lambda p: setattr(p, 'grad', 3), np.full(2, 3, 'f')),
    ],
)
def test_gradient_of_uninitialized(prepare, expected):
    p = Parameter(5)
    prepare(p)
    p.initialize(2)
    np.testing.assert_array_equal(p.grad, expected)


def test_dtype_by_config():
    with chainer.using_config('dtype', np.float16):
        p = Parameter(5)
        assert p.dtype == np.float16
        p.initialize((1,))
    assert p.dtype == np.float16
    assert Parameter(initializers.Constant(1, dtype='d')).dtype == np.float64


def test_reading_the_gradient_of_uninitialized():
    x = Parameter()
    with pytest.raises(RuntimeError, match='uninitialized'):
        x.grad  # noqa: B018
    with pytest.warns(DeprecationWarning, match='zerograd'):
        x.zerograd()
    assert x.grad is None
    assert x.grad_var is None
    x.addgrad(x)  # nothing to add
    assert not x.is_initialized
    given = np.ones(2, 'f')
    x.grad = given
    assert x.grad is given


def test_copies_of_uninitialized():
    # They share the array as soon as one of them gets it, but not the gradient.
    for prepare in (lambda p: None, Parameter.cleargrad):
        p = Parameter(5)
        prepare(p)
        q = copy.copy(p)
        r = copy.copy(q)
        q.initialize((2,))
        assert p.array is q.array is r.array
        assert p.is_initialized
        F.sum(p * 2).backward()
        np.testing.assert_array_equal(p.grad, [2, 2])
        assert r.grad is None


@pytest.mark.parametrize('device', DEVICES)
def test_copies_are_initialized_together_again(device):
    p = Parameter(2, (2,))
    p.to_device(device)
    q = copy.copy(p)
    r = copy.copy(q)
    p.array[...] = 7
    q.initialize((2,))
    assert p.array is q.array is r.array
    assert to_numpy(p.array).tolist() == [2, 2]
    assert p.device == chainer.get_device(device)
    assert q.grad is None
    for v in (p, q, r):
        v.cleargrad()
    F.sum(p * 3 + q * r).backward()
    assert [to_numpy(v.grad).tolist() for v in (p, q, r)] == [[3, 3], [2, 2], [2, 2]]
    # Functions computed with the old values still lead to the parameter.
    y = F.sum(p * p)
    r.initialize((2,))
    p.cleargrad()
    y.backward()
    assert to_numpy(p.grad).tolist() == [4, 4]
    # A copy on another device is independent.
    moved = copy.copy(p)
    moved.to_device('native:1')
    moved.initialize((3,))
    assert p.shape == (2,)


def test_uninitialized_on_a_device():
    p = Parameter(5)
    p.to_device('native:1')
    assert p.device == chainer.get_device('native:1')
    p.initialize((2,))
    assert p.array.device.name == 'native:1'
    assert p.grad.device.name == 'native:1'
    q = Parameter(5)
    q.to_chx()
    q.to_chx()
    assert q.xp is chainerx
    q.from_chx()
    q.from_chx()
    q.initialize((2,))
    assert isinstance(q.array, np.ndarray)


def test_copies_of_uninitialized_are_initialized_together():
    p = Parameter(5)
    c = copy.copy(p)
    assert type(c) is Parameter
    p.initialize((2,))
    assert c.array is p.array
    # Their gradients are independent.
    c.grad = np.ones(2, 'f')
    p.cleargrad()
    assert c.grad is not None
    d = copy.deepcopy(p)
    assert d.array is not p.array
    lazy = copy.deepcopy(Parameter(5))
    lazy.initialize((1,))
    assert lazy.array[0] == 5


def test_pickle():
    p = Parameter(5, (2,), name='W')
    p.grad = np.ones(2, 'f')
    q = pickle.loads(pickle.dumps(p))
    assert type(q) is Parameter
    np.testing.assert_array_equal(q.array, p.array)
    np.testing.assert_array_equal(q.grad, p.grad)
    assert (q.name, q.initializer.fill_value) == ('W', 5)
    lazy = pickle.loads(pickle.dumps(Parameter(5)))
    assert not lazy.is_initialized
    lazy.initialize((3,))
    assert lazy.array.tolist() == [5, 5, 5]


def test_copydata_and_addgrad_initialize():
    p, q = Parameter(5), Parameter(6, (2,))
    p.copydata(q)
    assert p.array.tolist() == [6, 6]
    p = Parameter(5)
    q.copydata(p)
    assert q.array.tolist() == [5, 5]
    p = Parameter(5)
    p.cleargrad()
    p.addgrad(Variable(np.zeros(3, 'f'), grad=np.ones(3, 'f')))
    assert p.grad.tolist() == [1, 1, 1]


def test_update_rule():
    class Rule:
        def update(self, param):
            param.array -= 1

    p = Parameter(5, (1,))
    p.update_rule = Rule()
    p.update()
    assert p.array[0] == 4


def test_parameter_in_a_graph():
    p = Parameter(2, (3,))
    p.cleargrad()
    x = Variable(np.arange(3, dtype='f'))
    F.sum(p * x).backward()
    np.testing.assert_array_equal(p.grad, x.array)
    assert isinstance(p, Variable)
    assert type(p * x) is Variable


def test_pickles_of_v7():
    path = pathlib.Path(__file__).parents[1] / 'data' / 'v7_variables.pkl'
    x, p, fixed, y, later = pickle.loads(path.read_bytes())
    for v, cls, name in ((x, Variable, 'x'), (p, Parameter, 'p')):
        assert type(v) is cls
        assert v.name == name
        assert v.requires_grad
        assert v.array.tolist() == [1, 2]
        assert v.grad.tolist() == [3, 4]
    assert not fixed.requires_grad
    assert fixed.array.tolist() == [1, 2]
    assert y.array.tolist() == [2, 4]
    assert y.creator is None
    assert (later.name, later.is_initialized) == ('later', False)
    later.initialize((2,))
    assert later.array.tolist() == [1.5, 1.5]
    F.sum(x * p).backward()
    assert p.grad.tolist() == [4, 6]
