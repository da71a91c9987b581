"""Workloads in which test_out_of_memory.py lets each request for memory fail."""

import copy
import io
import pickle

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as chx
import numpy as np
from cases import CASES
from cases._harness import Prepared, as_list
from chainer import function_hooks, optimizers, serializers


def table():
    """Each operation, forward, backward and backward again."""
    for case in CASES:
        if case.ref is not None and case.calls:
            yield case.name, operation(case)


def operation(case):
    dtype = 'float32' if 'float32' in case.dtypes else case.dtypes[0]
    prepared = Prepared(case, case.calls[0], dtype, device=chx.get_default_device())
    inputs = [prepared.arrays[n] for n in prepared.differentiable()]
    inputs = [x for x in inputs if x.dtype == 'float32']
    f = case.resolve(chx)
    if not case.name.startswith(('ndarray.__setitem__', 'copyto')):  # not on arrays in a graph
        for x in inputs:
            x.require_grad()

    def run():
        for x in filter(is_in_graph, inputs):
            x.cleargrad()
        outputs = [y for y in as_list(prepared.call.run(f)) if is_in_graph(y)]
        if outputs:
            chx.backward(outputs, enable_double_backprop=True)
        grads = [x.grad for x in inputs if is_in_graph(x)]
        grads = [g for g in grads if g is not None and is_in_graph(g)]
        if grads:
            chx.backward(grads)

    return run


def is_in_graph(x):
    return isinstance(x, chx.ndarray) and x.is_backprop_required()


class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a = L.Linear(4, 5)
            self.b = L.Linear(5, 3)
            self.c = L.LSTM(3, 3)
        self.add_persistent('p', np.zeros(3, 'f'))

    def forward(self, x):
        self.c.reset_state()
        return self.c(self.b(F.tanh(self.a(x))))


def training():
    """Training by chainer, on arrays of both kinds."""
    for device in ('@numpy', 'native:0'):
        for optimizer in (optimizers.SGD(), optimizers.Adam()):
            yield f'{type(optimizer).__name__} on {device}', step(device, optimizer)
        for f in (many_inputs, variables, functions, hooks):
            yield f'{f.__name__} on {device}', f(device)
    yield 'statistics in place', statistics('C')
    yield 'statistics in copies', statistics('F')
    yield 'links', links
    yield 'arrays', arrays


def captures():
    """Captured steps of training."""
    yield 'recordings', recordings('native:0')
    for device in ('@numpy', 'native:0'):
        yield f'replays on {device}', replays(device)


def values(device, *shape):
    x = np.linspace(-1, 1, int(np.prod(shape)), dtype='float32').reshape(shape)
    return chainer.get_device(device).send(x)


def step(device, optimizer):
    model = Model()
    model.to_device(device)
    optimizer.setup(model)
    x = values(device, 7, 4)
    t = model.xp.asarray(np.arange(7, dtype='int32') % 3)

    def run():
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        assert all(np.isfinite(float(p.xp.sum(p.array))) for p in model.params())

    return run


def recordings(device):
    """A step of training that is captured anew each time."""
    train, x = training_step(device)

    def run():
        captured = chx.capture(train)
        for _ in range(4):
            assert np.isfinite(float(captured(x).array))

    return run


def replays(device):
    """In each call, unless it fails."""
    train, x = training_step(device)
    captured = chx.capture(train)
    for _ in range(5):
        captured(x)

    def run():
        assert np.isfinite(float(captured(x).array))

    return run


def training_step(device):
    model = chainer.Sequential(L.Linear(4, 3), F.tanh)
    model.to_device(device)
    optimizer = optimizers.Adam().setup(model)
    state = chx.zeros((7, 3))

    def train(x):
        y = model(x)
        loss = F.sum(y * y)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        state[...] = state * 0.5 + 1
        return loss

    return train, values(device, 7, 4)


def many_inputs(device):
    """More inputs than the initial capacity of a run of backward."""
    xs = [chainer.Variable(values(device, 3)) for _ in range(40)]

    def run():
        for x in xs:
            x.cleargrad()
        y = F.concat(xs, axis=0)
        F.sum(y * y).backward()
        chainer.grad([F.sum(sum(F.split_axis(F.concat(xs, axis=0), 20, 0)))], xs)

    return run


def variables(device):
    v = chainer.Variable(values(device, 3, 4))

    def run():
        v.cleargrad()
        z = F.sum(((v * 2 + v - v / 3) @ v.T)[0])
        z.backward(retain_grad=True)
        repr(v), v.grad, z.creator, z.node.get_variable(), copy.copy(v), copy.deepcopy(v)
        (g,) = chainer.grad([F.sum(F.exp(v) ** 2)], [v], enable_double_backprop=True)
        chainer.grad([g], [v])

    return run


class Doubled(chainer.FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0,))
        self.retain_outputs((1,))
        return inputs[0] * 2, inputs[0] + inputs[1]

    def backward(self, indexes, grads):
        (x,) = self.get_retained_inputs()
        (y,) = self.get_retained_outputs()
        return grads[0] * 2 + grads[1] + x, grads[1] + y


class Old(chainer.Function):
    def forward(self, inputs):
        return (inputs[0] + inputs[0],)

    def backward(self, inputs, grads):
        return (grads[0] + grads[0],)


def functions(device):
    v = chainer.Variable(values(device, 3))

    def run():
        v.cleargrad()
        a, b = Doubled().apply((v, v))
        F.sum(a * b).backward(enable_double_backprop=True)
        F.sum(Old()(v)).backward()

    return run


def hooks(device):
    model = Model()
    model.to_device(device)
    x = values(device, 2, 4)

    def run():
        with function_hooks.TimerHook() as hook, chainer.using_config('debug', True):
            F.sum(model(x)).backward()
        hook.summary()

    return run


def statistics(order):
    """Each success negates the running statistics; a failure leaves them unchanged."""
    x = chx.zeros((4, 3, 2)).require_grad()
    gamma, beta = chx.ones((3, 2)).require_grad(), chx.ones((3, 2)).require_grad()
    mean, var = (np.ones((3, 2), 'float16', order=order) for _ in range(2))
    sign = 1.0

    def run():
        nonlocal sign
        assert mean[0, 0] == var[2, 1] == sign
        chx.batch_norm(x, gamma, beta, chx.asarray(mean), chx.asarray(var), decay=-1.0)
        sign = -sign

    return run


def links():
    model = Model()
    model.to_device('native:0')
    file = io.BytesIO()
    serializers.save_npz(file, model)
    file.seek(0)
    serializers.load_npz(file, model)
    pickle.loads(pickle.dumps(model))
    copy.deepcopy(model)
    model.copy('share')
    model.copy('init')


def arrays():
    a = chx.array([[1, -2, 3], [0.5, 0, -1]])
    b = a.copy()
    b[b > 0] = 0
    b[::-1] += 1
    b[[1, 1]] = a
    repr(a), pickle.loads(pickle.dumps(a)), copy.deepcopy(a), a.tolist(), list(a)
    a[a > 0.5], a[[0, 1], [1, 2]], a.astype('float64'), chx.to_numpy(a)
    np.from_dlpack(a), chx.from_dlpack(np.ones(3)), chx.asarray(np.ones(3))
    chx.random.normal(size=(3, 4))
    x = chx.full(3, 0.5, 'float64').require_grad()
    ones, eps = chx.ones(3, 'float64'), chx.full(3, 1e-3, 'float64')
    chx.check_backward(lambda xs: (xs[0] * xs[0],), [x], [ones], [eps])
