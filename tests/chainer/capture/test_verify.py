"""Replays that are verified: the program goes on as if run once, and what differs is named."""

import ctypes
import queue
import warnings

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as chx
import numpy as np
import pytest
from capture.training_steps import batch, compare, make, numpy
from chainer import optimizer_hooks

HOOKS = {
    'none': (),
    'decay': (lambda: optimizer_hooks.WeightDecay(0.01),),
    'noise': (
        lambda: optimizer_hooks.GradientClipping(0.5),
        lambda: optimizer_hooks.GradientNoise(0.3),
    ),
}


@pytest.mark.parametrize('verify', [1, 2, 3])
@pytest.mark.parametrize('array', ['chainerx', 'numpy'])
@pytest.mark.parametrize('rule', ['SGD', 'Adam', 'AMSGrad', 'MSVAG'])
def test_training_goes_on(rule, array, verify):
    model, optimizer, step = make(rule, dropout=True, array=array)
    other, other_optimizer, plain = make(rule, dropout=True, array=array)
    calls = queue.SimpleQueue()

    def counted(x, t):
        calls.put(1)
        return step(x, t)

    captured = chx.capture(counted, verify=verify)
    losses = []
    for f in (captured, plain):
        np.random.seed(2)
        losses.append([numpy(f(*batch(i, array=array)).array) for i in range(12)])
    np.testing.assert_array_equal(*losses)
    compare(model, other)
    assert optimizer.t == other_optimizer.t == 12
    assert calls.qsize() == 3 + 9 // verify
    assert captured.info()[0].replays == 9


@pytest.mark.parametrize('hooks', HOOKS)
@pytest.mark.parametrize('way', ['one', 'parts', 'scaled'])
def test_optimizers_go_on(way, hooks):
    models = []
    for capture in (True, False):
        model, optimizer, _ = make('Adam', dropout=True)
        if way == 'parts':
            model[0].W.update_rule.hyperparam.alpha = 0.01
        elif way == 'scaled':
            optimizer.loss_scaling(5)
        for hook in HOOKS[hooks]:
            optimizer.add_hook(hook())

        def loss(x, t, model=model):
            return F.softmax_cross_entropy(model(x), t)

        def step(x, t, optimizer=optimizer, loss=loss):
            optimizer.update(loss, x, t)

        captured = chx.capture(step, verify=2) if capture else step
        np.random.seed(2)
        for i in range(12):
            captured(*batch(i))
        models.append(model)
        if capture:
            assert captured.info()[0].replays == 9
    compare(*models)


def test_statistics_and_random_numbers_go_on():
    found = []
    for capture in (True, False):
        model = chainer.Sequential(L.BatchNormalization(4))
        model.to_chx()

        def step(x, model=model):
            return model(x) + chx.random.normal(size=x.shape, dtype='float32')

        captured = chx.capture(step, verify=2) if capture else step
        chx.random.seed(3)
        ys = [numpy(captured(batch(i)[0]).array) for i in range(10)]
        found.append((*ys, numpy(model[0].avg_mean), numpy(model[0].avg_var)))
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_arguments_that_are_written_to():
    state = chx.zeros(3)

    @chx.capture(verify=2)
    def step(x, y):
        x += 1
        state[...] = state + x
        return x * y, state

    total = np.zeros(3, 'f')
    for i in range(10):
        x = chx.full((3,), i, 'float32')
        y, _ = step(x, x) if i % 2 else step(x, chx.full((3,), 2, 'float32'))
        total += i + 1
        assert y.tolist() == [(i + 1) * (i + 1 if i % 2 else 2)] * 3
        assert x.tolist() == [i + 1] * 3
        np.testing.assert_array_equal(chx.to_numpy(state), total)


def test_gradients_that_add_up():
    w = chx.ones(3).require_grad()
    step = chx.capture(lambda x: (w * x).sum().backward(), verify=2)
    for i in range(10):
        step(chx.full((3,), i, 'float32'))
        assert w.grad.tolist() == [i * (i + 1) / 2] * 3


@pytest.fixture
def scale():
    return {'y': 1, 'w': 1, 'state': 1, 'x': 1, 'text': 'a'}


def captured_step(scale, **options):
    """A step with numbers of Python that no argument tells."""
    hidden = ctypes.py_object(scale)

    def number(name):  # what an object of C holds is not seen
        return hidden.value[name]

    w = chainer.Parameter(chx.ones(3), name='weight')
    held = chx.zeros(3)

    @chx.capture(**options)
    def step(x):
        w.cleargrad()
        F.sum(w * x * number('w')).backward()
        held[...] = held + x * number('state')
        y = x * number('y')
        x *= number('x')
        return y, number('text')

    return step, w, held


DIFFERENCES = [
    ('y', 2, r'result 0 differs in 3 of 3 elements'),
    ('w', 3, r'the gradient of weight differs in 3 of 3 elements'),
    ('state', 2, r'memory that .* \(test_verify.py:\d+\) writes to differs in 3 of 3 elements'),
    ('x', 2, r'argument 0 differs in 3 of 3 elements'),
    ('text', 'b', r"the result is \(array, 'b'\), replayed \(array, 'a'\)"),
]


@pytest.mark.parametrize(('name', 'value', 'text'), DIFFERENCES)
def test_what_differs_is_named(name, value, text, scale):
    step, w, held = captured_step(scale, verify=2)

    def call():
        return step(chx.full((3,), 4, 'float32'))

    for _ in range(4):
        call()
    scale[name] = value
    with pytest.raises(chx.CaptureError, match=f'call 5, which was verified, .*: {text}'):
        call()
    before = held.tolist()
    assert w.grad.tolist() == [4 * scale['w']] * 3
    for i in range(6):  # recorded anew
        y, found = call()
        assert y.tolist() == [4 * scale['y']] * 3
        assert found == scale['text']
        assert held.tolist() == [before[0] + 4 * scale['state'] * (i + 1)] * 3
    assert step.info()[0].replays == 2 + 3


def test_a_difference_may_be_a_warning(scale):
    step, _, _ = captured_step(scale, verify=1, strict=False)
    for _ in range(4):
        step(chx.ones(3))
    scale['y'] = 2
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter('always')
        for _ in range(6):
            y, _ = step(chx.ones(3))
            assert y.tolist() == [2, 2, 2]
    (warning,) = found
    assert 'result 0 differs' in str(warning.message)


def test_errors_of_the_step_leave_it_whole():
    fail = [False]
    state = chx.zeros(2)

    @chx.capture(verify=1)
    def step(x):
        state[...] = state + x
        if fail[0]:
            raise KeyError('mine')
        return x + state

    for i in range(5):
        assert step(chx.ones(2)).tolist() == [i + 2] * 2
    fail[0] = True
    with pytest.raises(KeyError, match='mine'):
        step(chx.ones(2))
    fail[0] = False
    assert step(chx.ones(2)).tolist() == [8, 8]


def test_bad_options():
    with pytest.raises(ValueError, match=r'capture: verify is -1, expected 0 or more'):
        chx.capture(abs, verify=-1)
