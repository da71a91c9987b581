"""Old-style functions."""

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Function, FunctionAdapter, Variable

A = np.arange(6, dtype='f').reshape(2, 3) + 1


@pytest.fixture(params=[np, chainerx])
def x(request):
    return Variable(request.param.array(A))


def to_numpy(a):
    return chainerx.to_numpy(a) if isinstance(a, chainerx.ndarray) else a


class Mul(Function):
    def forward(self, xs):
        assert all(isinstance(v, np.ndarray) for v in xs)
        return (xs[0] * xs[1],)

    def backward(self, xs, gys):
        assert all(isinstance(v, np.ndarray) for v in (*xs, *gys))
        return gys[0] * xs[1], gys[0] * xs[0]


def test_both_directions(x):
    f = Mul()
    y = f(x, x)
    assert type(y.array) is type(x.array)
    assert y.creator is f
    assert type(y.creator_node) is FunctionAdapter
    assert y.creator_node.function is f
    assert f.node is y.creator_node
    assert f.inputs == (x.node, x.node)
    assert f.outputs[0]() is y.node
    assert (f.rank, f.label, y.rank) == (0, 'Mul', 1)
    F.sum(y).backward()
    np.testing.assert_array_equal(to_numpy(x.grad), 2 * A)
    f.unchain()
    assert y.creator is None


@pytest.mark.parametrize('retained', [(0, 1), ()])
def test_gradients_cannot_be_differentiated_again(x, retained):
    class Constant(Mul):
        def forward(self, xs):
            self.retain_inputs(retained)
            return super().forward(xs)

        def backward(self, xs, gys):
            return gys[0] * 3, None

    match = 'Constant: cannot twice-differentiate an old-style Function'
    y = F.sum(Constant()(x * 2, x) * x)  # whose input is not retained
    (g,) = chainer.grad([y], [x], enable_double_backprop=True)
    np.testing.assert_array_equal(to_numpy(g.array), 2 * A * A + 6 * A)
    for again in (lambda: chainer.grad([F.sum(g)], [x]), F.sum(g).backward, F.sum(g * x).backward):
        with pytest.raises(RuntimeError, match=match):
            again()
    y = F.sum(Constant()(x, x))
    y.backward(enable_double_backprop=True)
    assert x.grad_var.creator.label == 'Constant.backward'
    assert x.grad_var.creator.inputs[0] == x.node
    # It is ignored where the gradient does not matter.
    z = Variable(x.array * 1)
    (g,) = chainer.grad([F.sum(Constant()(x, x)) + F.sum(z * z)], [z], enable_double_backprop=True)
    (gg,) = chainer.grad([F.sum(g)], [z])
    np.testing.assert_array_equal(to_numpy(gg.array), np.full_like(A, 2))


def test_gradients_outside_of_double_backprop_have_no_graph(x):
    (g,) = chainer.grad([F.sum(Mul()(x, x))], [x])
    assert g.creator is None
    F.sum(g * x).backward()
    np.testing.assert_array_equal(to_numpy(x.grad), 2 * A)


def test_without_any_gradient_in_double_backprop(x):
    class Nothing(Mul):
        def backward(self, xs, gys):
            return None, None

    (g,) = chainer.grad([F.sum(Nothing()(x, x) + x)], [x], enable_double_backprop=True)
    np.testing.assert_array_equal(to_numpy(g.array), np.ones_like(A))
    assert chainer.grad([F.sum(g)], [x]) == [None]


def test_calling_twice(x):
    f = Mul()
    y, z = f(x, x), f(x, x)
    assert y.creator is f
    assert z.creator is f
    F.sum(z).backward()
    np.testing.assert_array_equal(to_numpy(x.grad), 2 * A)
    with pytest.raises(RuntimeError, match=r'Mul.backward: .* applied again'):
        F.sum(y).backward()


def test_calling_with_another_kind_of_array_in_between(x):
    f = Mul()
    y = f(x, x)
    with chainer.no_backprop_mode():
        other = A if isinstance(x.array, chainerx.ndarray) else chainerx.array(A)
        f(other, other)
    F.sum(y).backward()
    np.testing.assert_array_equal(to_numpy(x.grad), 2 * A)


def test_none_among_inputs_and_outputs(x):
    seen = []

    class Half(Function):
        def forward(self, xs):
            seen.append(xs[1])
            return xs[0] * 2, None

        def backward(self, xs, gys):
            seen.extend([xs[1], gys[1]])
            return gys[0] * 2, None

    y, nothing = Half()(x, None)
    assert nothing.array is None
    F.sum(y).backward()
    np.testing.assert_array_equal(to_numpy(x.grad), np.full_like(A, 2))
    assert seen == [None] * 3


def test_errors_name_the_class(x):
    class Bad(Function):
        gradient = None

        def forward(self, xs):
            return (xs[0] * 2,)

        def backward(self, xs, gys):
            return (self.gradient,)

    f = Bad()
    y = F.sum(f(x))
    for gradient, error in (
        ('x', TypeError),
        (A[:1], ValueError),
        (A.astype('d'), TypeError),
        (A.astype('i'), TypeError),
    ):
        f.gradient = gradient
        with pytest.raises(error, match=r'^(Bad\.|backward: Bad\.)'):
            y.backward()
    with chainer.using_config('chainerx_fallback', 'error'):
        if isinstance(x.array, chainerx.ndarray):
            with pytest.raises(RuntimeError, match=r'^Bad: no chainerx'):
                Bad()(x)
    with pytest.raises(TypeError, match='Bad'):
        Bad()(x, A if isinstance(x.array, chainerx.ndarray) else chainerx.array(A))
    with pytest.raises(TypeError, match=r'\(Bad\)'):
        type('Bad', (Bad,), {'forward': lambda self, xs: xs[0]})()(x)


class Exp(Function):
    def forward_cpu(self, xs):
        self.retain_inputs(())
        self.retain_outputs((0,))
        return np.exp(xs[0]), xs[0] + 1

    def backward_cpu(self, xs, gys):
        assert xs == (None,)
        assert gys[1] is None
        assert self.output_data[1] is None
        return (gys[0] * self.output_data[0],)


def test_retained_outputs(x):
    y, _ = Exp()(x)
    F.sum(y).backward()
    np.testing.assert_allclose(to_numpy(x.grad), np.exp(A), rtol=1e-6)


@pytest.mark.parametrize(
    ('result', 'error'),
    [
        (lambda g: None, TypeError),
        (lambda g: g[0], TypeError),
        (lambda g: (1.0,), TypeError),
        (lambda g: (), ValueError),
        (lambda g: (g[0], g[0]), ValueError),
        (lambda g: (g[0][0],), ValueError),
    ],
)
def test_bad_gradients(x, result, error):
    class Bad(Function):
        def forward(self, xs):
            return (xs[0] * 2,)

        def backward(self, xs, gys):
            return result(gys)

    y = F.sum(Bad()(x))
    with pytest.raises(error, match=r'backward'):
        y.backward()
    assert x.grad is None


def test_lists_and_none(x):
    class Fine(Function):
        result = None

        def forward(self, xs):
            return (xs[0] * 2,)

        def backward(self, xs, gys):
            return [gys[0] * 2]

    F.sum(Fine()(x)).backward()
    np.testing.assert_array_equal(to_numpy(x.grad), np.full_like(A, 2))

    class Nothing(Function):
        def forward(self, xs):
            return xs

    x.cleargrad()
    F.sum(Nothing()(x)).backward()
    assert x.grad is None


def test_errors(x):
    with pytest.raises(NotImplementedError, match='neither forward nor forward_cpu'):
        Function()(x)
    with pytest.raises(NotImplementedError):
        Function().forward_gpu(())
    assert Function().backward((A,), (A,)) == (None,)


def test_type_check(x):
    class Checked(Mul):
        def check_type_forward(self, in_types):
            chainer.utils.type_check.expect(in_types.size() == 2)

    with pytest.raises(chainer.utils.type_check.InvalidType, match='Checked'):
        Checked()(x)


def test_hooks(x):
    class Hook(chainer.FunctionHook):
        def __init__(self):
            self.log = []

        def forward_preprocess(self, function, in_data):
            self.log.append((type(function), function.label, function._impl_name))

        def backward_preprocess(self, function, in_data, out_grad):
            self.log.append(type(function))

    f, hook = Mul(), Hook()
    f.add_hook(hook)
    assert list(f.local_function_hooks) == ['FunctionHook']
    F.sum(f(x, x)).backward()
    assert hook.log == [(FunctionAdapter, 'Mul', 'Mul'), FunctionAdapter]
    f.delete_hook('FunctionHook')
    assert not f.local_function_hooks
