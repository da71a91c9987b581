"""Hooks on gradients: when they run, in which order, what they may change, what errors leave."""

import gc
import weakref

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy


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


def test_what_a_hook_keeps_goes_with_it():
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
