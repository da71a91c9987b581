"""Trainers, updaters and evaluators, as programs and libraries of v7 use them."""

import copy
import pickle
import warnings

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer import iterators, training
from chainer.training import extensions, triggers

DATA = [(np.array([i, 1], 'f') / 5, np.int32(i % 2)) for i in range(6)]

MAKERS = {
    'serial': iterators.SerialIterator,
    'threads': lambda *args: iterators.MultithreadIterator(*args, n_threads=2),
    'processes': lambda *args: iterators.MultiprocessIterator(*args, n_processes=1),
}


def pickled(x):
    return pickle.loads(pickle.dumps(x))


def make_trainer(out, make=iterators.SerialIterator, device='@numpy', stop=(3, 'epoch')):
    np.random.seed(0)
    model = L.Classifier(L.Linear(2, 2))
    optimizer = chainer.optimizers.Adam().setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-3))
    updater = training.StandardUpdater(make(DATA, 2), optimizer, device=device)
    return training.Trainer(updater, stop, out=str(out))


def weights_of(updater):
    W = updater.get_optimizer('main').target.predictor.W.array
    return chainer.backend.CpuDevice().send(W).tolist()


# ---- copies ----


@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
@pytest.mark.parametrize('duplicate', [copy.deepcopy, pickled])
@pytest.mark.parametrize('kind', MAKERS)
def test_copies_of_updaters_go_their_own_way(kind, duplicate, device, tmp_path):
    updater = make_trainer(tmp_path, MAKERS[kind], device).updater
    for _ in range(2):
        updater.update()
    other = duplicate(updater)
    before = weights_of(updater)
    state = np.random.get_state()
    for _ in range(3):
        other.update()
    assert weights_of(updater) == before != weights_of(other)
    np.random.set_state(state)
    for _ in range(3):
        updater.update()
    assert weights_of(updater) == weights_of(other)
    assert updater.iteration == other.iteration == 5
    assert updater.epoch_detail == other.epoch_detail
    updater.finalize()
    other.finalize()


@pytest.mark.parametrize('duplicate', [copy.deepcopy, pickled])
def test_copies_of_trainers_train(duplicate, tmp_path):
    """Copies of trainers train; their links report under the same names."""
    trainer = make_trainer(tmp_path)
    model = trainer.updater.get_optimizer('main').target
    few = iterators.SerialIterator(DATA, 4, repeat=False, shuffle=False)
    trainer.extend(extensions.Evaluator(few, model))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.ExponentialShift('alpha', 0.5), trigger=(1, 'epoch'))
    trainer.extend(extensions.PrintReport(['epoch', 'main/loss']))
    trainer.extend(extensions.snapshot(), trigger=triggers.MinValueTrigger('main/loss'))
    other = duplicate(trainer)
    state = np.random.get_state()
    other.run()
    assert weights_of(other.updater) != weights_of(trainer.updater)
    np.random.set_state(state)
    trainer.run()
    assert weights_of(other.updater) == weights_of(trainer.updater)
    logs = [t.get_extension('LogReport').log for t in (trainer, other)]
    for entry in (*logs[0], *logs[1]):
        del entry['elapsed_time']
    assert logs[0] == logs[1]
    assert 'validation/main/loss' in logs[0][-1]


@pytest.mark.parametrize('duplicate', [copy.deepcopy, pickled])
def test_copies_of_reporters_know_the_copies_of_observers(duplicate):
    links = chainer.ChainList(L.Linear(2, 2), L.Linear(2, 2))
    reporter = chainer.Reporter()
    reporter.add_observer('main', links)
    reporter.add_observers('main', links.namedlinks(skipself=True))
    other, links = duplicate((reporter, links))
    with other:
        chainer.report({'a': 1}, links)
        chainer.report({'a': 2}, links[1])
    assert other.observation == {'main/a': 1, 'main/1/a': 2}
    assert reporter.observation == {}


# ---- evaluators ----


class Fixed(extensions.Evaluator):
    """A library's evaluator with its own `evaluate`."""

    def evaluate(self):
        return {'fixed': len(self.get_all_iterators()) + len(self.get_all_targets())}


def few():
    return iterators.SerialIterator(DATA, 4, repeat=False, shuffle=False)


def test_evaluators_of_their_own_need_no_main():
    model = L.Classifier(L.Linear(2, 2))
    assert Fixed({}, {})() == {'fixed': 0}
    assert Fixed({'a': few(), 'b': few()}, {'m': model})() == {'fixed': 3}
    assert Fixed(few(), model)() == {'fixed': 2}

    class Bare(extensions.Evaluator):
        def __init__(self):
            super().__init__({}, {})

        def __call__(self, trainer=None):
            return {'bare': True}

    assert Bare()() == {'bare': True}


def test_a_function_to_evaluate_needs_no_main_target():
    nets = {'gen': L.Linear(2, 2), 'dis': L.Linear(2, 1)}

    def evaluate(x, t):
        chainer.report({'mean': F.mean(nets['dis'](nets['gen'](x)))}, nets['dis'])

    result = extensions.Evaluator(few(), nets, eval_func=evaluate)()
    assert list(result) == ['dis/mean']
    with pytest.raises(KeyError, match=r"targets must have 'main'; it has .*gen"):
        extensions.Evaluator(few(), nets)()


# ---- names of extensions ----


@pytest.mark.parametrize('name', [7, 0, 1.5, ('a', 1), b'x'])
def test_names_of_any_type(name, tmp_path):
    trainer = make_trainer(tmp_path, stop=(1, 'iteration'))
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')), name=name)
    trainer.extend(lambda trainer: None, name=name)
    assert trainer.get_extension(name).name == name
    assert trainer.get_extension(f'{name}_1') is not trainer.get_extension(name)
    trainer.run()
    chainer.serializers.save_npz(tmp_path / 'snapshot', trainer)
    other = make_trainer(tmp_path, stop=(1, 'iteration'))
    other.extend(extensions.LogReport(trigger=(1, 'iteration')), name=name)
    chainer.serializers.load_npz(tmp_path / 'snapshot', other)
    assert len(other.get_extension(name).log) == 1


# ---- snapshots of early versions ----


class Counter:
    """The part of a trainer that a trigger uses; an iteration is a quarter of an epoch."""

    def __init__(self, iteration):
        self.updater = self
        self.iteration = iteration
        self.epoch_detail = iteration / 4
        self.previous_epoch_detail = (iteration - 1) / 4 if iteration else None


def without_saved(trigger):
    with pytest.warns(UserWarning, match='the snapshot does not say'):
        chainer.serializers.NpzDeserializer({}).load(trigger)
    return trigger


AT = {  # where each fires
    'every 3 iterations': (lambda: triggers.IntervalTrigger(3, 'iteration'), [3, 6, 9, 12]),
    'every iteration': (lambda: triggers.IntervalTrigger(1, 'iteration'), range(1, 13)),
    'every epoch': (lambda: triggers.IntervalTrigger(1, 'epoch'), [4, 8, 12]),
    'every half epoch': (lambda: triggers.IntervalTrigger(0.5, 'epoch'), [2, 4, 6, 8, 10, 12]),
    'at iterations': (lambda: triggers.ManualScheduleTrigger([3, 7, 8], 'iteration'), [3, 7, 8]),
    'at epochs': (lambda: triggers.ManualScheduleTrigger([1, 1.5, 1.6], 'epoch'), [4, 6, 7]),
}


@pytest.mark.parametrize('name', AT)
@pytest.mark.parametrize('first', range(1, 10))
def test_triggers_resumed_without_their_last_iteration(name, first):
    """Resumed triggers miss no iteration, and none fires twice."""
    make, expected = AT[name]
    trigger = without_saved(make())
    fired = [i for i in range(first, 13) if trigger(Counter(i))]
    assert fired == [i for i in expected if i >= first]
    if isinstance(trigger, triggers.ManualScheduleTrigger):
        assert trigger.finished


def test_a_manual_schedule_that_was_finished_finds_it_out():
    trigger = without_saved(triggers.ManualScheduleTrigger([2], 'iteration'))
    assert not trigger.finished
    assert not trigger(Counter(5))
    assert trigger.finished


@pytest.mark.parametrize('call_on_resume', [False, True])
def test_a_trigger_that_fires_once_resumed_without_whether_it_has(call_on_resume):
    trigger = without_saved(triggers.OnceTrigger(call_on_resume))
    assert trigger.finished is not call_on_resume
    assert [trigger(None), trigger(None)] == [call_on_resume, False]


@pytest.mark.parametrize(
    'make',
    [lambda: triggers.TimeTrigger(2.0), triggers.OnceTrigger, *(make for make, _ in AT.values())],
)
def test_triggers_that_need_not_be_in_a_snapshot(make):
    """Triggers missing in a snapshot stay as they are if it is loaded leniently."""
    trigger, other = make(), make()
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        chainer.serializers.NpzDeserializer({}, strict=False).load(trigger)
    assert vars(trigger) == vars(other)
