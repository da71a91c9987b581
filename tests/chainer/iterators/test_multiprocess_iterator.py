"""`MultiprocessIterator`: shared memory, and processes that fail, end or are killed."""

import collections
import ctypes
import errno
import gc
import itertools
import multiprocessing
import os
import pickle
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
from chainer.utils import _processes


@pytest.fixture(autouse=True)
def forks(monkeypatch):
    """Processes that have what a test defines, as by default before Python 3.14."""
    get = multiprocessing.get_context
    monkeypatch.setattr(multiprocessing, 'get_context', lambda method=None: get(method or 'fork'))


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
    """Arrays of many dtypes and layouts, small and large."""

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
        for k, batch in enumerate(kept):  # earlier examples are not overwritten by later ones
            assert same(batch, [dataset[(4 * k + j) % 6] for j in range(4)])
        for example in kept[0]:
            example['large'] += 1  # private memory
            example['others'][3][...] = 0


def fail(*args, **kwargs):
    raise OSError(errno.ENOSPC, 'full')


@pytest.mark.parametrize('call', ['SharedMemory', 'posix_fallocate'])
@pytest.mark.parametrize('every', [1, 2, 3])
def test_without_shared_memory(call, every, monkeypatch):
    """Arrays go through the pipe if shared memory is exhausted, also temporarily."""
    owner = _worker.shared_memory if call == 'SharedMemory' else os
    original, count = getattr(owner, call), itertools.count(1)

    def fail_now_and_then(*args, **kwargs):
        # The program's own mappings exist.
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
    """Arrays filled with their index, large enough for shared memory, and that index."""

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
    assert as_made([some])  # nor after the processes have ended


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
    """Shared memory does not grow with the minibatches, whether they are kept or not."""
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
    """Killed processes leave no shared memory, whatever they were doing with it."""
    iterator = multiprocess(Numbers(), 8, n_prefetch=3)
    iterator._fill()  # requests examples without waiting for them
    time.sleep(delay)
    iterator.finalize()
    assert shared_memory_left() == set()
    assert as_made([iterator.next()])
    iterator.finalize()
    assert shared_memory_left() == set()


def test_a_forked_child_keeps_its_examples():
    """A forked child's examples stay valid: their memory is not reused after the parent's."""
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
    """Adjacent arrays form a minibatch without a copy; values are the same in any case."""
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
            # Arrays in another order, or a part of them, are not mistaken for the whole.
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
    """Random numbers depend on the seed alone, not on processes or snapshots."""
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


class Hanging(chainer.dataset.DatasetMixin):
    """A dataset whose second half hangs, with a user's handler for SIGTERM."""

    def __len__(self):
        return 8

    def get_example(self, i):
        if i >= 4:
            signal.signal(signal.SIGTERM, lambda *_: None)
            while True:
                ctypes.PyDLL(None).pause()  # holds the GIL
        return i


@pytest.mark.parametrize('how', ['stopped', 'hangs'])
def test_processes_that_do_not_end_are_killed(how, monkeypatch):
    monkeypatch.setattr(_processes, 'PATIENCE', 0.2)
    iterator = multiprocess(Hanging() if how == 'hangs' else list(range(8)), 4, shuffle=False)
    assert iterator.next() == [0, 1, 2, 3]
    old = pids(iterator)
    if how == 'stopped':
        os.kill(old[0], signal.SIGSTOP)
    iterator.finalize()
    assert not any(is_running(pid) for pid in old)


class Sleeping(Numbers):
    def get_example(self, i):
        if i >= 4:
            time.sleep(1000)
        return i


def run_program(connection, in_thread, stops, is_killed):
    _processes.PATIENCE = 0.2
    iterator = multiprocess(Sleeping(), 4, shuffle=False, n_prefetch=3)
    run_program.iterator = iterator  # it is there until the end
    if in_thread:
        thread = threading.Thread(target=iterator.next)
        thread.start()
        thread.join()
    else:
        iterator.next()
    connection.send(pids(iterator))
    if stops:
        os.kill(pids(iterator)[0], signal.SIGSTOP)
    if is_killed:
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(
    ('in_thread', 'stops', 'is_killed'),
    [(False, False, True), (False, True, True), (True, False, True), (False, True, False)],
)
def test_no_process_outlives_the_program(in_thread, stops, is_killed):
    """No process outlives the program, even if it hangs, is stopped, or lost its thread."""
    context = multiprocessing.get_context('fork')
    receiver, sender = context.Pipe(duplex=False)
    program = context.Process(target=run_program, args=(sender, in_thread, stops, is_killed))
    program.start()
    workers = receiver.recv()
    program.join(30)
    assert program.exitcode == (-signal.SIGKILL if is_killed else 0)
    assert len(workers) == 2
    wait_until(lambda: not any(is_running(pid) for pid in workers))


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
    """An exit is reported with its examples, even before the previous minibatch is complete."""
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


def test_slow_datasets_are_reported_once():
    iterator = multiprocess(Slow(), 2, shuffle=False, dataset_timeout=0.05)
    with iterator, pytest.warns(iterator.TimeoutWarning, match=r'0\.05 s') as told:
        assert iterator.next() == [0, 1]
    assert [w.category for w in told].count(iterator.TimeoutWarning) == 1
    iterator = multiprocess(Slow(), 2, shuffle=False, dataset_timeout=None)
    with iterator, warnings.catch_warnings():
        warnings.simplefilter('error', iterator.TimeoutWarning)
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


def test_processes_that_are_no_forks(forkserver):
    data = chainer.datasets.TupleDataset(np.random.rand(12, 5000), np.arange(12))
    expected = iterators.SerialIterator(data, 4, shuffle=False)
    iterator = multiprocess(data, 4, shuffle=False)
    for _ in range(7):
        for (x, t), (x_expected, t_expected) in zip(next(iterator), next(expected), strict=True):
            np.testing.assert_array_equal(x, x_expected)
            assert t == t_expected
    children = pids(iterator)
    iterator.finalize()
    wait_until(lambda: not any(map(is_running, children)))


def test_a_fork_of_a_process_whose_processes_are_none(forkserver):
    """The server of its parent is no child of it, so it can't use that."""
    iterator = multiprocess(list(range(8)), 2, shuffle=False)
    assert iterator.next() == [0, 1]
    child = os.fork()
    if child == 0:
        found = []
        try:
            signal.alarm(60)
            found += [iterator.next() for _ in range(2)]
            iterator.finalize()
        finally:
            os._exit(found != [[2, 3], [4, 5]])
    assert os.waitpid(child, 0)[1] == 0
    assert iterator.next() == [2, 3]
    iterator.finalize()


def test_a_dataset_that_cannot_be_pickled_to_processes_that_are_no_forks(forkserver):
    data = chainer.datasets.TransformDataset(np.arange(4), lambda x: x)
    iterator = multiprocess(data, 2)
    for _ in range(2):
        with pytest.raises((AttributeError, pickle.PicklingError)) as caught:
            next(iterator)
        note = caught.value.__notes__[-1]
        assert note.startswith('MultiprocessIterator pickles the dataset')
        assert "multiprocessing.set_start_method('fork')" in note
    assert multiprocessing.active_children() == []
    iterator.finalize()


def test_an_example_that_cannot_be_pickled():
    with multiprocess([lambda: 1], 1) as iterator, pytest.raises(Exception, match='pickle'):
        iterator.next()


def test_an_iterator_in_a_forked_process():
    """In a forked process, an iterator starts its own workers and leaves its parent's alone."""
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


def test_a_thread_that_waits_while_another_one_finalizes():
    waits = multiprocessing.Event()

    class Dataset(chainer.dataset.DatasetMixin):
        def __len__(self):
            return 4

        def get_example(self, i):
            waits.set()
            time.sleep(30)

    with multiprocess(Dataset(), 1) as iterator:
        found = []

        def wait():
            with pytest.raises(RuntimeError, match='finalize') as error:
                iterator.next()
            found.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        assert waits.wait(30)
        iterator.finalize()
        thread.join(30)
        assert found


def test_large_minibatches():
    """A minibatch may have more indices than fit into a pipe at a time."""
    with multiprocess(np.arange(20_000), 9_000, shuffle=False, n_prefetch=2) as iterator:
        for k in range(4):
            expected = (np.arange(9_000) + 9_000 * k) % 20_000
            assert np.array_equal(iterator.next(), expected)
