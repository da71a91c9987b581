"""`chainer.grad`, and `chainer.backward` of several outputs."""

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import FunctionNode, Variable
from devices import assert_equal

A = np.arange(6, dtype='f').reshape(2, 3) + 1
ONES = np.ones_like(A)


# ---- chainer.grad ----


def test_grad_leaves_gradients_alone(make):
    x = Variable(make(A), grad=make(A))
    h = x * 2
    y = F.sum(h * h)
    gx, gh = chainer.grad([y], [x, h])
    assert_equal(gx, 8 * A)
    assert_equal(gh, 4 * A)
    assert_equal(x.grad, A)
    assert h.grad is None
    assert gx.creator is None


def test_grad_arguments(make):
    x = Variable(make(A))
    other = Variable(make(A))
    y, z = x * 2, x * 3
    (g,) = chainer.grad([y, z], [x], [Variable(make(A)), None])
    assert_equal(g, 2 * A + 3)
    assert chainer.grad([y], [other]) == [None]
    assert chainer.grad([F.sum(y)], [x, other])[1] is None
    (g,) = chainer.grad([F.sum(y)], [x], grad_inputs=[Variable(make(A))])
    assert_equal(g, A + 2)
    (g,) = chainer.grad([F.sum(y)], [other], grad_inputs=[Variable(make(A))])
    assert_equal(g, A)
    h = y * 1
    chainer.grad([F.sum(h)], [x], set_grad=True, retain_grad=True)
    assert_equal(x.grad, 2 * ONES)
    assert_equal(h.grad, ONES)
    assert_equal(chainer.grad([y], [x], [make(A)])[0], 2 * A)  # raw arrays are accepted
    (g,) = chainer.grad([F.sum(y)], [x], grad_inputs=[make(A)])
    assert_equal(g, A + 2)
    assert chainer.grad([], [x]) == [None]
    assert chainer.grad([F.sum(y)], []) == []


def test_grad_replaces_existing_gradients(make):
    x, w = Variable(make(A)), Variable(make(A), requires_grad=False)
    other = chainer.Parameter(make(A))
    other.grad = make(np.full_like(A, np.nan))  # as parameters initially have
    y = F.sum(x * w + other)
    x.grad = make(A)
    gx, go = chainer.grad([y], [x, other], set_grad=True)
    assert x.grad_var is gx
    assert_equal(x.grad, A)
    assert_equal(other.grad, ONES)
    assert go is other.grad_var
    other.cleargrad()
    z = Variable(make(A))
    w.grad = make(A)
    z.grad = make(A)
    assert chainer.grad([y], [w, z], set_grad=True) == [None, None]
    assert w.grad is None
    assert z.grad is None
    assert_equal(x.grad, A)  # not asked for
    assert other.grad is None


def test_grad_errors(make):
    x = Variable(make(A))
    y = F.sum(x * 2)
    for outputs, inputs in ((y, [x]), ([y], x), (None, [x])):
        with pytest.raises(TypeError, match='must be a tuple or a list'):
            chainer.grad(outputs, inputs)
    for outputs, inputs in (([5], [x]), ([y], [make(A)]), ([y], [None])):
        with pytest.raises(TypeError, match='expected a Variable'):
            chainer.grad(outputs, inputs)
    with pytest.raises(ValueError, match='same length'):
        chainer.grad([y], [x], [])
    with pytest.raises(ValueError, match='same length'):
        chainer.grad([y], [x], None, [])
    with pytest.raises(ValueError, match='shape'):
        chainer.grad([y], [x], [Variable(make(A))])
    with pytest.raises(TypeError, match='dtype'):
        chainer.grad([y], [x], [Variable(make(np.ones((), 'i')))])
    with pytest.raises(TypeError, match='different kinds'):
        chainer.grad([F.sum(Variable(A)), F.sum(Variable(chainerx.array(A)))], [x])


def test_grad_runs_only_needed_functions(make):
    ran = []

    class Note(FunctionNode):
        def __init__(self, name):
            self.name = name

        def forward(self, xs):
            return (xs[0] * 2,)

        def backward(self, indexes, gys):
            ran.append(self.name)
            return (gys[0] * 2,)

    x, y = Variable(make(A)), Variable(make(A))
    (a,) = Note('a').apply((x,))
    (b,) = Note('b').apply((y,))
    (c,) = Note('c').apply((a,))
    z = F.sum(a * b + c)
    (g,) = chainer.grad([z], [y])
    assert ran == ['b']
    assert_equal(g, 2 * 2 * A)
    ran.clear()
    chainer.grad([z], [a])
    assert ran == ['c']


@pytest.mark.parametrize('double', [False, True])
def test_gradients_of_inputs_from_elsewhere(make, double):
    """Gradients of arrays from elsewhere flow on to inputs that they depend on."""

    def one(value):
        return Variable(make(np.array([value], 'f')))

    x = one(2)
    y = 2 * x
    z = 5 * y
    aside = 3 * one(1)

    def found(inputs, grad_inputs):
        grad_inputs = [None if g is None else one(g) for g in grad_inputs]
        gs = chainer.grad([z], inputs, None, grad_inputs, enable_double_backprop=double)
        return [None if g is None else float(g.array[0]) for g in gs]

    assert found([x, y], [1000, 101]) == [1212, 106]
    assert found([y, x], [101, 1000]) == [106, 1212]
    assert found([y, x], [None, 1000]) == [5, 1010]
    assert found([y, x], [101, None]) == [106, 212]
    assert found([x, aside], [1, 7]) == [11, 7]
    assert found([aside], [None]) == [None]
    assert found([z, x], [100, 1000]) == [101, 2010]
    w = one(10)
    gx, gy = chainer.grad([y * y], [x, y], None, [None, w * w], enable_double_backprop=True)
    assert [float(g.array[0]) for g in (gx, gy)] == [216, 108]
    gw, gxx = chainer.grad([gx], [w, x])
    assert [float(g.array[0]) for g in (gw, gxx)] == [40, 8]
    for bad, error in ((np.ones(2, 'f'), ValueError), (np.ones(1, 'i'), TypeError)):
        with pytest.raises(error, match=r'grad: grad_inputs\[0\] has'):
            chainer.grad([z], [x], None, [make(bad)])


@pytest.mark.parametrize('dtype', ['float16', 'float64'])
def test_given_gradients_of_another_float_dtype(make, dtype):
    x = Variable(make(A))
    gy = Variable(make(2 * A.astype(dtype)))
    (gx,) = chainer.grad([x * x], [x], [gy], enable_double_backprop=True)
    assert gx.dtype == x.dtype
    assert_equal(gx, 4 * A * A)
    (ggy,) = chainer.grad([gx], [gy])
    assert ggy.dtype == np.dtype(dtype)
    assert_equal(ggy, 2 * A.astype(dtype))
    chainer.backward([x * x], [gy])
    assert_equal(x.grad, 4 * A * A)


# ---- chainer.backward ----


def test_backward_of_several(make):
    x = Variable(make(A))
    y, z = F.sum(x * 2), x * 3
    chainer.backward([y, z], [Variable(make(np.ones((), 'f'))), Variable(make(A))])
    assert_equal(x.grad, 2 + 3 * A)
    x.cleargrad()
    y2 = F.sum(x * x)
    y2.grad = make(np.ones((), 'f'))
    chainer.backward([y2], enable_double_backprop=True)
    assert x.grad_var.creator is not None
    x.cleargrad()
    chainer.backward([F.sum(x * 2), F.sum(x * 3)], [Variable(make(np.ones((), 'f'))), None])
    assert_equal(x.grad, 2 * ONES)
    chainer.backward([])


def test_backward_from_arrays_without_gradient(make):
    x = Variable(make(A))
    y, z = x * 2, x * 3
    z.grad = make(A)
    if isinstance(x.array, chainerx.ndarray):
        chainer.backward([y, z])
        assert_equal(x.grad, 2 + 3 * A)
        return
    with pytest.warns(RuntimeWarning, match='outputs has a Variable without a gradient') as found:
        chainer.backward([y, z])
    assert found[0].filename == __file__
    assert_equal(x.grad, 3 * A)
    with pytest.warns(RuntimeWarning):
        chainer.backward([y])
    assert_equal(x.grad, 3 * A)


def test_backward_of_one_listed_twice(make):
    x = Variable(make(A))
    y = x * 2
    for outputs in ([y, y], [y, y.node.get_variable()]):
        x.cleargrad()
        y.grad = make(A)
        with pytest.warns(RuntimeWarning, match='or one twice, which counts once'):
            chainer.backward(outputs)
        assert_equal(x.grad, 2 * A)
    x.cleargrad()
    chainer.backward([y, y], [Variable(make(A)), make(3 * A)])
    assert_equal(x.grad, 8 * A)
    with pytest.warns(RuntimeWarning, match='counts twice'):
        (g,) = chainer.grad([y, y], [x])
    assert_equal(g, 4 * ONES)


def test_given_gradients_leave_those_of_outputs_alone(make):
    x = Variable(make(A), grad=make(A))
    y = x * 2
    y.grad = make(5 * A)
    chainer.backward([y, x], [make(3 * A), make(A)])
    assert_equal(y.grad, 5 * A)
    assert_equal(x.grad, 8 * A)
    chainer.backward([y], [None])
    assert_equal(y.grad, 5 * A)
    assert_equal(x.grad, 8 * A)
    for bad, error in ((A[:1], ValueError), (A.astype('i'), TypeError)):
        with pytest.raises(error, match=r'grad_outputs\[0\] has'):
            chainer.backward([y], [make(bad)])
    other = A if isinstance(x.array, chainerx.ndarray) else chainerx.array(A)
    for call in (
        lambda: chainer.backward([y], [other]),
        lambda: chainer.grad([y], [x], [other]),
        lambda: chainer.grad([y], [x], None, [other]),
    ):
        with pytest.raises(TypeError, match=r'grad_.*puts\[0\] is a .* array, the variable a'):
            call()


def test_backward_errors(make):
    y = F.sum(Variable(make(A)))
    for bad in (y, None, iter([y])):
        with pytest.raises(TypeError, match='must be a tuple or a list'):
            chainer.backward(bad)
    with pytest.raises(TypeError, match='expected a Variable'):
        chainer.backward([5])
    with pytest.raises(ValueError, match='same length'):
        chainer.backward([y], [])
    with pytest.raises(ValueError, match='different kinds'):
        chainer.backward([F.sum(Variable(A)), F.sum(Variable(chainerx.array(A)))])
