"""Arguments that are not errors, because v7 gave sensible results for them."""

import math

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer import optimizer_hooks
from chainer.training import IntervalTrigger, extensions, triggers


@pytest.mark.parametrize(
    'hook',
    [
        optimizer_hooks.GradientClipping(math.inf),
        optimizer_hooks.GradientHardClipping(-math.inf, math.inf),
        optimizer_hooks.GradientLARS(threshold=math.inf),
    ],
    ids=lambda hook: hook.name,
)
@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_infinite_bounds_of_hooks_leave_gradients_alone(hook, device):
    link = L.Parameter(np.array([1, -2, 3], 'f'))
    link.to_device(device)
    optimizer = chainer.optimizers.SGD(1).setup(link)
    optimizer.add_hook(hook)
    link.W.grad = link.device.send(np.array([4, -5, 6], 'f'))
    optimizer.update()
    np.testing.assert_array_equal(chainer.backend.CpuDevice().send(link.W.array), [-3, 3, -3])


def test_an_infinite_bound_on_one_side():
    link = L.Parameter(np.array([1, -2], 'f'))
    optimizer = chainer.optimizers.SGD(1).setup(link)
    optimizer.add_hook(optimizer_hooks.GradientHardClipping(0, math.inf))
    link.W.grad = np.array([4, -5], 'f')
    optimizer.update()
    np.testing.assert_array_equal(link.W.array, [-3, -2])


class Clock:
    """The part of a trainer that triggers use."""

    elapsed_time = 0.0
    iteration = epoch_detail = previous_epoch_detail = 0

    @property
    def updater(self):
        return self

    def ticks(self, trigger, n=5):
        fired = []
        for i in range(1, n + 1):
            self.elapsed_time, self.iteration = float(i), i
            self.previous_epoch_detail, self.epoch_detail = self.epoch_detail, i / 2
            fired.append(trigger(self))
        return fired


@pytest.mark.parametrize(
    ('trigger', 'fires'),
    [
        (triggers.TimeTrigger(0), True),
        (triggers.TimeTrigger(math.inf), False),
        (IntervalTrigger(math.inf, 'epoch'), False),
        (IntervalTrigger(math.inf, 'iteration'), False),
    ],
)
def test_triggers_that_fire_always_or_never(trigger, fires):
    assert Clock().ticks(trigger) == [fires] * 5


def test_examples_that_are_lists_among_tuples():
    x, t = chainer.dataset.concat_examples([(np.arange(2), 0), [np.arange(2) + 2, 1]])
    assert (x.tolist(), t.tolist()) == ([[0, 1], [2, 3]], [0, 1])


def test_more_values_of_padding_than_columns():
    (x,) = chainer.dataset.concat_examples([(np.arange(2),), (np.arange(3),)], padding=(-1, 0))
    assert x.tolist() == [[0, 1, -1], [0, 1, 2]]


class Ones(chainer.FunctionNode):
    """A function without inputs."""

    def forward(self, inputs):
        assert inputs == ()
        return np.ones(2, 'f'), np.ones(3, 'f')


@pytest.mark.parametrize('inputs', [(), []])
def test_functions_without_inputs(inputs):
    y, z = Ones().apply(inputs)
    assert (y.array.tolist(), z.array.tolist()) == ([1, 1], [1, 1, 1])
    assert not y.requires_grad
    assert y.creator.inputs == ()
    w = chainer.Variable(np.array([2, 3], 'f'))
    F.sum(y * w).backward()
    assert w.grad.tolist() == [1, 1]
    assert y.grad is None
    y.creator.unchain()
    assert y.creator is None


class OnePass(chainer.dataset.Iterator):
    """A user's iterator that ends after one pass, whatever its `repeat` attribute."""

    repeat = True

    def __init__(self, batches):
        self.batches = list(batches)

    def __next__(self):
        if not self.batches:
            raise StopIteration
        return self.batches.pop()


@pytest.mark.filterwarnings('error')
def test_an_evaluator_takes_an_iterator_that_says_that_it_repeats():
    model = L.Classifier(L.Linear(2, 2, initialW=1, nobias=True))
    batch = [(np.ones(2, 'f'), np.int32(0))]
    found = extensions.Evaluator(OnePass([batch, batch]), model)()
    np.testing.assert_allclose(found['main/loss'], np.log(2), rtol=1e-6)


@pytest.mark.parametrize(
    'lam', [np.array([1, 2]), np.array([1, 2], 'u1'), chainer.Variable(np.array([1]))]
)
def test_integers_as_parameters_of_distributions(lam):
    poisson = chainer.distributions.Poisson(lam)
    assert poisson.lam.dtype == np.float32
    assert poisson.sample().shape == poisson.lam.shape
    mixed = chainer.distributions.Normal(np.array([0, 1]), np.ones(2, 'd'))
    assert mixed.loc.dtype == mixed.log_prob(np.zeros(2)).dtype == np.float64
