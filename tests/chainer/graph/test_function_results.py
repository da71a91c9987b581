"""Results that user-defined functions may return, retain and omit."""

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import FunctionNode, Variable
from devices import assert_equal

A = np.arange(6, dtype='f').reshape(2, 3) + 1


class Mul(FunctionNode):
    def forward(self, xs):
        self.retain_inputs((0, 1))
        return (xs[0] * xs[1],)

    def backward(self, indexes, gys):
        x, y = self.get_retained_inputs()
        return gys[0] * y, gys[0] * x  # for both, whichever are requested


# ---- the number of gradients ----


def test_one_gradient_per_input(make):
    x, constant = Variable(make(A)), make(2 * A)
    for inputs in ((x, constant), (constant, x)):
        x.cleargrad()
        (y,) = Mul().apply(inputs)
        F.sum(y).backward()
        assert_equal(x.grad, 2 * A)
    y, z = Variable(make(A)), Variable(make(3 * A))
    (u,) = Mul().apply((y, z))
    (g,) = chainer.grad([F.sum(u * u)], [z], enable_double_backprop=True)
    assert_equal(g, 6 * A**3)
    (gg,) = chainer.grad([F.sum(g)], [y])
    assert_equal(gg, 12 * A * A)


@pytest.mark.parametrize('kind', [tuple, list])
@pytest.mark.parametrize('n', range(5))
@pytest.mark.parametrize('wanted', [1, 2, 3])
def test_both_counts_are_taken(make, n, wanted, kind):
    class Sum(FunctionNode):
        def forward(self, xs):
            return (xs[0] + xs[1] + xs[2],)

        def backward(self, indexes, gys):
            assert len(indexes) == wanted
            return kind([gys[0]] * n)

    xs = [Variable(make(A), requires_grad=i >= 3 - wanted) for i in range(3)]
    (y,) = Sum().apply(xs)
    if n in (3, wanted):
        F.sum(y).backward()
        for x in xs:
            assert (x.grad is not None) == x.requires_grad
        return
    expected = '3' if wanted == 3 else f'3 or {wanted}'
    match = rf'Sum\.backward: number of gradients .* is incorrect: {n} != expected {expected}$'
    with pytest.raises(ValueError, match=match):
        F.sum(y).backward()


def test_the_gradients_of_the_right_inputs_are_taken(make):
    class Linear(FunctionNode):
        def forward(self, xs):
            return (xs[0] + 10 * xs[1] + 100 * xs[2],)

        def backward(self, indexes, gys):
            return gys[0], gys[0] * 10, gys[0] * 100

    for wanted in ((0, 1), (0, 2), (1, 2), (1,), (2,)):
        xs = [Variable(make(A), requires_grad=i in wanted) for i in range(3)]
        (y,) = Linear().apply(xs)
        F.sum(y).backward()
        for i in wanted:
            assert_equal(xs[i].grad, np.full_like(A, 10**i))


def test_accumulating_by_oneself(make):
    class Own(Mul):
        def backward_accumulate(self, indexes, gys, grad_inputs):
            gxs = super().backward_accumulate(indexes, gys, grad_inputs)
            assert len(gxs) == len(indexes)
            return tuple(2 * g for g in gxs)

    x = Variable(make(A))
    (y,) = Own().apply((make(3 * A), x))
    F.sum(y).backward()
    assert_equal(x.grad, 6 * A)
    f = Mul()
    (y,) = f.apply((x, make(A)))
    g = Variable(make(A))
    (total,) = f.backward_accumulate((0,), (g,), (g,))
    assert_equal(total, A * A + A)
    assert f.backward_accumulate((0,), (g,), (None,))[0].shape == A.shape


# ---- None among inputs and outputs ----


@pytest.mark.parametrize('absent', [lambda: None, lambda: Variable(None)])
@pytest.mark.parametrize('place', [0, 1])
def test_none_among_the_inputs(make, place, absent):
    seen = []

    class Double(FunctionNode):
        def forward(self, xs):
            self.retain_inputs((0, 1))
            assert xs[place] is None
            return (xs[1 - place] * 2,)

        def backward(self, indexes, gys):
            seen.append((indexes, self.get_retained_inputs()))
            return (gys[0] * 2,)

    x = Variable(make(A))
    inputs = [x, x]
    inputs[place] = absent()
    (y,) = Double().apply(inputs)
    F.sum(y).backward()
    assert_equal(x.grad, np.full_like(A, 2))
    ((indexes, retained),) = seen
    assert indexes == (1 - place,)
    assert retained[place] is None
    assert retained[1 - place] is x


def test_none_among_the_inputs_of_a_native_forward(make):
    class Native(FunctionNode):
        def forward(self, xs):
            return (xs[1] * 2,)

        def forward_chainerx(self, xs):
            assert xs[0] is None
            return (xs[1] * 2,)

        def backward(self, indexes, gys):
            return (gys[0] * 2,)

    x = Variable(make(A))
    (y,) = Native().apply((None, x))
    F.sum(y).backward()
    assert_equal(x.grad, np.full_like(A, 2))


@pytest.mark.parametrize('place', [0, 1])
def test_none_among_the_outputs(make, place):
    seen = []

    class Some(FunctionNode):
        def forward(self, xs):
            self.retain_outputs((0, 1))
            return (None, xs[0] * 2) if place == 0 else (xs[0] * 2, None)

        def backward(self, indexes, gys):
            seen.append((gys[place], self.get_retained_outputs()))
            return (gys[1 - place] * 2,)

    x = Variable(make(A))
    ys = Some().apply((x,))
    y, nothing = ys[1 - place], ys[place]
    assert type(nothing) is Variable
    assert nothing.array is None
    assert y.creator.output_data[1 - place] is y.array
    with chainer.using_config('debug', True), chainer.function_hooks.TimerHook():
        again = Some().apply((x,))
        assert again[place].array is None
    F.sum(y).backward()
    assert_equal(x.grad, np.full_like(A, 2))
    ((gradient, retained),) = seen
    assert gradient is None
    assert retained[place] is None
    assert retained[1 - place] is y


def test_nothing_but_none(make):
    class Nothing(FunctionNode):
        def forward(self, xs):
            return (None,)

    for x in (Variable(make(A)), None):
        (y,) = Nothing().apply((x,))
        assert y.array is None


# ---- integers ----


def test_no_gradients_of_integers_over_chainerx(make):
    class Take(FunctionNode):
        def forward(self, xs):
            return (xs[0][xs[1]],)

        def backward(self, indexes, gys):
            asked.append(indexes)
            return (gys[0] * 2, None)[: len(indexes)]

    asked = []
    x, indices = Variable(make(A)), Variable(make(np.array([1, 0])))
    parameter = chainer.Parameter(np.array([1, 0]))
    parameter.to_device(x.device)
    for i in (indices, parameter):
        (y,) = Take().apply((x, i))
        F.sum(y).backward()
        assert i.grad is None or i is parameter
    over_chainerx = isinstance(x.array, chainerx.ndarray)
    assert asked == [(0,) if over_chainerx else (0, 1)] * 2
    assert_equal(x.grad, np.full_like(A, 4))
    if over_chainerx:
        (y,) = Take().apply((make(A), indices))
        F.sum(y).backward()
        assert len(asked) == 2
