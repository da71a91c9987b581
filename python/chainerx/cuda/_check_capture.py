"""The part of the check that captures steps of training: the bits of the same steps as they are."""

from __future__ import annotations

import functools
import typing as tp

import numpy as np

import chainerx

if tp.TYPE_CHECKING:
    from chainerx.cuda._check_values import Checks

_CALLS: tp.Final = 8


def check_capture(checks: Checks) -> None:
    for rule in ('SGD', 'Adam'):
        for ratio in (0.0, 0.5):
            name = f'captured perceptron, {rule}, dropout {ratio}'
            checks.expect(name, functools.partial(_train, checks, rule, ratio))
    encoder = functools.partial(_train, checks, 'Adam', 0.1, is_encoder=True)
    checks.expect('captured transformer', encoder)


def _make(device: str, ratio: float, is_encoder: bool) -> tp.Any:
    import chainer
    import chainer.functions as F
    import chainer.links as L

    np.random.seed(0)
    if is_encoder:
        layers: list[tp.Any] = [
            L.TransformerEncoder(2, 32, 4, 64, ratio),
            lambda h: h.reshape(h.shape[0], -1),
        ]
        return chainer.Sequential(*layers, L.Linear(160, 10)).to_device(device)
    layers = [L.Linear(100, 100), F.relu, lambda h: F.dropout(h, ratio), L.Linear(100, 10)]
    return chainer.Sequential(*layers).to_device(device)


def _train(checks: Checks, rule: str, ratio: float, *, is_encoder: bool = False) -> str:
    import chainer
    import chainer.functions as F

    shape = (6, 5, 32) if is_encoder else (40, 100)
    random = np.random.default_rng(1)
    batches = [
        chainerx.array(random.normal(size=shape).astype('f'), device=checks.device)
        for _ in range(_CALLS)
    ]
    t = chainerx.arange(shape[0], dtype='int32', device=checks.device) % 10
    found: list[list[np.ndarray]] = []
    info: list[tp.Any] = []
    for is_captured in (True, False):
        model = _make(checks.device, ratio, is_encoder)
        optimizer = getattr(chainer.optimizers, rule)(0.01).setup(model)

        def step(
            x: tp.Any, t: tp.Any, model: tp.Any = model, optimizer: tp.Any = optimizer
        ) -> tp.Any:
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            return loss

        run: tp.Any = chainerx.capture(step) if is_captured else step
        np.random.seed(2)
        with chainerx.using_device(checks.device):
            losses = [run(x, t) for x in batches]
        values = [chainerx.to_numpy(loss.array, copy=True) for loss in losses]
        values += [chainerx.to_numpy(p.array, copy=True) for p in model.params()]
        found.append(values)
        info += run.info() if is_captured else []
    for i, (a, b) in enumerate(zip(*found, strict=True)):
        if not np.array_equal(a, b, equal_nan=True):
            what = f'loss {i}' if i < _CALLS else f'parameter {i - _CALLS}'
            return f'{what} differs from that of the step without capture'
    (variant,) = info
    return '' if variant.graph else f'it is no graph: {variant.reason}'
