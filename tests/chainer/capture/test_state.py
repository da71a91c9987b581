"""States that links carry from one captured step to the next: truncated backpropagation through
time as in programs of Chainer v7."""

import warnings

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as chx
import numpy as np
import pytest
from capture.training_steps import compare, numpy

ARRAYS = 'chainerx', 'numpy'


class Model(chainer.Chain):
    def __init__(self, cell=L.LSTM):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(7, 4)
            self.rnn = cell(4, 5)
            self.last = L.Linear(5, 7)

    def forward(self, x):
        return self.last(F.dropout(self.rnn(self.embed(x)), 0.3))


def words(i, array, n=3):
    w = np.random.default_rng(i).integers(0, 7, size=(5, n)).astype('i')
    return chx.array(w) if array == 'chainerx' else w


def make(array, unchains=True, seed=0, cell=L.LSTM):
    np.random.seed(seed)
    model = Model(cell)
    if array == 'chainerx':
        model.to_chx()
    optimizer = chainer.optimizers.Adam().setup(model)
    if array == 'chainerx':  # hooks of NumPy's parameters compute with NumPy
        optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(5))

    def step(batch):
        loss = 0
        for i in range(4):
            loss += F.softmax_cross_entropy(model(batch[i]), batch[i + 1])
        model.cleargrads()
        loss.backward()
        if unchains:
            loss.unchain_backward()
        optimizer.update()
        return loss

    return model, step


def train(step, batch, i):
    np.random.seed(i)
    return numpy(step(batch).array)


def replays(step):
    return sum(variant.replays for variant in step.info())


def compare_states(model, other):
    for name in model.rnn._states:
        state, expected = getattr(model.rnn, name), getattr(other.rnn, name)
        np.testing.assert_array_equal(numpy(state.array), numpy(expected.array))
        assert type(state.array) is type(expected.array)
        assert state.requires_grad == expected.requires_grad


@pytest.mark.parametrize('array', ARRAYS)
@pytest.mark.parametrize(
    'cell', [L.LSTM, L.StatefulGRU, L.StatefulMGU, L.StatefulZoneoutLSTM, L.StatefulPeepholeLSTM]
)
def test_truncated_backpropagation(cell, array):
    model, step = make(array, cell=cell)
    other, plain = make(array, cell=cell)
    captured = chx.capture(step)
    for i in range(16):
        if i == 6:
            model.rnn.reset_state()
            other.rnn.reset_state()
        batch = words(i, array)
        np.testing.assert_array_equal(train(captured, batch, i), train(plain, batch, i))
        compare(model, other)
        compare_states(model, other)
    assert replays(captured) == 16 - 5


@pytest.mark.parametrize('array', ARRAYS)
def test_what_the_program_does_between_calls(array):
    model, step = make(array)
    other, plain = make(array)
    captured = chx.capture(step)
    before = None
    for i in range(40):
        for m in (model, other):
            rnn = m.rnn
            if i == 8:  # set, as to the last one of another sequence
                before = rnn.c.array.copy(), rnn.h.array.copy()
            if i == 10:
                rnn.set_state(*(chainer.Variable(x.copy()) for x in before))
            if i == 12:
                rnn.h = chainer.Variable(rnn.h.array.copy(), requires_grad=False)
            if i == 14:
                rnn.h, rnn.c = rnn.c, rnn.h
            if i == 16:
                rnn.c = rnn.h
            if i == 18:
                rnn.h = F.tanh(rnn.h)
                rnn.h.unchain_backward()
            if i == 24:  # others than the array of the parameter, with its values
                rnn.c = chainer.Variable(m.last.W.array[:3] * 2)
            if i == 28:
                rnn.reset_state()
        batch = words(i, array, 3 if i < 28 else 2)
        np.testing.assert_array_equal(train(captured, batch, i), train(plain, batch, i))
        compare(model, other)
        compare_states(model, other)
    assert replays(captured) > 20


def test_two_links_with_one_state():
    models = []
    for capture in (True, False):
        model, _ = make('chainerx')
        twin, _ = make('chainerx', seed=1)
        twin.rnn.h = twin.rnn.c = model.rnn.h = model.rnn.c = chainer.Variable(chx.ones((3, 5)))

        def step(batch, model=model, twin=twin):
            loss = F.sum(model(batch[0]) * twin(batch[1]))
            model.cleargrads()
            twin.cleargrads()
            loss.backward()
            loss.unchain_backward()
            twin.rnn.h = model.rnn.h
            return loss

        called = chx.capture(step) if capture else step
        losses = [train(called, words(i, 'chainerx'), i) for i in range(10)]
        models.append((model, twin, losses))
        if capture:
            assert replays(called) > 3
    for found, expected in zip(*models, strict=True):
        if isinstance(found, list):
            np.testing.assert_array_equal(found, expected)
        else:
            compare(found, expected)


@pytest.mark.parametrize('array', ARRAYS)
def test_a_state_that_is_not_unchained_is_refused(array):
    model, step = make(array, unchains=False)
    other, plain = make(array, unchains=False)
    captured = chx.capture(step)
    for i in range(4):
        if i == 0:
            train(captured, words(i, array), i)
        else:
            with pytest.raises(chx.CaptureError, match=r'reads LSTM\.\w, and leaves .* Unchain it'):
                train(captured, words(i, array), i)
        train(plain, words(i, array), i)
        compare(model, other)
        assert model.rnn.h.creator is not None


def test_a_state_that_is_not_unchained_runs_as_it_is():
    model, step = make('chainerx', unchains=False)
    other, plain = make('chainerx', unchains=False)
    captured = chx.capture(step, strict=False)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter('always')
        for i in range(6):
            batch = words(i, 'chainerx')
            np.testing.assert_array_equal(train(captured, batch, i), train(plain, batch, i))
            compare(model, other)
    assert sum('Unchain it' in str(w.message) for w in found) == 1
    assert replays(captured) == 0


@pytest.mark.parametrize('array', ARRAYS)
def test_an_evaluation_needs_no_unchaining(array):
    model, _ = make(array)
    other, _ = make(array)
    captured = chx.capture(lambda x: model(x))
    with chainer.no_backprop_mode(), chainer.using_config('train', False):
        for i in range(12):
            if i == 6:
                model.rnn.reset_state()
                other.rnn.reset_state()
            x = words(i, array)[0]
            np.testing.assert_array_equal(numpy(captured(x).array), numpy(other(x).array))
    assert replays(captured) == 12 - 5


def test_training_and_evaluation_carry_the_same_state():
    found = []
    for capture in (True, False):
        model, step = make('chainerx')
        evaluate = lambda x, model=model: model(x)  # noqa: E731
        if capture:
            step, evaluate = chx.capture(step), chx.capture(evaluate)
        seen = []
        for i in range(12):
            seen.append(train(step, words(i, 'chainerx'), i))
            with chainer.no_backprop_mode(), chainer.using_config('train', False):
                seen.append(numpy(evaluate(words(i, 'chainerx')[2]).array))
        found.append((model, seen))
        if capture:
            assert replays(step) >= 6
            assert replays(evaluate) == 12 - 4
    compare(*(model for model, _ in found))
    for x, y in zip(*(seen for _, seen in found), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize('array', ARRAYS)
def test_verified_steps(array):
    model, step = make(array)
    other, plain = make(array)
    captured = chx.capture(step, verify=3)
    for i in range(14):
        batch = words(i, array)
        np.testing.assert_array_equal(train(captured, batch, i), train(plain, batch, i))
        compare(model, other)
        compare_states(model, other)
    assert replays(captured) == 14 - 4


class Updater(chainer.training.updaters.StandardUpdater):
    """As those of v7's language models: several batches, one update."""

    def __init__(self, capture, *args):
        super().__init__(*args)
        self.step = chx.capture(self.run) if capture else self.run

    def run(self, xs, ts):
        optimizer = self.get_optimizer('main')
        loss = 0
        for x, t in zip(xs, ts, strict=True):
            loss += optimizer.target(x, t)
        optimizer.target.cleargrads()
        loss.backward()
        loss.unchain_backward()
        optimizer.update()

    def update_core(self):
        pairs = [self.converter(self.get_iterator('main').next(), self.device) for _ in range(3)]
        self.step(*zip(*pairs, strict=True))


def test_an_updater():
    found = []
    for capture in (True, False):
        model, _ = make('chainerx')
        classifier = L.Classifier(model).to_chx()
        optimizer = chainer.optimizers.SGD(0.1).setup(classifier)
        data = words(0, 'numpy', 60).T
        iterator = chainer.iterators.SerialIterator(
            [(row[0], row[1]) for row in data], 4, shuffle=False
        )
        updater = Updater(capture, iterator, optimizer, chainer.dataset.concat_examples, 'native:0')
        trainer = chainer.training.Trainer(updater, (20, 'iteration'))
        seen = []
        trainer.extend(
            lambda t, seen=seen: seen.append(float(t.observation['main/loss'].array)),
            trigger=(1, 'iteration'),
        )
        np.random.seed(0)
        trainer.run()
        found.append((classifier, seen))
        if capture:
            assert replays(updater.step) == 20 - 4
    compare(*(model for model, _ in found))
    assert found[0][1] == found[1][1]
