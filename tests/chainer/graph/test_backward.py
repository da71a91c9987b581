"""Backpropagation: Variable.backward, unchaining, modes, initial gradients."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import FunctionNode, Variable
from devices import assert_equal, to_numpy

A = np.arange(6, dtype='f').reshape(2, 3) + 1
ONES = np.ones_like(A)


def test_accumulation(make):
    x = Variable(make(A))
    y = F.sum(x * x + x)
    y.backward()
    assert_equal(x.grad, 2 * A + 1)
    assert y.grad is None
    y.backward()  # the graph stays
    assert_equal(x.grad, 4 * A + 2)
    assert y.creator.inputs[0].creator.label == '_ + _'
    x.cleargrad()
    y.backward()
    assert_equal(x.grad, 2 * A + 1)


def test_gradients_that_a_user_holds_are_not_written_into(make):
    x = Variable(make(A))
    y = F.sum(x * 2)
    y.backward()
    g = x.grad
    y.backward()
    assert_equal(g, 2 * ONES)
    assert_equal(x.grad, 4 * ONES)
    mine = make(A)
    x.grad = mine
    y.backward()
    assert_equal(mine, A)


def test_retain_grad(make):
    x = Variable(make(A))
    h = x * 2
    y = F.sum(h)
    y.backward()
    assert h.grad is None
    y.backward(retain_grad=True)
    assert_equal(h.grad, ONES)
    assert_equal(y.grad, 1)


def test_several_elements(make):
    x = Variable(make(A))
    y = x * 2
    if x.xp is not chainerx:
        with pytest.raises(ValueError, match='no gradient to start from'):
            y.backward()
        assert x.grad is None
    else:
        y.backward()
        assert_equal(x.grad, 2 * ONES)
        x.cleargrad()
    y.grad = make(A)
    y.backward()
    assert_equal(x.grad, 2 * A)
    assert y.grad is None
    one = Variable(make(A[:1, :1]))
    (one * 3).backward()
    assert_equal(one.grad, [[3]])


def test_backward_of_a_leaf():
    x = Variable(A)
    x.backward()
    assert x.grad is None
    x = Variable(A[:1, :1])
    x.backward()
    assert_equal(x.grad, [[1]])
    x = Variable(A, grad=A)
    x.backward()
    assert_equal(x.grad, A)
    fixed = Variable(A, requires_grad=False)
    fixed.backward()
    assert fixed.grad is None


def test_loss_scale(make):
    x = Variable(make(A))
    scale = 1 if isinstance(x.array, chainerx.ndarray) else 4  # chainerx divides by it again
    y = x * 2
    F.sum(y).backward(retain_grad=True, loss_scale=4)
    assert_equal(x.grad, 2 * scale * ONES)
    assert_equal(y.grad, scale * ONES)
    F.sum(x * 2).backward(loss_scale=4)
    assert_equal(x.grad, 4 * scale * ONES)
    x.cleargrad()
    y = x * 2
    y.grad = make(A * 4)
    y.backward(loss_scale=4)  # it has a gradient
    assert_equal(x.grad, 2 * A * scale)
    (g,) = chainer.grad([F.sum(x * 2)], [x], loss_scale=4)
    assert_equal(g, 2 * scale * ONES)
    (g,) = chainer.grad([F.sum(x * 2)], [x], grad_inputs=[make(A)], loss_scale=4)
    assert_equal(g, 2 * scale * ONES + A)


@pytest.mark.parametrize('order', [1, 2, 3, 4])
def test_any_order(make, order):
    x = Variable(make(A))
    y = x * x * x * x
    expected = A**4
    for i in range(order):
        (y,) = chainer.grad([y], [x], enable_double_backprop=True)
        expected = expected * (4 - i) / A
    np.testing.assert_allclose(to_numpy(y), expected, rtol=1e-5)
    assert x.grad is None


def test_double_backprop_by_backward(make):
    x = Variable(make(A))
    F.sum(x * x * x).backward(enable_double_backprop=True)
    gx = x.grad_var
    assert gx.creator is not None
    x.cleargrad()
    F.sum(gx * gx).backward()
    assert_equal(x.grad, 36 * A**3)
    x.cleargrad()
    F.sum(x * x).backward()
    assert x.grad_var.creator is None


def test_backward_inside_backward():
    class Checkpoint(FunctionNode):
        """Recomputes the middle part in backward."""

        def forward(self, xs):
            self.retain_inputs((0,))
            with chainer.no_backprop_mode():
                return (self.inner(Variable(xs[0])).array,)

        @staticmethod
        def inner(x):
            return F.relu(x * w) * x

        def backward(self, indexes, gys):
            (x,) = self.get_retained_inputs()
            fresh = Variable(x.array)
            with chainer.force_backprop_mode():
                y = self.inner(fresh)
            y.grad_var = gys[0]
            y.backward()
            return (fresh.grad_var,)

    w = Variable(A)
    x = Variable(A.copy())
    (y,) = Checkpoint().apply((x,))
    F.sum(y * w).backward()
    assert_equal(x.grad, 2 * A * A * A)
    # w gets a gradient from the outer and the inner run.
    np.testing.assert_allclose(w.grad, A**3 + A**3)


def test_leaves_reached_on_several_paths(make):
    x = Variable(make(A))
    h = x + x
    y = F.sum(h * h + x * h)
    y.backward()
    assert_equal(x.grad, 12 * A)


# ---- unchaining ----


def test_unchain(make):
    x = Variable(make(A))
    h = x * 2
    y = F.sum(h * h)
    h.unchain()
    assert h.creator is None
    y.backward()
    assert x.grad is None
    assert_equal(h.grad, 4 * A)  # it is a leaf now


def test_unchain_backward(make):
    x = Variable(make(A))
    h = F.relu(x * 2)
    y = F.sum(h)
    f = h.creator
    y.unchain_backward()
    for v in (h, y):
        assert v.creator is None
    assert f.inputs is None
    y.backward()
    assert x.grad is None


@pytest.mark.parametrize('retain_grad', [False, True])
@pytest.mark.parametrize('unchain', [Variable.unchain, Variable.unchain_backward])
def test_backward_of_unchained_variables(make, unchain, retain_grad):
    # It is a leaf, which keeps its gradient.
    x = Variable(make(A))
    y = x * 2
    unchain(y)
    y.grad = make(5 * ONES)
    y.backward(retain_grad=retain_grad)
    assert_equal(y.grad, 5 * ONES)
    z = F.sum(x)
    unchain(z)
    z.backward(retain_grad=retain_grad)
    assert_equal(z.grad, 1)
    assert x.grad is None


def test_unchain_backward_frees_saved_arrays():
    x = Variable(A)
    y = F.sum(F.relu(x * 2) * 3)
    h = weakref.ref(y.creator.inputs[0].creator)
    y.unchain_backward()
    gc.collect()
    assert h() is None
    y.backward()


# ---- modes ----


def test_modes(make):
    x = Variable(make(A))
    y = x * 2
    with chainer.no_backprop_mode():
        z = y * 3
        assert z.creator is None
        assert not z.requires_grad or z.rank == 0
        with chainer.force_backprop_mode():
            w = F.sum(y * 3)
            assert w.creator is not None
        assert (y * 3).creator is None
        w.backward()  # an existing graph can still be traversed
    assert_equal(x.grad, 6 * ONES)
    x.cleargrad()
    with chainer.using_config('enable_backprop', False):
        z = F.sum(y * 3)
    assert z.creator is None
    z.backward()
    assert x.grad is None
    assert chainer.grad([z], [x]) == [None]


def test_config_inside_backward(make):
    seen = []

    class Look(FunctionNode):
        def forward(self, xs):
            return (xs[0] * 1,)

        def backward(self, indexes, gys):
            seen.append(chainer.config.enable_backprop)
            return gys

    x = Variable(make(A))
    (y,) = Look().apply((x,))
    z = F.sum(y)
    z.backward()
    z.backward(enable_double_backprop=True)
    with chainer.no_backprop_mode():
        z.backward()
    chainer.global_config.enable_backprop = False
    try:
        z.backward(enable_double_backprop=True)
    finally:
        chainer.global_config.enable_backprop = True
    assert seen == [False, True, False, True]
    assert 'enable_backprop' not in chainer.config._local.__dict__


class Square(FunctionNode):
    def forward(self, xs):
        self.retain_inputs((0,))
        return (xs[0] * xs[0],)

    def backward(self, indexes, gys):
        (x,) = self.get_retained_inputs()
        return (2 * x * gys[0],)


@pytest.mark.parametrize('square', [lambda x: x * x, lambda x: Square().apply((x,))[0]])
@pytest.mark.parametrize(
    'mode', [chainer.no_backprop_mode, lambda: chainer.using_config('enable_backprop', False)]
)
def test_double_backprop_is_recorded_where_nothing_else_is(make, mode, square):
    x = Variable(make(A))
    y = F.sum(square(x) * x)
    with mode():
        (gx,) = chainer.grad([y], [x], enable_double_backprop=True)
        assert (x * 2).creator is None
        y.backward(enable_double_backprop=True)
        assert (x * 2).creator is None
        chainer.backward([y], [Variable(make(np.ones((), 'f')))], enable_double_backprop=True)
        assert not chainer.config.enable_backprop
        (once,) = chainer.grad([y], [x])
    assert once.creator is None
    assert_equal(gx, 3 * A**2)
    assert_equal(x.grad, 6 * A**2)
    (gg,) = chainer.grad([F.sum(gx)], [x])
    assert_equal(gg, 6 * A)
    (gg,) = chainer.grad([F.sum(x.grad_var)], [x])
    assert_equal(gg, 12 * A)
    assert 'enable_backprop' not in chainer.config._local.__dict__


def test_mode_of_chainerx_forbids_double_backprop(make):
    x = Variable(make(A))
    y = F.sum(x * x)
    with chainerx.no_backprop_mode():
        (gx,) = chainer.grad([y], [x], enable_double_backprop=True)
    assert gx.creator is None
    assert_equal(gx, 2 * A)


def test_changes_of_config_in_backward_do_not_stick(make):
    class Change(FunctionNode):
        def forward(self, xs):
            return (xs[0] * 1,)

        def backward(self, indexes, gys):
            with chainer.using_config('enable_backprop', True):
                assert (gys[0] * 2).creator is None or chainer.config.enable_backprop
            return gys

    x = Variable(make(A))
    (y,) = Change().apply((x,))
    F.sum(y).backward()
    assert (x * 2).creator is not None
    assert_equal(x.grad, ONES)


def test_failed_runs_leave_everything_usable(make):
    class Fails(FunctionNode):
        def forward(self, xs):
            return (xs[0] * 2,)

        def backward(self, indexes, gys):
            if fail:
                raise KeyError('once')
            return (gys[0] * 2,)

    fail = True
    x = Variable(make(A), grad=make(A))
    (h,) = Fails().apply((x * 1,))
    y = F.sum(h * x)
    for _ in range(3):
        with pytest.raises(KeyError, match='once'):
            y.backward()
        with pytest.raises(KeyError, match='once'):
            chainer.grad([y], [x])
    assert_equal(x.grad, A)
    fail = False
    y.backward()
    assert_equal(x.grad, A + 4 * A)


class Twice(FunctionNode):
    """``x * 2, x * 3`` in one node."""

    def forward(self, inputs):
        (x,) = inputs
        return x * 2, x * 3

    def backward(self, indexes, grads):
        gy, gz = grads
        SEEN.append((gy is None, gz is None))
        return (F.add(*(g * k for g, k in ((gy, 2), (gz, 3)) if g is not None)),)


SEEN = []


def test_gradients_given_to_all_outputs_of_a_function_count(make):
    del SEEN[:]
    for function in (lambda x: Twice().apply((x,)), lambda x: F.separate(F.stack([x * 2, x * 3]))):
        for first in (0, 1):
            x = Variable(make(A))
            outputs = function(x)
            outputs[0].grad, outputs[1].grad = make(A), make(10 * A)
            outputs[first].backward()
            assert_equal(x.grad, 32 * A)
            assert [y.grad for y in outputs] == [None, None]  # used up
    assert SEEN == [(False, False)] * 2


def test_given_gradients_of_outputs_that_others_depend_on(make):
    x = Variable(make(A))
    a, b = Twice().apply((x,))
    a.grad, b.grad = make(100 * A), make(10 * A)
    y = F.sum(a)
    y.backward()
    assert_equal(x.grad, 30 * A + 2)  # the gradient that reaches `a` replaces its old one
    assert_equal(a.grad, 100 * A)
    assert b.grad is None
    x.cleargrad()
    b.grad = make(10 * A)
    y.backward(retain_grad=True)
    assert_equal(x.grad, 30 * A + 2)
    assert_equal(a.grad, ONES)
    assert_equal(b.grad, 10 * A)


def test_given_gradients_elsewhere_do_not_count(make):
    x = Variable(make(A))
    a, b = Twice().apply((x,))
    c, _ = Twice().apply((x,))
    b.grad = c.grad = make(10 * A)
    assert_equal(chainer.grad([F.sum(a)], [x])[0], 2 * ONES)
    assert_equal(c.grad, 10 * A)
    b.cleargrad()
    F.sum(a).backward()
    assert_equal(x.grad, 2 * ONES)


def test_given_gradients_in_several_layers(make):
    x = Variable(make(A))
    outputs = [x]
    for _ in range(3):
        outputs = [y for x in outputs for y in F.separate(F.stack([x * 2, x * 3]))]
    weights = [8, 12, 12, 18, 12, 18, 18, 27]
    for i, y in enumerate(outputs):
        y.grad = make(np.full_like(A, i + 1))
    outputs[3].backward()
    # The other half of the graph does not depend on outputs[3].
    assert_equal(x.grad, sum(w * (i + 1) for i, w in list(enumerate(weights))[2:4]) * ONES)


def test_given_gradients_with_double_backprop(make):
    x = Variable(make(A))
    a, b = F.separate(F.stack([x * x, x * 3]))
    a.grad, b.grad = make(A), make(10 * A)
    gb = b.grad_var
    a.backward(enable_double_backprop=True)
    (g,) = chainer.grad([x.grad_var], [gb])
    assert_equal(x.grad, 2 * A * A + 30 * A)
    assert_equal(g, 3 * ONES)


@pytest.mark.parametrize('enable', [False, True])
def test_backprop_modes_may_be_entered_again(enable, make):
    x = Variable(make(A))
    mode = chainer.force_backprop_mode() if enable else chainer.no_backprop_mode()

    def records():
        return (x * 2).creator is not None

    with chainer.using_config('enable_backprop', not enable):
        for _ in range(2):
            with mode:
                assert records() is enable
                with mode:
                    assert records() is enable
                assert records() is enable
                with ThreadPoolExecutor(1) as other, mode:
                    assert other.submit(records).result()  # it affects this thread only
            assert records() is not enable
        with pytest.raises(KeyError), mode:
            raise KeyError
        assert records() is not enable
        assert mode(records)() is enable  # a decorator, too
    assert records()
