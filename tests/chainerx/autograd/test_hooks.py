"""Hooks on gradients: when they run, in which order, what they may change, and errors."""

import functools
import gc
import weakref

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from chainerx import func


def leaf(*values):
    return chx.array(values, dtype='float64').require_grad()


def test_a_hook_sees_the_whole_gradient_once():
    x = leaf(1.0, 2.0)
    y = x * 3
    seen = []
    y.register_hook(lambda g: seen.append(('y', g.tolist())))
    x.register_hook(lambda g: seen.append(('x', g.tolist())))
    chx.backward((y * y + y).sum())
    assert seen == [('y', [7, 13]), ('x', [21, 39])]
    assert x.grad.tolist() == [21, 39]


def test_hooks_replace_in_the_order_of_registration():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: g + 1)
    y.register_hook(lambda g: None)
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    assert x.grad.tolist() == [40]


def test_the_gradient_of_a_leaf_is_replaced_before_it_is_added():
    x = leaf(1.0)
    x.grad = chx.array([5.0], dtype='float64')
    x.register_hook(lambda g: g * 100)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [205]


def test_remove():
    x = leaf(1.0)
    seen = []
    handles = [x.register_hook(lambda g, i=i: seen.append(i)) for i in range(3)]
    handles[1].remove()
    handles[1].remove()
    (x * 1).sum().backward()
    assert seen == [0, 2]
    x.register_hook(lambda g: seen.append(3))
    (x * 1).sum().backward()
    assert seen == [0, 2, 0, 2, 3]


def test_a_hook_may_remove_itself_and_register_others():
    x = leaf(1.0)
    seen = []

    def other(g):
        seen.append('other')

    def once(g):
        seen.append('once')
        handle.remove()
        x.register_hook(other)

    handle = x.register_hook(once)
    (x * 1).sum().backward()
    (x * 1).sum().backward()
    assert seen == ['once', 'other']


def test_references_of_a_hook_are_freed_with_it():
    class Kept:
        pass

    x = leaf(1.0)
    kept = [Kept() for _ in range(3)]
    refs = [weakref.ref(k) for k in kept]
    handles = [x.register_hook(lambda g, k=k: None) for k in kept]
    del kept
    handles[0].remove()
    assert refs[0]() is None
    assert refs[1]() is not None
    y = x * 2
    kept = refs[2]()
    y.register_hook(lambda g, k=kept: None)
    del x, y, handles, kept
    gc.collect()
    assert [r() for r in refs] == [None] * 3


def test_a_hook_outlives_its_array():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: g * 7)
    z = y.sum()
    del y
    z.backward()
    assert x.grad.tolist() == [14, 14]


@pytest.mark.parametrize('of', ['leaf', 'middle', 'output'])
def test_an_error_in_a_hook_leaves_all_as_it_was(of):
    x = leaf(1.0, 2.0)
    w = leaf(3.0, 4.0)
    x.grad = chx.array([1.0, 1.0], dtype='float64')
    h = x * w
    y = chx.exp(h).sum()

    def fail(g):
        raise KeyError('of the hook')

    handle = {'leaf': x, 'middle': h, 'output': y}[of].register_hook(fail)
    with pytest.raises(KeyError, match='of the hook'):
        y.backward()
    assert x.grad.tolist() == [1, 1]
    assert w.grad is None
    handle.remove()
    y.backward()
    np.testing.assert_allclose(w.grad.tolist(), [np.exp(3), 2 * np.exp(8)])


@pytest.mark.parametrize(
    ('result', 'error', 'text'),
    [
        (lambda g: g[:1], 'GradientError', r'shape \(1,\), expected \(2,\)'),
        (lambda g: g.astype('float32'), 'GradientError', 'dtype float32, expected float64'),
        (lambda g: g.to_device('native:1'), 'GradientError', 'on native:1, expected native:0'),
        (lambda g: 3.0, 'TypeError', 'must be a chainerx.ndarray, got float'),
    ],
)
def test_results_that_do_not_fit(result, error, text):
    x = leaf(1.0, 2.0)
    x.register_hook(result)
    expected = getattr(chx, error, None) or TypeError
    with pytest.raises(expected, match=text):
        (x * 2).sum().backward()
    assert x.grad is None


def test_what_can_have_hooks():
    with pytest.raises(chx.ChainerxError, match='not in the graph'):
        chx.ones(2).register_hook(print)
    with pytest.raises(TypeError, match='must be callable, got int'):
        leaf(1.0).register_hook(3)
    with pytest.raises(TypeError, match='cannot copy'):
        __import__('copy').copy(leaf(1.0).register_hook(print))


def test_hooks_are_of_one_graph():
    x = leaf(1.0)
    seen = []
    with chx.backprop_scope('inner') as inner:
        x.require_grad(inner)
        x.register_hook(lambda g: seen.append('inner'), inner)
        x.register_hook(lambda g: seen.append('default'))
        chx.backward((x * 2).sum(), inner)
        assert seen == ['inner']
        chx.backward((x * 2).sum())
    assert seen == ['inner', 'default']


def test_grad_runs_hooks():
    x = leaf(2.0)
    y = x * x
    y.register_hook(lambda g: g * 3)
    x.register_hook(lambda g: g + 1)
    (g,) = chx.grad([y.sum()], [x])
    assert g.tolist() == [13]
    assert x.grad is None


def test_a_hook_is_part_of_the_second_derivative():
    x = leaf(2.0)
    y = x * x
    y.register_hook(lambda g: g * x)
    (g,) = chx.grad([y], [x], enable_double_backprop=True)
    assert g.tolist() == [8]  # 2 x * x
    (g,) = chx.grad([g], [x])
    assert g.tolist() == [8]  # 4 x


def test_one_of_several_outputs():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    a, b = chx.split(x, 2)
    b.register_hook(lambda g: g * 10)
    (a.sum() + b.sum()).backward()
    assert to_numpy(x.grad).tolist() == [1, 1, 10, 10]


class Layer:
    """Keeps an array whose hook is a method."""

    def __init__(self, of):
        self.w = leaf(1.0, 2.0) if of == 'leaf' else leaf(1.0, 2.0) * 2
        self.handle = self.w.register_hook(self.hook)

    def hook(self, g):
        return g * 2


@pytest.mark.parametrize('of', ['leaf', 'result'])
def test_a_hook_that_refers_to_its_array_is_collected_with_it(of):
    layer = Layer(of)
    ref = weakref.ref(layer)
    gc.collect()
    assert chx.grad([layer.w.sum()], [layer.w])[0].tolist() == [2, 2]
    del layer
    gc.collect()
    assert ref() is None


def test_a_hook_without_its_own_way_out_is_collected():
    x = leaf(1.0)
    marker = leaf(2.0)
    ref = weakref.ref(marker)
    # Only the hook can be cleared: builtin methods and tuples can't.
    x.register_hook(functools.partial(x.__setattr__, marker))
    del x, marker
    gc.collect()
    assert ref() is None


def test_a_collection_leaves_hooks_that_are_still_to_come():
    seen = []
    x = leaf(1.0)
    x.register_hook(lambda g, x=x: seen.append(g.tolist()))
    y = x * 3
    del x
    gc.collect()
    y.sum().backward()
    assert seen == [[3]]
    w = leaf(1.0)
    w.register_hook(lambda g, w=w: seen.append('w'))
    others = [w]
    del w
    gc.collect()
    (others[0] * 2).sum().backward()
    assert seen == [[3], 'w']


@pytest.mark.parametrize('and_return', [False, True])
def test_a_hook_may_not_write_to_the_gradient(and_return):
    a, b = leaf(1.0), leaf(1.0)

    def write(g):
        g += 1
        return g if and_return else None

    a.register_hook(write)
    with pytest.raises(chx.GradientError, match=r'has written to the gradient, of shape \(1,\)'):
        (a + b).sum().backward()
    assert a.grad is b.grad is None


# ---- functions that are differentiated ----------------------------------------------------------


def scaled(x, seen):
    y = x * 2
    y.register_hook(lambda g: (seen.append(g.tolist()), g * 10)[1])
    return chx.sum(y * y)


def test_inside_of_a_function_hooks_are_of_its_derivative():
    x, seen = leaf(1.0), []
    assert func.grad(lambda x: scaled(x, seen))(x).tolist() == [80]
    assert func.vjp(lambda x: scaled(x, seen), x)[1](chx.ones((), 'float64'))[0].tolist() == [80]
    assert seen == [[4], [4]]
    assert x.grad is None
    # The effect of the hook is differentiated, too; forward mode alone runs no hook.
    square = chx.grad([func.grad(lambda x: scaled(x, seen))(x).sum()], [x])
    assert square[0].tolist() == [80]
    n = len(seen)
    assert func.jvp(lambda x: scaled(x, seen), (x,), (chx.ones_like(x),))[1].tolist() == 8
    assert len(seen) == n


def test_inside_of_a_function_arrays_from_outside_have_hooks_of_their_graph():
    w, seen = leaf(3.0), []

    def f(x):
        w.register_hook(lambda g: seen.append(g.tolist()))
        return chx.sum(x * w)

    g = func.grad(f)(leaf(2.0))
    assert seen == []
    g.sum().backward()
    assert seen == [[1]]


@pytest.mark.parametrize('times', [1, 2])
def test_hooks_in_checkpoints_run_once(times):
    x, w, seen = leaf(1.0), leaf(1.0), []
    handles = []

    def f(x):
        handles.append(w.register_hook(lambda g: seen.append('w')))
        return scaled(x * w, seen)

    for _ in range(times):
        func.checkpoint(f)(x).backward()
    assert x.grad.tolist() == [80 * times]
    assert seen == [[4], 'w'] * times
    for handle in handles:
        handle.remove()
    assert func.grad(func.checkpoint(f))(x).tolist() == [80]
