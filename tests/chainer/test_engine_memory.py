"""Graphs are freed when nobody looks any more, and not before."""

import gc
import threading
import weakref

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Chain, FunctionNode, Parameter, Variable
from devices import DEVICES, maker

A = np.arange(6, dtype='f').reshape(2, 3) + 1


@pytest.fixture(params=DEVICES)
def make(request):
    return maker(request.param)


class Live:
    """Counts what lives in the core. Whatever is made inside must be gone in the end."""

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
    # Constants of the library are made once.
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


def test_counts_see_what_lives(make):
    live = Live()
    live.__enter__()
    y = F.relu(Variable(make(A)))
    with pytest.raises(AssertionError):
        live.__exit__(None)
    del y


def test_steps(make):
    with Live():
        for debug in (False, True):
            for _ in range(3):
                step(make, debug)


def test_no_collector_is_needed(make):
    # Reference counts alone free the graph of one step.
    gc.collect()
    gc.disable()
    try:
        chainerx._core._set_leak_tracking(True)
        before = Live.counts()
        x = Variable(make(A))
        (h,) = Double().apply((F.relu(x),))
        y = F.sum(h)
        y.backward()
        f = weakref.ref(h.creator)
        del x, h, y
        assert f() is None
        assert Live.counts() == before
    finally:
        chainerx._core._set_leak_tracking(False)
        gc.enable()


class Fails(FunctionNode):
    def __init__(self, where):
        self.where = where

    def check_type_forward(self, in_types):
        if self.where == 'check':
            raise KeyError('mine')

    def forward(self, xs):
        self.retain_inputs((0,))
        if self.where == 'forward':
            raise KeyError('mine')
        if self.where == 'list':
            return list(xs)
        return (xs[0] * 2,)

    def backward(self, indexes, gys):
        if self.where == 'backward':
            raise KeyError('mine')
        return {'none': None, 'two': (gys[0],) * 2, 'shape': (F.sum(gys[0]),)}[self.where]


@pytest.mark.parametrize('where', ['check', 'forward', 'list', 'backward', 'none', 'two', 'shape'])
def test_errors_leak_nothing(make, where):
    with Live():
        for _ in range(3):
            x = Variable(make(A))
            h = x * 2
            with pytest.raises((KeyError, TypeError, ValueError)):
                F.sum(Fails(where).apply((h,))[0] * x).backward()
            F.sum(h).backward()
            np.testing.assert_array_equal(chainer.backend.CpuDevice().send(x.grad), 2)
            del x, h


def test_errors_of_hooks_leak_nothing(make):
    class Raises(chainer.FunctionHook):
        def __init__(self, moment):
            setattr(self, moment, self.run)

        def run(self, *args):
            raise KeyError('hook')

    with Live():
        for moment in ('forward_preprocess', 'forward_postprocess', 'backward_preprocess'):
            for _ in range(2):
                x = Variable(make(A))
                with pytest.raises(KeyError, match='hook'), Raises(moment):
                    F.sum(Double().apply((F.relu(x),))[0]).backward()
                del x


# ---- cycles ----


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
    with Live():
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
    with Live():
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
    with Live():
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

    with Live():
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

    with Live():
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
    with Live():  # and no other function suffers
        test_cycle_through_a_builtin_function(make)


def test_cycle_through_a_builtin_function(make):
    with Live():
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


# ---- gradients that lead back to their variables ----


def test_gradients_that_are_their_own_variables(make):
    with Live():
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
    with Live():
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
def test_double_backprop_where_variables_are_gone(make, retain):
    with Live():
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
    with Live():
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
def test_what_a_variable_gives_up_is_freed(make, how):
    """Its record too, though the variable and its node live on."""
    with Live() as live:
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
            # An empty variable has nothing in the core.
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
    """Refers to the link, as functions that read parameters do."""

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
    """The gradients of one step are part of the graph that the next one builds on."""

    def builtin(link, x):
        return F.square(x)

    def own(link, x):
        return Square(link).apply((x,))[0]

    with Live():
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
                sizes.append(Live.counts())
        assert sizes[0] == sizes[1]
        ref = weakref.ref(link)
        del link
        gc.collect()
        assert ref() is None


def test_function_that_keeps_what_its_output_is_the_gradient_of(make):
    with Live():
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
    with Live():
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


# ---- large graphs ----


@pytest.mark.slow
def test_a_million_nodes():
    x = Variable(np.ones(1, 'f'))
    y = x
    for _ in range(1_000_000):
        y = y + x
    y.backward()
    assert x.grad[0] == 1_000_001
    assert y.rank == 1_000_000
    del y


def test_a_long_chain_of_a_users_functions():
    class Next(FunctionNode):
        def forward(self, xs):
            return (xs[0] + 1,)

        def backward(self, indexes, gys):
            return gys

    with Live():
        x = y = Variable(np.ones(1, 'f'))
        n = 20_000
        for _ in range(n):
            (y,) = Next().apply((y,))
        y.backward()
        assert x.grad[0] == 1
        assert y.rank == n
        del y, x


def test_cycle_through_a_long_chain(make):
    x = Variable(make(A))
    (y,) = Double().apply((x,))
    f = y.creator
    for _ in range(2000):
        (y,) = Double().apply((y,))
    f.y = y
    ref = weakref.ref(f)
    del f, y
    gc.collect(0)
    gc.collect()
    assert ref() is None


def test_unchain_backward_of_a_long_chain():
    with Live():
        x = y = Variable(np.ones(1, 'f'))
        for _ in range(50_000):
            y = y * 1
        y.unchain_backward()
        assert y.creator is None
        del x, y


def test_graphs_of_threads(make):
    def work():
        for _ in range(20):
            step(make)

    work()
    with Live():
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        del threads, t
