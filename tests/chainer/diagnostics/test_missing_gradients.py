"""`chainer.report_missing_gradients`: parameters without gradient, and where the graph was cut."""

from __future__ import annotations

import chainer
import numpy as np
import pytest
from chainer import Chain
from chainer import functions as F
from chainer import links as L
from devices import DEVICES


class NoGradient(chainer.FunctionNode):
    """A function in the graph that returns no gradient."""

    def forward(self, inputs):
        return (inputs[0] * 1,)

    def backward(self, indexes, grads):
        return (None,)


class Net(Chain):
    def __init__(self, between):
        super().__init__(a=L.Linear(3, 4), b=L.Linear(4, 2))
        self.between = between

    def forward(self, x):
        return F.sum(self.b(self.between(F.relu(self.a(x)))))


def run(between, device='@numpy'):
    device = chainer.get_device(device)
    net = Net(between).to_device(device)
    return net, net(device.send(np.ones((2, 3), 'f')))


def found(net, loss):
    report = chainer.report_missing_gradients(net, loss)
    assert len(report) == len(list(report))
    assert bool(report) == (len(report) > 0)
    return {one.path: one.reason for one in report}, report


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('backward', [False, True])
def test_nothing_is_missing(device, backward):
    net, loss = run(lambda h: h * 2, device)
    net.cleargrads()
    if backward:
        loss.backward()
    reasons, report = found(net, loss)
    assert reasons == {}
    assert str(report) == 'All 4 parameters of Net get a gradient.'
    assert all((param.grad is not None) is backward for param in net.params())


@pytest.mark.parametrize('device', DEVICES)
def test_an_array_cuts_the_chain(device):
    net, loss = run(lambda h: h.array, device)
    net.cleargrads()
    reasons, report = found(net, loss)
    assert reasons == dict.fromkeys(['/a/W', '/a/b'], 'it is not in the graph of the loss')
    (end,) = report.ends
    assert 'input 0 of LinearFunction' in end
    assert 'beside /b/W, /b/b' in end
    assert 'float32 (2, 4)' in end
    assert str(report).splitlines() == [
        '2 of 4 parameters of Net get no gradient:',
        '  /a/W (4, 3): it is not in the graph of the loss',
        '  /a/b (4,): it is not in the graph of the loss',
        'The graph of the loss ends, besides parameters, at:',
        '  ' + end,
    ]


@pytest.mark.parametrize('device', DEVICES)
def test_a_function_without_gradient_cuts_the_chain(device):
    net, loss = run(lambda h: F.relu(NoGradient().apply((h,))[0]), device)
    net.cleargrads()
    reasons, report = found(net, loss)
    assert list(reasons) == ['/a/W', '/a/b']
    place = 'between NoGradient (rank 2) and ReLU (rank 1)'
    assert set(reasons.values()) == {f'the gradient stops {place}'}
    assert report.ends == []
    assert all(param.grad is None for param in net.params())


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('dtype', ['i', '?'])
def test_integers_cut_the_chain(device, dtype):
    net, loss = run(lambda h: F.cast(F.cast(h, dtype), 'f'), device)
    net.cleargrads()
    reasons, _ = found(net, loss)
    assert list(reasons) == ['/a/W', '/a/b']
    name = np.dtype(dtype).name
    assert reasons['/a/W'] == (
        'the gradient stops between LinearFunction (rank 4) and Cast (rank 3) '
        f'(no gradient passes {name} in Cast (rank 3))'
    )
    loss.backward()
    assert [path for path, param in net.namedparams() if param.grad is None] == ['/a/W', '/a/b']
    assert list(found(net, loss)[0]) == ['/a/W', '/a/b']


def test_a_function_without_gradient_on_one_of_two_ways():
    net, loss = run(lambda h: h + NoGradient().apply((h,))[0])
    assert found(net, loss)[0] == {}


def test_no_graph_at_all():
    with chainer.no_backprop_mode():
        net, loss = run(lambda h: h)
    reasons, report = found(net, loss)
    assert len(reasons) == 4
    assert all('the loss has no graph' in reason for reason in reasons.values())
    assert report.ends == []


def test_what_was_not_used():
    net, loss = run(lambda h: h)
    net.add_link('lazy', L.Linear(2))
    reasons, _ = found(net, loss)
    assert reasons == {
        '/lazy/W': 'it is not initialized; the link was never called',
        '/lazy/b': 'it is not in the graph of the loss',
    }


def test_a_loss_that_is_no_scalar():
    net, _ = run(lambda h: h)
    y = net.b(NoGradient().apply((net.a(np.ones((2, 3), 'f')),))[0])
    net.cleargrads()
    assert list(found(net, y)[0]) == ['/a/W', '/a/b']


def test_a_loss_that_is_a_parameter():
    link = chainer.Link(x=2, y=2)
    reasons, _ = found(link, link.x)
    assert list(reasons) == ['/y']
    assert found(chainer.Link(), link.x)[0] == {}


def test_wrong_arguments():
    net, loss = run(lambda h: h)
    with pytest.raises(TypeError, match='model must be a Link, not Variable'):
        chainer.report_missing_gradients(loss, net)
    with pytest.raises(TypeError, match='loss must be a Variable, not ndarray'):
        chainer.report_missing_gradients(net, loss.array)
