"""Loss scaling, and updates of float16 parameters in float32."""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer import optimizers
from devices import DEVICES
from optim.small_net import Net, half, ones, sgd, to_list


@pytest.fixture(params=DEVICES)
def device(request):
    with chainer.using_device(request.param):
        yield request.param


def test_static_loss_scale(device):
    net = Net().to_device(device)
    optimizer = sgd(net)
    optimizer.set_loss_scale(4.0)
    seen = []
    optimizer.add_hook(lambda o: seen.append(to_list(o.target.l.W.grad)), name='look')
    optimizer.update(net.loss, ones(net))
    assert seen == [[[1, 1]]]  # hooks see what the rules use
    assert to_list(net.l.W.array) == [[0, 0]]
    # Scaled by hand, unknown to the optimizer.
    net.cleargrads()
    net.loss(ones(net)).backward(loss_scale=32.0)
    # Gradients of chainerx arrays have already been divided by it.
    known = None if device.startswith('native') else 32.0
    assert (net.l.W.loss_scale, net.l.b.loss_scale) == (known, known)
    assert net.m.W.loss_scale is None
    optimizer.update()
    assert to_list(net.l.W.array) == [[-1, -1]]
    # A gradient is divided only once.
    optimizer.update()
    assert to_list(net.l.W.array) == [[-2, -2]]


def test_loss_scale_of_all_layers(device):
    net = chainer.Sequential(L.Linear(2, 3), F.relu, L.Linear(3, 3), F.tanh, L.Linear(3, 1))
    net.to_device(device)
    net.cleargrads()
    y = F.sum(net(ones(net)))
    y.backward(loss_scale=2.0)
    known = None if device.startswith('native') else 2.0
    assert [param.loss_scale for param in net.params()] == [known] * 6


def test_rule_alone_undoes_the_loss_scale(device):
    net = Net().to_device(device)
    net.cleargrads()
    net.loss(ones(net)).backward(loss_scale=4.0)
    net.l.W.update_rule = optimizers.SGD(1).create_update_rule()
    net.l.W.update()
    assert to_list(net.l.W.array) == [[0, 0]]


def test_cleared_gradients_have_no_loss_scale(device):
    net = Net().to_device(device)
    optimizer = sgd(net)
    net.cleargrads()
    net.loss(ones(net)).backward(loss_scale=4.0)
    net.cleargrads()
    net.loss(ones(net)).backward()
    optimizer.update()
    assert to_list(net.l.W.array) == [[0, 0]]


def test_bad_loss_scales():
    optimizer = sgd(Net())
    for bad in (0, -1, float('nan'), float('inf')):
        with pytest.raises(ValueError, match='loss_scale must be a positive number'):
            optimizer.set_loss_scale(bad)
        with pytest.raises(ValueError, match='loss_scale must be a positive number'):
            optimizer.loss_scaling(scale=bad)
    for bad in (0, -1):
        with pytest.raises(ValueError, match='interval must be greater than or equal to 1'):
            optimizer.loss_scaling(interval=bad)
    assert not optimizer._loss_scaling_is_dynamic


def test_a_given_loss_scale_stays():
    net = Net()
    optimizer = sgd(net)
    optimizer.loss_scaling(interval=2, scale=16.0)
    for _ in range(3):
        optimizer.update(net.loss, ones(net))
    assert optimizer._loss_scale == 16
    assert to_list(net.l.W.array) == [[-2, -2]]


def test_dynamic_loss_scale(device):
    net = Net().to_device(device)
    optimizer = sgd(net)
    optimizer.loss_scaling(interval=2)
    optimizer.set_loss_scale(16.0)
    factor = {'value': 1.0}
    scales, steps = [], []
    for bad in (0, 0, 0, 1, 0, 1, 0, 0, 0):
        factor['value'] = float('nan') if bad else 1.0

        def loss():
            return net.loss(ones(net)) * factor['value']

        if bad:
            with pytest.warns(UserWarning, match=r'Non finite number found in param.grad of /l/W'):
                optimizer.update(loss)
            assert not optimizer.is_safe_to_update()
        else:
            optimizer.update(loss)
            assert optimizer.is_safe_to_update()
        scales.append(optimizer._loss_scale)
        steps.append(net.l.W.update_rule.t)
    root = 2**0.5
    expected = [32, 64, 128, 64, 64 * root, 32 * root, 64, 64 * root, 128]
    assert scales == pytest.approx(expected)
    assert steps == [1, 2, 3, 3, 4, 4, 5, 6, 7]
    assert optimizer.t == 9
    np.testing.assert_allclose(to_list(net.l.W.array), [[-6, -6]])


def test_dynamic_loss_scale_without_a_loss(device):
    net = Net().to_device(device)
    optimizer = sgd(net)
    optimizer.loss_scaling()
    optimizer.set_loss_scale(4.0)
    net.cleargrads()
    net.l.W.grad = ones(net) * float('inf')
    with pytest.warns(UserWarning, match='Non finite'):
        optimizer.update()
    assert to_list(net.l.W.array) == [[1, 1]]
    assert optimizer._loss_scale == 2


def test_limits_of_the_loss_scale():
    optimizer = sgd(Net())
    optimizer.loss_scaling()
    optimizer.set_loss_scale(50000.0)
    optimizer.update_loss_scale()
    assert optimizer._loss_scale == 65504
    optimizer.set_loss_scale(1.5)
    optimizer._loss_scaling_isnan = True
    optimizer.update_loss_scale()
    assert optimizer._loss_scale == 1


def test_nan_under_a_static_loss_scale():
    # The check was not requested.
    net = Net()
    optimizer = sgd(net)
    optimizer.set_loss_scale(2.0)
    net.cleargrads()
    net.l.W.grad = np.full((1, 2), np.nan, 'f')
    optimizer.update()
    assert np.isnan(net.l.W.array).all()


def test_fp32_update_keeps_small_steps(device):
    link = half(device)
    optimizer = optimizers.SGD(2.0**-13)
    optimizer.use_fp32_update()
    optimizer.setup(link)
    for _ in range(4):
        link.W.grad = link.xp.ones(2, 'e')
        optimizer.update()
    # A single step would be lost: numbers below 1 are 2 ** -11 apart.
    assert to_list(link.W.array) == [1 - 2.0**-11, 2]
    assert link.W.dtype == link.W.grad.dtype == np.float16


def test_fp32_update_sees_written_values(device):
    link = half(device)
    optimizer = optimizers.SGD(2.0**-14)
    optimizer.use_fp32_update()
    optimizer.setup(link)
    link.W.grad = link.xp.ones(2, 'e')
    optimizer.update()
    link.W.array[0] = 7
    optimizer.update()
    assert to_list(link.W.array) == [7, 2]
    copy = link.W.update_rule._fp32_param.array
    assert to_list(copy) == [7 - 2.0**-14, 2 - 2.0**-13]


def test_fp32_update_on_and_off():
    link = half('@numpy')
    optimizer = optimizers.SGD().setup(link)
    optimizer.use_fp32_update()
    assert link.W.update_rule._use_fp32_update
    link.W.grad = np.ones(2, 'e')
    optimizer.update()
    optimizer.use_fp32_update(False)
    assert link.W.update_rule._fp32_param is None
    wide = Net()
    optimizer = optimizers.SGD()
    optimizer.use_fp32_update()
    optimizer.setup(wide).update(wide.loss, ones(wide))
    assert wide.l.W.update_rule._fp32_param is None
