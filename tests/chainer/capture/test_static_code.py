"""Code of the program that runs in each replay, in its place between the kernels."""

import gc
import types
import weakref

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as chx
import numpy as np
import pytest
from capture.training_steps import compare, numpy
from chainer.graph_optimizations import static_code


def replays(step):
    return sum(variant.replays for variant in step.info())


def run(make, n=8, x=None, **options):
    """What the step returns and leaves, as it is and captured."""
    found = []
    for capture in (False, True):
        step, look = make()
        called = chx.capture(step, **options) if capture else step
        np.random.seed(0)
        seen = []
        for i in range(n):
            y = called((chx.arange(4.0) if x is None else x) + i)
            seen.append((numpy(y).tolist(), look()))
        found.append(seen)
    assert found[0] == found[1]
    return called


def test_side_effects():
    def make():
        log = []

        @static_code
        def note():
            log.append(len(log))

        def step(x):
            y = x * 2
            note()
            y = y + 1
            note()
            return y

        return step, lambda: list(log)

    called = run(make)
    assert replays(called) == 8 - 3
    assert called.info()[0].kernels == 4


def test_arrays_are_those_of_the_replay():
    def make():
        log = []

        @static_code(func_name='look')
        def look(x, named, pair=()):
            log.append((x.tolist(), named, [float(p.sum()) for p in pair]))

        def step(x):
            y = x * 2
            look(y, 'y', pair=[x, y[::2]])
            y += 1
            look(y, named='again')
            return y * x

        return step, lambda: list(log)

    assert replays(run(make)) == 8 - 3


@pytest.mark.parametrize('of_link', [False, True])
def test_places_that_the_step_has_set(of_link):
    def make():
        owner = chainer.Link() if of_link else types.SimpleNamespace()
        owner.h, owner.loss, owner.pair = chx.zeros(4), None, None
        log = []

        @static_code
        def look():
            h, twice = owner.pair
            log.append(
                (owner.loss.tolist(), owner.h.tolist(), twice.tolist(), owner.brief.tolist())
            )
            owner.h += 3
            assert h is not twice

        def step(x):
            owner.h = owner.h * 0.5 + x
            owner.loss = owner.h * 2
            owner.pair = x + 1, owner.h * 2
            owner.brief = x * 5
            look()
            del owner.brief
            owner.loss = owner.loss + owner.h
            return owner.h * 1

        return step, lambda: (
            log[-1],
            owner.h.tolist(),
            owner.loss.tolist(),
            hasattr(owner, 'brief'),
        )

    assert replays(run(make, n=10)) >= 4


def test_arrays_that_it_returns():
    def make():
        @static_code
        def scan(x, width):
            x = chx.to_numpy(x)
            return chx.array(np.cumsum(x) % 7), (chx.array(np.sort(-x[:width])), None, 3)

        def step(x):
            y, (z, none, three) = scan(x * 3, 2)
            assert none is None
            return (y * z.sum()) ** three

        return step, lambda: None

    assert replays(run(make)) == 8 - 3


def test_views_that_it_returns():
    def make():
        @static_code
        def views(x):
            new = x * 3
            return x[1:], x[::-2], new, new, new[:2].reshape(2, 1), x[:0]

        def step(x):
            y = x * 2
            v, w, new, same, part, none = views(y)
            y += 1
            v *= w.sum()
            new -= 1
            return chx.concatenate([y, v, w, new, same, part[:, 0], none])

        return step, lambda: None

    assert replays(run(make)) == 8 - 3


def test_new_arrays_that_overlap_in_part_are_refused():
    @static_code
    def views(x):
        new = x * 3
        return new[:2], new[1:]

    captured = chx.capture(lambda x: sum(views(x), chx.zeros(2)))
    captured(chx.ones(3))
    with pytest.raises(chx.CaptureError, match=r'views.*overlap in part'):
        captured(chx.ones(3))


@pytest.mark.parametrize('change', [lambda x: x.append(x[0]), lambda x: x.__setitem__(0, x[0] + 1)])
def test_a_list_that_it_changes_is_an_error(change):
    code = static_code(change)

    def step(x):
        kept = [x * 2]
        code(kept)
        return kept[-1] * len(kept)

    captured = chx.capture(step)
    captured(chx.ones(3))
    with pytest.raises(chx.CaptureError, match='changed what holds the arrays'):
        captured(chx.ones(3))


def test_arrays_that_it_writes_to():
    def make():
        running = chx.zeros(4, 'float64')

        @static_code
        def update(x, out, outputs):
            out[...] = chx.array(chx.to_numpy(x)[::-1].copy())
            outputs[0] += x
            return out

        def step(x):
            out = chx.empty_like(x)
            y = update(x * 2, out, outputs=[running])
            return y + out + running

        return step, running.tolist

    assert replays(run(make, x=chx.arange(4, dtype='float64'))) == 8 - 3


def test_arrays_that_it_keeps():
    def make():
        kept = []

        @static_code
        def keep(x):
            kept.append(x)

        def step(x):
            y = x * 2
            keep(y)
            z = y + 1
            keep(z)
            return z - 1

        return step, lambda: [x.tolist() for x in kept]

    assert replays(run(make)) == 8 - 3


def test_random_numbers_are_drawn_in_their_order():
    def make():
        drawn = []

        @static_code
        def draw():
            drawn.append(np.random.rand())

        def step(x):
            draw()
            y = F.dropout(x, 0.5).array
            draw()
            y = F.dropout(y + 1, 0.5).array
            draw()
            return y

        return step, lambda: list(drawn)

    assert replays(run(make)) == 8 - 3


def test_fusion_does_not_move_it():
    x = chx.linspace(0, 1, 20000)

    def make():
        seen = []
        held = chx.zeros(20000, 'float64')

        @static_code
        def look():
            seen.append(float(held.sum()))

        def step(x):
            held[...] = chx.tanh(x * 2 + 1)
            look()
            held[...] = chx.exp(-x) * held
            look()
            return chx.sqrt(held * held + x)

        return step, lambda: list(seen)

    called = run(make, x=x.astype('float64'))
    assert replays(called) == 8 - 3
    assert called.info()[0].fused > 0


def test_verification_does_not_call_it_twice():
    def make():
        log = []

        @static_code
        def note(x):
            log.append(x.tolist())

        def step(x):
            note(x + 1)
            return x * 2

        return step, lambda: list(log)

    assert replays(run(make, verify=2)) == 8 - 3


def test_an_error_in_it():
    calls = [0]

    @static_code
    def fail(x):
        calls[0] += 1
        if calls[0] == 5:
            raise RuntimeError('the fifth')

    w = chx.zeros(2, 'float32')

    def step(x):
        w[...] = x + 1
        fail(x)
        w[...] = x + 2
        return w * 1

    captured = chx.capture(step)
    for i in range(4):
        captured(chx.full(2, i, 'float32'))
    with pytest.raises(RuntimeError, match='the fifth'):
        captured(chx.full(2, 4, 'float32'))
    assert w.tolist() == [5, 5]
    assert captured(chx.full(2, 5, 'float32')).tolist() == [7, 7]
    assert replays(captured) == 2


def catch_errors(raises_at, strict):
    """A captured step that catches what its code raises in some of the calls, and is to say so."""
    calls = [0]

    @static_code
    def fail(x):
        calls[0] += 1
        if calls[0] in raises_at:
            raise KeyError(calls[0])

    def step(x):
        try:
            fail(x)
        except KeyError:
            return x * 0
        return x + 1

    return chx.capture(step, strict=strict)


def test_an_error_in_it_that_the_step_catches():
    """A replay can't; the code would not be called where the recording had none of it."""
    captured = catch_errors({2}, True)
    assert captured(chx.ones(1)).tolist() == [2]
    with pytest.raises(chx.CaptureError, match=r'static_code .*fail raises KeyError'):
        captured(chx.ones(1))
    assert [captured(chx.ones(1)).tolist() for _ in range(4)] == [[2]] * 4

    captured = catch_errors(range(100), False)
    captured(chx.ones(1))
    with pytest.warns(RuntimeWarning, match=r'static_code .*fail raises KeyError'):
        captured(chx.ones(1))
    assert captured(chx.ones(1)).tolist() == [0]
    assert replays(captured) == 0

    captured = catch_errors({6}, True)
    for _ in range(5):
        captured(chx.ones(1))
    with pytest.raises(KeyError) as caught:
        captured(chx.ones(1))
    assert caught.value.__notes__[0].endswith('does not catch this when it is replayed')
    assert captured(chx.ones(1)).tolist() == [2]
    assert replays(captured) > 1


CHANGES = {
    'shape': (lambda x, late: x[1:] if late else x[:1] * 1, r'shape \(1,\)'),
    'dtype': (lambda x, late: x.astype('int32') if late else x * 1, 'returned an array of int32'),
    'form': (lambda x, late: (x * 1, x * 2) if late else x * 1, r'returned \(array, array\)'),
    'number': (lambda x, late: 2 if late else 1, 'returned 2, expected 1'),
    'nothing': (lambda x, late: None if late else x * 1, 'returned None, expected array'),
    'argument': (lambda x, late: x * 1 if late else x, 'expected the one that it was given'),
}


@pytest.mark.parametrize('name', CHANGES)
def test_results_that_change_are_errors(name):
    f, text = CHANGES[name]
    calls = [0]

    @static_code
    def code(x):
        calls[0] += 1
        return f(x, calls[0] > 4)

    def step(x):
        y = code(x + 1)
        return (y if isinstance(y, int) else chx.ones(3) if y is None else y) * chx.ones(1)

    captured = chx.capture(step)
    for _ in range(4):
        captured(chx.ones(3))
    with pytest.raises(chx.CaptureError, match=text):
        captured(chx.ones(3))


def test_gradients_through_it_are_refused():
    w = chx.ones(3).require_grad()

    @static_code
    def double(x):
        return x * 2

    captured = chx.capture(lambda x: double(w * x).sum().backward())
    captured(chx.ones(3))
    with pytest.raises(chx.CaptureError, match='returns arrays, and is given one that'):
        captured(chx.ones(3))
    assert w.grad.tolist() == [4, 4, 4]


def test_outside_of_recordings_it_is_called_as_it_is():
    @static_code
    def double(x):
        return x * 2

    w = chx.ones(3).require_grad()
    double(w).sum().backward()
    assert w.grad.tolist() == [2, 2, 2]


class Net(chainer.Chain):
    """A method with a static graph that counts, and looks at what it computes."""

    def __init__(self):
        super().__init__()
        rng = np.random.default_rng(0)
        with self.init_scope():
            self.first = L.Linear(4, 5, initialW=rng.normal(size=(5, 4)).astype('f'))
            self.last = L.Linear(5, 3, initialW=rng.normal(size=(3, 5)).astype('f'))
        self.calls = 0
        self.seen = []
        self.to_chx()

    @static_code
    def look(self, h):
        self.calls += 1
        self.seen.append(chx.to_numpy(h.as_grad_stopped()).sum())

    def compute(self, x):
        h = F.tanh(self.first(x))
        self.look(h.array)
        return self.last(h)


class StaticNet(Net):
    @chainer.static_graph
    def forward(self, x):
        return self.compute(x)


class PlainNet(Net):
    def forward(self, x):
        return self.compute(x)


def test_a_static_graph():
    found = []
    for cls in (StaticNet, PlainNet):
        model = cls()
        optimizer = chainer.optimizers.SGD(0.1).setup(model)
        for i in range(12):
            x = chx.array(np.random.default_rng(i).normal(size=(6, 4)).astype('f'))
            loss = F.sum(model(x) ** 2)
            model.cleargrads()
            loss.backward()
            optimizer.update()
        assert model.calls == 12
        found.append(model)
    compare(*found)
    assert found[0].seen == found[1].seen
    (pair,) = found[0].schedule_manager._schedules.values()
    (recording,) = (p._recording for p in pair._pairs.values())
    assert recording._forward.info()[0].replays > 4


def test_it_does_not_keep_what_has_it():
    class Model:
        def __init__(self):
            self.n = 0
            self.step = chx.capture(self.run)

        @static_code
        def count(self, x):
            self.n += 1

        def run(self, x):
            self.count(x)
            return x + 1

    model = Model()
    for _ in range(6):
        model.step(chx.ones(2))
    assert model.n == 6
    assert replays(model.step) == 3
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
