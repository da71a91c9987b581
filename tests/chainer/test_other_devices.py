"""Arrays that Chainer makes are on the device of its operands, not on the default device."""

import io

import chainer
import chainer.distributions as D
import chainer.functions as F
import chainer.links as L
import chainerx
import numpy as np
import pytest
from chainer.optimizer import UpdateRule
from devices import to_numpy

DEVICE = 'native:1'


def array(values):
    return chainerx.array(values, 'float32', device=DEVICE)


def test_print_hook():
    link, out = L.Linear(3, 2).to_device(DEVICE), io.StringIO()
    with chainer.function_hooks.PrintHook(file=out):
        F.sum(link(array(np.ones((2, 3))))).backward()
    assert 'output gradient' in out.getvalue()


@pytest.mark.filterwarnings('ignore:.* is deprecated')
def test_zerograd():
    x = chainer.Variable(array([1, 2]))
    x.zerograd()
    assert x.grad.device.name == DEVICE


@pytest.mark.parametrize('make', [lambda: D.Cauchy(array(0), array(1)).cdf(array([-1, 2]))])
def test_distributions(make):
    y = make()
    assert y.device.name == DEVICE
    with chainerx.using_device(DEVICE):
        np.testing.assert_array_equal(to_numpy(y.array), to_numpy(make().array))


class Doubling(UpdateRule):
    """Makes a state during the update, and replaces the array."""

    def update_core_cpu(self, param):
        self.state['n'] = param.array + 1
        param.array = param.array * 2


def test_rule_of_the_user():
    param = chainer.Parameter(np.ones(2, 'f'))
    param.to_device(DEVICE)
    param.update_rule = Doubling()
    param.grad = array([1, 1])
    param.update()
    assert param.update_rule.state['n'].device.name == DEVICE
    assert param.array.tolist() == [2, 2]


class Counting(UpdateRule):
    def update_core_chainerx(self, param):
        self.state['n'] = chainerx.zeros(2, 'float32') + param.array


def test_native_rule_of_the_user():
    param = chainer.Parameter(np.ones(2, 'f'))
    param.to_device(DEVICE)
    param.update_rule = Counting()
    param.grad = array([1, 1])
    param.update()
    assert param.update_rule.state['n'].tolist() == [1, 1]


def test_inputs_on_two_devices():
    """The error names link, inputs, both devices, and what to call."""
    link = chainer.Sequential(L.Linear(3, 2)).to_device(DEVICE)
    with pytest.raises(TypeError) as info:
        link(np.ones((2, 3), 'f'))
    assert str(info.value) == (
        'LinearFunction: incompatible array types are mixed in the inputs: input 0 is on @numpy, '
        f"input 1 (W) is on {DEVICE}; move one with chainer.get_device('{DEVICE}').send(x)"
    )
    assert info.value.__notes__ == ['In link /0 (Linear) of Sequential']
    with pytest.raises(TypeError, match=r"input 0 is on native:1.*input 1.*'native:1'.\.send"):
        F.concat([array([1]), np.ones(1, 'f')])
