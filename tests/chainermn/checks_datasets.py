"""Datasets and iterators in several processes."""

import itertools

import chainer
import chainermn
import chainermn.datasets as D
import chainermn.iterators as I
import numpy as np
import pytest
from chainer.serializers import npz


def joined(lists):
    return list(itertools.chain.from_iterable(lists))


def check_scatter_dataset(comm):
    for n in (0, 1, comm.size, 4 * comm.size + 1):
        for root in {0, comm.size - 1}:
            data = np.arange(n) * 10 if comm.rank == root else None
            part = D.scatter_dataset(data, comm, root)
            lengths = comm.allgather_obj(len(part))
            assert set(lengths) == {-(-n // comm.size)}
            everything = comm.allgather_obj(list(part))
            assert set(joined(everything)) == set(range(0, 10 * n, 10))
            part = D.scatter_dataset(data, comm, root, force_equal_length=False)
            everything = comm.allgather_obj(list(part))
            assert joined(everything) == list(range(0, 10 * n, 10))
            lengths = [len(one) for one in everything]
            assert max(lengths) - min(lengths) <= 1


def check_scatter_dataset_in_random_order(comm):
    data = list(range(30)) if comm.rank == 0 else None
    orders = []
    for seed in (1, 1, 2):
        part = D.scatter_dataset(data, comm, shuffle=True, seed=seed, max_buf_len=20)
        orders.append(joined(comm.allgather_obj(list(part))))
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]
    for order in orders:
        assert set(order) == set(range(30))
        assert order != list(range(30))
    np.random.seed(comm.rank)  # that of the root counts
    first = D.scatter_dataset(data, comm, shuffle=True)
    if comm.rank == 0:
        np.random.seed(0)
    again = D.scatter_dataset(data, comm, shuffle=True)
    assert list(first) == list(again)


def check_scatter_dataset_of_wrong_arguments(comm):
    kind = TypeError if comm.rank == 0 else RuntimeError
    with pytest.raises(kind, match=r'the root \(rank 0\) has no dataset, but None'):
        D.scatter_dataset(None, comm)
    for _ in range(2):  # which needs all of them to have heard of the first
        with pytest.raises(Exception, match=r'cast' if comm.rank == 0 else 'rank 0 failed'):
            D.scatter_dataset([1], comm, shuffle=True, seed='a')
    with pytest.raises(TypeError, match="n_total_samples is 'a', expected an int"):
        D.scatter_index('a', comm)
    with pytest.raises(ValueError, match=rf'root is {comm.size}, and there are'):
        D.scatter_dataset([1], comm, comm.size)
    with pytest.raises(ValueError, match='n_total_samples is -1, expected 0 or more'):
        D.scatter_index(-1, comm)


def check_scatter_index(comm):
    for n in (0, 1, 10):
        ranges = comm.allgather_obj(D.scatter_index(n if comm.rank == 0 else None, comm))
        assert all(0 <= b <= e <= n for b, e in ranges)
        assert len({e - b for b, e in ranges}) == 1
        assert {i for r in ranges for i in range(*r)} == set(range(n))
        ranges = comm.allgather_obj(D.scatter_index(n, comm, force_equal_length=False))
        assert [i for r in ranges for i in range(*r)] == list(range(n))


def check_create_empty_dataset(comm):
    empty = D.create_empty_dataset(np.zeros((5, 3)))
    assert len(empty) == 5
    assert list(empty) == [()] * 5
    assert empty[1:3] == [(), ()]
    with pytest.raises(IndexError):
        empty[5]
    assert issubclass(chainermn.DataSizeError, RuntimeError)


def check_multi_node_iterator(comm):
    for repeat in (True, False):
        for master in {0, comm.size - 1}:
            is_master = comm.rank == master
            data = np.arange(10) if is_master else np.zeros(10)
            actual = chainer.iterators.SerialIterator(data, 4, repeat)
            it = I.create_multi_node_iterator(actual, comm, master)
            assert (it.epoch, it.is_new_epoch, it.previous_epoch_detail) == (0, False, None)
            assert it.batch_size == 4
            with pytest.raises(AttributeError):
                it.no_such_name  # noqa: B018
            seen = []
            for _ in range(3):
                seen.append(
                    (
                        list(map(int, it.next())),
                        it.epoch,
                        it.is_new_epoch,
                        it.epoch_detail,
                        it.previous_epoch_detail,
                        it.current_position,
                    )
                )
            assert len(set(map(str, comm.allgather_obj(seen)))) == 1
            assert seen[-1][1] == 1
            if not repeat:
                with pytest.raises(StopIteration):
                    it.next()
            it.reset()
            assert it.epoch == 0
            it.next()
            # A snapshot continues in all of them.
            saver = npz.DictionarySerializer()
            it.serialize(saver)
            later = [list(map(int, it.next())), it.epoch_detail, it.previous_epoch_detail]
            other = I.create_multi_node_iterator(
                chainer.iterators.SerialIterator(data, 4, repeat), comm, master
            )
            other.serialize(npz.NpzDeserializer(saver.target))
            assert other.epoch_detail == 0.4
            assert other.previous_epoch_detail in (None, 0.0)
            assert later == [
                list(map(int, other.next())),
                other.epoch_detail,
                other.previous_epoch_detail,
            ]
            it.finalize()


class _Broken(chainer.dataset.DatasetMixin):
    def __len__(self):
        return 4

    def get_example(self, i):
        if i == 2:
            raise OSError('no such file')
        return i


def check_multi_node_iterator_of_a_broken_dataset(comm):
    """All hear of it, and may go on."""
    actual = chainer.iterators.SerialIterator(_Broken(), 2, shuffle=False)
    it = I.create_multi_node_iterator(actual, comm)
    assert it.next() == [0, 1]
    kind = OSError if comm.rank == 0 else RuntimeError
    with pytest.raises(kind, match='no such file'):
        it.next()
    it.reset()
    assert it.next() == [0, 1]


def check_synchronized_iterator(comm):
    np.random.seed(comm.rank)
    for cls in (chainer.iterators.SerialIterator, chainer.iterators.MultithreadIterator):
        it = I.create_synchronized_iterator(cls(list(range(20)), 5), comm)
        batches = [it.next() for _ in range(9)]
        assert len(set(map(str, comm.allgather_obj(batches)))) == 1
        assert sorted(joined(batches[:4])) == list(range(20))
        assert batches[:4] != batches[4:8]
        it.finalize()
    it = chainer.iterators.SerialIterator([1, 2, 3], 1, shuffle=False)
    assert I.create_synchronized_iterator(it, comm).next() == [1]
    with pytest.raises(ValueError, match='must have an order_sampler; list_iterator has none'):
        I.create_synchronized_iterator(iter([1]), comm)
