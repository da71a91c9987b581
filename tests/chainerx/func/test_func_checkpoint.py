"""func.checkpoint: the same gradients with less memory, random numbers included."""

import concurrent.futures
import subprocess
import sys
import threading

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from chainerx import func
from chainerx.func import _tree


def array(*shape, seed=0):
    return chx.array(np.random.default_rng(seed).normal(size=shape))


def test_gradients_are_the_same():
    x, w = array(3, 4), array(4, 4, seed=1)

    def block(x, w):
        return chx.tanh(chx.tanh(x @ w) @ w), {'sum': chx.sum(x)}

    def loss(fun):
        def total(x, w):
            y, other = fun(x, w)
            return chx.sum(y * y) + other['sum']

        return total

    plain, kept = loss(block), loss(func.checkpoint(block))
    for transform in (func.grad, func.hessian):
        found = _tree.flatten(transform(kept, (0, 1))(x, w))[0]
        expected = _tree.flatten(transform(plain, (0, 1))(x, w))[0]
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(to_numpy(a), to_numpy(b), rtol=1e-12)


def test_arrays_that_the_function_uses():
    """Leaves and other arrays that are not arguments."""
    x, w, v = array(3), array(3, seed=1).require_grad(), array(3, seed=2).require_grad()
    u = chx.exp(v)
    calls = []

    def block(x):
        calls.append(1)
        return chx.sin(x * w) * u + w

    chx.sum(func.checkpoint(block)(x)).backward()
    assert len(calls) == 2
    found = to_numpy(w.grad), to_numpy(v.grad)
    for p in (w, v):
        p.cleargrad()
    u = chx.exp(v)
    chx.sum(block(x)).backward()
    np.testing.assert_allclose(found, (to_numpy(w.grad), to_numpy(v.grad)), rtol=1e-14)


def test_second_derivatives_by_captured_arrays():
    w = array(3, seed=1).require_grad()
    block = func.checkpoint(lambda x: chx.sin(x * w))
    x = array(3).require_grad()
    (g,) = chx.grad([block(x).sum()], [x], enable_double_backprop=True)
    g.sum().backward()
    t = to_numpy(x) * to_numpy(w)
    np.testing.assert_allclose(to_numpy(w.grad), np.cos(t) - t * np.sin(t), rtol=1e-12)


def test_nested():
    w = array(3, seed=1).require_grad()
    calls = []

    def inner(x):
        calls.append('inner')
        return chx.tanh(x * w)

    def outer(x):
        calls.append('outer')
        return chx.exp(func.checkpoint(inner)(x)) * w

    x = array(3).require_grad()
    func.checkpoint(outer)(x).sum().backward()
    found = to_numpy(x.grad), to_numpy(w.grad)
    assert calls == ['outer', 'inner'] * 2 + ['inner']
    for p in (x, w):
        p.cleargrad()
    (chx.exp(chx.tanh(x * w)) * w).sum().backward()
    np.testing.assert_allclose(found, (to_numpy(x.grad), to_numpy(w.grad)), rtol=1e-14)


def test_it_keeps_its_arguments_alone():
    """Intermediate arrays are freed after the call, and so are those that backward recomputes."""
    chx._core._set_leak_tracking(True)
    try:
        x = chx.ones(10).require_grad()

        def chain(x):
            for _ in range(50):
                x = chx.tanh(x)
            return x

        before = chx._core._live_counts()
        y = func.checkpoint(chain)(x)
        between = chx._core._live_counts()
        assert all(b - a < 10 for a, b in zip(before[:3], between[:3], strict=True))
        y.sum().backward()
        assert x.grad is not None
    finally:
        chx._core._set_leak_tracking(False)


def test_nothing_is_recorded_without_a_graph():
    calls = []

    def block(x):
        calls.append(1)
        return x * 2

    y = func.checkpoint(block)(chx.ones(2))
    assert not y.is_backprop_required()
    with chx.no_backprop_mode():
        y = func.checkpoint(block)(chx.ones(2).require_grad())
    assert not y.is_backprop_required()
    assert len(calls) == 2


def test_random_numbers_are_those_of_the_first_call():
    masks = []

    def block(x):
        y = chx.dropout(x, 0.5) + chx.array(np.random.normal(size=1000))
        y = y + chx.random.normal(size=1000)
        masks.append(to_numpy(y.as_grad_stopped()))
        return y * y

    x = chx.ones(1000, dtype='float64').require_grad()
    chx.random.seed(3)
    np.random.seed(3)
    y = func.checkpoint(block)(x)
    following = to_numpy(chx.random.uniform(size=3)), np.random.uniform(size=3)
    state = chx.random.get_state()
    y.sum().backward()
    np.testing.assert_array_equal(*masks)
    assert chx.random.get_state() == state
    chx.random.seed(3)
    np.random.seed(3)
    block(x)
    np.testing.assert_array_equal(to_numpy(chx.random.uniform(size=3)), following[0])
    np.testing.assert_array_equal(np.random.uniform(size=3), following[1])


def test_generators_of_the_function_draw_the_same_again(device):
    own, other = chx.random.Generator(1), chx.random.Generator(2)
    drawn = []

    def inner(x):
        return x * own.normal(size=3, device=device)

    def block(x):
        y = func.checkpoint(inner)(x) + other.uniform(size=3, device=device)
        chx.random.seed(5)
        y = y * own.normal(size=3, device=device) * chx.random.normal(size=3, device=device)
        drawn.append(to_numpy(y.as_grad_stopped()))
        return y

    x = chx.ones(3, dtype='float64', device=device).require_grad()
    y = func.checkpoint(block)(x)
    following = [g.get_state() for g in (own, other, chx.random)]
    y.sum().backward()
    np.testing.assert_array_equal(*drawn)
    assert [g.get_state() for g in (own, other, chx.random)] == following
    own.set_state((1, 0))
    factors = own.normal(size=3), own.normal(size=3)
    chx.random.seed(5)
    expected = factors[0] * factors[1] * chx.random.normal(size=3)
    np.testing.assert_array_equal(to_numpy(x.grad), to_numpy(expected))


def test_inside_of_vmap():
    x, w = array(5, 3), array(3, seed=1)
    block = func.checkpoint(lambda x, w: chx.sum(chx.tanh(x * w)))
    expected = func.vmap(func.grad(lambda x, w: chx.sum(chx.tanh(x * w)), (0, 1)), (0, None))(x, w)
    found = func.vmap(func.grad(block, (0, 1)), (0, None))(x, w)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(to_numpy(a), to_numpy(b), rtol=1e-14)
    outside = func.grad(lambda x, w: chx.sum(func.vmap(block, (0, None))(x, w)), (0, 1))(x, w)
    np.testing.assert_allclose(to_numpy(outside[1]), to_numpy(expected[1]).sum(0), rtol=1e-14)


def test_changes_in_between_are_noticed():
    x = chx.ones(3, dtype='float64')
    results = [chx.ones(3, dtype='float64'), chx.ones(2, dtype='float64')]
    y = func.checkpoint(lambda x: x.sum() * results.pop(0))(x.require_grad())
    with pytest.raises(chx.GradientError, match=r'gives result 0 of shape \(2,\)'):
        y.sum().backward()

    ws = [chx.ones(3).require_grad(), chx.ones(3).require_grad()]
    y = func.checkpoint(lambda x: x * ws.pop(0))(chx.ones(3))
    other = chx.ones(3).require_grad()
    ws.append(other)
    kept = ws.pop(0)
    with pytest.raises(chx.GradientError, match='uses an array, of shape'):
        y.sum().backward()
    assert kept.grad is None
    assert other.grad is None

    x = chx.ones(3)
    w = chx.ones(3).require_grad()
    y = func.checkpoint(lambda x: x * w)(x)
    x += 1
    with pytest.raises(chx.GradientError, match='written in place'):
        y.sum().backward()


def test_errors_of_the_function():
    x = chx.ones(3).require_grad()
    with pytest.raises(TypeError, match='result of the function has a leaf of type float'):
        func.checkpoint(lambda x: 3.0)(x)
    with pytest.raises(ZeroDivisionError):
        func.checkpoint(lambda x: 1 // 0)(x)
    fail = []

    def block(x):
        if fail:
            raise KeyError('again')
        return x * x

    y = func.checkpoint(block)(x)
    fail.append(1)
    with pytest.raises(KeyError, match='again'):
        y.sum().backward()
    assert x.grad is None
    fail.clear()
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def draw_repeatedly(times):
    """Checks that gradients of dropout have the mask of the result; and returns later draws."""
    x = chx.ones(1000, dtype='float64').require_grad()
    wrong, numbers = 0, []
    for _ in range(times):
        y = func.checkpoint(lambda x: chx.dropout(x, 0.5))(x)
        numbers.append(tuple(chx.random.uniform(size=2).tolist()))
        (g,) = chx.grad([y.sum()], [x])
        wrong += (g != y.as_grad_stopped()).any().item()
        numbers.append(tuple(chx.random.uniform(size=2).tolist()))
    return wrong, numbers


def test_threads_draw_from_one_generator():
    chx.random.seed(0)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(draw_repeatedly, [200] * 4))
    assert [wrong for wrong, _ in found] == [0] * 4
    numbers = [n for _, own in found for n in own]
    assert len(set(numbers)) == len(numbers)
    assert chx.random.get_state()[1] == 4 * 200 * 3


def test_draws_of_others_in_between():
    """Draws of another thread, while the function runs, are not repeated."""
    drawn = []

    def block(x):
        first = chx.random.normal(size=3)
        thread = threading.Thread(target=chx.random.uniform)
        thread.start()
        thread.join()
        drawn.append(first.tolist() + chx.random.normal(size=3).tolist())
        return x * first

    x = chx.ones(3, dtype='float64').require_grad()
    chx.random.seed(1)
    y = func.checkpoint(block)(x)
    assert chx.random.get_state() == (1, 3)
    y.sum().backward()
    assert drawn[0] == drawn[1]
    assert chx.random.get_state() == (1, 4)  # draws of the other thread are not repeated


def test_state_is_read_and_restored():
    found = []

    def block(x):
        before = chx.random.get_state()
        first = chx.random.normal(size=3)
        between = chx.random.get_state()
        chx.random.set_state(before)
        again = chx.random.normal(size=3)
        chx.random.seed(7)
        found.append([before, between, chx.random.get_state(), first.tolist(), again.tolist()])
        return x * first

    x = chx.ones(3, dtype='float64').require_grad()
    chx.random.seed(3)
    chx.random.normal()
    y = func.checkpoint(block)(x)
    assert chx.random.get_state() == (7, 0)
    chx.random.normal()
    y.sum().backward()
    assert chx.random.get_state() == (7, 1)
    assert found[0] == found[1]
    assert found[0][:3] == [(3, 1), (3, 2), (7, 0)]
    assert found[0][3] == found[0][4]


def test_function_draws_more_the_second_time():
    counts = [1, 3]
    drawn = []

    def block(x):
        drawn.append([chx.random.normal() for _ in range(counts.pop(0))])
        return x * 2

    x = chx.ones(3).require_grad()
    chx.random.seed(1)
    y = func.checkpoint(block)(x)
    y.sum().backward()
    chx.random.seed(1)
    expected = [chx.random.normal().item() for _ in range(3)]
    assert [v.item() for v in drawn[0]] == expected[:1]
    assert [v.item() for v in drawn[1]] == expected


def test_numpys_generator_is_left_alone_if_it_was(monkeypatch):
    x = chx.ones(3).require_grad()
    y = func.checkpoint(lambda x: x * 2)(x)
    monkeypatch.setattr(np.random, 'set_state', None)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


CYCLES = """
import gc, sys
import chainerx as chx
from chainerx import func
if sys.argv[1] == 'chainer':
    import chainer


class Block:
    def __init__(self):
        self.w = chx.ones(3).require_grad()

    def function(self, x):
        return x * self.w

    def __call__(self, x, n):
        self.h = func.checkpoint(self.function)(x)
        self.after = [self.h]
        for _ in range(n):
            self.after.append(chx.tanh(self.after[-1]) * self.h)
        return self.after[-1]


def live_counts():
    gc.collect()
    return chx._core._live_counts()


chx._core._set_leak_tracking(True)
func.checkpoint(lambda x: x)
for n in (0, 1, 1000):
    for backward in (False, True):
        before = live_counts()
        for _ in range(10):
            y = Block()(chx.ones(3), n)
            if backward:
                y.sum().backward()
        del y
        assert live_counts() == before, (n, backward)
block = Block()
y, w = block(chx.ones(3), 0), block.w
del block
for _ in range(3):
    gc.collect()
y.sum().backward()
assert w.grad.tolist() == [1, 1, 1]
"""


@pytest.mark.parametrize('module', ['chainer', 'chainerx'])
def test_the_function_refers_to_the_owner_of_the_result(module):
    subprocess.run([sys.executable, '-c', CYCLES, module], check=True)
