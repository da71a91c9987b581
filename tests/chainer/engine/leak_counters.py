"""Counters of live objects in the core, for the tests of memory."""

import gc

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import FunctionNode, Variable

A = np.arange(6, dtype='f').reshape(2, 3) + 1


class LeakCounters:
    """Checks that all core objects created inside the block are gone at its end."""

    def __enter__(self):
        gc.collect()
        chainerx._core._set_leak_tracking(True)
        self.before = self.counts()
        return self

    def __exit__(self, *error):
        gc.collect()
        after = self.counts()
        chainerx._core._set_leak_tracking(False)
        if error[0] is None:
            assert after == self.before

    @staticmethod
    def counts():
        return tuple(chainerx._core._live_counts())


class Double(FunctionNode):
    def forward(self, xs):
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        return (xs[0] * 2,)

    def backward(self, indexes, gys):
        return (gys[0] * 2,)


@pytest.fixture(autouse=True)
def warm_up():
    # Constants of the library are created once.
    for make in (np.array, chainerx.array):
        step(make)
        step(make, debug=True)


def step(make, debug=False):
    x = Variable(make(A))
    with chainer.using_config('debug', debug):
        (h,) = Double().apply((F.relu(x * 2) + x,))
        y = F.sum(h * h)
        y.backward(retain_grad=True)
    chainer.grad([y], [x], enable_double_backprop=True)
    assert y.creator.inputs[0].creator_node.inputs[0].creator.inputs is not None
