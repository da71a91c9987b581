"""Debug mode reports where the first NaN or infinity came from."""

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import FunctionNode, Variable

A = np.arange(3, dtype='f') + 1
NAN = np.float32('nan')


@pytest.fixture(params=[np, chainerx])
def make(request):
    return lambda a: Variable(request.param.array(a))


@pytest.fixture(autouse=True)
def debug():
    with chainer.using_config('debug', True):
        yield


class Bad(FunctionNode):
    def __init__(self, forward=1, backward=1):
        self.factors = np.float32(forward), np.float32(backward)

    def forward(self, xs):
        return (xs[0] * self.factors[0],)

    def backward(self, indexes, gys):
        with chainer.using_config('debug', False):
            return (gys[0] * float(self.factors[1]),)


@pytest.mark.parametrize('value', ['NaN', 'inf'])
def test_forward_of_a_user(make, value):
    x = make(A)
    with pytest.raises(RuntimeError) as e:
        Bad(forward=value).apply((x,))  # this line
    text = str(e.value)
    assert text.startswith(f'{value} is detected on forward computation of Bad: output 0, shape')
    assert 'input 0: shape (3,), dtype float32, finite values from 1 to 3' in text
    assert f'called at {__file__}:' in text
    assert '# this line' in text


@pytest.mark.parametrize('value', ['NaN', 'inf'])
def test_backward_of_a_user(make, value):
    x = make(A)
    (y,) = Bad(backward=value).apply((x,))  # the forward call
    z = F.sum(y)
    with pytest.raises(RuntimeError) as e:
        z.backward()
    text = str(e.value)
    assert text.startswith(f'{value} is detected on backward computation of Bad: gradient of inp')
    assert '# the forward call' in text
    assert x.grad is None


def test_builtin_functions(make):
    x = make(np.array([-1, 0, 1], 'f'))
    with pytest.raises(RuntimeError, match='NaN is detected on forward computation of log'):
        F.log(x)
    with pytest.raises(RuntimeError, match=r'inf is detected on forward computation of 1 / _'):
        1 / x
    y = F.sqrt(make(np.array([0, 1], 'f')))
    with pytest.raises(RuntimeError, match='inf is detected on backward computation of sqrt'):
        F.sum(y).backward()


def test_infinite_inputs_are_the_users_business(make):
    y = make(np.array([np.inf, 1], 'f')) * 2
    assert float(y.array[0]) == np.inf
    with pytest.raises(RuntimeError, match='NaN'):
        y - y


def test_other_dtypes_and_empty_arrays(make):
    make(np.arange(3)) + make(np.arange(3))
    F.relu(make(A[:0]))
    (y,) = Bad().apply((make(A[:0]),))
    assert y.shape == (0,)


def test_stack(make):
    y = F.relu(make(A))
    assert any('test_stack' in line for line in y.creator.stack.format())
    with chainer.using_config('debug', False):
        assert F.relu(make(A)).creator.stack is None
        Bad(forward=NAN).apply((make(A),))


def test_switches():
    with chainer.using_config('debug', False):
        assert not chainer.is_debug()
        with pytest.warns(DeprecationWarning, match='using_config'), chainer.DebugMode(True):
            assert chainer.is_debug()
        chainer.set_debug(True)
        assert chainer.is_debug()
        chainer.set_debug(False)
        assert not chainer.is_debug()
