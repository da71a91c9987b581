"""The link `Classifier`."""

from __future__ import annotations

import chainer
import numpy as np
import pytest
from chainer import functions as F
from chainer import links as L
from devices import DEVICES

X = np.array([[1, 2, 3], [3, 2, 1]], 'f')
T = np.array([0, 1], 'i')


def to_numpy(x):
    return chainer.backend.CpuDevice().send(x)


def identity(x):
    return chainer.as_variable(x)


@pytest.mark.parametrize('device', DEVICES)
def test_loss_and_accuracy(device):
    device = chainer.get_device(device)
    w = np.array([[1, 0, -1], [0, 1, 0]], 'f')
    model = L.Classifier(L.Linear(3, 2, initialW=w)).to_device(device)
    assert (model.y, model.loss, model.accuracy) == (None, None, None)
    loss = model(device.send(X), device.send(T))
    y = X @ w.T
    expected = np.mean(np.log(np.exp(y).sum(1)) - y[range(2), T])
    assert loss is model.loss
    assert loss.device == device
    np.testing.assert_allclose(to_numpy(loss.array), expected, rtol=1e-5)
    np.testing.assert_allclose(to_numpy(model.y.array), y, rtol=1e-6)
    np.testing.assert_allclose(to_numpy(model.accuracy.array), 0.0)
    model.cleargrads()
    loss.backward()
    prob = np.exp(y) / np.exp(y).sum(1, keepdims=True)
    gy = (prob - np.eye(2)[T]) / 2
    np.testing.assert_allclose(to_numpy(model.predictor.W.grad), gy.T @ X, rtol=1e-4, atol=1e-6)


def test_report():
    model = L.Classifier(identity)
    reporter = chainer.Reporter()
    reporter.add_observer('m', model)
    with reporter:
        model(X, T)
    assert list(reporter.observation) == ['m/loss', 'm/accuracy']
    assert float(reporter.observation['m/loss'].array) == float(model.loss.array)
    assert float(reporter.observation['m/accuracy'].array) == float(model.accuracy.array)
    model.compute_accuracy = False
    reporter.observation = {}
    with reporter:
        model(X, T)
    assert list(reporter.observation) == ['m/loss']
    assert model.accuracy is None


@pytest.mark.parametrize(
    ('key', 'args', 'kwargs'),
    [
        (-1, (X, T), {}),
        (1, (X, T), {}),
        (0, (T, X), {}),
        (-2, (T, X), {}),
        ('t', (X,), {'t': T}),
        ('t', (), {'t': T, 'x': X}),
    ],
)
def test_label_key(key, args, kwargs):
    model = L.Classifier(identity, lossfun=lambda y, t: (y, t), label_key=key)
    model.compute_accuracy = False
    y, t = model(*args, **kwargs)
    assert y.array is X
    assert t is T


def test_several_inputs():
    model = L.Classifier(lambda *xs, **kw: (xs, kw), lambda y, t: (y, t), None, label_key=1)
    model.compute_accuracy = False
    assert model('a', 't', 'b', k=1) == ((('a', 'b'), {'k': 1}), 't')


@pytest.mark.parametrize(
    ('key', 'args', 'message'),
    [
        (-1, (), 'Label key -1 is out of bounds: there are 0 positional arguments'),
        (2, (X, T), 'Label key 2 is out of bounds'),
        (-3, (X, T), 'Label key -3 is out of bounds'),
        ('t', (X, T), 'Label key "t" is not found; the keywords are: none'),
    ],
)
def test_label_that_is_not_there(key, args, message):
    with pytest.raises(ValueError, match=message):
        L.Classifier(identity, label_key=key)(*args)


def test_label_among_keywords():
    with pytest.raises(ValueError, match='0 positional arguments, and the keywords x, t'):
        L.Classifier(identity)(x=X, t=T)


def test_label_key_of_another_type():
    with pytest.raises(TypeError, match="label_key must be int or str, but is <class 'float'>"):
        L.Classifier(identity, label_key=1.0)


def test_functions_are_replaceable():
    model = L.Classifier(identity, F.mean_squared_error, lambda y, t: 'accuracy')
    np.testing.assert_allclose(model(X, X + 1).array, 1, rtol=1e-6)
    assert model.accuracy == 'accuracy'


def test_nothing_old_remains_after_an_error():
    def fail(x):
        raise ValueError('bad')

    model = L.Classifier(identity)
    model(X, T)
    model.predictor = fail
    with pytest.raises(ValueError, match='bad'):
        model(X, T)
    assert (model.y, model.loss, model.accuracy) == (None, None, None)


def test_predictor_is_a_child():
    model = L.Classifier(L.Linear(3, 2))
    assert [path for path, _ in model.namedparams()] == ['/predictor/W', '/predictor/b']
    assert [path for path, _ in L.Classifier(identity).namedparams()] == []
