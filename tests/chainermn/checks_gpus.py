"""Models on a GPU for each process."""

import chainer
import chainer.links as L
import chainermn
import chainerx as chx
import numpy as np
import pytest
from chainer.training import StandardUpdater
from chainermn.communicators.pure_nccl_communicator import PureNcclCommunicator

try:
    import cupy  # noqa: F401

    PLACES = ['cuda', '@cupy']
except ImportError:
    PLACES = ['cuda']


def use(comm, place):
    device = chainer.get_device(f'{place}:{comm.intra_rank}')
    device.use()
    return device


def numpy(x):
    return chainer.get_device('@numpy').send(x).copy()


def make_model(comm, place, seed, dtypes=('f', np.float16, 'd')):
    random = np.random.RandomState(seed)
    model = chainer.Chain()
    with model.init_scope():
        for i, dtype in enumerate(dtypes):
            # Larger than the parts in which messages go, and of shapes that leave gaps.
            for j, shape in enumerate([(300, 301), (5,), ()]):
                p = chainer.Parameter(random.standard_normal(shape).astype(dtype))
                setattr(model, f'p{i}{j}', p)
    device = use(comm, place)
    model.to_device(device)
    for p in model.params():
        p.grad = device.send(random.standard_normal(p.shape).astype(p.dtype))
    return model


def values(model, what):
    return {path: numpy(getattr(p, what)) for path, p in sorted(model.namedparams())}


def check_parameters(comm):
    for place in PLACES:
        model = make_model(comm, place, comm.rank)
        arrays = [p.array for p in model.params()]
        comm.bcast_data(model)
        expected = values(make_model(comm, place, 0), 'array')
        for path, x in values(model, 'array').items():
            np.testing.assert_array_equal(x, expected[path])
        assert all(p.array is x for p, x in zip(model.params(), arrays, strict=True))


def check_gradients(comm):
    for place in PLACES:
        model = make_model(comm, place, comm.rank)
        comm.multi_node_mean_grad(model)
        found = values(model, 'grad')
        everyone = [values(make_model(comm, place, r), 'grad') for r in range(comm.size)]
        for path, grad in found.items():
            expected = sum(e[path].astype('d') for e in everyone) / comm.size
            tolerance = 1e-2 if grad.dtype == np.float16 else 1e-6
            np.testing.assert_allclose(grad, expected, tolerance, tolerance)
            assert grad.dtype == everyone[0][path].dtype
        for other in comm.allgather_obj(found):
            for path, grad in found.items():
                np.testing.assert_array_equal(grad, other[path])
        # Missing ones.
        model.p00.cleargrad()
        comm.multi_node_mean_grad(model, zero_fill=True)
        np.testing.assert_array_equal(numpy(model.p00.grad), 0)


def check_training(comm):
    """As one process with all data."""
    random = np.random.RandomState(1)
    x, t = random.rand(16, 4).astype('f'), random.randint(0, 3, 16).astype('i')
    for place in PLACES:
        device = use(comm, place)
        found = []
        for is_whole in (False, True):
            random = np.random.RandomState(9 if is_whole else 9 + comm.rank)
            model = L.Classifier(L.Linear(4, 3, initialW=random.rand(3, 4)))
            model.to_device(device)
            optimizer = chainer.optimizers.MomentumSGD(0.1)
            if not is_whole:
                optimizer = chainermn.create_multi_node_optimizer(optimizer, comm)
            optimizer.setup(model)
            part = slice(None) if is_whole else slice(comm.rank, None, comm.size)
            for _ in range(4):
                optimizer.update(model, device.send(x[part]), device.send(t[part]))
            found.append(values(model, 'array'))
        for path, a in found[0].items():
            np.testing.assert_allclose(a, found[1][path], rtol=1e-4, atol=1e-5)


def check_arrays(comm):
    """Arrays come to the GPU of the process that gets them."""
    for place in PLACES:
        device = use(comm, place)
        x = device.send(np.full((2, 3), comm.rank, 'f'))
        received = comm.bcast(x if comm.rank == 1 else None, root=1)
        assert chainer.backend.get_device_from_array(received) == device
        np.testing.assert_array_equal(numpy(received), 1)
        for r, y in enumerate(comm.allgather(x)):
            assert chainer.backend.get_device_from_array(y) == device
            np.testing.assert_array_equal(numpy(y), r)
        v = chainer.Variable(x)
        ys = chainermn.functions.allgather(comm, v)
        assert all(y.device == device for y in ys)
        chainer.functions.sum(ys[0] * ys[0]).backward()
        expected = 2 * comm.size * comm.rank if comm.rank == 0 else 0
        np.testing.assert_array_equal(numpy(v.grad), np.full((2, 3), expected))


def check_batch_normalization(comm):
    """Statistics of all processes, which go through the host."""
    xs = [np.random.RandomState(r).rand(3 + r, 2).astype('f') for r in range(comm.size)]
    for place in PLACES:
        device = use(comm, place)
        mine = chainermn.links.MultiNodeBatchNormalization(2, comm)
        plain = L.BatchNormalization(2)
        mine.to_device(device)
        x = chainer.Variable(device.send(xs[comm.rank]))
        whole = chainer.Variable(np.concatenate(xs))
        y, z = mine(x), plain(whole)
        chainer.functions.sum(y * y * y).backward()
        chainer.functions.sum(z * z * z).backward()
        begin = sum(map(len, xs[: comm.rank]))
        part = slice(begin, begin + len(x))
        for found, expected in (
            (y.array, z.array[part]),
            (x.grad, whole.grad[part]),
            (mine.avg_mean, plain.avg_mean),
            (mine.avg_var, plain.avg_var),
        ):
            assert chainer.backend.get_device_from_array(found) == device
            np.testing.assert_allclose(numpy(found), expected, rtol=1e-3, atol=1e-4)


def check_order_of_streams(comm):
    """Means are taken of what was queued before, and read by what is queued after."""
    device = use(comm, 'cuda')
    stream = chx.cuda.Stream(device.device)
    stream.wait_stream(chx.cuda.current_stream(device.device))
    with stream:
        p = chainer.Parameter(device.send(np.zeros(70000, 'f')))
        model = chainer.Chain()
        with model.init_scope():
            model.p = p
        for i in range(3):
            p.grad = device.xp.full(70000, comm.rank + i, 'f', device=device.device)
            comm.multi_node_mean_grad(model)
            p.array += p.grad
    stream.synchronize()
    np.testing.assert_array_equal(numpy(p.array), 3 * (comm.size - 1) / 2 + 3)


def check_nccl_alone(comm):
    """What only pure_nccl has."""
    if not isinstance(comm, PureNcclCommunicator):
        return
    assert comm.get_config() == {'allreduce_grad_dtype': None}
    other = chainermn.create_communicator(
        'pure_nccl', comm.mpi_comm, allreduce_grad_dtype=np.float16
    )
    third = other.split(0, comm.rank)
    assert third.allreduce_grad_dtype == np.float16
    model = make_model(comm, 'cuda', comm.rank, ('f',))
    before = values(model, 'grad')
    third.multi_node_mean_grad(model)
    everyone = comm.allgather_obj(before)
    for path, grad in values(model, 'grad').items():
        assert grad.dtype == np.float32
        np.testing.assert_array_equal(grad, grad.astype(np.float16))  # it was rounded
        expected = sum(e[path] for e in everyone) / comm.size
        np.testing.assert_allclose(grad, expected, 2e-3, 2e-3)
    third.set_config('allreduce_grad_dtype', value='bfloat16')
    assert np.dtype(third.allreduce_grad_dtype).name == 'bfloat16'
    third.finalize()
    other.finalize()
    with pytest.raises(ValueError, match='allreduce_grad_dtype is int8, expected float16'):
        comm.set_config('allreduce_grad_dtype', value=np.int8)
    with pytest.raises(ValueError, match="there is no setting 'other'"):
        comm.set_config('other', value=1)
    with pytest.raises(TypeError, match='allreduce_grad_dtype takes value=, not nothing'):
        comm.set_config('allreduce_grad_dtype')
    model.to_device('native:0')
    with pytest.raises(ValueError, match=r'parameter p00 is on .*native:0.*, expected a GPU; use'):
        comm.bcast_data(model)
    model = make_model(comm, 'cuda', 0, ('f',) if comm.rank == 0 else ('d',))
    with pytest.raises(ValueError, match=r'rank 0 has /p00 \(float32 .*, and rank 1 has /p00 \(fl'):
        comm.multi_node_mean_grad(model)


def check_double_buffering(comm):
    """Each step is that of the gradients before; the first update makes none."""
    if not isinstance(comm, PureNcclCommunicator):
        return
    random = np.random.RandomState(1)
    batches = [
        (random.rand(8, 4).astype('f'), random.randint(0, 3, 8).astype('i')) for _ in range(5)
    ]
    part = slice(comm.rank, None, comm.size)
    for place in PLACES:
        device = use(comm, place)
        model = L.Classifier(L.Linear(4, 3, initialW=np.ones((3, 4)) * comm.rank))
        model.to_device(device)
        optimizer = chainermn.create_multi_node_optimizer(
            chainer.optimizers.MomentumSGD(0.1), comm, double_buffering=True
        )
        optimizer.setup(model)
        optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))
        plain = L.Classifier(L.Linear(4, 3, initialW=0))
        other = chainer.optimizers.MomentumSGD(0.1).setup(plain)
        other.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))
        before = None
        for x, t in batches:
            optimizer.update(model, device.send(x[part]), device.send(t[part]))
            plain.cleargrads()
            plain(x, t).backward()
            now = [p.grad.copy() for p in plain.params()]
            if before is not None:
                for p, g in zip(plain.params(), before, strict=True):
                    p.grad = g
                other.update()
            before = now
        assert optimizer.t == 4
        for path, a in values(plain, 'array').items():
            np.testing.assert_allclose(values(model, 'array')[path], a, rtol=1e-4, atol=1e-5)


def check_captured_updates(comm):
    """Replays of forward and backward, and messages on the same and on another stream."""
    random = np.random.RandomState(1)
    data = chainer.datasets.TupleDataset(
        random.rand(32, 4).astype('f'), np.arange(32, dtype='i') % 3
    )
    for double_buffering in (False, True):
        if double_buffering and not isinstance(comm, PureNcclCommunicator):
            continue
        trained = []
        for capture in (False, True):
            device = use(comm, 'cuda')
            model = L.Classifier(L.Linear(4, 3, initialW=np.ones((3, 4)) * comm.rank))
            optimizer = chainermn.create_multi_node_optimizer(
                chainer.optimizers.MomentumSGD(0.1), comm, double_buffering=double_buffering
            )
            optimizer.setup(model)
            part = data[comm.rank :: comm.size]
            iterator = chainer.iterators.SerialIterator(part, 4, shuffle=False)
            updater = StandardUpdater(iterator, optimizer, device=device, capture=capture)
            for _ in range(8):
                updater.update()
            trained.append(values(model, 'array'))
        assert optimizer._captured.info()[0].replays > 2
        for path, x in trained[0].items():
            np.testing.assert_array_equal(trained[1][path], x)
