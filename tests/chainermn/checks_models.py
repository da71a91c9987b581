"""Parameters and gradients of models."""

import chainer
import chainer.links as L
import chainerx as chx
import ml_dtypes
import numpy as np
import pytest

DEVICES = ['@numpy', 'native:0']


class Model(chainer.Chain):
    """Parameters of several dtypes, one twice, one without elements, one without an array."""

    def __init__(self, seed, device):
        super().__init__()
        random = np.random.RandomState(seed)
        with self.init_scope():
            self.a = chainer.Parameter(random.standard_normal((3, 4)).astype('f'))
            self.b = chainer.Parameter(random.standard_normal(5).astype(np.float16))
            self.c = chainer.Parameter(random.standard_normal(()).astype('d'))
            self.d = chainer.Parameter(random.standard_normal((2, 3)).astype('f'))
            self.e = chainer.Parameter(np.zeros((0, 2), 'f'))
            self.f = chainer.Parameter(random.standard_normal(3).astype(ml_dtypes.bfloat16))
            self.later = chainer.Parameter()
            self.twice = self.a
        self.to_device(device)
        for p in self.params():
            if p.array is not None:
                p.grad = p.device.send(random.standard_normal(p.shape).astype(p.dtype))

    def numpy(self, what):
        to = chainer.get_device('@numpy').send
        return {
            path: None if p.array is None or getattr(p, what) is None else to(getattr(p, what))
            for path, p in self.namedparams()
        }


def check_bcast_data(comm):
    for device in DEVICES:
        model = Model(comm.rank, device)
        before = model.a.array
        comm.bcast_data(model)
        assert model.a.array is before  # written in place
        for path, x in Model(0, '@numpy').numpy('array').items():
            np.testing.assert_array_equal(model.numpy('array')[path], x)
        assert model.a.device == chainer.get_device(device)
        model = Model(comm.rank, device)
        comm.broadcast_data(model)
        np.testing.assert_array_equal(model.numpy('array')['/a'], Model(0, '@numpy').a.array)


def check_mean_of_gradients(comm):
    everyone = [Model(rank, '@numpy').numpy('grad') for rank in range(comm.size)]
    for device in DEVICES:
        for name in ('multi_node_mean_grad', 'allreduce_grad'):
            model = Model(comm.rank, device)
            getattr(comm, name)(model)
            for path, grad in model.numpy('grad').items():
                if grad is None:
                    assert path == '/later'
                    continue
                wide = np.float32 if grad.dtype.itemsize < 4 else grad.dtype
                total = sum(grads[path].astype(wide) for grads in everyone)
                expected = total / wide.type(comm.size) if wide == 'd' else total / comm.size
                tolerance = {2: 1e-2, 4: 1e-6, 8: 1e-14}[grad.dtype.itemsize]
                assert grad.dtype == everyone[0][path].dtype
                np.testing.assert_allclose(
                    grad.astype('d'), expected.astype('d'), tolerance, tolerance
                )
            if comm.size == 1:
                for path, grad in model.numpy('grad').items():
                    np.testing.assert_array_equal(grad, everyone[0][path])  # the same bits


def check_same_on_all_ranks(comm):
    model = Model(comm.rank, 'native:0')
    comm.multi_node_mean_grad(model)
    grads = comm.allgather_obj({k: v for k, v in model.numpy('grad').items() if v is not None})
    for other in grads:
        for path, grad in grads[0].items():
            np.testing.assert_array_equal(other[path], grad)


def check_missing_gradients(comm):
    for device in DEVICES:
        model = Model(comm.rank, device)
        model.d.cleargrad()
        comm.multi_node_mean_grad(model)
        assert model.d.grad is None
        if comm.rank == 0:
            model.a.cleargrad()
        before = model.numpy('grad')
        if comm.size > 1:
            with pytest.raises(
                ValueError,
                match=r'rank 0 has no gradient of /a, and rank 1 has /a '
                r'\(float32 of shape \(3, 4\)\)',
            ):
                comm.multi_node_mean_grad(model)
            for path, x in model.numpy('grad').items():
                np.testing.assert_array_equal(x, before[path])
        comm.multi_node_mean_grad(model, zero_fill=True)
        np.testing.assert_array_equal(model.numpy('grad')['/d'], np.zeros((2, 3)))
        assert model.d.grad.dtype == np.float32


def check_gradients_in_a_graph(comm):
    """Gradients of which gradients may be asked are not written to."""
    x = chainer.Variable(chx.array([1.0, 2.0]) * (comm.rank + 1))
    model = L.Linear(2, 1, nobias=True).to_chx()
    y = model(x[None])
    (y * y).backward(enable_double_backprop=True)
    old = model.W.grad_var
    kept = chx.to_numpy(old.array.as_grad_stopped()).copy()
    comm.multi_node_mean_grad(model)
    np.testing.assert_array_equal(chx.to_numpy(old.array.as_grad_stopped()), kept)


def check_gradients_that_share_memory(comm):
    """Two may be one array, and one may be a single element many times."""
    for device in DEVICES:
        model = chainer.Chain()
        with model.init_scope():
            model.a, model.b = (chainer.Parameter(np.ones((3, 2), 'f')) for _ in range(2))
        model.to_device(device)
        model.cleargrads()
        ones = model.device.send(np.ones((1, 1), 'f'))
        grad = model.device.xp.broadcast_to(ones, (3, 2))
        model.a.grad = grad
        model.b.grad = grad if comm.rank == 0 else grad * (1 + comm.rank)
        comm.multi_node_mean_grad(model)
        to = chainer.get_device('@numpy').send
        np.testing.assert_array_equal(to(model.a.grad), np.ones((3, 2)))
        np.testing.assert_array_equal(to(model.b.grad), np.full((3, 2), (1 + comm.size) / 2))


def check_models_that_differ(comm):
    if comm.size == 1:
        return
    model = L.Linear(2, 3 if comm.rank == 0 else 4)
    model.cleargrads()
    message = r'bcast_data: rank 0 has /W \(float32 of shape \(3, 2\)\), and rank 1 has /W .*4, 2'
    with pytest.raises(ValueError, match=message):
        comm.bcast_data(model)
    model = L.Linear(2, 3, nobias=comm.rank == 0)
    with pytest.raises(ValueError, match='rank 0 has 1 parameters, and rank 1 has 2 parameters'):
        comm.bcast_data(model)
    model = L.Linear(None, 3) if comm.rank == 1 else L.Linear(2, 3)
    with pytest.raises(ValueError, match=r'rank 0 has /W .*, and rank 1 has no array of /W'):
        comm.bcast_data(model)


def check_models_on_several_devices(comm):
    """Devices may have other names, but parameters must be together in all processes."""
    model = chainer.Chain(a=L.Linear(2, 3), b=L.Linear(2, 3))
    model.a.to_device(f'native:{comm.rank % 2}')
    model.b.to_device(f'native:{(comm.rank + 1) % 2}')
    model.cleargrads()
    comm.bcast_data(model)
    comm.multi_node_mean_grad(model, zero_fill=True)
    assert model.a.W.grad.device.name == f'native:{comm.rank % 2}'
    if comm.size > 1:
        model.to_device('native:0' if comm.rank == 0 else 'native:1')
        comm.bcast_data(model)
        if comm.rank == 0:
            model.b.to_device('native:1')
        message = r'rank 0 has /b/W .* on device 1 of the model, and rank 1 has /b/W \(fl'
        with pytest.raises(ValueError, match=message):
            comm.bcast_data(model)


def check_dummy(comm):
    """It sends no gradients, and all else."""
    import chainermn

    other = chainermn.create_communicator('dummy', comm.mpi_comm)
    model = Model(comm.rank, 'native:0')
    before = model.numpy('grad')
    other.multi_node_mean_grad(model)
    for path, x in model.numpy('grad').items():
        np.testing.assert_array_equal(x, before[path])
    model.d.cleargrad()
    other.multi_node_mean_grad(model, zero_fill=True)
    np.testing.assert_array_equal(model.numpy('grad')['/d'], 0)
    other.bcast_data(model)
    np.testing.assert_array_equal(model.numpy('array')['/a'], Model(0, '@numpy').a.array)
    other.finalize()


def check_names(comm):
    import chainermn

    for name in ('naive', 'flat', 'non_cuda_aware', 'dummy'):
        other = chainermn.create_communicator(name, comm.mpi_comm)
        assert isinstance(other, chainermn.CommunicatorBase)
        assert other.size == comm.size
        other.finalize()
    with pytest.raises(ValueError, match="communicator_name is 'nccl', expected one of naive, fl"):
        chainermn.create_communicator('nccl')
    with pytest.raises(ValueError, match='allreduce_grad_dtype is float16, which only pure_nccl'):
        chainermn.create_communicator('flat', allreduce_grad_dtype='float16')
    with pytest.warns(DeprecationWarning, match='batched_copy has no effect'):
        chainermn.create_communicator('flat', batched_copy=True).finalize()
