"""`DevicePrefetchIterator` gives the same minibatches, copied to the device ahead of use."""

import copy
import ctypes
import pickle
import threading

import chainer
import chainer.links as L
import chainerx
import numpy as np
import pytest
from chainer import iterators, serializers, training
from chainer.training import extensions

X = np.random.RandomState(0).rand(10, 4).astype('f')
T = np.arange(10, dtype='i') % 3
DATA = chainer.datasets.TupleDataset(X, T)

MAKERS = {
    'serial': iterators.SerialIterator,
    'threads': iterators.MultithreadIterator,
    'processes': lambda *args, **kwargs: iterators.MultiprocessIterator(
        *args, n_processes=2, **kwargs
    ),
}


@pytest.fixture(params=MAKERS)
def make(request):
    made = []

    def make(data=DATA, batch_size=4, device='native:0', converter=None, **kwargs):
        base = MAKERS[request.param](data, batch_size, **kwargs)
        more = {} if converter is None else {'converter': converter}
        made.append(iterators.DevicePrefetchIterator(base, device, **more))
        return made[-1]

    yield make
    for iterator in made:
        iterator.finalize()


def look(iterator):
    names = 'epoch', 'is_new_epoch', 'epoch_detail', 'previous_epoch_detail'
    return tuple(getattr(iterator, name) for name in names)


def arrays_of(batch):
    return [chainerx.to_numpy(x).tolist() for x in batch.arrays]


@pytest.mark.parametrize('shuffle', [True, False])
@pytest.mark.parametrize('repeat', [True, False])
@pytest.mark.parametrize('when', ['always', 'never', 'sometimes'])
def test_same_as_without(make, shuffle, repeat, when):
    seen = []
    for wrap in (False, True):
        np.random.seed(3)
        if wrap:
            iterator = make(shuffle=shuffle, repeat=repeat)
        else:
            iterator = iterators.SerialIterator(DATA, 4, shuffle=shuffle, repeat=repeat)
        seen.append([look(iterator)])
        for k in range(12):
            try:
                batch = iterator.next()
            except StopIteration:
                break
            if wrap:
                assert all(x.device.name == 'native:0' for x in batch.arrays)
                batch = arrays_of(batch)
            else:
                batch = [x.tolist() for x in chainer.dataset.concat_examples(batch)]
            # Prefetching is not visible, not even in NumPy's generator.
            if wrap and (when == 'always' or (when == 'sometimes' and k % 2)):
                iterator.prefetch()
                iterator.prefetch()
            seen[-1].append((batch, look(iterator), np.random.get_state()[2]))
    assert len(seen[0]) > 3
    assert seen[0] == seen[1]


@pytest.mark.parametrize('n_before', range(6))
def test_snapshots(make, n_before, tmp_path):
    np.random.seed(1)
    first = make()
    for _ in range(n_before):
        first.next()
        first.prefetch()
    serializers.save_npz(tmp_path / 'a.npz', first)
    state = np.random.get_state()
    expected = [arrays_of(first.next()) for _ in range(7)]
    np.random.seed(2)
    second = make()
    second.next()
    second.prefetch()
    serializers.load_npz(tmp_path / 'a.npz', second)
    np.random.set_state(state)
    assert [arrays_of(second.next()) for _ in range(7)] == expected
    # The snapshot equals the one without this iterator.
    serializers.load_npz(tmp_path / 'a.npz', second._iterator)


def test_reset_copies_and_the_end(make):
    iterator = make(shuffle=False, repeat=False)
    assert (len(iterator.dataset), iterator.batch_size, iterator.repeat) == (10, 4, False)
    for _ in range(2):
        iterator.reset()
        batches = [arrays_of(iterator.next())]
        iterator.prefetch()
        other = copy.copy(iterator)
        batches += map(arrays_of, iterator)
        assert [t for _, ts in batches for t in ts] == T.tolist()
        assert list(map(arrays_of, other)) == batches[1:]
        other.finalize()
        iterator.prefetch()
        with pytest.raises(StopIteration):
            iterator.next()
    iterator = make(shuffle=False)
    iterator.next()
    iterator.prefetch()
    iterator.finalize()  # the prefetched minibatch is made again
    assert arrays_of(iterator.next())[1] == T[4:8].tolist()


class Failing(chainer.dataset.DatasetMixin):
    def __init__(self, ragged=False):
        self.ragged = ragged

    def __len__(self):
        return 8

    def get_example(self, i):
        if i == 5 and not self.ragged:
            raise KeyError('five')
        return np.zeros(2 if i == 5 else 3, 'f')


@pytest.mark.parametrize('ragged', [False, True])
def test_errors_are_raised_when_the_minibatch_is_requested(make, ragged):
    iterator = make(Failing(ragged), shuffle=False)
    iterator.next()
    before = look(iterator)
    for _ in range(3):
        iterator.prefetch()
        assert look(iterator) == before
        with pytest.raises(ValueError if ragged else KeyError):
            iterator.next()
        assert look(iterator) == before


def test_what_is_refused():
    with pytest.raises(TypeError, match=r'must be a SerialIterator, .*, not list'):
        iterators.DevicePrefetchIterator([1], 'native:0')


def test_several_devices_are_refused():
    optimizer = chainer.optimizers.SGD().setup(L.Classifier(L.Linear(4, 3)))
    iterator = iterators.DevicePrefetchIterator(iterators.SerialIterator(DATA, 4), 'native:0')
    devices = {'main': 'native:0', 'second': 'native:1'}
    updater = training.updaters.ParallelUpdater(iterator, optimizer, devices=devices)
    with pytest.raises(TypeError, match='arrays on a device already'):
        updater.update()


def train(folder, prefetch, stop, device='native:0', load=None):
    np.random.seed(0)
    model = L.Classifier(L.Linear(4, 3))
    optimizer = chainer.optimizers.Adam().setup(model)
    iterator = iterators.SerialIterator(DATA, 4)
    test = iterators.SerialIterator(DATA, 4, repeat=False, shuffle=False)
    if prefetch:
        iterator = iterators.DevicePrefetchIterator(iterator, device)
        test = iterators.DevicePrefetchIterator(test, device)
    updater = training.StandardUpdater(iterator, optimizer, device=device)
    trainer = training.Trainer(updater, stop, out=folder)
    trainer.extend(extensions.Evaluator(test, model, device=device))
    trainer.extend(extensions.LogReport(trigger=(1, 'epoch'), filename=None))
    trainer.extend(extensions.snapshot(filename='{.updater.iteration}'), trigger=(1, 'iteration'))
    if load is not None:
        serializers.load_npz(load, trainer)
    trainer.run()
    log = trainer.get_extension('LogReport').log
    values = [{k: v for k, v in entry.items() if k != 'elapsed_time'} for entry in log]
    params = [chainer.backend.CpuDevice().send(p.array).tobytes() for p in model.params()]
    return values, params


def test_trainings_have_the_same_bits(tmp_path):
    """Training has the same bits with and without it, and from each of its snapshots."""
    expected = train(tmp_path / 'a', False, (3, 'epoch'))
    assert train(tmp_path / 'b', True, (3, 'epoch')) == expected
    for k in range(1, 8):
        load = tmp_path / 'b' / str(k)
        assert train(tmp_path / 'c', True, (3, 'epoch'), load=load) == expected
        assert train(tmp_path / 'c', False, (3, 'epoch'), load=load) == expected


def test_ahead_of_use_on_a_device_that_computes_later(async_toy, build_backend, tmp_path):
    """The next minibatch is being copied before the previous step has finished."""
    library = ctypes.CDLL(str(build_backend('async_toy', 'async_backend.cc')))
    reads = library.async_toy_reads
    reads.restype = ctypes.c_int64
    device = f'{async_toy}:0'
    events = []

    def convert(batch, device):
        events.append(('convert', reads()))
        return chainer.dataset.concat_examples(batch, device)

    def read(trainer):
        before = reads()
        float(trainer.observation['main/loss'].array)
        events.append(('read', before))

    np.random.seed(0)
    model = L.Classifier(L.Linear(4, 3))
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    base = iterators.SerialIterator(DATA, 5, shuffle=False)
    iterator = iterators.DevicePrefetchIterator(base, device, convert)
    updater = training.StandardUpdater(iterator, optimizer, device=device)
    trainer = training.Trainer(updater, (6, 'iteration'), out=tmp_path)
    trainer.extend(read, name='read')
    trainer.run()
    kinds = [kind for kind, _ in events]
    assert kinds == ['convert', *['convert', 'read'] * 6]
    # Neither the step nor the copy has waited for the device.
    for (kind, before), (_, after) in zip(events[1::2], events[2::2], strict=True):
        assert (kind, before) == ('convert', after)
    np.random.seed(0)
    expected = L.Classifier(L.Linear(4, 3))
    plain = chainer.optimizers.SGD(0.1).setup(expected)
    for k in range(6):
        rows = slice(0, 5) if k % 2 == 0 else slice(5, 10)
        plain.update(expected, X[rows], T[rows])
    np.testing.assert_allclose(
        chainerx.to_numpy(model.predictor.W.array), expected.predictor.W.array, rtol=1e-5
    )


@pytest.mark.parametrize('copied', [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_pickles_are_at_the_same_place(make, copied):
    """A pickle continues after the last returned minibatch, whatever was prefetched."""
    iterator = make(shuffle=False)
    iterator.next()
    iterator.prefetch()
    other = copied(iterator)
    for _ in range(4):
        expected = arrays_of(iterator.next())
        assert arrays_of(other.next()) == expected
        assert look(other) == look(iterator)
    other.finalize()


def test_threads_that_share_one_get_each_minibatch_once(make):
    iterator = make(batch_size=1, shuffle=False, repeat=False)
    seen = []

    def take():
        for batch in iterator:
            iterator.prefetch()
            seen.append(arrays_of(batch)[0])

    threads = [threading.Thread(target=take, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert sorted(seen) == sorted([x.tolist()] for x in X)


def test_a_thread_that_converts_while_another_one_finalizes():
    waits, go_on = threading.Event(), threading.Event()

    def convert(batch, device):
        waits.set()
        go_on.wait(30)
        return batch

    inner = iterators.SerialIterator(list(range(4)), 1, shuffle=False)
    iterator = iterators.DevicePrefetchIterator(inner, '@numpy', convert)
    found = []
    threads = [threading.Thread(target=lambda: found.append(iterator.next().arrays))]
    threads[0].start()
    assert waits.wait(30)
    threads.append(threading.Thread(target=iterator.finalize))
    threads[1].start()
    threads[1].join(0.2)  # time in which nothing must happen
    go_on.set()
    for thread in threads:
        thread.join(30)
    found.append(iterator.next().arrays)
    assert found == [[0], [1]]
