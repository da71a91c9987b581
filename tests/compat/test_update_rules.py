"""Update rules that programs wrote for v7."""

import chainer
import numpy as np
import pytest
from chainer.optimizer import UpdateRule

DEVICES = ['@numpy', 'native:0']


class Momentum(UpdateRule):
    """Creates its states with NumPy, wherever the parameter is."""

    def init_state(self, param):
        self.state['v'] = np.zeros(param.shape, 'f')
        self.state['scale'] = np.float32(0.5)
        self.state['n'] = 2

    def update_core(self, param):
        v = self.state['v']
        assert param.device.is_array_supported(v)
        v += param.grad
        param.array -= self.state['n'] * v * float(self.state['scale'])


@pytest.mark.parametrize('device', DEVICES)
def test_states_are_where_the_parameter_is(device):
    param = chainer.Parameter(np.array([4, 5], 'f'))
    param.to_device(device)
    param.update_rule = Momentum()
    for _ in range(2):
        param.grad = param.xp.ones((2,), 'f')
        param.update()
    assert type(param.update_rule.state['n']) is int
    expected = [4 - 1 - 2, 5 - 1 - 2]
    np.testing.assert_array_equal(chainer.get_device('@numpy').send(param.array), expected)


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('has_native', [False, True])
def test_a_parameter_without_array_is_updated_by_the_method_of_its_device(device, has_native):
    called = []

    class Rule(UpdateRule):
        def update_core_cpu(self, param):
            called.append(('cpu', param.array, self.state))

        if has_native:

            def update_core_chainerx(self, param):
                called.append(('chainerx', param.array, self.state))

    param = chainer.Parameter(1.0)
    param.to_device(device)
    param.cleargrad()
    param.update_rule = Rule()
    param.update()
    name = 'chainerx' if has_native and device != '@numpy' else 'cpu'
    assert called == [(name, None, None)]
