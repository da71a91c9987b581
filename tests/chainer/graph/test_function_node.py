"""User-defined functions, on all kinds of arrays."""

import copy
import gc
import pickle

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import FunctionNode, Variable
from chainer.functions.activation.relu import ReLU
from chainer.utils import type_check
from devices import to_numpy

A = np.arange(6, dtype='f').reshape(2, 3) + 1


class Mul(FunctionNode):
    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() == 2, in_types[0].shape == in_types[1].shape)

    def forward(self, xs):
        self.retain_inputs((0, 1))
        return (xs[0] * xs[1],)

    def backward(self, indexes, gys):
        x, y = self.get_retained_inputs()
        (g,) = gys
        return tuple((g * y, g * x)[i] for i in indexes)


class Exp(FunctionNode):
    def forward(self, xs):
        self.retain_outputs((0,))
        return (np.exp(xs[0]),)

    def backward(self, indexes, gys):
        (y,) = self.get_retained_outputs()
        return (y * gys[0],)


class Identity(FunctionNode):
    def forward(self, xs):
        return xs

    def backward(self, indexes, gys):
        return tuple(gys[i] for i in indexes)


def user(forward=lambda self, xs: (xs[0] * 2,), backward=lambda self, i, g: (g[0] * 2,), **extra):
    """A function class with the given methods."""
    return type('User', (FunctionNode,), {'forward': forward, 'backward': backward, **extra})


# ---- label, attributes, printing ----


def test_before_and_after(make):
    f = Mul()
    assert (f.inputs, f.outputs, f.rank, f.stack, f.label) == (None, None, 0, None, 'Mul')
    assert f.output_data is None
    x, y = Variable(make(A)), Variable(make(A)) * 1
    (z,) = f.apply((x, y))
    assert f.inputs == (x.node, y.node)
    assert f.outputs[0]() is z.node
    assert (f.rank, z.rank) == (1, 2)
    assert z.creator is f
    assert z.creator_node is f
    assert f.output_data[0] is z.array
    assert f.input_layouts == (None, None)
    assert f.output_layouts == (None,)
    assert type(z.array) is type(x.array)
    with pytest.raises(RuntimeError, match=r'Use apply\(\)'):
        f(x, y)


def test_both_directions(make):
    x, y = Variable(make(A)), Variable(make(A + 1))
    (z,) = Mul().apply((x, y))
    F.sum(z).backward()
    np.testing.assert_array_equal(to_numpy(z), A * (A + 1))
    np.testing.assert_array_equal(to_numpy(x.grad), A + 1)
    np.testing.assert_array_equal(to_numpy(y.grad), A)
    x = Variable(make(A))
    (z,) = Exp().apply((x,))
    F.sum(z).backward()
    np.testing.assert_allclose(to_numpy(x.grad), np.exp(A), rtol=1e-6)


def test_double_backprop(make):
    x = Variable(make(A))
    (y,) = Mul().apply((x, x))
    (y,) = Mul().apply((y, x))
    for order, expected in enumerate([3 * A**2, 6 * A, np.full_like(A, 6)]):
        (y,) = chainer.grad([y], [x], enable_double_backprop=True)
        np.testing.assert_allclose(to_numpy(y), expected, rtol=1e-5, err_msg=str(order))


def test_forward_of_identity_keeps_the_array():
    x = Variable(A)
    (y,) = Identity().apply((x,))
    assert y.array is x.array
    assert y.creator is not None


def test_inputs_of_all_sorts(make):
    for inputs in ((make(A),), [make(A)], iter([Variable(make(A))])):
        (y,) = Identity().apply(inputs)
        assert y.creator is not None
    assert not Identity().apply((make(A),))[0].requires_grad
    connected = chainerx.array(A).require_grad()
    (y,) = Identity().apply((connected,))
    F.sum(y).backward()
    np.testing.assert_array_equal(to_numpy(connected.grad), np.ones_like(A))


@pytest.mark.parametrize('inputs', [(1.0,), ([1.0],), ('x',), 5])
def test_bad_inputs(inputs):
    with pytest.raises(TypeError):
        Identity().apply(inputs)


@pytest.mark.parametrize(
    'function',
    [
        F.relu,
        F.dropout,
        lambda x: F.convolution_2d(x, np.ones((1, 1, 1, 1), 'f')),
        lambda x: F.layer_normalization(x, np.ones(2, 'f'), np.ones(2, 'f')),
    ],
)
def test_the_first_input_is_never_left_out(function):
    with pytest.raises(TypeError, match='input 0 is a NoneType, expected a Variable or an array'):
        function(None)


def test_a_variable_is_no_tuple_of_them(make):
    with pytest.raises(TypeError, match='expected a tuple'):
        Identity().apply(Variable(make(A)))


def test_mixed_kinds_and_devices():
    with pytest.raises(TypeError, match='mixed in the forward input'):
        Mul().apply((Variable(A), Variable(chainerx.array(A))))
    with pytest.raises(TypeError, match='mixed in the forward output'):
        user(lambda s, xs: (xs[0], chainerx.array(A)))().apply((A,))


# ---- bad results ----


@pytest.mark.parametrize(
    'result',
    [[A], A, None, 1.0, (1.0,), (A.sum(),), (Variable(A),)],
    ids=['list', 'array', 'None', 'float', '(float,)', '(scalar,)', '(Variable,)'],
)
def test_forward_that_returns_something_else(make, result):
    f = user(lambda s, xs: result)()
    with pytest.raises(TypeError, match='forward output must be a tuple'):
        f.apply((Variable(make(A)),))
    assert f.outputs is None


@pytest.mark.parametrize(
    ('result', 'error', 'message'),
    [
        (lambda g: g, TypeError, 'returned Variable'),
        (lambda g: None, TypeError, 'returned NoneType'),
        (lambda g: (), ValueError, '0 != expected 1'),
        (lambda g: (g, g), ValueError, '2 != expected 1'),
        (lambda g: (to_numpy(g),), TypeError, 'is a numpy.ndarray'),
        (lambda g: (1.0,), TypeError, 'is a float'),
        (lambda g: (g[0],), ValueError, r'shape \(3,\), the input \(2, 3\)'),
        (lambda g: (F.cast(g, 'd'),), TypeError, 'dtype float64, the input float32'),
    ],
)
def test_backward_that_returns_something_else(make, result, error, message):
    x = Variable(make(A))
    (y,) = user(backward=lambda s, i, g: result(g[0]))().apply((x,))
    z = F.sum(y * x)
    with pytest.raises(error, match=message):
        z.backward()
    assert x.grad is None  # nothing is left half done
    assert chainer.config.enable_backprop


def test_backward_may_return_a_list(make):
    x = Variable(make(A))
    (y,) = user(backward=lambda s, i, g: [g[0] * 2])().apply((x,))
    F.sum(y).backward()
    np.testing.assert_array_equal(to_numpy(x.grad), np.full_like(A, 2))


def test_backward_may_return_no_gradient(make):
    x = Variable(make(A))
    (y,) = user(backward=lambda s, i, g: (None,))().apply((x,))
    F.sum(y).backward()
    assert x.grad is None
    F.sum(y + x).backward()  # the gradient from another path is not lost
    np.testing.assert_array_equal(to_numpy(x.grad), np.ones_like(A))


def test_gradient_of_another_kind():
    (y,) = user(backward=lambda s, i, g: (Variable(chainerx.array(A)),))().apply((Variable(A),))
    with pytest.raises(TypeError, match='chainerx array, the input a numpy array'):
        F.sum(y).backward()


def test_default_backward_has_no_gradient(make):
    x = Variable(make(A))
    (y,) = type('F', (FunctionNode,), {'forward': lambda s, xs: xs})().apply((x,))
    F.sum(y).backward()
    assert x.grad is None


def test_no_forward():
    with pytest.raises(NotImplementedError, match='neither forward nor forward_cpu'):
        FunctionNode().apply((A,))


class Odd(Exception):
    pass


def throw(*args):
    raise Odd('mine')


@pytest.mark.parametrize('where', ['forward', 'backward', 'check_type_forward'])
def test_errors_of_the_user(make, where):
    x = Variable(make(A))
    h = x * 2

    def run():
        (y,) = user(**{where: throw})().apply((h,))
        F.sum(y).backward()

    for _ in range(2):
        with pytest.raises(Odd, match='mine'):
            run()
        assert x.grad is None
        assert chainer.config.enable_backprop
        assert 'enable_backprop' not in chainer.config._local.__dict__
    F.sum(h).backward()
    np.testing.assert_array_equal(to_numpy(x.grad), np.full_like(A, 2))


def test_type_check_names_function_and_argument(make):
    with pytest.raises(type_check.InvalidType) as e:
        Mul().apply((Variable(make(A)), Variable(make(A.T.copy()))))
    text = str(e.value)
    assert 'Invalid operation is performed in: Mul (Forward)' in text
    assert 'Expect: in_types[0].shape == in_types[1].shape' in text
    assert 'Actual: (2, 3) != (3, 2)' in text
    with chainer.using_config('type_check', False), pytest.raises(ValueError, match='broadcast'):
        Mul().apply((Variable(make(A)), Variable(make(A.T.copy()))))


# ---- retained arrays ----


def test_retained_objects_are_the_same(make):
    x = Variable(make(A))
    f = Mul()
    (_,) = f.apply((x, x))
    assert [v is x for v in f.get_retained_inputs()] == [True, True]
    assert f.get_retained_outputs() == ()
    f = Exp()
    (y,) = f.apply((x,))
    assert f.get_retained_outputs()[0] is y
    assert Mul().get_retained_inputs() == ()


def test_dead_inputs_and_outputs_are_recreated(make):
    x = Variable(make(A))
    h = x * 1
    f, g = Mul(), Exp()
    (z,) = f.apply((h, h))
    (y,) = g.apply((x,))
    h_node, y_node, y_array = h.node, y.node, y.array
    del h, y
    gc.collect()
    a, b = f.get_retained_inputs()
    assert a is b
    assert a.node is h_node
    assert a.creator.label == '_ * 1'
    (revived,) = g.get_retained_outputs()
    assert revived.array is y_array
    assert revived.node is y_node
    assert revived.creator is g
    F.sum(revived).backward()
    np.testing.assert_allclose(to_numpy(x.grad), np.exp(A), rtol=1e-6)
    assert z.creator is f


def test_output_data_that_was_freed(make):
    f = Identity()
    (y,) = f.apply((Variable(make(A)),))
    assert f.output_data[0] is y.array
    del y
    gc.collect()
    with pytest.raises(RuntimeError, match='retained output data is gone'):
        _ = f.output_data


@pytest.mark.parametrize('method', ['retain_inputs', 'retain_outputs'])
def test_indexes(method):
    def forward(self, xs):
        getattr(self, method)(index)
        return (xs[0],)

    index = (-1,)
    user(forward)().apply((A,))
    index = (1,)
    with pytest.raises(IndexError, match=f'{method}: index 1 is out of range'):
        user(forward)().apply((A,))


def test_saved_data_is_unchanged():
    x = Variable(A.copy())
    (y,) = Mul().apply((x, x))
    x.array = A * 10
    assert y.creator.get_retained_inputs()[0].array is not x.array
    F.sum(y).backward()
    np.testing.assert_array_equal(x.grad, 2 * A)


# ---- several inputs and outputs ----


def test_targets_and_missing_gradients(make):
    calls = []

    class Two(FunctionNode):
        def forward(self, xs):
            return xs[0] * 2, xs[1] * 3

        def backward(self, indexes, gys):
            calls.append((indexes, [g is None for g in gys], chainer.config.enable_backprop))
            grads = tuple(None if g is None else g * k for g, k in zip(gys, (2, 3), strict=True))
            return tuple(grads[i] for i in indexes)

    x, y = Variable(make(A)), Variable(make(A), requires_grad=False)
    u, v = Two().apply((x, y))
    F.sum(v).backward()
    F.sum(u).backward(enable_double_backprop=True)
    assert calls == [((0,), [True, False], False), ((0,), [False, True], True)]
    np.testing.assert_array_equal(to_numpy(x.grad), np.full_like(A, 2))
    calls.clear()
    z = Variable(make(A))
    u, v = Two().apply((x, z))
    chainer.grad([u, v], [z])
    assert calls == [((1,), [False, False], False)]


def test_backward_accumulate():
    class Accumulates(FunctionNode):
        def forward(self, xs):
            return (xs[0] * 2,)

        def backward_accumulate(self, indexes, gys, grad_inputs):
            assert grad_inputs == (None,)
            return (gys[0] * 2,)

    x = Variable(A, grad=A.copy())
    (y,) = Accumulates().apply((x,))
    F.sum(y + x).backward()
    np.testing.assert_array_equal(x.grad, A + 3)
    g = Variable(A)
    f = Mul()
    f.apply((x, x))
    (total,) = f.backward_accumulate((0,), (g,), (g,))
    y = F.exp(x)
    for function in (f, y.creator):
        assert isinstance(function.backward_accumulate((0,), (g,), (None,)), tuple)
    np.testing.assert_array_equal(total.array, A * A + A)


def test_the_same_array_twice():
    x = Variable(A)
    y, z = user(lambda s, xs: (xs[0], xs[0]), lambda s, i, g: (g[0] + g[1] * 2,))().apply((x,))
    assert y.node is not z.node
    F.sum(y + z).backward()
    np.testing.assert_array_equal(x.grad, np.full_like(A, 3))


def test_arrays_of_unsupported_dtypes_keep_their_positions():
    text = np.array(['a', None], dtype=object)
    seen = []

    class Both(FunctionNode):
        def forward(self, xs):
            self.retain_inputs((0, 1))
            self.retain_outputs((0, 1))
            return xs[0], xs[1] * 2, xs[0], xs[1] * 3

        def backward(self, indexes, gys):
            seen.append((indexes, [g is None for g in gys]))
            assert self.get_retained_inputs()[0].array is text
            assert self.get_retained_outputs()[1].array is y.array
            return (gys[1] * 2 if gys[3] is None else gys[3] * 3,)

    x = Variable(A)
    t, y, _, z = Both().apply((text, x))
    assert t.array is text
    assert t.creator is None
    assert len(y.creator.outputs) == 4
    assert y.creator.outputs[3]() is z.node
    F.sum(y).backward()
    F.sum(z).backward()
    assert seen == [((1,), [True, False, True, True]), ((1,), [True, True, True, False])]
    np.testing.assert_array_equal(x.grad, np.full_like(A, 5))


# ---- graph ----


def test_applied_twice(make):
    x, y = Variable(make(A)), Variable(make(A * 2))
    f = Identity()
    (u,) = f.apply((x,))
    (v,) = f.apply((y,))
    assert u.creator is f
    assert v.creator is f
    assert f.inputs == (y.node,)
    F.sum(v).backward()
    np.testing.assert_array_equal(to_numpy(y.grad), np.ones_like(A))
    with pytest.raises(RuntimeError, match=r'Identity.backward: .* applied again after'):
        F.sum(u * 3 + v).backward()
    assert x.grad is None
    np.testing.assert_array_equal(to_numpy(y.grad), np.ones_like(A))


def test_applied_again_after_the_first_graph_is_freed(make):
    f = Mul()
    for n in (1, 2):
        x = Variable(make(A * n))
        (y,) = f.apply((x, x))
        F.sum(y).backward()
        np.testing.assert_array_equal(to_numpy(x.grad), 2 * A * n)
        with chainer.no_backprop_mode():
            f.apply((make(A), make(A)))
        x.cleargrad()
        F.sum(y).backward()  # without recording, nothing is dropped
        np.testing.assert_array_equal(to_numpy(x.grad), 2 * A * n)


def test_made_a_creator_by_hand_it_was_not_applied_again(make):
    x = Variable(make(A))
    f = Mul()
    (y,) = f.apply((x, x))
    other = Variable(make(A))
    other.set_creator_node(f)
    F.sum(y + other).backward()
    np.testing.assert_array_equal(to_numpy(x.grad), 4 * A)


def test_unchain(make):
    x = Variable(make(A))
    (y,) = Identity().apply((x,))
    f = y.creator
    f.unchain()
    assert f.inputs is None
    assert f.outputs is None
    assert y.creator is None
    assert y.rank == 0
    F.sum(y).backward()
    assert x.grad is None
    f.unchain()


def test_no_graph(make):
    x = Variable(make(A))
    for mode in (chainer.no_backprop_mode(), chainer.using_config('enable_backprop', False)):
        f = Mul()
        with mode:
            (y,) = f.apply((x, x))
        assert y.creator is None
        assert f.inputs is None
        assert f.get_retained_inputs() == ()
    fixed = Variable(make(A), requires_grad=False)
    (y,) = f.apply((fixed, fixed))
    assert y.creator is f
    assert not y.requires_grad
    assert f.get_retained_inputs()[0] is fixed


def test_copies_and_pickles_have_no_graph():
    f = Exp()
    f.attribute = [1]
    (_,) = f.apply((Variable(A),))
    for g in (copy.copy(f), copy.deepcopy(f), copy.deepcopy(F.relu(Variable(A)).creator)):
        assert g.inputs is None
        x = Variable(A)
        (y,) = g.apply((x,))
        F.sum(y).backward()
        assert x.grad is not None
    g = pickle.loads(pickle.dumps(Exp()))
    assert type(g) is Exp


# ---- built-in functions, subclassed ----


def test_a_builtin_function_by_its_class(make):
    x = Variable(make(A - 3))
    f = ReLU()
    (y,) = f.apply((x,))
    assert y.creator is f
    F.sum(y * y).backward()
    np.testing.assert_array_equal(to_numpy(x.grad), 2 * np.maximum(A - 3, 0))


class CountingReLU(ReLU):
    def forward(self, xs):
        self.forwards = getattr(self, 'forwards', 0) + 1
        return super().forward(xs)

    def backward(self, indexes, gys):
        self.backwards = getattr(self, 'backwards', 0) + 1
        return super().backward(indexes, gys)


def test_subclass_of_a_builtin_function(make):
    x = Variable(make(A - 3.5))
    f = CountingReLU()
    (y,) = f.apply((x,))
    assert type(y.array) is type(x.array)
    (g,) = chainer.grad([F.sum(y * y)], [x], enable_double_backprop=True)
    np.testing.assert_array_equal(to_numpy(g), 2 * np.maximum(A - 3.5, 0))
    (gg,) = chainer.grad([g], [x])
    np.testing.assert_array_equal(to_numpy(gg), 2.0 * (A > 3.5))
    assert f.forwards == 1
    assert f.backwards >= 1


class Doubled(ReLU):
    """Adds only a label and an attribute."""

    label = 'mine'
    more = 3


def test_subclass_that_only_adds(make):
    f = Doubled()
    (y,) = f.apply((Variable(make(A)),))
    assert y.creator is f
    assert y.creator.label == 'mine'
    assert f.more == 3


def test_a_builtin_function_as_creator_by_hand(make):
    x = Variable(make(A))
    y = F.relu(x)
    z = Variable(make(A * 2))
    z.set_creator(y.creator)
    assert (z.creator.label, z.rank) == ('ReLU', 1)
    F.sum(z).backward()
    np.testing.assert_array_equal(to_numpy(x.grad), np.ones_like(A))


# ---- the seed's example ----


class MatMul(FunctionNode):
    def __init__(self, transa=False, transb=False):
        self.transa = transa
        self.transb = transb

    def forward(self, x):
        self.retain_inputs((0, 1))
        a, b = x
        return ((a.T if self.transa else a).dot(b.T if self.transb else b),)

    def forward_chainerx(self, x):
        a, b = x
        if self.transa or self.transb or a.dtype != b.dtype or a.ndim != 2:
            return chainer.Fallback
        return (chainerx.dot(a, b),)

    def backward(self, indexes, grad_outputs):
        a, b = self.get_retained_inputs()
        (g,) = grad_outputs
        (ga,) = MatMul(False, not self.transb).apply((g, b))
        (gb,) = MatMul(True).apply((g, a) if self.transb else (a, g))
        return tuple((ga, gb)[i] for i in indexes)


@pytest.mark.parametrize('transb', [False, True])
def test_the_seeds_matmul(make, transb):
    a, b = A, A.T.copy()
    x, y = Variable(make(a)), Variable(make(b.T.copy() if transb else b))
    chainer.fallback_report(reset=True)
    (z,) = MatMul(transb=transb).apply((x, y))
    np.testing.assert_array_equal(to_numpy(z), a @ b)
    z.grad = make(np.ones((2, 2), 'f'))
    z.backward()
    ga, gb = np.ones((2, 2), 'f') @ b.T, a.T @ np.ones((2, 2), 'f')
    np.testing.assert_array_equal(to_numpy(x.grad), ga)
    np.testing.assert_array_equal(to_numpy(y.grad), gb.T if transb else gb)
    report = chainer.fallback_report(reset=True)
    native_only = not isinstance(x.array, chainerx.ndarray) or not transb
    assert (report == []) is native_only


@pytest.mark.parametrize('entries', [((),), (7,), ([1],)])
def test_retained_arrays_written_by_the_user(entries):
    class Double(FunctionNode):
        def __setattr__(self, name, value):
            super().__setattr__(name, entries if name == '_retained_inputs' else value)

        def forward(self, inputs):
            self.retain_inputs((0,))
            return (inputs[0] * 2,)

    with pytest.raises(TypeError, match='Double: _retained_inputs holds'):
        Double().apply((Variable(np.ones(2, 'f')),))
