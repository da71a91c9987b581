"""Steps of training that tests capture."""

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as chx
import numpy as np
from chainer import optimizers


def make(name='SGD', seed=0, array='chainerx', dropout=False, **options):
    rng = np.random.default_rng(seed)
    layers = [L.Linear(4, 8), F.tanh, *([F.dropout] if dropout else []), L.Linear(8, 3)]
    model = chainer.Sequential(*layers)
    for p in model.params():
        p.array = rng.normal(size=p.shape).astype('f')
    if array == 'chainerx':
        model.to_chx()
    optimizer = getattr(optimizers, name)(**options).setup(model)
    return model, optimizer, make_step(model, optimizer)


def make_step(model, optimizer):
    def step(x, t):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    return step


def batch(seed, n=5, array='chainerx'):
    rng = np.random.default_rng(seed)
    x, t = rng.normal(size=(n, 4)).astype('f'), rng.integers(0, 3, size=n).astype('i')
    return (chx.array(x), chx.array(t)) if array == 'chainerx' else (x, t)


def numpy(x):
    return chx.to_numpy(x, copy=True) if isinstance(x, chx.ndarray) else np.array(x)


def compare(model, other):
    for (path, p), (_, q) in zip(model.namedparams(), other.namedparams(), strict=True):
        np.testing.assert_array_equal(numpy(p.array), numpy(q.array), path)
        np.testing.assert_array_equal(numpy(p.grad), numpy(q.grad), path)
