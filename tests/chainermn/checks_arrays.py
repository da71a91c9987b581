"""Arrays and objects between processes."""

import chainer
import chainermn
import chainerx as chx
import ml_dtypes
import numpy as np
import pytest
from chainermn.communicators import _mpi

FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
DTYPES = [
    *FLOATS,
    *(np.bool_, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint16, np.uint32, np.uint64),
    *(np.complex64, np.complex128),
]
KINDS = ['numpy', 'chainerx']


def values(shape, dtype, seed):
    x = np.random.RandomState(seed).randint(0, 5, shape)
    return (x > 2 if dtype is np.bool_ else x).astype(dtype)


def arrays(seed):
    """Arrays of all kinds and layouts."""
    for dtype in DTYPES:
        x = values((2, 3), dtype, seed)
        yield x
        if dtype not in (np.uint16, np.uint32, np.uint64):
            yield chx.array(x)
    for shape in ((), (0, 2), (5,)):
        x = values(shape, np.float32, seed)
        yield x
        yield chx.array(x)
    x = values((4, 6), np.float32, seed)
    for y in (x.T, x[::2, ::-1], np.broadcast_to(x[0], (3, 6)), x.astype('>f4')):
        yield y
    y = chx.array(x)
    yield from (y.T, y[::2, ::-1], chx.broadcast_to(y[0], (3, 6)))
    yield y.require_grad() * 2  # in a graph


def same(actual, expected):
    assert isinstance(actual, chx.ndarray) == isinstance(expected, chx.ndarray)
    assert actual.shape == expected.shape
    assert np.dtype(actual.dtype).newbyteorder('=') == np.dtype(expected.dtype).newbyteorder('=')
    if isinstance(actual, chx.ndarray):
        assert actual.device is expected.device
        actual, expected = chx.to_numpy(actual), chx.to_numpy(expected.as_grad_stopped())
    np.testing.assert_array_equal(np.asarray(actual), np.asarray(expected))


def differs(comm, kind, message, call):
    """All ranks but those that raise by themselves hear the same."""
    with pytest.raises(kind, match=message):
        call()
    comm.mpi_comm.Barrier()


def check_ranks(comm):
    world = comm.mpi_comm
    assert (comm.rank, comm.size) == (world.rank, world.size)
    assert (comm.intra_rank, comm.intra_size) == (world.rank, world.size)  # one machine
    assert (comm.inter_rank, comm.inter_size) == (0, 1)


def check_split(comm):
    other = comm.split(comm.rank % 2, -comm.rank)
    assert type(other) is type(comm)
    ranks = [r for r in reversed(range(comm.size)) if r % 2 == comm.rank % 2]
    assert other.size == len(ranks)
    assert ranks[other.rank] == comm.rank
    same(other.allreduce(np.array(comm.rank)), np.array(sum(ranks)))
    other.finalize()
    other.finalize()  # once is enough


def check_send_and_recv(comm):
    if comm.size == 1:
        return
    for tag, x in enumerate(arrays(0)):
        if comm.rank == 0:
            comm.send(x, 1, tag)
        elif comm.rank == 1:
            same(comm.recv(0, tag), x)


def check_tuples(comm):
    for data in [(), (np.arange(3),), (np.arange(3.0), np.zeros((0, 2)), chx.ones((), 'float16'))]:
        received = comm.bcast(data if comm.rank == 0 else None)
        assert isinstance(received, tuple)
        assert len(received) == len(data)
        for x, y in zip(received, data, strict=True):
            same(x, y)
        if comm.size > 1 and comm.rank == 0:
            comm.send(list(data), 1, 3)
        if comm.rank == 1:
            for x, y in zip(comm.recv(0, 3), data, strict=True):
                same(x, y)


def check_messages_to_oneself(comm):
    large = np.arange(10**6)
    comm.send(large, comm.rank, 1)
    comm.send_obj({'a': large}, comm.rank, 2)
    copied = large.copy()
    large[...] = 0
    np.testing.assert_array_equal(comm.recv(comm.rank, 1), copied)
    comm.recv_obj(comm.rank, 2)


def check_tags_and_sources(comm):
    any_source = comm._mpi.ANY_SOURCE
    if comm.rank == 1:
        comm.send(np.array([1]), 0, 1)
        comm.send_obj('two', 0, 2)
    elif comm.rank == 0 and comm.size > 1:
        assert comm.recv_obj(1, 2) == 'two'
        assert comm.recv(any_source, 1) == 1


def check_wrong_kinds_of_messages(comm):
    if comm.rank == 1:
        comm.send_obj(3, 0, 1)
        comm.send(np.zeros((0, 3)), 0, 1)
    elif comm.rank == 0 and comm.size > 1:
        with pytest.raises(TypeError, match='recv: rank 1 sent an object of type int'):
            comm.recv(1, 1)
        with pytest.raises(TypeError, match='recv_obj: rank 1 sent arrays; use recv'):
            comm.recv_obj(1, 1)


def check_chunks(comm):
    """Messages that are longer than MPI counts go in several."""
    before, _mpi.MAX_BYTES = _mpi.MAX_BYTES, 64
    try:
        x = values((7, 9), np.float32, comm.rank)
        for other, y in enumerate(comm.allgather(x)):
            same(y, values((7, 9), np.float32, other))
        total = sum(values((7, 9), np.float32, r) for r in range(comm.size))
        same(comm.allreduce(x), total)
        same(comm.bcast(x), values((7, 9), np.float32, 0))
        for other, y in enumerate(comm.alltoall((x,) * comm.size)):
            same(y, values((7, 9), np.float32, other))
        same(comm.bcast(x, 10, comm.size - 1), values((7, 9), np.float32, comm.size - 1))
        assert comm.bcast_obj(list(range(50)), 10) == list(range(50))
        check_send_and_recv(comm)
    finally:
        _mpi.MAX_BYTES = before


def check_bcast(comm):
    for root in {0, comm.size - 1}:
        for mine, theirs in zip(arrays(comm.rank), arrays(root), strict=True):
            same(comm.bcast(mine if comm.rank == root else None, root=root), theirs)


def check_gather(comm):
    for root in {0, comm.size - 1}:
        everyone = zip(*(arrays(r) for r in range(comm.size)), strict=True)
        for theirs in everyone:
            received = comm.gather(theirs[comm.rank], root)
            assert (received is None) == (comm.rank != root)
            for x, y in zip(received or (), theirs, strict=comm.rank == root):
                same(x, y)


def check_allgather(comm):
    for theirs in zip(*(arrays(r) for r in range(comm.size)), strict=True):
        received = comm.allgather(theirs[comm.rank])
        assert isinstance(received, tuple)
        for x, y in zip(received, theirs, strict=True):
            same(x, y)
    x = np.full((comm.rank, 2), comm.rank, 'f')  # shapes may differ
    for other, y in enumerate(comm.allgather(x)):
        same(y, np.full((other, 2), other, 'f'))
    received = comm.gather(x)
    if comm.rank == 0:
        assert [y.shape for y in received] == [(r, 2) for r in range(comm.size)]


def check_scatter(comm):
    for root in {0, comm.size - 1}:
        for theirs in zip(*(arrays(r) for r in range(comm.size)), strict=True):
            xs = theirs if comm.rank == root else None
            same(comm.scatter(xs, root), theirs[comm.rank])


def check_alltoall(comm):
    for kind in KINDS:
        for dtype in FLOATS:

            def make(source, dest, kind=kind, dtype=dtype):
                x = np.full((source + 1, dest), 10 * source + dest).astype(dtype)
                return chx.array(x) if kind == 'chainerx' else x

            received = comm.alltoall([make(comm.rank, r) for r in range(comm.size)])
            assert isinstance(received, tuple)
            for r, x in enumerate(received):
                same(x, make(r, comm.rank))


def check_allreduce(comm):
    for theirs in zip(*(arrays(r) for r in range(comm.size)), strict=True):
        mine = theirs[comm.rank]
        before = mine.copy()
        total = comm.allreduce(mine)
        hosts = [np.asarray(chainer.get_device('@numpy').send(x)) for x in theirs]
        if mine.dtype == np.bool_:
            expected = np.any(hosts, axis=0)
        elif mine.dtype in (np.float16, ml_dtypes.bfloat16):
            expected = sum(x.astype('f') for x in hosts).astype(hosts[0].dtype)
        else:
            expected = np.sum(hosts, axis=0).astype(hosts[0].dtype)
        same(total, chx.array(expected) if isinstance(mine, chx.ndarray) else np.array(expected))
        same(mine, before)


def check_arrays_are_new(comm):
    x = np.ones(3)
    for y in (comm.allreduce(x), comm.allgather(x)[comm.rank], comm.alltoall([x] * comm.size)[0]):
        y[...] = 7
    np.testing.assert_array_equal(x, 1)


def check_objects(comm):
    assert comm.bcast_obj({'r': comm.rank}, root=comm.size - 1) == {'r': comm.size - 1}
    gathered = comm.gather_obj(('r', comm.rank))
    expected = [('r', r) for r in range(comm.size)]
    assert gathered == (expected if comm.rank == 0 else None)
    assert comm.allgather_obj(('r', comm.rank)) == expected
    assert comm.allreduce_obj([comm.rank]) == list(range(comm.size))
    assert comm.allreduce_obj(0.5) == 0.5 * comm.size
    if comm.size == 1:
        return
    with pytest.raises(TypeError, match='unsupported operand'):
        comm.allreduce_obj(None)
    if comm.rank == 0:
        comm.send_obj([chx.ones(2)], 1, 0)
    elif comm.rank == 1:
        same(comm.recv_obj(0, 0)[0], chx.ones(2))


def check_no_arrays(comm):
    for call in (comm.allreduce, comm.allgather, comm.gather):
        with pytest.raises(TypeError, match=f'{call.__name__}: expected an array, got str'):
            call('a')
    with pytest.raises(TypeError if comm.rank == 0 else RuntimeError, match='got str; use bcast_o'):
        comm.bcast('a')
    with pytest.raises(TypeError, match='expected an array, got Variable; use its array'):
        comm.allreduce(chainer.Variable(np.zeros(2)))
    with pytest.raises(TypeError, match='an array of numbers, got one of object'):
        comm.allreduce(np.array([None]))
    with pytest.raises(TypeError, match='send: expected an array, got int'):
        comm.send(3, 0, 0)
    with pytest.raises(TypeError, match='expected a tuple of an array for each process'):
        comm.alltoall(np.zeros(comm.size))


def check_no_such_rank(comm):
    n = comm.size
    for call in (
        lambda: comm.send(np.zeros(1), n, 0),
        lambda: comm.recv(n, 0),
        lambda: comm.send_obj(1, n, 0),
        lambda: comm.recv_obj(n, 0),
        lambda: comm.bcast(np.zeros(1), root=n),
        lambda: comm.gather(np.zeros(1), root=n),
        lambda: comm.scatter([np.zeros(1)] * n, root=n),
        lambda: comm.bcast_obj(1, root=n),
        lambda: comm.gather_obj(1, root=n),
    ):
        with pytest.raises(ValueError, match=rf'\w: \w+ is {n}, and there are {n} processes'):
            call()


def check_counts(comm):
    n = comm.size
    message = f'got {n + 1} arrays, and there are {n} processes'
    with pytest.raises(ValueError, match=f'alltoall: {message}'):
        comm.alltoall([np.zeros(1)] * (n + 1))
    if comm.rank == 0:
        differs(comm, ValueError, message, lambda: comm.scatter([np.zeros(1)] * (n + 1)))
    else:
        differs(
            comm,
            RuntimeError,
            f'scatter: rank 0 failed: ValueError: scatter: {message}',
            lambda: comm.scatter(None),
        )


def check_what_differs(comm):
    """Where processes call with what does not fit together, all of them raise."""
    if comm.size == 1:
        return
    first = comm.rank == 0
    x = np.zeros(3 if first else 4, 'f')
    differs(
        comm,
        ValueError,
        r'allreduce: rank 0 has float32 of shape \(3,\), and rank 1 has '
        r'float32 of shape \(4,\)',
        lambda: comm.allreduce(x),
    )
    x = np.zeros(3, 'f' if first else 'd')
    for name in ('allreduce', 'allgather', 'gather'):
        differs(
            comm,
            ValueError,
            f'{name}: rank 0 has float32.*, and rank 1 has float64',
            lambda name=name: getattr(comm, name)(x),
        )
    differs(
        comm,
        ValueError,
        'bcast: rank 0 has root 0, and rank 1 has root 1',
        lambda: comm.bcast(x, root=int(not first)),
    )
    call = comm.allreduce if first else comm.allgather
    differs(
        comm, RuntimeError, 'rank 0 calls allreduce, and rank 1 calls allgather', lambda: call(x)
    )
    if first:
        differs(comm, TypeError, 'got NoneType', lambda: comm.allreduce(None))
    else:
        differs(
            comm,
            RuntimeError,
            'allreduce: rank 0 failed: TypeError: .*NoneType',
            lambda: comm.allreduce(x),
        )
    same(comm.allreduce(np.array(1)), np.array(comm.size))  # and all go on


def check_splits_and_classes_that_differ(comm):
    if comm.size == 1:
        return
    first = comm.rank == 0
    call = (lambda: comm.split(0, 0)) if first else (lambda: comm.allreduce(np.zeros(1)))
    differs(comm, RuntimeError, 'rank 0 calls split, and rank 1 calls allreduce', call)
    differs(
        comm,
        ValueError,
        'create_communicator: rank 0 has NaiveCommunicator, and rank 1 has FlatCommunicator',
        lambda: chainermn.create_communicator('naive' if first else 'flat', comm.mpi_comm),
    )


def check_finalize(comm):
    """It waits for nobody; those who go on alone hear of it."""
    part = comm.split(0, comm.rank)
    other = comm.split(0, comm.rank)
    last = comm.rank == comm.size - 1
    if last:
        part.finalize()
    comm.mpi_comm.Barrier()
    other.finalize()
    if not last:
        part.finalize()
    for _ in range(2):
        part.finalize()
        for call in (
            lambda: part.allreduce(np.zeros(1)),
            lambda: part.bcast_obj(1),
            lambda: part.split(0, 0),
            lambda: part.send(np.zeros(1), 0, 0),
            lambda: part.recv(0, 0),
            lambda: part.send_obj(1, 0, 0),
            lambda: part.recv_obj(0, 0),
        ):
            with pytest.raises(RuntimeError, match=r'^\w+: the communicator is finalized'):
                call()


def check_lengths_of_messages(comm):
    for call, x in ((comm.bcast, np.arange(5.0)), (comm.bcast_obj, list(range(5)))):
        for wrong in (0, -3):
            with pytest.raises(ValueError if comm.rank == 0 else RuntimeError, match=f'is {wrong}'):
                call(x, max_buf_len=wrong)
        # That of the root counts.
        assert list(call(x, max_buf_len=8 if comm.rank == 0 else None)) == list(x)
        assert list(call(x, max_buf_len=None if comm.rank == 0 else -1)) == list(x)


def check_objects_that_cannot_be_pickled(comm):
    if comm.size == 1:
        return
    obj = (lambda: 0) if comm.rank == 1 else 0
    for name in ('gather_obj', 'allgather_obj', 'allreduce_obj'):
        call = getattr(comm, name)
        if comm.rank == 1:
            with pytest.raises(Exception, match='pickle'):
                call(obj)
        else:
            with pytest.raises(RuntimeError, match=f'{name}: rank 1 failed: .*pickle'):
                call(obj)


def check_copies(comm):
    import copy
    import pickle

    assert copy.deepcopy({'comm': comm})['comm'] is comm
    with pytest.raises(TypeError, match='cannot be pickled'):
        pickle.dumps(comm)


def check_settings(comm):
    assert comm.get_config() == {}
    other = comm.split(0, comm.rank)
    assert not other.within_config_scope
    with other.config_scope():
        assert other.within_config_scope
        other.depth = 3
    other.width = 4
    assert other.get_config() == {'depth': 3}
    assert other.get_config('depth') == 3
    third = other.split(0, comm.rank)
    assert third.depth == 3
    assert not hasattr(third, 'width')
    with pytest.raises(KeyError):
        other.get_config('width')
    with pytest.raises(ValueError, match="there is no setting 'width'"):
        other.set_config('width', value=3)
    other.finalize()
    third.finalize()
