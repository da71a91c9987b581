"""Update counts that a program sets between steps, for example to restart a warm-up."""

import chainer
import numpy as np
import pytest

START, GRADS = np.array([1.0, -2.0, 0.5]), np.random.RandomState(0).randn(9, 3)
ALPHA, BETA1, BETA2, EPS = 0.1, 0.8, 0.9, 1e-3


class Adam:
    """Adam's formula in float64, with an update count that can be set."""

    def __init__(self, amsgrad=False, bounds=None):
        self.p, self.m, self.v, self.largest = START.copy(), 0.0, 0.0, 0.0
        self.t, self.amsgrad, self.bounds = 0, amsgrad, bounds

    def step(self, g):
        self.t += 1
        self.m = BETA1 * self.m + (1 - BETA1) * g
        self.v = BETA2 * self.v + (1 - BETA2) * g * g
        self.largest = np.maximum(self.largest, self.v) if self.amsgrad else self.v
        rate = ALPHA * np.sqrt(1 - BETA2**self.t) / (1 - BETA1**self.t)
        rates = rate / (np.sqrt(self.largest) + EPS)
        if self.bounds is not None:
            final, gamma = self.bounds
            low, high = 1 - 1 / (gamma * self.t + 1), 1 + 1 / (gamma * self.t)
            rates = np.clip(rates, final * low, final * high)
        self.p = self.p - rates * self.m


KINDS = {
    'Adam': ({}, {}),
    'AMSGrad': ({}, {'amsgrad': True}),
    'AdaBound': ({'final_lr': 0.2, 'gamma': 0.5}, {'bounds': (0.2, 0.5)}),
    'AMSBound': ({'final_lr': 0.2, 'gamma': 0.5}, {'amsgrad': True, 'bounds': (0.2, 0.5)}),
}


class Net(chainer.Chain):
    def __init__(self, dtype):
        super().__init__()
        with self.init_scope():
            self.a = chainer.Parameter(START.astype(dtype))
            self.b = chainer.Parameter(START.astype(dtype))


@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
@pytest.mark.parametrize('dtype', ['f', 'd'])
@pytest.mark.parametrize('name', KINDS)
@pytest.mark.parametrize('of_all', [False, True])
def test_steps_follow_the_number_that_was_set(name, dtype, device, of_all):
    """Steps use the count of each rule; the optimizer's own only shows in ``alpha_t``."""
    options, formula = KINDS[name]
    net = Net(dtype).to_device(device)
    optimizer = getattr(chainer.optimizers, name)(
        alpha=ALPHA, beta1=BETA1, beta2=BETA2, eps=EPS, **options
    ).setup(net)
    expected = {'a': Adam(**formula), 'b': Adam(**formula)}
    for i, g in enumerate(GRADS):
        if i in (1, 4, 6, 8):  # before and after the engine has prepared a step
            for one in ('a', 'b') if of_all else ('a',):
                t = {1: 7, 4: 0, 6: 1000, 8: 4}[i]
                getattr(net, one).update_rule.t = expected[one].t = t
            optimizer.t = 90
        for one, scale in (('a', 1), ('b', -3)):
            getattr(net, one).grad = net.device.send((scale * g).astype(dtype))
            expected[one].step(scale * g)
        optimizer.update()
        for one, formula_of_one in expected.items():
            param = getattr(net, one)
            assert param.update_rule.t == formula_of_one.t
            p = chainer.backend.CpuDevice().send(param.array)
            rtol = 1e-12 if dtype == 'd' else 2e-5
            np.testing.assert_allclose(p, formula_of_one.p, rtol=rtol, atol=rtol)
    assert optimizer.t == 91
    rate = ALPHA * np.sqrt(1 - BETA2**91) / (1 - BETA1**91)
    assert optimizer.alpha_t == pytest.approx(rate, rel=1e-12)
