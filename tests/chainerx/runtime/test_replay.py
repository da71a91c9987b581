"""Recorded kernel calls continue when they run again: random numbers, steps of optimizers.

The device records (tests/cpp/record_backend.cc) what reaches its kernels, and knows nothing else.
"""

import ctypes
import itertools

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as chx
import numpy as np
import pytest
from chainer import optimizers


class Recorder:
    def __init__(self, library):
        self._library = library
        library.RecordedCalls.restype = ctypes.c_int64

    def __enter__(self):
        self._library.Record(True)
        return self

    def __exit__(self, *_):
        self._library.Record(False)

    def __len__(self):
        return self._library.RecordedCalls()

    def replay(self):
        self._library.Replay()

    def forget(self):
        self._library.Forget()


@pytest.fixture(scope='module')
def library(build_backend):
    path = build_backend('record_toy', 'record_backend.cc')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('CHAINERX_PATH', str(path.parent.parent))
        chx.get_device('record_toy:0')
    return ctypes.CDLL(str(path))


@pytest.fixture
def recorder(library):
    with chx.using_device('record_toy:0'):
        recorder = Recorder(library)
        yield recorder
        recorder.forget()


DRAWS = {
    'uniform': lambda: chx.random.uniform(-1, 1, 5),
    'normal': lambda: chx.random.normal(0, 1, (2, 3), 'float32'),
    'integers': lambda: chx.random.integers(0, 1000, 7),
    'permutation': lambda: chx.random.permutation(9),
}


@pytest.mark.parametrize('name', DRAWS)
def test_random_numbers_advance_in_replay(recorder, name):
    draw = DRAWS[name]
    chx.random.seed(3)
    expected = [chx.to_numpy(draw(), copy=True) for _ in range(6)]
    for a, b in itertools.pairwise(expected):
        assert not np.array_equal(a, b)
    chx.random.seed(3)
    with recorder:
        x = draw()
    assert len(recorder) == 1
    got = [chx.to_numpy(x, copy=True)]
    for _ in range(3):
        recorder.replay()
        got.append(chx.to_numpy(x, copy=True))
    # Draws in between take part, and the state includes them all.
    got.append(chx.to_numpy(draw(), copy=True))
    recorder.replay()
    got.append(chx.to_numpy(x, copy=True))
    np.testing.assert_array_equal(got, expected)
    assert chx.random.get_state() == (3, 6)
    chx.random.seed(3)  # the recorded kernels follow the new seed
    recorder.replay()
    np.testing.assert_array_equal(chx.to_numpy(x), expected[0])


def test_the_generator_moves_with_who_draws(recorder):
    chx.random.seed(5)
    expected = [chx.to_numpy(chx.random.uniform(size=3, device='native:0')) for _ in range(4)]
    chx.random.seed(5)
    got = []
    for device in ('native:0', 'record_toy:0', 'native:1', 'record_toy:0'):
        got.append(chx.to_numpy(chx.random.uniform(size=3, device=device)))
    np.testing.assert_array_equal(got, expected)
    assert chx.random.get_state() == (5, 4)


def make(name, seed=0):
    rng = np.random.default_rng(seed)
    model = chainer.Sequential(L.Linear(4, 8), F.tanh, L.Linear(8, 3))
    for p in model.params():
        p.array = rng.normal(size=p.shape).astype('f')
    model.to_device('record_toy:0')
    optimizer = getattr(optimizers, name)().setup(model)
    x = chx.array(rng.normal(size=(5, 4)).astype('f'))
    t = chx.array(np.array([0, 2, 1, 1, 0]))

    def step():
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()

    return model, optimizer, step


def values(model):
    return [chx.to_numpy(p.array, copy=True) for p in model.params()]


@pytest.mark.parametrize(
    'name', ['SGD', 'MomentumSGD', 'Adam', 'AMSGrad', 'AdaBound', 'AMSBound', 'MSVAG', 'RMSprop']
)
def test_a_training_step_runs_again(recorder, name):
    model, _, step = make(name)
    for _ in range(8):
        step()
    expected = values(model)
    model, optimizer, step = make(name)
    step()  # makes the states
    step()  # makes the plan
    with recorder:
        step()
    assert len(recorder) > 10
    for _ in range(4):
        recorder.replay()
    # The host continues at the device's state, once it knows the number of updates.
    for p in model.params():
        p.update_rule.t += 4
    optimizer.t += 4
    step()
    for a, e in zip(values(model), expected, strict=True):
        np.testing.assert_array_equal(a, e)


def test_masks_of_dropout_advance(recorder):
    x = chx.ones(1000, dtype='float32')
    np.random.seed(0)
    with recorder:
        y = F.dropout(x).array
    first = chx.to_numpy(y, copy=True)
    recorder.replay()
    second = chx.to_numpy(y, copy=True)
    assert set(first) == set(second) == {0, 2}
    assert 300 < np.count_nonzero(first != second) < 700
