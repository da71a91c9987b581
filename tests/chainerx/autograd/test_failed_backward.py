"""A failing backward changes nothing; a successful one releases the graph, as errors then say."""

import gc

import chainerx as chx
import numpy as np
import pytest
from cases._arrays import check, leaf
from chainerx._core import engine


class Failing:
    """An identity whose gradient fails a given number of times."""

    def __init__(self, times=1):
        self.left = times
        self.apply = engine.WithGradient('failing', lambda x: x * 1, self.gradient)

    def gradient(self, gy, needed, inputs, output):
        if self.left:
            self.left -= 1
            raise ZeroDivisionError('in backward')
        return (gy * 1,)


def test_retry_after_a_failure():
    failing = Failing(2)
    x, w, v = leaf([1.0, 2.0]), leaf([3.0, 4.0]), leaf([5.0, 6.0])
    v.grad = old = chx.array([1.0, 1.0], 'float32')
    y = failing.apply(x * w) * v  # v gets its gradient before the failure
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            y.backward()
        assert x.grad is None
        assert w.grad is None
        assert v.grad is old
    y.backward()
    check(x.grad, [15, 24])
    check(w.grad, [5, 12])
    check(v.grad, [4, 9])


def test_retry_of_grad_after_a_failure():
    failing = Failing()
    x = leaf([2.0])
    y = failing.apply(x * x) * 3
    with pytest.raises(ZeroDivisionError):
        chx.grad([y], [x])
    (gx,) = chx.grad([y], [x])
    check(gx, [12])


def test_index_that_went_bad():
    indices = np.array([0, 1, 1])
    x = leaf([1.0, 2.0])
    y = (x * 2).take(chx.asarray(indices), axis=0) * 3
    indices[2] = 10**9  # without a call of chainerx
    with pytest.raises(IndexError):
        y.backward()
    assert x.grad is None
    indices[2] = 0
    y.backward()
    check(x.grad, [12, 6])


def test_a_failed_graph_dies_with_its_array():
    gc.collect()  # frees garbage of other tests
    chx._core._set_leak_tracking(True)
    try:
        before = tuple(chx._core._live_counts())
        x = leaf([1.0])
        y = Failing().apply(x * 2) * 2
        with pytest.raises(ZeroDivisionError):
            y.backward()
        assert tuple(chx._core._live_counts()) > before
        del x, y
        gc.collect()  # frees the traceback
        assert tuple(chx._core._live_counts()) == before
    finally:
        chx._core._set_leak_tracking(False)


def test_second_backward_raises():
    x = leaf([1.0, 2.0])
    y = x * x
    y.backward()
    for again in (y.backward, lambda: chx.backward([y]), lambda: chx.grad([y], [x])):
        with pytest.raises(chx.GradientError, match=r"released at operation 'multiply'.*\(2,\)"):
            again()
    check(x.grad, [2, 4])


def test_part_that_two_outputs_share():
    x, w = leaf([1.0]), leaf([2.0])
    h = x * 2
    y, z = h * 3, h * w
    y.backward()
    with pytest.raises(chx.GradientError, match='released'):
        z.backward()
    check(x.grad, [6])
    assert w.grad is None  # not half of it
    with pytest.raises(chx.GradientError, match='released'):
        chx.grad([z], [x])
    with pytest.raises(chx.GradientError, match='released'):
        chx.grad([z], [w])  # w might be below h, too
    (gh,) = chx.grad([z], [h], enable_double_backprop=True)  # needs nothing below h
    check(gh, [2])
    x.cleargrad()
    z = h.as_grad_stopped() * w
    z.backward()
    check(w.grad, [2])


def test_two_outputs_at_once():
    x = leaf([1.0])
    h = x * 2
    chx.backward([h * 3, h * 4])
    check(x.grad, [14])


def test_graph_that_is_kept():
    x = leaf([3.0])
    y = x * x
    y.backward(enable_double_backprop=True)
    y.backward()
    check(x.grad, [12])
    with pytest.raises(chx.GradientError, match='released'):
        y.backward(enable_double_backprop=True)


def test_released_for_one_id_only():
    with chx.backprop_scope('outer') as outer:
        x = chx.array([3.0]).require_grad(outer)
        with chx.backprop_scope('inner') as inner:
            x.require_grad(inner)
            y = x * x
            y.backward(inner)
            with pytest.raises(chx.GradientError, match='released'):
                y.backward(inner)
            y.backward(outer)
        assert x.get_grad(outer).tolist() == [6]
        with pytest.raises(chx.GradientError, match='released'):
            y.backward(outer)


def test_a_reused_id_is_not_released():
    x = chx.array([3.0])
    with chx.backprop_scope('old') as old:
        x.require_grad(old)
        y = x * 2
        y.backward(old)
    with chx.backprop_scope('new') as new:
        y.require_grad(new)
        (y * y).backward(new)
        assert y.get_grad(new).tolist() == [12]


def test_grad_starts_from_the_gradient_that_an_output_has():
    x = leaf([2.0])
    y = x * 3
    y.set_grad(chx.array([5.0], 'float32'))
    assert y.is_grad_required()
    for grad_outputs in ((), ([None],)):
        keywords = {'grad_outputs': grad_outputs[0]} if grad_outputs else {}
        (gx,) = chx.grad([y], [x], enable_double_backprop=True, **keywords)
        check(gx, [15])
    given = chx.array([7.0], 'float32')
    (gx,) = chx.grad([y], [x], enable_double_backprop=True, grad_outputs=[given])
    check(gx, [21])
    y.backward()
    check(x.grad, [15])
    check(y.grad, [5])
    y.cleargrad()
    assert y.grad is None
