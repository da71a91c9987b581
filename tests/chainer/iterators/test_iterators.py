"""All iterators give the same minibatches, also after a snapshot, and leave no process."""

import copy
import itertools
import os
import pickle
import signal
import threading
import time

import chainer
import numpy as np
import pytest
from chainer import iterators, serializers

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


class Given(iterators.OrderSampler):
    def __init__(self, *orders):
        self.orders = list(orders)

    def __call__(self, order, position):
        return self.orders.pop(0)


def test_orders_of_another_length_than_the_dataset(make):
    """Orders of another length select some examples, or repeat them."""
    iterator = make('abcdef', 3, order_sampler=Given([5, 0], [1, 1], [2, 3], [4, 4]))
    assert [iterator.next(), iterator.next()] == [['f', 'a', 'b'], ['b', 'c', 'd']]
    assert look(iterator) == (3, True, 0, 3.0, 1.5)


@pytest.mark.parametrize('other', [[0, 1, 2, 3], [0], [], None])
def test_orders_of_another_length_than_the_one_before(make, other):
    iterator = make('abcdef', 2, order_sampler=Given(np.arange(3), other, [2, 1, 0]))
    assert iterator.next() == ['a', 'b']
    before = look(iterator)
    n = 6 if other is None else len(other)
    with pytest.raises(ValueError, match=f'an order of {n} examples after one of 3'):
        iterator.next()
    assert look(iterator) == before
    assert iterator.next() == ['c', 'c']  # the next order has the right length


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
    """A resumed iterator continues identically, random orders included."""
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
    """Snapshots have v7's keys; threads store the order under a name of its own."""
    iterator = make(list(range(4)), 2)
    order = '_order' if isinstance(iterator, iterators.MultithreadIterator) else 'order'
    path = str(tmp_path / 'snapshot.npz')
    state = {'current_position': 2, 'epoch': 5, 'is_new_epoch': False}
    np.savez(path, **state, **{order: [3, 0, 2, 1], 'previous_epoch_detail': 5.0})
    serializers.load_npz(path, iterator)
    assert iterator.next() == [2, 1]
    assert look(iterator) == (6, True, 0, 6.0, 5.5)


@pytest.mark.parametrize('key', ['order', '_order'])
@pytest.mark.parametrize('strict', [False, True])
def test_snapshots_of_early_versions(make, key, strict):
    """Snapshots of early versions load: other names, and positions that follow from the size."""
    for place, previous in (((2, 3), 3.0), ((0, 1), 0.5), ((1, 0), 0.0), ((0, 0), None)):
        iterator = make(list(range(4)), 2)
        saved = {'current_position': place[0], 'epoch': place[1], 'is_new_epoch': False}
        saved = {name: np.asarray(value) for name, value in {**saved, key: [3, 0, 2, 1]}.items()}
        serializers.NpzDeserializer(saved, strict=strict).load(iterator)
        assert iterator.previous_epoch_detail == previous
        order = [3, 0, 2, 1]
        assert iterator.next() == order[place[0] : place[0] + 2]
        iterator.finalize()


def test_snapshots_without_order(make):
    saved = {'current_position': 2, 'epoch': 3, 'is_new_epoch': False}
    loader = serializers.NpzDeserializer({k: np.asarray(v) for k, v in saved.items()})
    with pytest.raises(KeyError, match='order'):
        loader.load(make(list(range(4)), 2))


def test_set_back_by_hand(make):
    """Setting the attributes works, as old programs do it instead of calling reset."""
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


class Sixty(chainer.dataset.DatasetMixin):
    def __len__(self):
        return 60

    def get_example(self, i):
        time.sleep(1e-4)  # another thread runs
        return i


@pytest.mark.parametrize('repeat', [False, True])
def test_threads_that_share_an_iterator_get_each_example_once(make, repeat):
    iterator = make(Sixty(), 5, repeat=repeat, shuffle=False)
    taken = []

    def take():
        taken.extend(itertools.islice(iterator, 8) if repeat else iterator)

    threads = [threading.Thread(target=take, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert sorted(taken) == sorted([list(range(i, i + 5)) for i in range(0, 60, 5)] * (1 + repeat))
    assert iterator.epoch == 1 + repeat


class WaitingDataset(chainer.dataset.DatasetMixin):
    """A dataset that signals each request, and answers when it is released."""

    def __init__(self, n):
        self.n = n
        self.waits, self.go_on = threading.Event(), threading.Event()

    def __len__(self):
        return self.n

    def get_example(self, i):
        self.waits.set()
        self.go_on.wait(30)
        return i


def test_a_process_forked_while_a_thread_waits_for_an_example(make):
    """A forked process lacks the waiting thread, which would release the iterator's lock."""
    dataset = WaitingDataset(2)
    iterator = make(dataset, 1, shuffle=False)
    if isinstance(iterator, iterators.MultiprocessIterator):
        pytest.skip('its examples are made elsewhere')
    thread = threading.Thread(target=iterator.next)
    thread.start()
    assert dataset.waits.wait(30)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        iterator.reset()
        os._exit(0)
    dataset.go_on.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def test_a_forked_process_continues(make):
    """A forked process continues without workers, which belong to its parent."""
    iterator = make(list(range(8)), 2, shuffle=False)
    assert iterator.next() == [0, 1]  # the next one is being prepared
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        found = [iterator.next() for _ in range(2)]
        iterator.finalize()
        os._exit(found != [[2, 3], [4, 5]])
    assert os.waitpid(child, 0)[1] == 0
    assert iterator.next() == [2, 3]


def test_a_thread_that_waits_while_another_one_finalizes(make):
    dataset = WaitingDataset(4)
    iterator = make(dataset, 1, shuffle=False)
    if isinstance(iterator, iterators.MultiprocessIterator):
        pytest.skip('it does not wait: see its own test')
    found = []
    threads = [threading.Thread(target=lambda: found.extend(iterator.next() for _ in range(4)))]
    threads[0].start()
    assert dataset.waits.wait(30)
    threads.append(threading.Thread(target=iterator.finalize))
    threads[1].start()
    dataset.go_on.set()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert found == [[0], [1], [2], [3]]


@pytest.mark.parametrize(
    'duplicate', [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_and_pickles_are_at_the_same_place(make, duplicate):
    one = make(list(range(17)), 4)
    for _ in range(3):
        one.next()
    other = duplicate(one)
    state = np.random.get_state()
    expected = [(one.next(), *look(one)) for _ in range(9)]
    np.random.set_state(state)
    assert [(other.next(), *look(other)) for _ in range(9)] == expected
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
    """The error of the dataset is raised; iteration continues once it is fixed."""
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
    """StopIteration from an example is an error: it would silently end the epoch."""
    iterator = make(Ended(None), 2, shuffle=False, repeat=False)
    batches = []
    with pytest.raises(RuntimeError, match='example 5 of the dataset raised StopIteration'):
        batches.extend(iterator)
    assert len(batches) <= 2


def test_random_state_of_the_program_is_not_drawn_from_ahead():
    """Prefetching leaves NumPy's generator as SerialIterator does, at any time."""
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
