"""The behaviours of the seed documents that concern chainer, one test per item."""

import inspect
import io
import random

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as chx
import numpy as np
import pytest
from chainer import gradient_check, testing
from devices import DEVICES


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


def to_numpy(x):
    return chainer.backend.CpuDevice().send(x)


class MLP(chainer.Chain):
    def __init__(self, n_hidden=4, n_out=3, initial_w=None):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(2, n_hidden, initialW=initial_w)
            self.l2 = L.Linear(n_hidden, n_out, initialW=initial_w)

    def forward(self, x):
        return self.l2(F.relu(self.l1(x)))


# A. Limitations


def test_a4_assigning_the_array_of_a_variable():
    x = chx.array([1, 2], chx.float32)
    var = chainer.Variable(x)
    assert var.requires_grad
    for name in ('array', 'data'):
        with pytest.raises(ValueError, match='array'):
            setattr(var, name, chx.zeros(2, chx.float32))
    assert to_numpy(var.array).tolist() == [1, 2]


def test_a5_writing_into_the_array_of_a_variable():
    x = chx.array([1, 2], chx.float32)
    var = chainer.Variable(x)
    var.array[:] = chx.array([3, 4], chx.float32)
    assert to_numpy(var.array).tolist() == [3, 4]
    assert to_numpy(x).tolist() == [3, 4]
    var.array[0] = 5
    assert to_numpy(x).tolist() == [5, 4]


# B. Tutorial


def test_b8_a_variable_over_a_chainerx_array():
    x = chx.array([[1, 2], [3, 4]], dtype=chx.float32)
    var = chainer.Variable(x)
    y = F.sum(F.relu(var * 2))
    # The graph is visible.
    assert y.creator is not None
    assert y.creator.inputs[0].creator.inputs[0].creator.inputs[0] is var.node
    y.backward()
    assert isinstance(var.grad, chx.ndarray)
    assert to_numpy(var.grad).tolist() == [[2, 2], [2, 2]]


class Cube(chainer.FunctionNode):
    """A function without forward_chainerx."""

    def forward(self, inputs):
        (x,) = inputs
        self.retain_inputs((0,))
        self.seen = [x]  # in a list it keeps its type
        return (x**3,)

    def backward(self, indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        return (3 * x * x * grad_outputs[0],)


def test_b9_fallback_without_copies():
    x = chx.array([1, 2, 3], dtype=chx.float32)
    var = chainer.Variable(x)
    cube = Cube()
    (y,) = cube.apply((var,))
    assert isinstance(y.array, chx.ndarray)
    assert to_numpy(y.array).tolist() == [1, 8, 27]
    assert type(cube.seen[0]) is np.ndarray
    assert np.shares_memory(cube.seen[0], chx.to_numpy(x, copy=False))
    y.grad = chx.ones_like(y.array)
    y.backward()
    assert to_numpy(var.grad).tolist() == [3, 12, 27]


@pytest.mark.parametrize('name', ['native', 'native:0', 'native:1'])
def test_b10_moving_a_model(name):
    model = MLP()
    x = np.random.RandomState(0).rand(5, 2).astype('f')
    expected = model(x).array
    model.to_device(name)
    device = chainer.get_device(name)
    assert all(param.device == device for param in model.params())
    y = model(chainer.Variable(device.send(x)))
    assert isinstance(y.array, chx.ndarray)
    assert y.device == device
    testing.assert_allclose(y.array, expected, atol=1e-6, rtol=1e-6)


class MatMul(chainer.FunctionNode):
    def __init__(self, transa=False, transb=False):
        self.transa = transa
        self.transb = transb
        self.paths = []

    def forward_chainerx(self, x):
        a, b = x
        if self.transa or self.transb or a.dtype != b.dtype or a.ndim != 2 or b.ndim != 2:
            self.paths.append('fallback')
            return chainer.Fallback
        self.paths.append('chainerx')
        return (chx.dot(a, b),)

    def forward(self, x):
        self.retain_inputs((0, 1))
        a, b = x
        self.paths.append(type(a))
        return ((a.T if self.transa else a) @ (b.T if self.transb else b),)

    def backward(self, indexes, grad_outputs):
        a, b = self.get_retained_inputs()
        (gy,) = grad_outputs
        ga = (
            F.matmul(b, gy, self.transb, True)
            if self.transa
            else F.matmul(gy, b, False, not self.transb)
        )
        gb = F.matmul(gy, a, True, self.transa) if self.transb else F.matmul(a, gy, not self.transa)
        return ga, gb


@pytest.mark.parametrize('transa', [False, True])
@pytest.mark.parametrize('transb', [False, True])
def test_b11_forward_chainerx_and_fallback(transa, transb):
    rng = np.random.RandomState(0)
    a = rng.rand(*((4, 3) if transa else (3, 4))).astype('f')
    b = rng.rand(*((2, 4) if transb else (4, 2))).astype('f')
    variables = [chainer.Variable(chx.array(x)) for x in (a, b)]
    function = MatMul(transa, transb)
    (y,) = function.apply(variables)
    assert function.paths == (['fallback', np.ndarray] if transa or transb else ['chainerx'])
    testing.assert_allclose(y.array, (a.T if transa else a) @ (b.T if transb else b))
    gradient_check.check_backward(
        lambda *xs: MatMul(transa, transb).apply(xs),
        (chx.array(a), chx.array(b)),
        chx.array(rng.rand(3, 2).astype('f')),
        dtype='float64',
    )


def test_b11_the_result_is_a_tuple():
    class NoTuple(MatMul):
        def forward_chainerx(self, x):
            return chx.dot(*x)

    x = chainer.Variable(chx.ones((2, 2), chx.float32))
    with pytest.raises(TypeError, match='tuple'):
        NoTuple().apply((x, x))


# C. User guide


def test_c1_a_dtype_character():
    arr = chx.array([1, 2, 3], dtype='f')
    var = chainer.Variable(arr)
    assert var.dtype == np.float32
    assert var.xp is chx
    assert var.array.dtype == 'float32'


def test_c2_backward_of_a_variable_is_that_of_its_array():
    x, w = (np.array(v, 'f') for v in ([1, 2], [3, 4]))
    variable = chainer.Variable(chx.array(w))
    F.sum(chainer.Variable(chx.array(x)) * variable * variable).backward()
    array = chx.array(w).require_grad()
    (chx.array(x) * array * array).sum().backward()
    assert to_numpy(variable.grad).tolist() == to_numpy(array.grad).tolist() == [6, 16]


def test_c7_to_device_and_its_legacy():
    model = MLP()
    assert model.to_device('native:0') is model
    assert model.xp is chx
    assert model.to_device('@numpy') is model
    model.to_chx()
    assert model.xp is chx
    model.from_chx()
    assert model.xp is np
    with pytest.warns(DeprecationWarning, match='to_device'):
        assert model.to_cpu() is model
    assert model.xp is np
    if not chainer.backends.cuda.available:
        with pytest.raises(RuntimeError):
            model.to_gpu()


def train(model, x, t, steps):
    """Plain gradient descent that uses only the public API."""
    losses = []
    for _ in range(steps):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        for param in model.params():
            param.array[...] -= param.xp.asarray(param.grad * np.float32(0.5))
        losses.append(float(loss.array))
    return losses


def test_c8_code_on_numpy_works_unchanged():
    rng = np.random.RandomState(0)
    x = rng.rand(30, 2).astype('f')
    t = (x[:, 0] > x[:, 1]).astype('i')
    np.random.seed(0)
    model = MLP(n_hidden=8, n_out=2)
    losses = train(model, x, t, 100)
    assert all(type(param.array) is np.ndarray for param in model.params())
    assert losses[-1] < losses[0] / 2
    assert float(F.accuracy(model(x), t).array) > 0.9


class OldCube(chainer.Function):
    def forward(self, inputs):
        return (inputs[0] ** 3,)

    def backward(self, inputs, grad_outputs):
        return (3 * inputs[0] ** 2 * grad_outputs[0],)


def test_c9_known_issues_are_fixed(device):
    # Old-style functions.
    x = chainer.Variable(device.send(np.array([1, 2], 'f')))
    y = OldCube()(x)
    y.grad = device.send(np.ones(2, 'f'))
    y.backward()
    assert to_numpy(x.grad).tolist() == [3, 12]
    # Operands of different dtypes on chainerx.
    if device.xp is chx:
        other = chainer.Variable(device.send(np.array([3, 4], 'd')))
        y = x * other
        assert y.dtype == np.float64
        x.cleargrad()
        F.sum(y).backward()
        assert x.grad.dtype == np.float32
        assert to_numpy(x.grad).tolist() == [3, 4]


# D. Announcement


def test_d1_layers():
    """chainerx and chainer give the same; tests/cpp has the C++ version."""
    x, w = np.random.RandomState(0).rand(2, 3, 3).astype('f')
    array = chx.array(w).require_grad()
    chx.dot(chx.array(x), array).sum().backward()
    variable = chainer.Variable(chx.array(w))
    F.sum(F.matmul(chainer.Variable(chx.array(x)), variable)).backward()
    testing.assert_allclose(array.grad, variable.grad, atol=0, rtol=1e-6)
    testing.assert_allclose(array.grad, x.T @ np.ones((3, 3), 'f'))


def test_d2_fallback_in_forward_backward_and_update():
    class Model(MLP):
        def forward(self, x):
            return self.l2(Cube().apply((self.l1(x),))[0])

    results = {}
    x = np.random.RandomState(0).rand(6, 2).astype('f')
    t = np.array([0, 1, 2, 0, 1, 2], 'i')
    for name in DEVICES:
        np.random.seed(0)
        device = chainer.get_device(name)
        model = Model()
        model.to_device(device)
        losses = train(model, device.send(x), device.send(t), 5)
        results[name] = losses, [to_numpy(p.array).copy() for p in model.params()]
    testing.assert_allclose(results['@numpy'][0], results['native:0'][0])
    for a, b in zip(results['@numpy'][1], results['native:0'][1], strict=True):
        testing.assert_allclose(a, b)


# E. Troubleshooting


def test_e1_parameters_without_gradient(device):
    model = MLP()
    model.to_device(device)
    x = device.send(np.ones((5, 2), 'f'))

    def missing():
        return [name for name, param in model.namedparams() if param.grad is None]

    loss = F.sum(model(x))
    model.cleargrads()
    assert sorted(missing()) == ['/l1/W', '/l1/b', '/l2/W', '/l2/b']
    loss.backward()
    assert missing() == []


def test_e2_cupy_is_not_needed():
    assert isinstance(chainer.backends.cuda.available, bool)
    if not chainer.backends.cuda.available:
        with pytest.raises(RuntimeError):
            chainer.backends.cuda.check_cuda_available()


def test_e3_debug_mode_names_function_and_line(device):
    x = chainer.Variable(device.send(np.array([-1, 1], 'f')))
    y = F.log(x)  # without debug mode nothing happens
    assert np.isnan(to_numpy(y.array)[0])
    with chainer.using_config('debug', True), pytest.raises(RuntimeError) as info:
        y = F.log(x)
    line = inspect.currentframe().f_lineno - 1
    message = str(info.value)
    assert 'log' in message.lower()
    assert 'nan' in message.lower()
    assert f'test_seed_examples.py:{line}' in message or f'line {line}' in message
    with chainer.using_config('debug', True):
        F.exp(x)


def test_e4_computational_graph(device):
    from chainer import computational_graph

    x = chainer.Variable(device.send(np.array([1, 2], 'f')), name='x')
    y = F.sum(F.sqrt(x))
    text = computational_graph.build_computational_graph([y]).dump()
    assert text.startswith('digraph')
    for part in ('Sqrt', 'Sum', 'x: (2), float32', '->'):
        assert part.lower() in text.lower(), text


def test_e5_runtime_info():
    out = io.StringIO()
    chainer.print_runtime_info(out)
    for part in ('Chainer: ' + chainer.__version__, 'NumPy: ' + np.__version__, 'ChainerX'):
        assert part in out.getvalue()


def test_e6_using_the_array_detaches(device):
    x, w = (chainer.Variable(device.send(np.array(v, 'f'))) for v in ([1, 2], [3, 4]))
    F.sum(x.array * w).backward()
    assert x.grad is None
    assert to_numpy(w.grad).tolist() == [1, 2]


def test_e7_initializers_as_arguments():
    np.random.seed(0)
    linear = L.Linear(1000, 50, initialW=chainer.initializers.HeNormal())
    assert abs(linear.W.array.std() - (2 / 1000) ** 0.5) < 1e-3


def test_e8_seeds_make_runs_the_same(device):
    x = device.send(np.random.RandomState(1).rand(20, 2).astype('f'))
    t = device.send(np.arange(20, dtype='i') % 3)

    def run():
        np.random.seed(42)
        random.seed(42)
        model = MLP()
        model.to_device(device)
        with chainer.using_config('train', True):
            F.dropout(x, 0.5)
            losses = train(model, F.dropout(x, 0.5), t, 3)
        return losses, [to_numpy(param.array).copy() for param in model.params()]

    first, second = run(), run()
    assert first[0] == second[0]
    for a, b in zip(first[1], second[1], strict=True):
        np.testing.assert_array_equal(a, b)


def test_e10_gradients_in_between(device):
    x = chainer.Variable(device.send(np.array([1, 2], 'f')))
    for retain_grad in (False, True):
        h = x * 3
        y = F.sum(h * h)
        x.cleargrad()
        y.backward(retain_grad=retain_grad)
        assert to_numpy(x.grad).tolist() == [18, 36]
        if retain_grad:
            assert to_numpy(h.grad).tolist() == [6, 12]
        else:
            assert h.grad is None


def test_e12_chains_and_sums_of_gradients(device):
    layers = chainer.ChainList(L.Linear(2, 3), L.Linear(3, 1))
    model = chainer.Chain(first=layers, second=L.Linear(1, 1))
    model.to_device(device)
    assert sorted(name for name, _ in model.namedparams()) == [
        '/first/0/W',
        '/first/0/b',
        '/first/1/W',
        '/first/1/b',
        '/second/W',
        '/second/b',
    ]

    def loss(x):
        for layer in layers:
            x = layer(x)
        return F.sum(model.second(x))

    batches = [device.send(x) for x in np.random.RandomState(0).rand(2, 5, 2).astype('f')]
    model.cleargrads()
    loss(device.xp.concatenate(batches)).backward()
    whole = [to_numpy(param.grad).copy() for param in model.params()]
    model.cleargrads()
    for batch in batches:
        loss(batch).backward()
    for param, expected in zip(model.params(), whole, strict=True):
        testing.assert_allclose(param.grad, expected)


def test_e13_backward_twice_adds_up(device):
    x = chainer.Variable(device.send(np.array([1, 2], 'f')))
    loss = F.sum(x * x)
    loss.backward()
    once = to_numpy(x.grad).copy()
    loss.backward()
    assert to_numpy(x.grad).tolist() == (2 * once).tolist()
    x.cleargrad()
    loss.backward()
    assert to_numpy(x.grad).tolist() == once.tolist()
