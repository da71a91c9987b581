"""Trainers of old programs, captured and not: the same losses, parameters and statistics."""

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as chx
import numpy as np
import pytest
from chainer import training
from chainer.training import extensions


class Net(chainer.Chain):
    """Sizes of inputs are not known before the first batch."""

    def __init__(self, drop=0.3):
        super().__init__()
        self.drop = drop
        with self.init_scope():
            self.l1 = L.Linear(None, 8)
            self.bn = L.BatchNormalization(8)
            self.l2 = L.Linear(None, 3)

    def forward(self, x):
        return self.l2(F.dropout(F.relu(self.bn(self.l1(x))), self.drop))


def numpy(x):
    return chx.to_numpy(x, copy=True) if isinstance(x, chx.ndarray) else np.array(x)


def state_of(model):
    """All that a snapshot has, and gradients."""
    serializer = chainer.serializers.DictionarySerializer()
    serializer.save(model)
    state = dict(serializer.target)
    for name, p in model.namedparams():
        state['grad of ' + name] = None if p.grad is None else numpy(p.grad)
    return state


def compare(a, b):
    a, b = state_of(a), state_of(b)
    assert a.keys() == b.keys()
    for name, value in a.items():
        np.testing.assert_array_equal(value, b[name], name)


def dataset(n=34):
    rng = np.random.RandomState(0)
    return chainer.datasets.TupleDataset(
        rng.normal(size=(n, 4)).astype('f'), rng.randint(0, 3, n).astype('i')
    )


def make(capture, device='native:0', name='MomentumSGD', setup=None, **options):
    np.random.seed(1)
    model = L.Classifier(Net())
    optimizer = getattr(chainer.optimizers, name)().setup(model)
    if setup is not None:
        setup(model, optimizer)
    iterator = chainer.iterators.SerialIterator(dataset(), 5)
    updater = training.StandardUpdater(
        iterator, optimizer, device=device, capture=capture, **options
    )
    return model, optimizer, updater


def train(capture, directory, extension=None, **options):
    model, _, updater = make(capture, **options)
    trainer = training.Trainer(updater, (4, 'epoch'), out=str(directory))
    test = chainer.iterators.SerialIterator(dataset(12), 5, repeat=False, shuffle=False)
    evaluator = extensions.Evaluator(test, model, device=updater.device, capture=capture)
    trainer.extend(evaluator)
    log = extensions.LogReport(trigger=(1, 'iteration'))
    trainer.extend(log)
    if extension is not None:
        trainer.extend(extension())
    trainer.run()
    rows = [{k: v for k, v in row.items() if k != 'elapsed_time'} for row in log.log]
    return model, rows, updater, evaluator


def train_both(directory, **options):
    model, rows, updater, evaluator = train(True, directory, **options)
    other, expected, _, _ = train(False, directory, **options)
    compare(model, other)
    assert str(rows) == str(expected)
    assert len(rows) == 28
    return updater._captured.info(), evaluator._captured.info()


@pytest.mark.parametrize('device', ['native:0', '@numpy'])
@pytest.mark.parametrize('name', ['Adam', 'MomentumSGD'])
def test_a_classifier(tmp_path, device, name):
    steps, evaluations = train_both(tmp_path, device=device, name=name)
    assert [v.replays for v in steps] == [25]
    # Of the 12 examples the last batch has 2.
    assert [v.replays for v in evaluations] == [8 - 3, 4 - 3]


SHIFTS = {
    'exponential': lambda: extensions.ExponentialShift('lr', 0.8),
    'linear': lambda: extensions.LinearShift('lr', (0.1, 0.001), (3, 20)),
    'polynomial': lambda: extensions.PolynomialShift('lr', 0.5, 30),
    'warm-up': lambda: extensions.WarmupShift('lr', 0.001, 10, 0.01),
}


@pytest.mark.parametrize('name', SHIFTS)
def test_schedules(tmp_path, name):
    steps, _ = train_both(tmp_path, extension=SHIFTS[name])
    assert [v.replays for v in steps] == [25]


@pytest.mark.parametrize('device', ['native:0', '@numpy'])
def test_what_the_classifier_keeps(device):
    model, _, updater = make(True, device)
    other, _, plain = make(False, device)
    kept = []
    for i in range(8):
        np.random.seed(i)
        updater.update()
        np.random.seed(i)
        plain.update()
        for name in ('y', 'loss', 'accuracy'):
            x, y = getattr(model, name), getattr(other, name)
            assert type(x) is type(y)
            assert type(x.array) is type(y.array)
            np.testing.assert_array_equal(numpy(x.array), numpy(y.array), name)
            kept.append((x, numpy(x.array)))
    for x, value in kept:  # none was overwritten by a later step
        np.testing.assert_array_equal(numpy(x.array), value)
    assert updater._captured.info()[0].replays == 5


def test_what_other_links_keep():
    class Model(chainer.Chain):
        def forward(self, x):
            x = chainer.as_variable(x)
            self.kept = [x, {'double': x * 2}]
            self.none = self.gone = x + 1
            self.none = None
            del self.gone
            return x * 3

    model = Model()
    step = chx.capture(model)
    for i in range(7):
        x = chx.full((2,), i, 'float32')
        assert step(x).array.tolist() == [3 * i] * 2
        assert model.kept[0].array.tolist() == [i] * 2
        assert model.kept[1]['double'].array.tolist() == [2 * i] * 2
        assert model.none is None
        assert not hasattr(model, 'gone')
    assert step.info()[0].replays == 4


def test_a_state_that_is_reset_in_each_step():
    rnn = L.LSTM(4, 3)
    rnn.to_chx()

    def f(x):
        rnn.reset_state()
        return rnn(rnn(x)[:, :1] + x)

    step = chx.capture(f)
    for i in range(7):
        x = chx.full((2, 4), i, 'float32')
        y, state = step(x), rnn.h
        np.testing.assert_array_equal(numpy(y.array), numpy(state.array))
        np.testing.assert_array_equal(numpy(y.array), numpy(f(x).array))
    assert step.info()[0].replays == 4


def test_gradients_that_begin_with_zeros(tmp_path):
    with pytest.warns(DeprecationWarning, match='use_cleargrads'):
        steps, _ = train_both(tmp_path, setup=lambda model, o: o.use_cleargrads(False))
    assert [v.replays for v in steps] == [25]


def test_gradients_of_several_batches():
    models = []
    for capture in (True, False):
        np.random.seed(3)
        model = L.Classifier(Net(drop=0)).to_chx()
        optimizer = chainer.optimizers.MomentumSGD().setup(model)

        def accumulate(x, t, model=model):
            loss = model(x, t)
            loss.backward()
            return loss

        update = optimizer.update
        if capture:
            accumulate = chx.capture(accumulate)
            update = chx.capture(lambda optimizer=optimizer: optimizer.update())
        rng = np.random.RandomState(0)
        for i in range(30):
            x = chx.array(rng.normal(size=(5, 4)).astype('f'))
            accumulate(x, chx.array(rng.randint(0, 3, 5).astype('i')))
            if i % 3 == 2:
                update()
                model.cleargrads()
        models.append(model)
        if capture:
            assert sum(v.replays for v in accumulate.info()) > 20
            assert update.info()[0].replays == 7
    compare(*models)


def at(**actions):
    """An extension that does something after some iterations."""

    @training.make_extension(trigger=(1, 'iteration'))
    def extension(trainer):
        action = actions.get(f'_{trainer.updater.iteration}')
        if action is not None:
            action(trainer, optimizer_of(trainer).target)

    return extension


def optimizer_of(trainer):
    return trainer.updater.get_optimizer('main')


CHANGES = {
    'file': {
        '_8': lambda t, m: chainer.serializers.save_npz(f'{t.out}/m', m),
        '_14': lambda t, m: chainer.serializers.load_npz(f'{t.out}/m', m),
    },
    'state of the optimizer': {
        '_8': lambda t, m: chainer.serializers.save_npz(f'{t.out}/o', optimizer_of(t)),
        '_14': lambda t, m: chainer.serializers.load_npz(f'{t.out}/o', optimizer_of(t)),
    },
    'device': {
        '_8': lambda t, m: m.to_device('@numpy') and m.to_chx(),
        '_14': lambda t, m: m.to_device('native:1') and m.to_device('native:0'),
    },
    'mode': {
        '_8': lambda t, m: setattr(chainer.config, 'train', False),
        '_12': lambda t, m: setattr(chainer.config, 'train', True),
    },
    'look': {f'_{i}': lambda t, m: [p.grad.sum() for p in m.params()] for i in range(28)},
}


@pytest.mark.parametrize('name', CHANGES)
def test_changes_in_the_middle(tmp_path, name):
    steps, _ = train_both(tmp_path, extension=lambda: at(**CHANGES[name]))
    assert sum(v.replays for v in steps) >= 15


@pytest.mark.parametrize('stop', [1, 2, 3, 4, 9])
def test_resuming(tmp_path, stop):
    results = []
    for capture in (True, False):
        _, _, updater = make(capture)
        for _ in range(stop):
            updater.update()
        chainer.serializers.save_npz(tmp_path / 'updater', updater)
        model, optimizer, updater = make(capture)
        for _ in range(stop % 5):  # some that are undone
            updater.update()
        chainer.serializers.load_npz(tmp_path / 'updater', updater)
        np.random.seed(7)
        while updater.iteration < 20:
            updater.update()
        results.append((model, optimizer.t, updater.epoch_detail))
    compare(results[0][0], results[1][0])
    assert results[0][1:] == results[1][1:]


class Own(training.StandardUpdater):
    """Makes its steps itself, or has them made."""

    is_alone = True

    def update_core(self):
        if self.is_alone:
            optimizer = self.get_optimizer('main')
            optimizer.update(optimizer.target, *self.converter(self.get_iterator('main').next()))
        else:
            super().update_core()


@pytest.mark.parametrize('is_alone', [True, False])
def test_an_updater_that_would_capture_nothing_says_so(is_alone):
    np.random.seed(0)
    optimizer = chainer.optimizers.SGD().setup(L.Classifier(Net()))
    updater = Own(chainer.iterators.SerialIterator(dataset(), 5), optimizer, capture=True)
    updater.is_alone = is_alone
    if is_alone:
        with pytest.raises(RuntimeError, match=r'Own: capture is True, but Own.update_core makes'):
            updater.update()
        return
    for _ in range(5):
        updater.update()
    assert updater._captured.info()[0].replays == 2


RATES = {
    'epoch of the updater': lambda updater: 1.0 if updater.epoch < 2 else 2.0,
    'epoch of the iterator': lambda updater: 1.0 + updater.get_iterator('main').epoch // 2,
    'epoch of the optimizer': lambda updater: 1.0 + (optimizer_of_updater(updater).epoch > 2),
    'hyperparameter': lambda updater: optimizer_of_updater(updater).lr,
}


def optimizer_of_updater(updater):
    return updater._optimizers['main']


@pytest.mark.parametrize('name', RATES)
def test_what_the_loss_reads_of_the_training(tmp_path, name):
    """It changes seldom, so that it is the same in both recordings."""

    def setup(model, optimizer):
        held.append(model)

    results = []
    for capture in (True, False):
        held = []
        rate = RATES[name]

        def loss_func(x, t, held=held, rate=rate):
            model, updater = held
            return model(x, t) * rate(updater)

        model, optimizer, updater = make(capture, setup=setup, loss_func=loss_func)
        held.append(updater)
        for i in range(30):
            if i == 17:
                optimizer.lr = 0.03
            updater.update()
        results.append(model)
    compare(*results)
    assert updater._captured is None
