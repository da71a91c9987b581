"""Cycles that a user may create through the graph are collected, and not too early."""

import gc
import weakref

import chainer
import chainer.functions as F
import chainerx
import pytest
from chainer import Chain, Parameter, Variable
from chainer.functions.activation.clipped_relu import ClippedReLU
from chainer.functions.activation.relu import ReLU
from engine.leak_counters import (
    A,
    Double,
    LeakCounters,
    warm_up,  # noqa: F401 - a fixture
)


class Cycle(Chain):
    """link -> variable -> node -> function -> link"""

    class Function(Double):
        pass

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.W = Parameter(A.copy())

    def forward(self):
        f = Cycle.Function()
        f.link = self
        (y,) = f.apply((self.W * 1,))
        self.z = F.sum(y * 3)
        return self.z


def test_cycle_through_a_link_is_collected_and_not_before(make):
    with LeakCounters():
        link = Cycle()
        link.to_device(chainer.backend.get_device_from_array(make(A)))
        link().backward()
        refs = [weakref.ref(link), weakref.ref(link.z)]
        gc.collect()
        assert all(r() is not None for r in refs)
        z = link.z
        del link
        gc.collect()
        # The function that z comes from keeps the link.
        assert all(r() is not None for r in refs)
        z.backward()
        node = z.node
        del z
        gc.collect()
        assert all(r() is not None for r in refs)
        assert node.get_variable_or_none().rank == 4
        del node
        gc.collect()
        assert all(r() is None for r in refs)


def test_cycle_that_comes_back_twice():
    link = Cycle()
    link()
    link.y = link.z.creator.inputs[0].get_variable_or_none() or link.z * 1
    ref = weakref.ref(link)
    del link
    gc.collect()
    assert ref() is None


def test_cycles_of_one(make):
    with LeakCounters():
        x = Variable(make(A))
        x.me = x
        x.grad_var = Variable(make(A))
        x.grad_var.x = x
        (y,) = Double().apply((x,))
        y.creator.me = y.creator
        y.creator.y = y
        refs = [weakref.ref(y), weakref.ref(y.creator), weakref.ref(x)]
        gc.collect()
        assert y.creator.y is y
        del x, y
        gc.collect()
        assert all(r() is None for r in refs)


def test_cycle_between_two_graphs(make):
    with LeakCounters():
        x = Variable(make(A))
        (y,) = Double().apply((x,))
        (z,) = Double().apply((x * 3,))
        y.creator.other = z
        z.creator.other = y
        refs = [weakref.ref(y), weakref.ref(z)]
        del y
        gc.collect()
        assert z.creator.other.creator.other is z
        del z
        gc.collect()
        assert all(r() is None for r in refs)
        del x


def test_cycle_through_a_hook(make):
    class Keeps(chainer.FunctionHook):
        def forward_postprocess(self, function, in_data):
            self.function = function

    with LeakCounters():
        hook = Keeps()
        f = Double()
        f.add_hook(hook)
        (y,) = f.apply((Variable(make(A)),))
        hook.y = y
        refs = [weakref.ref(o) for o in (f, hook, y)]
        del f, y
        gc.collect()
        assert hook.function.outputs[0]().get_variable() is hook.y
        del hook
        gc.collect()
        assert all(r() is None for r in refs)


@pytest.mark.parametrize('before', [False, True])
def test_cycle_through_a_hook_of_a_builtin_function(make, before):
    class Keeps(chainer.FunctionHook):
        name = 'Keeps'

    with LeakCounters():
        hook = Keeps()
        y = F.relu(Variable(make(A)))
        if before:
            hook.z = F.sum(y * 2)
            y.creator.add_hook(hook)
        else:
            y.creator.add_hook(hook)
            hook.z = F.sum(y * 2)
        refs = [weakref.ref(hook), weakref.ref(hook.z)]
        del hook
        gc.collect()
        assert y.creator.local_function_hooks['Keeps'].z.rank == 3
        del y
        gc.collect()
        assert all(r() is None for r in refs)
    with LeakCounters():  # and no other function is affected
        test_cycle_through_a_builtin_function(make)


def test_cycle_through_a_builtin_function(make):
    with LeakCounters():
        y = F.relu(Variable(make(A)))
        f = y.creator
        f.y = y
        refs = [weakref.ref(f), weakref.ref(y)]
        del y
        gc.collect()
        assert f.y.creator is f
        del f
        gc.collect()
        assert refs[1]() is None


class Keeping(chainer.Link):
    def forward(self, x):
        f = Double()
        f.link = self
        (y,) = f.apply((x,))
        return y


@pytest.mark.parametrize(
    ('kept', 'keeps'),  # and whether it alone keeps the function
    [
        (lambda x, y: y.chx_array, True),
        (lambda x, y: [{'of chainerx': y.chx_array * 2 + 1}], True),
        (lambda x, y: F.sum(y).chx_array, True),
        (lambda x, y: F.relu(y).creator.outputs, True),
        (lambda x, y: y.creator.outputs, False),
        (lambda x, y: x._record, True),
    ],
    ids=['array', 'computed', 'above', 'outputs above', 'outputs', 'gradient'],
)
def test_cycle_through_arrays_and_weak_outputs(kept, keeps):
    with LeakCounters():
        link = Keeping()
        x = Variable(chainerx.array(A))
        y = link(x)
        F.sum(y * y).backward(enable_double_backprop=True)
        link.kept = kept(x, y)
        ref = weakref.ref(link)
        gc.collect()
        held = link.kept
        del link, x, y
        gc.collect()
        assert (ref() is not None) == keeps
        del held
        gc.collect()
        assert ref() is None


@pytest.mark.parametrize('base', [chainer.FunctionNode, ReLU, ClippedReLU, chainer.Function])
def test_classes_of_users_are_collected(make, base):
    class Own(base):
        def __init__(self):
            super().__init__(*([1.0] if base is ClippedReLU else []))

        def forward(self, xs):
            return (xs[0] * 1,)

        def backward(self, *args):
            return args[-1]

    x = Variable(make(A))
    y = Own()(x) if base is chainer.Function else Own().apply((x,))[0]
    F.sum(y).backward()
    assert x.grad is not None
    Own.y = y
    refs = [weakref.ref(Own), weakref.ref(y)]
    del Own, x, y
    gc.collect()
    assert [r() for r in refs] == [None, None]


def test_cleared_cycle_with_a_destructor(make):
    seen = []

    class Last(Double):
        def __del__(self):
            seen.append((self.y.array is not None, self.inputs is not None))

    (y,) = Last().apply((Variable(make(A)),))
    y.creator.y = y
    del y
    gc.collect()
    assert seen == [(True, True)]
