"""A small link, and other helpers of the tests of optimizers."""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import numpy as np
from chainer import optimizers
from chainer.optimizer import UpdateRule


class Net(chainer.Chain):
    """Two layers, the second without a shape at first, and a loss."""

    def __init__(self, n_in=2):
        super().__init__()
        with self.init_scope():
            self.l = L.Linear(n_in, 1, initialW=1)
            self.m = L.Linear(None, 2)

    def loss(self, x):
        return F.sum(self.l(x))


def ones(net, *shape):
    return net.xp.ones(shape or (1, 2), 'f')


def to_list(array):
    return array.tolist()


def sgd(net):
    return optimizers.SGD(1).setup(net)


def half(device):
    link = chainer.Link()
    with link.init_scope():
        link.W = chainer.Parameter(np.array([1, 2], 'e'))
    return link.to_device(device)


class CountingRule(UpdateRule):
    """A rule for arrays other than chainerx's: adds state and gradient, replaces the state."""

    def init_state(self, param):
        with chainer.using_device(param.device):
            self.state['v'] = param.xp.ones_like(param.array)
        self.state['n'] = 0

    def update_core_cpu(self, param):
        if param.array is None:
            return
        assert not isinstance(param.array, chainerx.ndarray)
        assert type(self.state['v']) is type(param.array)
        param.array += self.state['v'] + param.grad
        self.state['v'] = self.state['v'] * 2
        self.state['n'] += 1

    update_core_gpu = update_core_cpu
