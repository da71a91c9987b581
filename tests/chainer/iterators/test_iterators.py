"""Iterators: the same minibatches by all of them, now and after a snapshot, and no process left."""

import collections
import copy
import errno
import gc
import itertools
import os
import random
import signal
import threading
import time
import warnings

import chainer
import numpy as np
import pytest
from chainer import iterators, serializers
from chainer.iterators import _worker

MAKERS = {
    'serial': lambda *args, **kwargs: iterators.SerialIterator(*args, **kwargs),
    'threads': lambda *args, **kwargs: iterators.MultithreadIterator(*args, n_threads=2, **kwargs),
    'processes': lambda *args, **kwargs: iterators.MultiprocessIterator(
        *args, n_processes=2, **kwargs
    ),
    'three ahead': lambda *args, **kwargs: iterators.MultiprocessIterator(
        *args, n_processes=3, n_prefetch=3, maxtasksperchild=5, **kwargs
    ),
}


@pytest.fixture(params=MAKERS)
def make(request):
    made = []

    def make(*args, **kwargs):
        made.append(MAKERS[request.param](*args, **kwargs))
        return made[-1]

    yield make
    for iterator in made:
        iterator.finalize()


def look(iterator):
    return (
        iterator.epoch,
        iterator.is_new_epoch,
        iterator.current_position,
        iterator.epoch_detail,
        iterator.previous_epoch_detail,
    )


def test_random_order_of_v7(make):
    np.random.seed(0)
    iterator = make(list(range(10)), 4)
    assert look(iterator) == (0, False, 0, 0.0, None)
    seen = []
    for _ in range(4):
        batch = iterator.next()
        seen.append((batch, *look(iterator)))
    assert seen == [
        ([2, 8, 4, 9], 0, False, 4, 0.4, 0.0),
        ([1, 6, 7, 3], 0, False, 8, 0.8, 0.4),
        ([0, 5, 3, 5], 1, True, 2, 1.2, 0.8),
        ([1, 2, 9, 8], 1, False, 6, 1.6, 1.2),
    ]
    assert iterator.repeat


def test_without_repeat(make):
    iterator = make(list(range(5)), 4, repeat=False, shuffle=False)
    for _ in range(2):
        assert [(batch, *look(iterator)) for batch in iterator] == [
            ([0, 1, 2, 3], 0, False, 4, 0.8, 0.0),
            ([4], 1, True, 0, 1.0, 0.8),
        ]
        with pytest.raises(StopIteration):
            iterator.next()
        iterator.reset()


def test_dataset_smaller_than_a_minibatch(make):
    iterator = make([7, 8], 5, shuffle=False)
    assert iterator.next() == [7, 8, 7, 8, 7]
    assert look(iterator) == (2, True, 1, 2.5, 0.0)
    assert iterator.next() == [8, 7, 8, 7, 8]


def test_empty_dataset(make):
    for repeat in (True, False):
        assert list(make([], 3, repeat=repeat)) == []


def test_refused(make):
    for size in (0, -1):
        with pytest.raises(ValueError, match=f'batch_size must be positive, not {size}'):
            make([1], size)
    for size in (1.5, '3', None):
        with pytest.raises(TypeError, match=f'batch_size must be an int, not {size!r}'):
            make([1], size)
    with pytest.raises(ValueError, match='shuffle and order_sampler'):
        make([1], 1, shuffle=False, order_sampler=iterators.ShuffleOrderSampler())


def test_own_orders(make):
    class Backwards(iterators.OrderSampler):
        def __call__(self, order, position):
            return np.arange(len(order))[::-1]

    iterator = make('abcde', 2, order_sampler=Backwards())
    assert [iterator.next() for _ in range(4)] == [list(x) for x in ('ed', 'cb', 'ae', 'dc')]
    other = make('abc', 3, order_sampler=iterators.ShuffleOrderSampler(np.random.RandomState(1)))
    drawn = [other.next() for _ in range(3)]
    sampler = np.random.RandomState(1)
    assert drawn == [['abc'[i] for i in sampler.permutation(3)] for _ in range(3)]


@pytest.mark.parametrize(
    'random', [np.random.RandomState, np.random.default_rng,
               lambda seed: np.random.Generator(np.random.MT19937(seed))]
)  # fmt: skip
def test_a_generator_of_an_order_is_saved(make, random, tmp_path):
    def of(seed):
        return make(range(7), 3, order_sampler=iterators.ShuffleOrderSampler(random(seed)))

    iterator, other = of(1), of(2)
    for _ in range(4):
        iterator.next()
    chainer.serializers.save_npz(tmp_path / 'x', iterator)
    chainer.serializers.load_npz(tmp_path / 'x', other)
    assert [other.next() for _ in range(9)] == [iterator.next() for _ in range(9)]


@pytest.mark.parametrize('shuffle', [None, False])
@pytest.mark.parametrize('n_before', [0, 1, 5, 7])
def test_snapshots(make, shuffle, n_before, tmp_path):
    """Whatever is made ahead: all that follows is the same, random orders too."""
    np.random.seed(3)
    one = make(list(range(17)), 4, shuffle=shuffle)
    for _ in range(n_before):
        one.next()
    path = str(tmp_path / 'snapshot.npz')
    serializers.save_npz(path, one)
    state = np.random.get_state()
    expected = [(one.next(), *look(one)) for _ in range(9)]
    other = make(list(range(17)), 4, shuffle=shuffle)
    other.next()
    serializers.load_npz(path, other)
    np.random.set_state(state)
    assert [(other.next(), *look(other)) for _ in range(9)] == expected


def test_snapshots_of_v7(make, tmp_path):
    """Their keys, with the order under a name of its own for threads."""
    iterator = make(list(range(4)), 2)
    order = '_order' if isinstance(iterator, iterators.MultithreadIterator) else 'order'
    path = str(tmp_path / 'snapshot.npz')
    state = {'current_position': 2, 'epoch': 5, 'is_new_epoch': False}
    np.savez(path, **state, **{order: [3, 0, 2, 1], 'previous_epoch_detail': 5.0})
    serializers.load_npz(path, iterator)
    assert iterator.next() == [2, 1]
    assert look(iterator) == (6, True, 0, 6.0, 5.5)


def test_set_back_by_hand(make):
    """As old programs do instead of calling reset."""
    iterator = make(list(range(4)), 2, repeat=False, shuffle=False)
    assert len(list(iterator)) == 2
    iterator.epoch = iterator.current_position = 0
    iterator.is_new_epoch = False
    assert list(iterator) == [[0, 1], [2, 3]]


def test_copies_go_their_own_way(make):
    iterator = make(list(range(6)), 2, repeat=False, shuffle=False)
    assert iterator.next() == [0, 1]
    other = copy.copy(iterator)
    assert list(other) == [[2, 3], [4, 5]]
    assert iterator.next() == [2, 3]
    other.reset()
    assert iterator.next() == [4, 5]
    if hasattr(other, 'finalize'):
        other.finalize()


def test_finalized_and_used_again(make):
    with make(list(range(6)), 2, shuffle=False) as iterator:
        assert iterator.next() == [0, 1]
        iterator.finalize()
        assert iterator.next() == [2, 3]
    iterator.finalize()


class Failing(chainer.dataset.DatasetMixin):
    def __init__(self, file):
        self.file = file

    def __len__(self):
        return 8

    def get_example(self, i):
        if i == 5 and not os.path.exists(self.file):
            raise KeyError('five')
        return i


def test_an_example_that_raises(make, tmp_path):
    """The error is that of the dataset; once it is mended, all goes on."""
    file = str(tmp_path / 'mended')
    iterator = make(Failing(file), 2, shuffle=False)
    assert [iterator.next(), iterator.next()] == [[0, 1], [2, 3]]
    before = look(iterator)
    for _ in range(2):
        with pytest.raises(KeyError, match='five') as caught:
            iterator.next()
        assert look(iterator) == before
        if isinstance(iterator, iterators.MultiprocessIterator):
            (note,) = caught.value.__notes__
            assert 'example 5 of the dataset in process ' in note
            assert 'get_example' in note
    open(file, 'w').close()
    assert iterator.next() == [4, 5]


class Speechless(Failing):
    def get_example(self, i):
        class Silent(Exception):
            def __str__(self):
                raise ValueError('no words')

        raise Silent


def test_an_error_without_words():
    iterator = iterators.MultiprocessIterator(Speechless(None), 2, n_processes=1)
    with pytest.raises(RuntimeError, match=r'Silent: its message cannot be had: .*no words'):
        iterator.next()
    iterator.finalize()


class Ended(Failing):
    def get_example(self, i):
        return next(iter([])) if i == 5 else i


def test_an_example_that_raises_stop_iteration(make):
    """Which would end the epoch, and no one would know that examples are missing."""
    iterator = make(Ended(None), 2, shuffle=False, repeat=False)
    batches = []
    with pytest.raises(RuntimeError, match='example 5 of the dataset raised StopIteration'):
        batches.extend(iterator)
    assert len(batches) <= 2


def test_random_state_of_the_program_is_not_drawn_from_ahead():
    """Processes and threads leave NumPy's generator as SerialIterator does, at any time."""
    states = []
    for make in MAKERS.values():
        np.random.seed(5)
        iterator = make(list(range(10)), 3)
        states.append([])
        for _ in range(7):
            iterator.next()
            states[-1].append(np.random.get_state()[2])
        iterator.finalize()
    assert all(state == states[0] for state in states)


# ---- processes ----


def multiprocess(*args, **kwargs):
    return iterators.MultiprocessIterator(*args, n_processes=kwargs.pop('n_processes', 2), **kwargs)


def wait_until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def pids(iterator):
    return [p.process.pid for p in iterator._processes]


def is_running(pid):
    try:
        with open(f'/proc/{pid}/stat') as file:
            return file.read().split()[2] not in 'ZX'
    except FileNotFoundError:
        return False


class Arrays(chainer.dataset.DatasetMixin):
    """Of many dtypes and layouts, small and large."""

    def __len__(self):
        return 6

    def get_example(self, i):
        rng = np.random.RandomState(i)
        return {
            'large': rng.rand(40 + 30 * i, 100).astype('f'),
            'turned': rng.rand(50, 70).T,
            'steps': rng.rand(64, 64)[::2, ::-3],
            'empty': np.empty((0, 3)),
            'scalar': np.array(i, 'i2'),
            'others': (f'text {i}', None, [i], np.arange(i, dtype='c16')),
        }


def same(x, y):
    if isinstance(x, dict):
        return x.keys() == y.keys() and all(same(x[k], y[k]) for k in x)
    if isinstance(x, tuple | list):
        return len(x) == len(y) and all(same(a, b) for a, b in zip(x, y, strict=True))
    if isinstance(x, np.ndarray):
        return x.dtype == y.dtype and x.shape == y.shape and bool(np.all(x == y))
    return type(x) is type(y) and x == y


@pytest.mark.parametrize('shared_mem', [None, 0, 20_000])
def test_arrays_arrive_whole(shared_mem):
    dataset = Arrays()
    with multiprocess(dataset, 4, shuffle=False, shared_mem=shared_mem, n_prefetch=2) as iterator:
        kept = [iterator.next() for _ in range(6)]
        for k, batch in enumerate(kept):  # what came first is not what came later
            assert same(batch, [dataset[(4 * k + j) % 6] for j in range(4)])
        for example in kept[0]:
            example['large'] += 1  # one's own memory
            example['others'][3][...] = 0


def fail(*args, **kwargs):
    raise OSError(errno.ENOSPC, 'full')


@pytest.mark.parametrize('call', ['SharedMemory', 'posix_fallocate'])
@pytest.mark.parametrize('every', [1, 2, 3])
def test_without_shared_memory(call, every, monkeypatch):
    """Arrays go through the pipe where the system has no such memory left, now and then too."""
    owner = _worker.shared_memory if call == 'SharedMemory' else os
    original, count = getattr(owner, call), itertools.count(1)

    def fail_now_and_then(*args, **kwargs):
        # What the program maps is there.
        is_made = call == 'posix_fallocate' or 'create' in kwargs
        if is_made and next(count) % every == 0:
            fail()
        return original(*args, **kwargs)

    monkeypatch.setattr(owner, call, fail_now_and_then)
    dataset = Arrays()
    with multiprocess(dataset, 4, shuffle=False) as iterator:
        for k in range(12):
            assert same(iterator.next(), [dataset[(4 * k + j) % 6] for j in range(4)])


class Numbers(chainer.dataset.DatasetMixin):
    """Arrays of their index, large enough for shared memory, and that index."""

    shape = 60, 70

    def __len__(self):
        return 32

    def get_example(self, i):
        return np.full(self.shape, i, 'f'), np.int32(i)


def as_made(batches):
    return all((x == i).all() and x.shape == Numbers.shape for batch in batches for x, i in batch)


def test_examples_are_not_written_to_as_long_as_they_are_there():
    with multiprocess(Numbers(), 4, n_prefetch=2) as iterator:
        kept = [iterator.next() for _ in range(20)]
        assert as_made(kept)
        some = [kept[k][0] for k in range(20)]
        del kept
        later = [iterator.next() for _ in range(20)]
        assert as_made(later)
        assert as_made([some])
    assert as_made([some])  # nor when the processes have gone


@pytest.mark.parametrize(
    ('batch_size', 'n_prefetch', 'n_processes', 'expected'),
    [(8, 3, 4, 1), (8, 0, 4, 4), (8, 1, 4, 2), (32, 3, 4, 4), (16, 3, 4, 2), (8, 3, 2, 1)],
)
def test_all_processes_have_something_to_do(batch_size, n_prefetch, n_processes, expected):
    options = {'n_prefetch': n_prefetch, 'n_processes': n_processes}
    with multiprocess(Numbers(), batch_size, repeat=False, shuffle=False, **options) as iterator:
        batch = iterator._fill()
        assert len(batch.tasks) == expected
        busy = [p for p in iterator._processes if p.sent]
        assert len(busy) == min(n_processes, expected * len(iterator._batches))
        assert len(busy) == n_processes
        assert as_made(iterator)


def test_shared_memory_is_used_again():
    """It does not grow with the minibatches, whether they are kept or not."""
    with multiprocess(Numbers(), 4, n_prefetch=1) as iterator:
        for _ in range(20):
            iterator.next()
        count = sum(len(p.slots._memories) for p in iterator._processes)
        assert count <= 2 * 4
        kept = [iterator.next() for _ in range(20)]
        assert sum(len(p.slots._memories) for p in iterator._processes) <= 2 * 5
        assert as_made(kept)


def shared_memory_left():
    return {name for name in os.listdir('/dev/shm') if name.startswith(f'chainer_{os.getpid()}_')}


@pytest.mark.parametrize('delay', np.linspace(0, 0.02, 12))
def test_processes_that_are_ended_leave_no_memory(delay):
    """Whatever they are about: making it, writing to it, telling of it."""
    iterator = multiprocess(Numbers(), 8, n_prefetch=3)
    iterator._fill()  # asks for examples, and does not wait for them
    time.sleep(delay)
    iterator.finalize()
    assert shared_memory_left() == set()
    assert as_made([iterator.next()])
    iterator.finalize()
    assert shared_memory_left() == set()


def test_a_forked_child_keeps_its_examples():
    """They are in memory that processes would use again as soon as the parent has left them."""
    with multiprocess(Numbers(), 4, shuffle=False) as iterator:
        batch = iterator.next()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.read(read, 1)
            os._exit(0 if as_made([batch]) else 1)
        del batch
        assert as_made([iterator.next() for _ in range(10)])
        os.write(write, b'!')
        os.close(read)
        os.close(write)
        assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize('shape', [(60, 70), (61, 71), (3,)])
@pytest.mark.parametrize('n_prefetch', [0, 2])
def test_put_together_without_a_copy(shape, n_prefetch, monkeypatch):
    """Where arrays lie side by side; their values are the same in any case."""
    monkeypatch.setattr(Numbers, 'shape', shape)
    with multiprocess(Numbers(), 8, shuffle=False, n_prefetch=n_prefetch) as iterator:
        for k in range(5):
            batch = iterator.next()
            x, t = chainer.dataset.concat_examples(batch)
            assert x.shape == (8, *shape)
            assert x.flags.c_contiguous
            assert x.flags.writeable
            assert (x == t[:, None, None][..., : len(shape)].reshape(8, *[1] * len(shape))).all()
            assert t.tolist() == [(8 * k + j) % 32 for j in range(8)]
            joined = np.shares_memory(x, batch[0][0])
            assert joined == (shape == (60, 70) and n_prefetch == 2)
            # What is in another order, or not all of it, is not taken for the whole.
            x, t = chainer.dataset.concat_examples(batch[::-1])
            assert (x.reshape(8, -1)[:, 0] == t).all()
            x, t = chainer.dataset.concat_examples([*batch[2:5], batch[0]])
            assert (x.reshape(4, -1)[:, 0] == t).all()
            turned = [a.T for a, _ in batch]
            assert (chainer.dataset.concat_examples(turned)[3] == batch[3][1]).all()


class Drawn(chainer.dataset.DatasetMixin):
    def __len__(self):
        return 6

    def get_example(self, i):
        return i, np.random.rand(), random.random()


def test_random_numbers_of_examples(tmp_path):
    """They depend on the seed alone: not on the number of processes, nor on a snapshot between."""
    runs = []
    for n, n_prefetch in ((1, 0), (2, 1), (3, 4)):
        np.random.seed(1)
        with multiprocess(Drawn(), 4, n_processes=n, n_prefetch=n_prefetch) as iterator:
            runs.append([iterator.next() for _ in range(5)])
    assert runs[0] == runs[1] == runs[2]
    numbers = [x[1] for batch in runs[0] for x in batch]
    assert len(set(numbers)) == len(numbers)
    np.random.seed(1)
    path = str(tmp_path / 'snapshot.npz')
    with multiprocess(Drawn(), 4) as iterator:
        iterator.next()
        serializers.save_npz(path, iterator)
    state = np.random.get_state()
    np.random.seed(77)
    with multiprocess(Drawn(), 4) as iterator:
        serializers.load_npz(path, iterator)
        np.random.set_state(state)
        assert [iterator.next() for _ in range(4)] == runs[0][1:]


def test_no_process_is_left():
    iterator = multiprocess(list(range(9)), 2)
    iterator.next()
    first = pids(iterator)
    assert all(is_running(pid) for pid in first)
    iterator.finalize()
    assert not any(is_running(pid) for pid in first)
    iterator.next()
    second = pids(iterator)
    del iterator
    gc.collect()
    wait_until(lambda: not any(is_running(pid) for pid in second))


def test_a_killed_process_is_an_error_and_no_hang():
    with multiprocess(list(range(40)), 4, shuffle=False, n_prefetch=0) as iterator:
        iterator.next()
        os.kill(pids(iterator)[1], signal.SIGKILL)
        with pytest.raises(RuntimeError, match=r'process 1 \(pid \d+\) has ended.*code -9'):
            collections.deque(iterator, 0)
        position = iterator.current_position
        assert iterator.next()[0] == position  # with new ones


class Exiting(chainer.dataset.DatasetMixin):
    def __len__(self):
        return 8

    def get_example(self, i):
        if i == 6:
            os._exit(3)
        if i == 0:
            time.sleep(0.2)
        return i


@pytest.mark.parametrize(('n_prefetch', 'examples'), [(0, '6 to 7'), (1, '4 to 7')])
def test_a_process_that_exits_is_named_with_its_examples(n_prefetch, examples):
    """Also where it ends before the minibatch in front of that one is there."""
    with multiprocess(Exiting(), 4, shuffle=False, n_prefetch=n_prefetch) as iterator:
        assert iterator.next() == [0, 1, 2, 3]
        with pytest.raises(RuntimeError, match=f'exit code 3 while it made examples {examples}'):
            iterator.next()


class Slow(chainer.dataset.DatasetMixin):
    def __len__(self):
        return 4

    def get_example(self, i):
        time.sleep(0.3)
        return i


def test_slow_datasets_are_told_of_once():
    iterator = multiprocess(Slow(), 2, shuffle=False, dataset_timeout=0.05)
    with iterator, pytest.warns(iterator.TimeoutWarning, match=r'0\.05 s') as told:
        assert iterator.next() == [0, 1]
    assert len(told) == 1
    iterator = multiprocess(Slow(), 2, shuffle=False, dataset_timeout=None)
    with iterator, warnings.catch_warnings():
        warnings.simplefilter('error')
        assert iterator.next() == [0, 1]


def test_ctrl_c_while_waiting():
    with multiprocess(Slow(), 2, shuffle=False) as iterator:
        iterator.next()
        old = pids(iterator)
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            collections.deque(itertools.islice(iterator, 50), 0)
        timer.join()
        assert not any(is_running(pid) for pid in old)
        position = iterator.current_position
        assert iterator.next() == [position, position + 1]


def test_processes_are_replaced():
    class Pid(chainer.dataset.DatasetMixin):
        def __len__(self):
            return 4

        def get_example(self, i):
            return os.getpid()

    with multiprocess(Pid(), 2, maxtasksperchild=2, n_prefetch=0, shuffle=False) as iterator:
        seen = {pid for _ in range(8) for pid in iterator.next()}
        assert len(seen) > 2
        assert sum(is_running(pid) for pid in seen) <= 4


def test_an_example_that_cannot_be_pickled():
    with multiprocess([lambda: 1], 1) as iterator, pytest.raises(Exception, match='pickle'):
        iterator.next()


def test_an_iterator_in_a_forked_process():
    """It starts processes of its own, and leaves those of its parent alone."""
    with multiprocess(list(range(8)), 2, shuffle=False) as iterator:
        iterator.next()
        child = os.fork()
        if child == 0:
            try:
                ok = iterator.next() == [2, 3]
                iterator.finalize()
            except BaseException:
                ok = False
            os._exit(0 if ok else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert [iterator.next() for _ in range(3)] == [[2, 3], [4, 5], [6, 7]]


def test_large_minibatches():
    """More indices than go into a pipe at a time."""
    with multiprocess(np.arange(20_000), 9_000, shuffle=False, n_prefetch=2) as iterator:
        for k in range(4):
            expected = (np.arange(9_000) + 9_000 * k) % 20_000
            assert np.array_equal(iterator.next(), expected)


def test_dali(monkeypatch):
    from chainer.iterators import dali_iterator

    class Pipeline:
        max_batch_size = 2

        def epoch_size(self):
            return {'reader': 5}

        def build(self):
            self.n = 0

        def run(self):
            self.n += 1
            return [self.n]

        def reset(self):
            self.n = 0

    if not dali_iterator._has_dali():
        with pytest.raises(ImportError, match='NVIDIA DALI, which is missing'):
            iterators.DaliIterator(Pipeline())
    monkeypatch.setattr(dali_iterator, '_has_dali', lambda: True)
    iterator = iterators.DaliIterator(Pipeline(), repeat=False)
    for _ in range(2):
        assert [(batch, iterator.epoch_detail) for batch in iterator] == [
            ([1], 0.4),
            ([2], 0.8),
            ([3], 1.0),
        ]
        iterator.reset()
    iterator = iterators.DaliIterator(Pipeline())
    for _ in range(4):
        iterator.next()
    saver = chainer.serializers.DictionarySerializer()
    iterator.serialize(saver)
    other = iterators.DaliIterator(Pipeline())
    other.serialize(chainer.serializers.NpzDeserializer(saver.target))
    for name in ('epoch_detail', 'previous_epoch_detail', 'current_position', 'is_new_epoch'):
        assert getattr(other, name) == getattr(iterator, name)
