"""Methods with a static graph: the same bits as without, whoever calls them."""

import copy
import gc
import pickle
import warnings
import weakref

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as chx
import numpy as np
import pytest
from capture.training_steps import batch, compare, make_step, numpy
from chainer import optimizers
from chainer.graph_optimizations import static_code


class Net(chainer.Chain):
    def __init__(self, seed=0):
        super().__init__()
        rng = np.random.default_rng(seed)
        with self.init_scope():
            self.first = L.Linear(4, 8)
            self.norm = L.BatchNormalization(8)
            self.last = L.Linear(8, 3)
        for p in self.params():
            p.array = rng.normal(size=p.shape).astype('f')
        self.calls = 0
        self.to_chx()

    def compute(self, x):
        self.calls += 1
        h = F.dropout(F.tanh(self.norm(self.first(x))))
        return F.relu(self.last(h)) + self.last(F.sin(h))

    forward = compute


class Static(Net):
    forward = chainer.static_graph(Net.compute)


def train(model, n, seed=0, optimizer=None, before=None, clear=True):
    np.random.seed(seed)
    optimizer = (optimizer or optimizers.Adam)().setup(model)
    losses = []
    for i in range(n):
        if before is not None:
            before(i, model)
        x, t = batch(i)
        x = chainer.Variable(x)
        h = F.sin(x)
        loss = F.softmax_cross_entropy(model(h * 2) * 1.5, t)
        if clear:
            model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append((numpy(loss.array), numpy(x.grad)))
    return losses


def check(n=12, cls=Static, calls=None, **options):
    model, other = cls(), Net()
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        seen, expected = train(model, n, **options), train(other, n, **options)
    for a, b in zip(seen, expected, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)
    compare(model, other)
    np.testing.assert_array_equal(numpy(model.norm.avg_mean), numpy(other.norm.avg_mean))
    if calls is not None:
        assert model.calls == calls
    return model


@pytest.mark.parametrize('clear', [True, False])
@pytest.mark.parametrize('optimizer', ['SGD', 'Adam'])
def test_training(optimizer, clear):
    check(optimizer=getattr(optimizers, optimizer), clear=clear, calls=4)


def test_shapes_and_modes_are_told_apart():
    def before(i, model):
        with chainer.using_config('train', i % 2 == 0):
            loss = F.sum(model(batch(i, 3)[0]) ** 2)
            model.cleargrads()
            loss.backward()

    model = check(16, before=before)
    assert model.calls == 4 + 4 + 4


def test_two_forwards_before_a_backward():
    def run(cls):
        np.random.seed(0)
        model, seen = cls(), []
        for i in range(10):
            xs = [chainer.Variable(batch(i * 3 + k)[0]) for k in range(3)]
            ys = [model(x) for x in xs]
            model.cleargrads()
            order = [2, 0, 1] if i % 2 else [0, 1, 2]
            for k in order:
                F.sum(ys[k] * ys[k]).backward()
            seen.append([numpy(x.grad) for x in xs] + [numpy(p.grad) for p in model.params()])
        return seen, model

    (seen, model), (expected, other) = run(Static), run(Net)
    for a, b in zip(seen, expected, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)
    assert model.calls < other.calls


def test_forwards_without_backward():
    model, other = Static(), Net()
    for m in (model, other):
        np.random.seed(0)
        m.seen = [numpy(m(batch(i)[0]).array) for i in range(8)]
    for a, b in zip(model.seen, other.seen, strict=True):
        np.testing.assert_array_equal(a, b)
    assert model.calls == 8
    check_after = train(model, 8, seed=1), train(other, 8, seed=1)
    for a, b in zip(*check_after, strict=True):
        np.testing.assert_array_equal(a[0], b[0])
    compare(model, other)


def test_no_graph():
    model, other = Static(), Net()
    for i in range(8):
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            x = batch(i)[0]
            y = model(x)
            np.testing.assert_array_equal(numpy(y.array), numpy(other(x).array))
            assert isinstance(y, chainer.Variable)
            assert y.creator is None
    assert model.calls == 3


def test_test_mode_as_it_is():
    class Plain(Net):
        forward = chainer.static_graph(force_test_define_by_run=True)(Net.compute)

    model = Plain()
    for i in range(6):
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            model(batch(i)[0])
    assert model.calls == 6
    check(cls=Plain, calls=4)


def test_a_second_backward():
    model, other = Static(), Net()
    for i in range(8):
        grads = []
        for m in (model, other):
            np.random.seed(i)
            loss = F.sum(m(batch(i)[0]) ** 2)
            m.cleargrads()
            loss.backward()
            loss.backward()
            grads.append([numpy(p.grad) for p in m.params()])
        for a, b in zip(*grads, strict=True):
            np.testing.assert_array_equal(a, b)
    assert model.calls == 4


def replace(model):
    new = chainer.Parameter(chx.full((8, 4), 0.25, 'float32'))
    new.update_rule = model.first.W.update_rule
    with model.first.init_scope():
        model.first.W = new


def test_a_parameter_that_is_replaced():
    def before(i, model):
        if i == 7:
            replace(model)

    check(16, before=before, calls=4 + 3)


def test_a_parameter_that_is_replaced_before_backward():
    grads = []
    for cls in (Static, Net):
        model = cls()
        train(model, 6)
        np.random.seed(0)
        loss = F.sum(model(chainer.Variable(batch(0)[0])))
        model.cleargrads()
        old = model.first.W
        replace(model)
        loss.backward()
        grads.append([numpy(p.grad) for p in (old, *model.params()) if p.grad is not None])
    for a, b in zip(*grads, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_backward_that_is_not_that_of_the_forward():
    model = Static()
    train(model, 6)
    loss = F.sum(model(chainer.Variable(batch(0)[0])))
    with (
        chainer.using_config('train', False),
        pytest.raises(chx.CaptureError, match=r'Static.compute was replayed, but its backward'),
    ):
        loss.backward()


def test_outputs_that_are_written_to():
    model = Static()
    train(model, 6)
    y = model(chainer.Variable(batch(0)[0]))
    y.array[...] = 0
    with pytest.raises(chx.GradientError, match='written to in place before backward'):
        F.sum(y).backward()


def test_gradients_of_gradients_are_refused():
    model = Static()
    train(model, 6)
    x = chainer.Variable(batch(0)[0])
    with pytest.raises(RuntimeError, match='can not be differentiated again'):
        chainer.grad([F.sum(model(x))], [x], enable_double_backprop=True)
    with chainer.using_config('use_static_graph', False):
        (g,) = chainer.grad([F.sum(model(x))], [x], enable_double_backprop=True)
    assert g.creator is not None


class Several(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a, self.b = L.Linear(4, 3), L.Linear(4, 3)
        rng = np.random.default_rng(0)
        for p in self.params():
            p.array = rng.normal(size=p.shape).astype('f')
        self.to_chx()
        self.scale = chainer.Parameter(chx.array(2, 'float32'))  # none of the chain's
        self.calls = 0

    @chainer.static_graph
    def forward(self, x, z):
        self.calls += 1
        y = self.a(x) * self.scale
        return y, F.argmax(y, axis=1), self.b(z), F.reshape(z, (-1,)), y[:, 1:]


def test_several_outputs():
    model, other = Several(), Several()
    for i in range(9):
        found = []
        for m in (model, other):
            with chainer.using_config('use_static_graph', m is model):
                x, z = chainer.Variable(batch(i)[0]), chainer.Variable(batch(i + 50)[0])
                y, index, w, flat, part = m(x, z)
                m.cleargrads()
                m.scale.cleargrad()
                (F.sum(y * y) + F.sum(w) + F.sum(flat * flat) + F.sum(F.exp(part))).backward()
                variables = [*m.params(), m.scale, x, z]
                found.append([numpy(index.array), *(numpy(v.grad) for v in variables)])
        for a, b in zip(*found, strict=True):
            np.testing.assert_array_equal(a, b)
    assert model.calls == 4
    y, *_ = model(x, z)
    model.cleargrads()
    F.sum(y).backward()
    assert not model.b.W.grad.any()
    assert model.a.W.grad.any()


REFUSED = {
    'reads': (lambda self, y: y * float(y.array.sum()), 'values are read'),
    'code': (
        lambda self, y: noted(self, y),
        'noted returns arrays, and is given one that needs a gradient',
    ),
    'keeps': (lambda self, y: setattr(self, 'seen', y) or y * 2, None),
}


@static_code
def noted(model, y):
    model.notes += 1
    return y


@pytest.mark.parametrize('name', REFUSED)
def test_what_can_not_be_replayed_runs_as_it_is(name):
    part, text = REFUSED[name]

    class Odd(Net):
        notes = 0

        @chainer.static_graph
        def forward(self, x):
            return part(self, self.compute(x))

    class Same(Net):
        notes = 0

        def forward(self, x):
            return part(self, self.compute(x))

    model, other = Odd(), Same()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter('always')
        seen, expected = train(model, 10), train(other, 10)
    for a, b in zip(seen, expected, strict=True):
        np.testing.assert_array_equal(a[0], b[0])
    compare(model, other)
    assert model.notes == other.notes
    if text is not None:
        assert model.calls == 10
        (warning,) = found
        assert text in str(warning.message)


def test_results_of_other_kinds_run_as_they_are():
    class Odd(Net):
        @chainer.static_graph
        def forward(self, x):
            return {'y': self.compute(x)}

    model = Odd()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter('always')
        for i in range(6):
            y = model(batch(i)[0])['y']
            model.cleargrads()
            F.sum(y).backward()
            assert model.first.W.grad.any()
    assert model.calls == 6
    (warning,) = found
    assert 'static_graph: Odd.forward runs as it is, since it returns' in str(warning.message)


@pytest.mark.parametrize('array', ['numpy', 'named'])
def test_other_calls_run_as_they_are(array):
    model = Static()
    if array == 'numpy':
        model.to_device('@numpy')
    for i in range(6):
        x, _ = batch(i, array='numpy' if array == 'numpy' else 'chainerx')
        y = model(x) if array == 'numpy' else model(x=x)
        model.cleargrads()
        F.sum(y).backward()
    assert model.calls == 6


class Uncounted(Static):
    calls = property(lambda self: 0, lambda self, n: None)


def test_inside_of_a_captured_step():
    def run(cls, capture):
        model = cls()
        np.random.seed(0)
        step = make_step(model, optimizers.Adam().setup(model))
        step = chx.capture(step) if capture else step
        for i in range(10):
            step(*batch(i))
        return model, step

    model, step = run(Uncounted, True)
    compare(model, run(Net, False)[0])
    assert step.info()[0].replays == 7


def test_copies_have_recordings_of_their_own():
    model = Static()
    train(model, 6)
    for other in (model.copy('copy'), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        plain = Net()
        plain.copyparams(other)
        plain.norm.N = other.norm.N
        for a, b in zip(train(other, 8, seed=3), train(plain, 8, seed=3), strict=True):
            np.testing.assert_array_equal(a[0], b[0])
        compare(other, plain)
        assert other.calls == model.calls + 4


def test_memory_is_given_back():
    model = Static()
    train(model, 6)
    alive = weakref.ref(model)
    del model
    gc.collect()
    assert alive() is None


def test_hooks_see_each_call():
    model = Static()
    train(model, 6)
    with chainer.function_hooks.TimerHook() as hook:
        y = model(batch(0)[0])
        n = len(hook.call_history)
        assert n > 4
        F.sum(y).backward()
    assert len(hook.call_history) > 2 * n
