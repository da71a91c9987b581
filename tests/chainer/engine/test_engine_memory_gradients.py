"""Gradients that refer back to their variables, and replaced arrays, are freed."""

import gc
import weakref

import chainer
import chainer.functions as F
import numpy as np
import pytest
from chainer import Chain, FunctionNode, Parameter, Variable
from engine.leak_counters import (
    A,
    Double,
    LeakCounters,
    warm_up,  # noqa: F401 - a fixture
)


def test_gradients_that_are_their_own_variables(make):
    with LeakCounters():
        x, y, z = (Variable(make(A)) for _ in range(3))
        x.grad_var = x
        assert x.grad_var is x
        y.grad_var, z.grad_var = z * 2, y
        assert y.grad_var.grad is None
        y.grad_var = z
        assert y.grad_var is z
        assert y.grad_var.grad_var is y
        x.grad_var = y
        refs = [weakref.ref(v) for v in (x, y, z)]
        del x, y
        gc.collect()
        assert refs[0]() is None
        assert z.grad_var.grad_var is z
        del z
        gc.collect()
        assert all(r() is None for r in refs)


def test_gradients_that_were_computed_from_their_variables(make):
    with LeakCounters():
        x = Variable(make(A))
        y = x * 2
        x.grad_var, y.grad_var = y, x
        y.backward(enable_double_backprop=True)  # adds y.grad * 2 to x.grad
        np.testing.assert_array_equal(chainer.backend.CpuDevice().send(x.grad), 4 * A)
        refs = [weakref.ref(v) for v in (x, y)]
        del x, y
        gc.collect()
        assert all(r() is None for r in refs)


@pytest.mark.parametrize('retain', [False, True])
def test_double_backprop_without_variables(make, retain):
    with LeakCounters():
        y = F.sum(F.exp(Variable(make(A)) * 2))
        y.backward(retain, enable_double_backprop=True)
        del y


def test_no_gradient_without_a_variable(make):
    x = Variable(make(A))
    y, node = F.sum(x * x), x.node
    del x
    y.backward()
    assert node.grad is None
    assert node.grad_var is None


def test_copies_that_outlive_the_variable(make):
    with LeakCounters():
        x = Variable(make(A))
        x.grad_var = x
        y = x.__copy__()
        del x
        gc.collect()
        assert y.grad is not None
        y.cleargrad()
        F.sum(y * 2).backward()
        np.testing.assert_array_equal(chainer.backend.CpuDevice().send(y.grad), 2)
        del y


@pytest.mark.parametrize('how', ['none', 'init', 'other', 'grad', 'del', 'copydata'])
def test_replaced_arrays_of_a_variable_are_freed(make, how):
    """A replaced array is freed with its record, though the variable and its node live on."""
    with LeakCounters() as live:
        v = Variable(make(A))
        node = v.node
        F.relu(v)  # makes the record
        if how == 'grad':
            gc.collect()
            before = live.counts()
            v.grad = make(A + 1)
            v.grad = None
            gc.collect()
            assert live.counts() == before
            del v, node
        elif how == 'other':
            v = Variable(np.array(A))
            F.relu(v)
            first = weakref.ref(v.array)
            v.array = A + 1
            gc.collect()
            assert first() is None
            np.testing.assert_array_equal(F.relu(v).array, A + 1)
            del v, node
        else:
            empty = Variable(None)
            if how == 'none':
                v.array = None
            elif how == 'init':
                v.__init__(None)
            elif how == 'copydata':
                v.array = None
                v.copydata(empty)
            else:
                del v
            del node
            gc.collect()
            # An empty variable has no object in the core.
            assert live.counts() == live.before
    assert live.counts() == live.before


class Critic(Chain):
    def __init__(self, function):
        super().__init__()
        self.function = function
        with self.init_scope():
            self.a = Parameter(A.T.copy())
            self.b = Parameter(A.copy())

    def forward(self, x):
        return F.sum(self.function(self, F.tanh(F.matmul(x, self.a))) * 3)


class Square(FunctionNode):
    """A function that refers to the link, as functions that read parameters do."""

    def __init__(self, link):
        self.link = link

    def forward(self, xs):
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        return (xs[0] * xs[0],)

    def backward(self, indexes, gys):
        (x,), (y,) = self.get_retained_inputs(), self.get_retained_outputs()
        return (gys[0] * 2 * x + 0 * y + 0 * self.link.b[0, 0],)


@pytest.mark.parametrize('users', [False, True])
@pytest.mark.parametrize('clear', [False, True])
def test_steps_of_gradient_penalty(make, users, clear):
    """The gradients of one step are part of the next step's graph, and are freed."""

    def builtin(link, x):
        return F.square(x)

    def own(link, x):
        return Square(link).apply((x,))[0]

    with LeakCounters():
        link = Critic(own if users else builtin)
        link.to_device(chainer.backend.get_device_from_array(make(A)))
        sizes = []
        for step in range(100):
            x = Variable(make(A))
            loss = link(x)
            (gx,) = chainer.grad([loss], [x], enable_double_backprop=True)
            penalty = F.sum((F.sqrt(F.sum(gx * gx, axis=1)) - 1) ** 2)
            for p in link.params():
                p.cleargrad()
            (loss + penalty).backward(enable_double_backprop=True)
            assert link.a.grad_var.creator is not None
            if clear:
                link.cleargrads()
            del x, loss, gx, penalty, p
            if step in (2, 99):
                gc.collect()
                sizes.append(LeakCounters.counts())
        assert sizes[0] == sizes[1]
        ref = weakref.ref(link)
        del link
        gc.collect()
        assert ref() is None


def test_function_that_keeps_the_variable_of_its_gradient(make):
    with LeakCounters():
        x, w = Variable(make(A)), Variable(make(A))
        f = Double()
        f.w = w
        (y,) = f.apply((x,))
        w.grad_var = y * 2
        refs = [weakref.ref(o) for o in (f, w)]
        del f, x, y
        gc.collect()
        assert refs[0]().w is w
        del w
        gc.collect()
        assert all(r() is None for r in refs)


def test_ring_of_gradients_with_a_function_that_keeps_it(make):
    with LeakCounters():
        x = Variable(make(A))
        f = Double()
        f.x = x
        (y,) = f.apply((x,))
        z = y * 3
        z.grad_var, x.grad_var = x, z
        refs = [weakref.ref(o) for o in (f, x, z)]
        del f, x, y
        gc.collect()
        assert refs[0]().x.grad_var is z
        del z
        gc.collect()
        assert all(r() is None for r in refs)


def chain_of_gradients(first, n, order):
    """Makes variables, each the gradient of the previous one; returns the last."""
    variables = [Variable(np.ones_like(first.array)) for _ in range(n)] + [first]
    for i in order(range(n)):
        variables[i].grad_var = variables[i + 1]
    return variables


# So long that walking from each of them to the end would take minutes.
LONG = 50_000


@pytest.mark.parametrize('order', [iter, reversed])
def test_long_chain_of_gradients(order):
    with LeakCounters():
        variables = chain_of_gradients(Variable(np.ones(1, 'f')), LONG, order)
        gc.collect()
        refs = [weakref.ref(v) for v in variables]
        first, last = variables[0], variables[-1]
        del variables
        gc.collect()
        assert all(r() is not None for r in refs)
        last.grad_var = first  # closes a cycle
        del last
        gc.collect()
        assert all(r() is not None for r in refs)
        del first
        gc.collect()
        assert all(r() is None for r in refs)


@pytest.mark.parametrize('order', [iter, reversed])
def test_long_chain_of_gradients_with_a_function_that_keeps_it(order):
    with LeakCounters():
        x, f = Variable(np.ones(1, 'f')), Double()
        (y,) = f.apply((x,))
        variables = chain_of_gradients(y * 3, LONG, order)
        f.first = variables[0]
        ref = weakref.ref(f)
        middle = variables[LONG // 2]
        del x, y, f, variables
        gc.collect()
        assert ref() is not None
        assert ref().first.grad_var is not None
        del middle
        gc.collect()
        assert ref() is None
