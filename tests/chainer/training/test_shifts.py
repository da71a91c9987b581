"""Extensions that change a hyperparameter: v7's unusual arguments, and precedence."""

import types

import chainer
import numpy as np
import pytest
from chainer.training import extensions


class Trainer:
    """The part of a trainer that a shift uses."""

    def __init__(self, **values):
        self.optimizer = types.SimpleNamespace(**values)
        self.updater = types.SimpleNamespace(get_optimizer=lambda name: self.optimizer)


def run(shift, n, trainer=None):
    trainer = Trainer(lr=1.0) if trainer is None else trainer
    shift.initialize(trainer)
    values = [trainer.optimizer.lr]
    for _ in range(n):
        shift(trainer)
        values.append(trainer.optimizer.lr)
    return values


def resumed(shift, other):
    """A second extension, resumed from a snapshot of the first."""
    saver = chainer.serializers.DictionarySerializer()
    shift.serialize(saver)
    other.serialize(chainer.serializers.NpzDeserializer(saver.target))
    return other


AS_V7 = {
    'negative rate': (
        lambda: extensions.PolynomialShift('lr', -1, 4),
        [1, 4 / 3, 2, 4],
    ),
    'negative rate up to a target': (
        lambda: extensions.PolynomialShift('lr', -1, 4, init=1.0, target=3.0),
        [1, 4 / 3, 2, 3, 3, 3],
    ),
    'rate 0': (lambda: extensions.PolynomialShift('lr', 0, 2), [1, 1, 1, 1]),
    'no warm-up': (lambda: extensions.WarmupShift('lr', 0.1, 0, 1.0), [0.1, 0.1, 0.1]),
    'alternating steps': (lambda: extensions.StepShift('lr', -0.5, 2), [1, 1, -0.5, -0.5, 0.25]),
    'alternating': (
        lambda: extensions.MultistepShift('lr', -0.5, [1, 3], 1),
        [1, -0.5, -0.5, 0.25],
    ),
    'steps in any order': (
        lambda: extensions.MultistepShift('lr', 0.5, [4, 2], 1),
        [1, 1, 1, 1, 0.5, 0.25, 0.25],
    ),
    'two steps at once': (
        lambda: extensions.MultistepShift('lr', 0.5, [2, 2], 1),
        [1, 1, 0.5, 0.25, 0.25],
    ),
    'a step at 0': (lambda: extensions.MultistepShift('lr', 0.5, [0, 3], 1), [1, 0.5, 0.5, 0.25]),
    'time backwards': (
        lambda: extensions.LinearShift('lr', (1.0, 0.0), (4, 2)),
        [1, 1, 1, 1, 1, 0, 0],
    ),
}


@pytest.mark.parametrize('name', AS_V7)
def test_values_of_v7(name):
    make, expected = AS_V7[name]
    np.testing.assert_allclose(run(make(), len(expected) - 1), expected, rtol=1e-12)


@pytest.mark.parametrize('name', sorted(set(AS_V7) - {'no warm-up'}))
@pytest.mark.parametrize('n', [1, 2, 3])
def test_resumed_values(name, n):
    make, expected = AS_V7[name]
    first = make()
    run(first, n)
    values = run(resumed(first, make()), len(expected) - 1 - n)
    np.testing.assert_allclose(values, expected[n:], rtol=1e-12)


def test_a_rate_without_bounds_is_refused_by_optimizers():
    optimizer = chainer.optimizers.SGD(1.0)
    shift = extensions.PolynomialShift('lr', -1, 2, optimizer=optimizer)
    trainer = Trainer()
    shift.initialize(trainer)
    shift(trainer)
    assert optimizer.lr == 2
    with pytest.raises(ValueError, match='lr'):
        shift(trainer)


@pytest.mark.parametrize('warmup_iter', [0, 2, 2.5])
def test_a_warm_up_that_is_over_leaves_the_attribute_alone(warmup_iter):
    """After its end a warm-up leaves the attribute to other extensions and the user."""

    def make():
        return extensions.WarmupShift('lr', 0.1, warmup_iter, 1.0)

    trainer = Trainer(lr=9.0)
    shift = make()
    run(shift, int(np.ceil(warmup_iter)), trainer)
    assert trainer.optimizer.lr == (1.0 if warmup_iter else 0.1)
    for value in (7.0, 8.0):
        trainer.optimizer.lr = value
        shift(trainer)
        assert trainer.optimizer.lr == value
    for value in (5.0, 6.0):
        shift = resumed(shift, make())
        trainer.optimizer.lr = value
        assert run(shift, 2, trainer) == [value] * 3


def test_a_warm_up_before_another_shift():
    """A warm-up sets the attribute while it lasts, the other shift afterwards."""
    trainer = Trainer(lr=1.0)
    decay = extensions.ExponentialShift('lr', 0.5, init=8.0)
    warm_up = extensions.WarmupShift('lr', 0.0, 2, 4.0)
    decay.initialize(trainer)
    warm_up.initialize(trainer)
    values = []
    for _ in range(4):
        decay(trainer)
        warm_up(trainer)
        values.append(trainer.optimizer.lr)
    assert values == [2.0, 4.0, 1.0, 0.5]


def test_attributes_that_the_optimizer_has_not_yet():
    for shift, expected in (
        (extensions.ExponentialShift('temperature', 0.5, init=4.0), [4.0, 2.0]),
        (extensions.LinearShift('temperature', (0.0, 1.0), (0, 2)), [0.0, 0.5]),
    ):
        trainer = Trainer()
        shift.initialize(trainer)
        values = [trainer.optimizer.temperature]
        shift(trainer)
        assert [*values, trainer.optimizer.temperature] == expected
    with pytest.raises(AttributeError, match='temperature'):
        extensions.ExponentialShift('temperature', 0.5).initialize(Trainer())
