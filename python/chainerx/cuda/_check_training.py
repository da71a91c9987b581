"""The part of the check that trains: a small network on handwritten digits."""

from __future__ import annotations

import typing as tp

import numpy as np

if tp.TYPE_CHECKING:
    from chainerx.cuda._check_values import Checks

_EPOCHS: tp.Final = 12
_BATCH: tp.Final = 32
_LEAST: tp.Final = 0.97  # of the test pictures
_N_TRAIN: tp.Final = 1437


def check_training(checks: Checks) -> None:
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        checks.missing.append('digits: scikit-learn, which has them, is not installed')
        return
    checks.expect('digits', lambda: _train(checks.device, load_digits()))


def _train(device: str, digits: tp.Any) -> str:
    import chainer
    import chainer.functions as F
    import chainer.links as L

    np.random.seed(0)
    order = np.random.permutation(len(digits.target))
    x = (digits.data[order] / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    t = digits.target[order].astype(np.int32)
    model = chainer.Sequential(
        L.Convolution2D(1, 16, 3, pad=1),
        F.relu,
        lambda h: F.max_pooling_2d(h, 2),
        L.Convolution2D(16, 32, 3, pad=1),
        F.relu,
        lambda h: F.max_pooling_2d(h, 2),
        L.Linear(128, 64),
        F.relu,
        L.Linear(64, 10),
    ).to_device(device)
    optimizer = chainer.optimizers.Adam().setup(model)
    x, t = model.device.send((x, t))
    for _ in range(_EPOCHS):
        for batch in np.random.permutation(_N_TRAIN)[: _N_TRAIN // _BATCH * _BATCH].reshape(
            -1, _BATCH
        ):
            index = model.device.send(batch)
            loss = F.softmax_cross_entropy(model(x[index]), t[index])
            model.cleargrads()
            loss.backward()
            optimizer.update()
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        score = float(F.accuracy(model(x[_N_TRAIN:]), t[_N_TRAIN:]).array)
    return '' if score >= _LEAST else f'the score is {score:.4f}, expected at least {_LEAST}'
