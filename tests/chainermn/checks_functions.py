"""Gradients of functions that exchange variables, against the same computed in one process."""

import chainer
import chainer.functions as F
import chainermn.functions as M
import chainerx as chx
import numpy as np
import pytest

DEVICES = ['@numpy', 'native:0']


def values(comm, device, shape=(2, 3), dtype='d', n=1):
    """The inputs of all ranks: the same in each process."""
    device = chainer.get_device(device)
    random = np.random.RandomState(0)
    rows = [
        [device.send(random.uniform(0.5, 1.5, shape).astype(dtype)) for _ in range(n)]
        for _ in range(comm.size)
    ]
    return [[chainer.Variable(x) for x in row] for row in rows]


def loss_of(ys, rank):
    """Another function of each output in each rank, with all derivatives."""
    terms = [F.sum(y * y * y) * (1.0 + i + 10 * rank) for i, y in enumerate(ys)]
    return sum(terms)


def numpy(x):
    return chainer.get_device('@numpy').send(x.array)


def compare(comm, device, run, emulate, n=1):
    """Compares outputs, gradients, and gradients of a function of the gradients.

    ``run`` takes the inputs of this rank, ``emulate`` those of all and returns the outputs of all.
    """
    for shape in ((2, 3), (), (0, 2)):
        rows = values(comm, device, shape, n=n)
        xs = rows[comm.rank]
        ys = run(xs)
        gs = chainer.grad([loss_of(ys, comm.rank)], xs, enable_double_backprop=True)
        sum(F.sum(g * g * g) for g in gs).backward()

        rows = values(comm, device, shape, n=n)
        expected = emulate(rows)
        for y, other in zip(ys, expected[comm.rank], strict=True):
            np.testing.assert_array_equal(numpy(y), numpy(other))
            assert y.device == chainer.get_device(device)
        loss = sum(loss_of(ys, rank) for rank, ys in enumerate(expected))
        flat = [x for row in rows for x in row]
        all_gs = chainer.grad([loss], flat, enable_double_backprop=True)
        for g, other in zip(gs, all_gs[comm.rank * n :], strict=False):
            np.testing.assert_allclose(numpy(g), numpy(other), rtol=1e-12)
        sum(F.sum(g * g * g) for g in all_gs).backward()
        for x, other in zip(xs, rows[comm.rank], strict=True):
            np.testing.assert_allclose(
                numpy(x.grad_var), numpy(other.grad_var), rtol=1e-12, atol=1e-12
            )


def check_allgather(comm):
    for device in DEVICES:
        compare(
            comm,
            device,
            lambda xs: M.allgather(comm, xs[0]),
            lambda rows: [[row[0] for row in rows]] * comm.size,
        )


def check_allreduce(comm):
    for device in DEVICES:
        compare(
            comm,
            device,
            lambda xs: [M.allreduce(comm, xs[0])],
            lambda rows: [[sum(row[0] for row in rows)]] * comm.size,
        )


def check_alltoall(comm):
    for device in DEVICES:
        compare(
            comm,
            device,
            lambda xs: M.alltoall(comm, xs),
            lambda rows: [[row[rank] for row in rows] for rank in range(comm.size)],
            n=comm.size,
        )


def check_bcast(comm):
    for device in DEVICES:
        for root in {0, comm.size - 1}:
            rows = values(comm, device)
            (x,) = rows[comm.rank]
            y = M.bcast(comm, x if comm.rank == root else None, root)
            np.testing.assert_array_equal(numpy(y), numpy(rows[root][0]))
            loss_of([y], comm.rank).backward()
            if comm.rank == root:
                total = sum(1.0 + 10 * r for r in range(comm.size))
                np.testing.assert_allclose(numpy(x.grad_var), total * 3 * numpy(x) ** 2)
            else:
                assert x.grad is None


def check_gather_and_scatter(comm):
    """What the root gathers, and scatters after a function of it."""
    for device in DEVICES:
        for root in {0, comm.size - 1}:
            rows = values(comm, device)
            (x,) = rows[comm.rank]
            ys = M.gather(comm, x, root)
            if comm.rank == root:
                assert isinstance(ys, tuple)
                y = M.scatter(comm, [(i + 2.0) * F.sum(z * z) for i, z in enumerate(ys)], root)
            else:
                assert ys.shape == (0,)
                y = M.pseudo_connect(ys, M.scatter(comm, None, root))
            r = comm.rank
            np.testing.assert_allclose(numpy(y), (r + 2) * (numpy(x) ** 2).sum())
            (y * (1 + r)).backward()
            np.testing.assert_allclose(numpy(x.grad_var), (1 + r) * (r + 2) * 2 * numpy(x))


def check_gather_alone(comm):
    """Other processes than the root start from the delegate."""
    for device in DEVICES:
        ((x,), *_) = values(comm, device)
        ys = M.gather(comm, x)
        if comm.rank == 0:
            loss_of(ys, 0).backward()
        else:
            ys.backward()
        expected = (1 + comm.rank) * 3 * numpy(x) ** 2
        np.testing.assert_allclose(numpy(x.grad_var), expected)


def check_outputs_without_gradients(comm):
    """Zeros are sent for what no loss depends on."""
    for device in DEVICES:
        ((x,), *_) = values(comm, device)
        ys = M.allgather(comm, x)
        F.sum(ys[0]).backward()
        expected = comm.size if comm.rank == 0 else 0
        np.testing.assert_array_equal(numpy(x.grad_var), np.full((2, 3), expected))


def check_send_and_recv(comm):
    if comm.size == 1:
        with pytest.raises(ValueError, match='rank is 0, that of this process'):
            M.send(np.ones(1, 'f'), comm, 0)
        with pytest.raises(ValueError, match='rank is 0, that of this process'):
            M.recv(comm, 0)
        return
    for device in DEVICES:
        (xs, *_) = values(comm, device, n=2)
        for both in (False, True):
            for x in xs:
                x.cleargrad()
            if comm.rank == 0:
                delegate = M.send(xs if both else xs[0], comm, 1, 5)
                assert delegate.shape == (0,)
                delegate.backward()
                for i, x in enumerate(xs if both else xs[:1]):
                    np.testing.assert_allclose(numpy(x.grad_var), 3 * numpy(x) ** 2 * (1 + i))
            elif comm.rank == 1:
                ys = M.recv(comm, 0, tag=5, force_tuple=not both)
                assert isinstance(ys, tuple)
                assert ys[0].device == chainer.get_device(device)
                loss_of(ys, 0).backward()


def check_ring(comm):
    """A message goes around; delegates keep the order of messages."""
    if comm.size == 1:
        return
    for device in DEVICES:
        d = chainer.get_device(device)
        w = chainer.Variable(d.send(np.array(2.0 + comm.rank)))
        after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        if comm.rank == 0:
            x = chainer.Variable(d.send(np.array(3.0)))
            delegate = M.send(x * w, comm, after)
            y = M.recv(comm, before, delegate)
            (y * y).backward()
        else:
            delegate = M.send(M.recv(comm, before) * w, comm, after)
            delegate.backward()
        weights = [2.0 + r for r in range(comm.size)]
        result = 3 * np.prod(weights)
        np.testing.assert_allclose(numpy(w.grad_var), 2 * result * result / weights[comm.rank])
        if comm.rank == 0:
            assert float(y.array) == result


def check_second_derivatives_of_messages(comm):
    if comm.size == 1:
        return
    for device in DEVICES:
        d = chainer.get_device(device)
        empty = chainer.Variable(d.send(np.zeros(0, 'f')))
        if comm.rank == 0:
            x = chainer.Variable(d.send(np.array([2.0, 3.0])))
            delegate = M.send(x, comm, 1)
            (gx,) = chainer.grad([delegate], [x], [empty], enable_double_backprop=True)
            np.testing.assert_allclose(numpy(gx), [32, 108])  # of x ** 4
            x.cleargrad()
            M.pseudo_connect(delegate, F.sum(gx * gx)).backward()
            np.testing.assert_allclose(numpy(x.grad_var), 2 * numpy(gx) * 12 * numpy(x) ** 2)
        elif comm.rank == 1:
            y = M.recv(comm, 0, empty)
            loss = F.sum(y**4)
            (ge,) = chainer.grad([loss], [empty], enable_double_backprop=True)
            ge.grad = d.send(np.zeros(0, 'f'))
            ge.backward()


def check_pseudo_connect(comm):
    x = chainer.Variable(np.array([1.0]))
    assert M.pseudo_connect(None, x) is x
    assert M.pseudo_connect(None, x, x) == (x, x)
    empty = chainer.Variable(np.zeros(0, 'f'))
    assert M.pseudo_connect(empty) is empty
    for device in DEVICES:
        d = chainer.get_device(device)
        empty, x, z = (
            chainer.Variable(d.send(a)) for a in (np.zeros(0, 'f'), np.ones(2), np.ones(3))
        )
        y, _ = M.pseudo_connect(empty * 1, x, z)
        F.sum(y * 3).backward()
        np.testing.assert_array_equal(numpy(x.grad_var), [3, 3])
        assert z.grad is None
        assert empty.grad.shape == (0,)


def check_integers_and_half(comm):
    """They are sent as they are; there is no gradient of integers."""
    for y in M.allgather(comm, np.arange(3)):
        assert y.dtype == np.int64
    x = chainer.Variable(chx.ones(3, 'float16'))
    F.sum(M.allreduce(comm, x)).backward()
    assert x.grad.dtype == np.float16
    np.testing.assert_array_equal(numpy(x.grad_var), np.full(3, comm.size))
    if comm.size > 1:
        if comm.rank == 0:
            M.send(np.arange(3), comm, 1)
        elif comm.rank == 1:
            assert M.recv(comm, 0).dtype == np.int64


def check_what_differs(comm):
    if comm.size == 1:
        return
    with pytest.raises(ValueError, match='send: x is an empty sequence'):
        M.send([], comm, (comm.rank + 1) % comm.size)
    x = np.zeros(2 + comm.rank, 'f')
    with pytest.raises(ValueError, match='allreduce: rank 0 has float32 of shape'):
        M.allreduce(comm, x)
    with pytest.raises(ValueError, match=rf'got 1 arrays, and there are {comm.size} processes'):
        M.alltoall(comm, [x])
    with pytest.raises(ValueError if comm.rank == 0 else RuntimeError, match='got 1 arrays'):
        M.scatter(comm, [x])
