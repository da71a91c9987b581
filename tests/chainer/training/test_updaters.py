"""Updaters: one device, several devices, several processes."""

import copy
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer import training
from chainer.training import extensions, updaters
from devices import DEVICES
from v7_programs import DATA, X, make_model


def iterator_of(data=DATA, batch_size=6, **kwargs):
    return chainer.iterators.SerialIterator(data, batch_size, **kwargs)


def params_of(model):
    return [chainer.backend.CpuDevice().send(p.array).copy() for p in model.params()]


def assert_close(found, expected):
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


# ---- one device ----


@pytest.mark.parametrize('device', ['@numpy', 'native:0', -1])
def test_devices(device):
    model = make_model()
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    seen = []

    def converter(batch, device):
        seen.append(device)
        return chainer.dataset.concat_examples(batch, device)

    updater = training.StandardUpdater(iterator_of(), optimizer, converter, device=device)
    assert updater.device == updater.input_device == model.device == chainer.get_device(device)
    updater.update()
    # Functions without the decorator get the CPU's device number from before v6.
    assert seen == [chainer.get_device(device) if device == 'native:0' else -1]
    assert optimizer.t == updater.iteration == 1


@pytest.mark.parametrize('place', DEVICES)
@pytest.mark.parametrize('is_converter', [False, True])
def test_without_device_nothing_is_moved(place, is_converter):
    """Without a device, converters get None, and their result is passed on unchanged."""
    device = chainer.get_device(place)
    model = make_model().to_device(device)
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    seen = []

    def convert(batch, device_of_updater):
        seen.append(device_of_updater)
        return chainer.dataset.concat_examples(batch, device)

    converter = chainer.dataset.converter()(convert) if is_converter else convert
    updater = training.StandardUpdater(iterator_of(), optimizer, converter)
    assert updater.device is updater.input_device is None
    updater.update()
    assert seen == [None]
    assert model.device == device
    other = training.StandardUpdater(iterator_of(), optimizer, input_device='@numpy')
    assert other.device is None
    assert other.input_device.name == '@numpy'


def test_iterators_of_other_updates_have_names_of_their_own():
    class Updater(training.StandardUpdater):
        def update(self):
            self.iteration += 1
            self.got = [self.get_iterator(name).next() for name in ('a', 'b')]

    updater = Updater({'a': iterator_of(), 'b': iterator_of()}, {})
    updater.update()
    assert len(updater.got) == 2
    with pytest.raises(KeyError, match="iterator: the dict must have 'main'; it has a"):
        training.StandardUpdater({'a': iterator_of()}, chainer.optimizers.SGD())


def test_several_optimizers_and_iterators():
    models = {'main': make_model(), 'other': make_model()}
    optimizers = {k: chainer.optimizers.SGD(0.1).setup(m) for k, m in models.items()}
    iterators = {'main': iterator_of(), 'other': iterator_of(batch_size=2)}

    class Updater(training.StandardUpdater):
        def update_core(self):
            for name in ('main', 'other'):
                batch = self.get_iterator(name).next()
                arrays = self.converter(batch, self.input_device)
                optimizer = self.get_optimizer(name)
                optimizer.update(optimizer.target, *arrays)

    updater = Updater(iterators, optimizers)
    updater.update()
    assert [o.t for o in updater.get_all_optimizers().values()] == [1, 1]
    saver = chainer.serializers.DictionarySerializer()
    updater.serialize(saver)
    for key in ('iterator:other/epoch', 'optimizer:other/t', 'model:other/predictor/W'):
        assert key in saver.target


@pytest.mark.parametrize(
    ('place', 'device'), [('@numpy', None), ('native:0', None), ('@numpy', 'native:0')]
)
def test_optimizers_of_a_gan_have_names_of_their_own(place, device, tmp_path):
    """Optimizers need not be named ``'main'``, as only the subclass's `update_core` uses them."""
    models = {'gen': L.Linear(4, 4), 'dis': L.Linear(4, 1)}
    optimizers = {k: chainer.optimizers.Adam().setup(m) for k, m in models.items()}
    for model in models.values():
        model.to_device(place)

    class GanUpdater(training.updaters.StandardUpdater):
        def __init__(self, *args, **kwargs):
            self.gen, self.dis = kwargs.pop('models')
            super().__init__(*args, **kwargs)

        def update_core(self):
            batch = self.get_iterator('main').next()
            x = chainer.Variable(self.converter([x for x, _ in batch], self.gen.device))
            y, y_made = self.dis(x), self.dis(self.gen(x))
            loss = F.sum(F.softplus(-y)) + F.sum(F.softplus(y_made))
            chainer.report({'loss': loss}, self.dis)
            for name, model in (('gen', self.gen), ('dis', self.dis)):
                model.cleargrads()
                (F.sum(F.softplus(-self.dis(self.gen(x)))) if name == 'gen' else loss).backward()
                self.get_optimizer(name).update()

    updater = GanUpdater(
        models=models.values(), iterator=iterator_of(), optimizer=optimizers, device=device
    )
    assert updater.input_device == (device and chainer.get_device(device))
    trainer = training.Trainer(updater, (2, 'epoch'), out=str(tmp_path))
    trainer.extend(training.extensions.LogReport())
    trainer.extend(training.extensions.observe_lr('gen'), trigger=(1, 'iteration'))
    trainer.extend(training.extensions.snapshot())
    trainer.run()
    assert {'dis/loss', 'lr'} <= set(trainer.get_extension('LogReport').log[0])
    loaded = [L.Linear(4, 4), L.Linear(4, 1)]
    path = str(tmp_path / f'snapshot_iter_{updater.iteration}')
    for (name, model), other in zip(models.items(), loaded, strict=True):
        chainer.serializers.load_npz(path, other, path=f'updater/model:{name}/')
        for p, q in zip(params_of(model), params_of(other), strict=True):
            np.testing.assert_array_equal(p, q)


def test_losses_of_dicts_single_arrays_and_functions():
    model = L.Linear(4, 2)
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    kinds = {
        'dict': ([{'a': x} for x in X], lambda a: F.sum(model(a))),
        'array': (list(X), lambda x: F.sum(model(x))),
        'tuple': (DATA, lambda x, t: F.softmax_cross_entropy(model(x), t)),
    }
    for data, loss_func in kinds.values():
        before = params_of(model)
        updater = training.StandardUpdater(iterator_of(data), optimizer, loss_func=loss_func)
        updater.update()
        assert not np.array_equal(params_of(model)[0], before[0])


def test_epochs_of_optimizers_and_loss_scale():
    optimizer = chainer.optimizers.SGD(0.1).setup(make_model())
    updater = training.StandardUpdater(iterator_of(batch_size=10), optimizer, loss_scale=4.0)
    epochs = []
    for _ in range(4):
        updater.update()
        epochs.append((optimizer.epoch, updater.epoch, updater.is_new_epoch))
    assert epochs == [(0, 0, False), (1, 1, True), (1, 1, False), (2, 2, True)]
    assert optimizer._loss_scale == 4.0
    with pytest.raises(RuntimeError, match='duplicated new_epoch'):
        optimizer.new_epoch()


def test_errors_of_standard_updater():
    optimizer = chainer.optimizers.SGD().setup(make_model())
    for iterator, given, kwargs, error, text in [
        (5, optimizer, {}, TypeError, "iterator 'main' is no iterator, but int"),
        (iterator_of(), 5, {}, TypeError, "optimizer 'main' is no optimizer, but int"),
        ({'a': iterator_of()}, optimizer, {}, KeyError, "the dict must have 'main'; it has a"),
        (iterator_of(), {'b': optimizer}, {}, KeyError, "the dict must have 'main'; it has b"),
        (iterator_of(), optimizer, {'devices': 1}, TypeError, 'unexpected keyword argument'),
    ]:
        with pytest.raises(error, match=text):
            training.StandardUpdater(iterator, given, **kwargs)


@pytest.mark.parametrize('data', [DATA, []])
def test_the_end_of_the_data(data, tmp_path):
    optimizer = chainer.optimizers.SGD().setup(make_model())
    iterator = iterator_of(data, 20, repeat=False)
    trainer = training.Trainer(
        training.StandardUpdater(iterator, optimizer), (3, 'iteration'), str(tmp_path)
    )
    with pytest.raises(StopIteration, match=r'came to its end in iteration .*repeat=True'):
        trainer.run(show_loop_exception_msg=False)
    assert optimizer.t == (1 if data else 0)


def test_a_failing_update_counts_for_nothing():
    model = make_model()
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    updater = training.StandardUpdater(
        iterator_of(), optimizer, loss_func=lambda x, t: model(x, t[:-1])
    )
    before = params_of(model)
    with pytest.raises(chainer.utils.type_check.InvalidType):
        updater.update()
    assert updater.iteration == optimizer.t == 0
    assert_close(params_of(model), before)


# ---- several devices ----


def joined(reduce, steps, make_optimizer=chainer.optimizers.MomentumSGD):
    """The result of one device with the whole minibatch."""
    model = make_model()
    optimizer = make_optimizer(0.1).setup(model)
    iterator = iterator_of(shuffle=False)
    factor = 1 if reduce == 'mean' else 2
    updater = training.StandardUpdater(
        iterator, optimizer, loss_func=lambda x, t: model(x, t) * factor
    )
    for _ in range(steps):
        updater.update()
    return params_of(model)


@pytest.mark.parametrize('reduce', ['sum', 'mean'])
@pytest.mark.parametrize(
    'devices', [('native:0', 'native:1'), ('@numpy', '@numpy'), ('@numpy', 'native:0')]
)
def test_parallel_is_as_one_device_with_the_joined_batch(devices, reduce):
    model = make_model()
    optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)
    updater = updaters.ParallelUpdater(
        iterator_of(shuffle=False),
        optimizer,
        devices=dict(zip(('main', 'second'), devices, strict=True)),
        reduce=reduce,
    )
    for _ in range(5):
        updater.update()
    assert model.device == chainer.get_device(devices[0])
    second = updater._models['second']
    assert second.device == chainer.get_device(devices[1])
    assert_close(params_of(model), joined(reduce, 5))
    assert_close(params_of(second), params_of(model))
    assert updater.epoch == optimizer.epoch == 1


def test_parallel_reports_each_model(tmp_path):
    optimizer = chainer.optimizers.SGD(0.1).setup(make_model())
    updater = updaters.ParallelUpdater(
        iterator_of(), optimizer, devices={'main': 'native:0', 'second': 'native:1'}
    )
    trainer = training.Trainer(updater, (1, 'iteration'), str(tmp_path))
    trainer.run()
    assert sorted(trainer.observation) == [
        'main/accuracy', 'main/loss', 'second/accuracy', 'second/loss'
    ]  # fmt: skip


def make_parallel(model, **kwargs):
    optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)
    devices = {'main': 'native:0', 'second': 'native:1'}
    return updaters.ParallelUpdater(iterator_of(**kwargs), optimizer, devices=devices)


def test_parallel_resumes_with_the_same_bits(tmp_path):
    def train(out, stop):
        np.random.seed(0)
        model = make_model()
        trainer = training.Trainer(make_parallel(model), (stop, 'iteration'), str(out))
        trainer.extend(extensions.snapshot(autoload=True), trigger=(1, 'iteration'))
        trainer.run()
        return [x.tobytes() for x in params_of(model)]

    whole = train(tmp_path / 'whole', 5)
    train(tmp_path / 'parts', 2)
    assert train(tmp_path / 'parts', 5) == whole


def test_parallel_copies_a_model_that_is_loaded_later(tmp_path):
    first, second = make_model(), make_model()
    first.predictor.W.array[...] = 3
    chainer.serializers.save_npz(tmp_path / 'model', first)
    make_parallel(first, shuffle=False).update()
    updater = make_parallel(second, shuffle=False)
    chainer.serializers.load_npz(tmp_path / 'model', second)
    updater.update()
    assert_close(params_of(second), params_of(first))


def test_parallel_with_lazy_layers_and_a_minibatch_too_small():
    model = L.Classifier(L.Linear(None, 2))
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    updater = updaters.ParallelUpdater(
        iterator_of(DATA[:7], 6, repeat=False),
        optimizer,
        devices={'main': 'native:0', 'second': 'native:1'},
    )
    updater.update()
    updater.update()  # one example is left, for the first device
    assert_close(params_of(updater._models['second']), params_of(model))


def test_errors_of_parallel_updater():
    model = make_model()
    optimizer = chainer.optimizers.SGD().setup(model)
    for kwargs, error, text in [
        ({}, ValueError, 'either models or devices must be specified'),
        ({'devices': {'a': -1}}, KeyError, "'devices' must contain a 'main' key"),
        ({'models': {'a': model}}, KeyError, "'models' must contain a 'main' key"),
        ({'models': {'main': make_model()}}, ValueError, 'must be the target of the optimizer'),
        ({'models': {'main': model}, 'devices': {'x': -1}}, KeyError, 'have other names'),
        ({'devices': {'main': -1}, 'reduce': 'max'}, ValueError, "'sum' or 'mean', not 'max'"),
    ]:
        with pytest.raises(error, match=text):
            updaters.ParallelUpdater(iterator_of(), optimizer, **kwargs)


# ---- several processes ----


def make_processes(devices, reduce='sum', shuffle=False, model=None, data=None, batch_size=3):
    model = model or make_model()
    optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)
    n = len(devices)
    parts = [(data or DATA)[i::n] for i in range(n)]
    iterators = [iterator_of(part, batch_size, shuffle=shuffle) for part in parts]
    return updaters.MultiprocessParallelUpdater(
        iterators, optimizer, devices=devices, reduce=reduce
    )


@pytest.mark.parametrize('reduce', ['sum', 'mean'])
@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_processes_are_as_one_with_the_joined_batch(device, reduce, tmp_path):
    updater = make_processes([device, device], reduce)
    trainer = training.Trainer(updater, (5, 'iteration'), str(tmp_path))
    trainer.run()
    assert_close(params_of(updater.get_optimizer('main').target), joined(reduce, 5))
    assert multiprocessing.active_children() == []


def test_processes_that_are_no_forks(forkserver):
    updater = make_processes(['@numpy', 'native:0'])
    for _ in range(5):
        updater.update()
    updater.finalize()
    assert_close(params_of(updater.get_optimizer('main').target), joined('sum', 5))
    assert multiprocessing.active_children() == []


def test_processes_that_are_no_forks_and_get_what_cannot_be_pickled(forkserver):
    model = make_model()
    model.scale = lambda x: x
    updater = make_processes(['@numpy'] * 2, model=model)
    for _ in range(2):
        with pytest.raises((AttributeError, pickle.PicklingError)) as caught:
            updater.update()
        note = caught.value.__notes__[-1]
        assert note.startswith('MultiprocessParallelUpdater pickles model')
        assert "multiprocessing.set_start_method('fork')" in note
    updater.finalize()
    assert multiprocessing.active_children() == []


def test_processes_whose_iterators_have_processes():
    """Worker processes may have iterators with processes, as in Chainer's ImageNet example."""
    results = []
    for make in (chainer.iterators.SerialIterator, chainer.iterators.MultiprocessIterator):
        model = make_model()
        optimizer = chainer.optimizers.SGD(0.1).setup(model)
        iterators = [make(DATA[i::2], 3, shuffle=False) for i in range(2)]
        updater = updaters.MultiprocessParallelUpdater(iterators, optimizer, devices=['@numpy'] * 2)
        for _ in range(3):
            updater.update()
        updater.finalize()
        results.append(params_of(model))
        assert multiprocessing.active_children() == []
    for x, y in zip(*results, strict=True):
        np.testing.assert_array_equal(x, y)


def test_unfinalized_processes_do_not_block_the_exit():
    here = pathlib.Path(__file__).parent
    program = (
        f'import sys; sys.path[:0] = [{str(here)!r}, {str(here.parent)!r}]\n'
        'import test_updaters\n'
        "test_updaters.make_processes(['@numpy'] * 3).update()\n"
        'updater = test_updaters.make_processes(["@numpy"] * 3)\n'
        'updater.update()\n'
    )
    command = [sys.executable, '-c', program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, '')


class Noisy(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.linear = L.Linear(4, 2, initialW=1)

    def forward(self, x, t):
        return F.softmax_cross_entropy(F.dropout(self.linear(x), 0.3), t)


class Renormalized(chainer.Chain):
    """A model whose gradients depend on persistent values, which differ between processes."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            # Limits that make the running statistics count from the first step on.
            self.norm = L.BatchRenormalization(4, rmax=3, dmax=3, decay=0.5)
            self.linear = L.Linear(4, 2, initialW=np.linspace(-1, 1, 8).reshape(2, 4))

    def forward(self, x, t):
        return F.softmax_cross_entropy(self.linear(self.norm(x)), t)


def make_resumed(out, stop, model=Noisy, device='@numpy'):
    np.random.seed(3)
    updater = make_processes([device] * 2, shuffle=True, model=model())
    trainer = training.Trainer(updater, (stop, 'iteration'), str(out))
    trainer.extend(extensions.snapshot(autoload=True), trigger=(1, 'iteration'))
    return trainer


@pytest.mark.parametrize(
    ('model', 'device'),
    [(Noisy, '@numpy'), (Renormalized, '@numpy'), (Renormalized, 'native:0')],
)
def test_processes_resume_with_the_same_bits(tmp_path, model, device):
    whole = make_resumed(tmp_path / 'whole', 8, model, device)
    whole.run()
    expected = params_of(whole.updater.get_optimizer('main').target)
    make_resumed(tmp_path / 'parts', 5, model, device).run()
    resumed = make_resumed(tmp_path / 'parts', 8, model, device)
    resumed.run()
    assert resumed.updater.iteration == 8
    for x, y in zip(params_of(resumed.updater.get_optimizer('main').target), expected, strict=True):
        assert x.tobytes() == y.tobytes()


def test_processes_load_while_they_run_and_save_after_the_end(tmp_path):
    whole = make_resumed(tmp_path / 'whole', 4)
    whole.run()
    expected = params_of(whole.updater.get_optimizer('main').target)

    np.random.seed(3)
    updater = make_processes(['@numpy'] * 2, shuffle=True, model=Noisy())
    trainer = training.Trainer(updater, (2, 'iteration'), str(tmp_path))
    trainer.run()  # without a snapshot: workers are asked for their state at the end
    chainer.serializers.save_npz(tmp_path / 'end', trainer)
    np.random.seed(4)
    updater = make_processes(['@numpy'] * 2, shuffle=True, model=Noisy())
    trainer = training.Trainer(updater, (4, 'iteration'), str(tmp_path))
    updater.update()
    with pytest.raises(KeyError):
        chainer.serializers.load_npz(tmp_path / 'end', updater)
    updater.update()  # as before the load that failed
    chainer.serializers.load_npz(tmp_path / 'end', trainer)
    trainer.run()
    assert multiprocessing.active_children() == []
    for x, y in zip(params_of(updater.get_optimizer('main').target), expected, strict=True):
        assert x.tobytes() == y.tobytes()


def test_snapshots_from_before_persistent_values_were_saved(tmp_path):
    make_resumed(tmp_path, 3, Renormalized).run()
    with np.load(tmp_path / 'snapshot_iter_3', allow_pickle=True) as file:
        old = {key: file[key] for key in file.files if 'persistent' not in key}
        assert len(old) < len(file.files)
    np.savez(tmp_path / 'old.npz', **old)
    trainer = make_resumed(tmp_path / 'new', 4, Renormalized)
    chainer.serializers.load_npz(tmp_path / 'old.npz', trainer)
    trainer.run()
    assert trainer.updater.iteration == 4


@pytest.mark.parametrize('duplicate', [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_have_processes_of_their_own(duplicate):
    """Copies have worker processes of their own, which continue with the same state."""
    np.random.seed(3)
    updater = make_processes(['@numpy'] * 2, shuffle=True, model=Noisy())
    for _ in range(3):
        updater.update()
    other = duplicate(updater)
    state = np.random.get_state()
    for one in (updater, other):
        np.random.set_state(state)
        for _ in range(3):
            one.update()
        one.finalize()
    params = [params_of(one.get_optimizer('main').target) for one in (updater, other)]
    for x, y in zip(*params, strict=True):
        assert x.tobytes() == y.tobytes()
    assert multiprocessing.active_children() == []


def test_an_error_in_a_worker():
    data = [*DATA[:7], (X[0], np.zeros(2, np.int32))]
    updater = make_processes(['@numpy'] * 2, data=data, batch_size=4)
    with pytest.raises(RuntimeError, match=r'(?s)worker 1 on .* failed:.*example 3 has'):
        updater.update()
    updater.finalize()
    assert multiprocessing.active_children() == []


def test_a_worker_that_is_killed():
    updater = make_processes(['@numpy'] * 2)
    updater.update()
    (child,) = multiprocessing.active_children()
    os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match=r'worker 1 on .* ended with -9'):
        updater.update()
    updater.finalize()
    assert multiprocessing.active_children() == []


def test_errors_of_processes():
    with pytest.raises(ValueError, match='2 iterators and 1 devices'):
        updaters.MultiprocessParallelUpdater(
            [iterator_of(), iterator_of()], chainer.optimizers.SGD(), devices=['@numpy']
        )
    updater = make_processes(['@numpy'], model=L.Classifier(L.Linear(None, 2)))
    with pytest.raises(RuntimeError, match='parameter /predictor/W is uninitialized'):
        updater.update()
    assert updaters.MultiprocessParallelUpdater.available()
