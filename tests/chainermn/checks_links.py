"""Links in several processes, against the same in one."""

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
import chainermn.functions as M
import chainermn.links as ML
import numpy as np
import pytest

DEVICES = ['@numpy', 'native:0']


def numpy(x):
    x = x.array if isinstance(x, chainer.Variable) else x
    return chainer.get_device('@numpy').send(x)


def parts(comm, shape, dtype='f'):
    """The batches of all ranks: another size in each, none in the last of three."""
    random = np.random.RandomState(1)
    sizes = [max(4 - 2 * r, 0) for r in range(comm.size)]
    return [(random.standard_normal((n, *shape)) * 2 + 5).astype(dtype) for n in sizes]


def make_pair(comm, device, size, **kwargs):
    random = np.random.RandomState(2)
    gamma, beta = (random.uniform(0.5, 1.5, size) for _ in range(2))
    links = (
        ML.MultiNodeBatchNormalization(
            size, comm, initial_gamma=gamma, initial_beta=beta, **kwargs
        ),
        L.BatchNormalization(size, initial_gamma=gamma, initial_beta=beta, **kwargs),
    )
    for link in links:
        link.to_device(device)
    return links


def check_batch_normalization(comm):
    """Outputs, statistics and gradients are those of all batches joined."""
    for device in DEVICES:
        for shape in ((3,), (3, 2, 2)):
            mine, plain = make_pair(comm, device, 3)
            xs = parts(comm, shape)
            weights = [
                np.random.RandomState(9 + r).rand(*x.shape).astype('f') for r, x in enumerate(xs)
            ]
            for _ in range(2):  # running statistics move twice
                x = chainer.Variable(mine.device.send(xs[comm.rank]))
                whole = chainer.Variable(mine.device.send(np.concatenate(xs)))
                for link in (mine, plain):
                    link.cleargrads()
                y, z = mine(x), plain(whole)
                F.sum(y * y * mine.device.send(weights[comm.rank])).backward()
                F.sum(z * z * mine.device.send(np.concatenate(weights))).backward()
            begin = sum(len(a) for a in xs[: comm.rank])
            own = slice(begin, begin + len(x))
            np.testing.assert_allclose(numpy(y), numpy(z)[own], rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(
                numpy(x.grad_var), numpy(whole.grad_var)[own], rtol=1e-3, atol=1e-4
            )
            for name in ('avg_mean', 'avg_var'):
                np.testing.assert_allclose(
                    numpy(getattr(mine, name)), numpy(getattr(plain, name)), rtol=1e-5
                )
            for name in ('gamma', 'beta'):
                total = comm.allreduce(numpy(getattr(mine, name).grad_var))
                expected = numpy(getattr(plain, name).grad_var)
                np.testing.assert_allclose(total, expected, rtol=1e-3, atol=1e-4)
            with chainer.using_config('train', False):
                np.testing.assert_allclose(numpy(mine(x)), numpy(plain(x)), rtol=1e-4, atol=1e-5)


def check_batch_normalization_twice_differentiated(comm):
    mine, plain = make_pair(comm, '@numpy', 3, dtype='d')
    xs = parts(comm, (3,), 'd')
    x, whole = chainer.Variable(xs[comm.rank]), chainer.Variable(np.concatenate(xs))
    grads = []
    for link, v in ((mine, x), (plain, whole)):
        y = link(v)
        (g,) = chainer.grad([F.sum(y**3)], [v], enable_double_backprop=True)
        F.sum(g**3).backward()
        grads.append(numpy(v.grad_var))
    begin = sum(len(a) for a in xs[: comm.rank])
    np.testing.assert_allclose(grads[0], grads[1][begin : begin + len(x)], rtol=1e-6, atol=1e-8)


def check_batch_normalization_of_16_bits(comm):
    for device in DEVICES:
        mine, _ = make_pair(comm, device, 3)
        x = chainer.Variable(mine.device.send(parts(comm, (3,))[0].astype(np.float16)))
        y = mine(x)
        F.sum(y * y).backward()
        assert (y.dtype, x.grad.dtype) == (np.float16, np.float16)
        assert mine.avg_mean.dtype == np.float32


def check_batch_normalization_with_parameters_of_16_bits(comm):
    """More elements than float16 can count."""
    x = (np.random.RandomState(4).standard_normal((comm.size, 3, 70000)) * 30).astype(np.float16)
    for device in DEVICES:
        mine, plain = make_pair(comm, device, 3, dtype=np.float16)
        y = mine(mine.device.send(x[comm.rank : comm.rank + 1]))
        expected = plain(plain.device.send(x))
        assert y.dtype == np.float16
        # The statistics are rounded to 16 bits, which are off by 1e-3 for one unit; so are results.
        np.testing.assert_allclose(numpy(y)[0], numpy(expected)[comm.rank], rtol=4e-3, atol=4e-3)
        for name in ('avg_mean', 'avg_var'):
            np.testing.assert_allclose(
                numpy(getattr(mine, name)), numpy(getattr(plain, name)), rtol=2e-3, atol=1e-3
            )


def check_batch_normalization_alone(comm):
    """A single process has the same bits as without."""
    if comm.size > 1:
        comm = comm.split(comm.rank, 0)
    mine, plain = make_pair(comm, 'native:0', 3)
    x = mine.device.send(parts(comm, (3, 2, 2))[0])
    np.testing.assert_array_equal(numpy(mine(x)), numpy(plain(x)))
    np.testing.assert_array_equal(numpy(mine.avg_var), numpy(plain.avg_var))


class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.bn = L.BatchNormalization(3, axis=0)
            self.parts = chainer.ChainList(L.Linear(3, 3), L.BatchNormalization(3, use_beta=False))
            self.steps = chainer.Sequential(L.Linear(3, 3), L.BatchNormalization(3), F.relu)
            self.renorm = L.BatchRenormalization(3)
        self.same = self.bn

    def forward(self, x):
        return self.steps(self.parts[1](self.parts[0](self.bn(x))))


def check_create_mnbn_model(comm):
    net = Net()
    net.bn.avg_mean[...] = 3
    copied = ML.create_mnbn_model(net, comm)
    assert type(net.bn) is L.BatchNormalization
    normalizations = [copied.bn, copied.parts[1], copied.steps[1]]
    assert all(type(bn) is ML.MultiNodeBatchNormalization for bn in normalizations)
    assert copied.same is copied.bn
    assert copied.bn.axis == (0,)
    assert copied.bn is not net.bn
    assert type(copied.renorm) is L.BatchRenormalization
    np.testing.assert_array_equal(copied.bn.avg_mean, 3)
    copied.bn.avg_mean[...] = 4
    np.testing.assert_array_equal(net.bn.avg_mean, 3)
    assert [n for n, _ in copied.namedparams()] == [n for n, _ in net.namedparams()]
    copied.bn.gamma.array[...] = 5
    np.testing.assert_array_equal(net.bn.gamma.array, 1)
    y = copied(np.ones((2, 3), 'f') * comm.rank)
    F.sum(y).backward()
    assert type(ML.create_mnbn_model(L.BatchNormalization(2), comm)) is (
        ML.MultiNodeBatchNormalization
    )
    with pytest.raises(ValueError, match="'nccl', which needs the communicator pure_nccl, not"):
        ML.create_mnbn_model(net, comm, 'nccl')
    with pytest.raises(ValueError, match="communication_backend is 'tcp', expected 'auto', 'mpi'"):
        ML.MultiNodeBatchNormalization(3, comm, communication_backend='tcp')


def linear(seed, device):
    random = np.random.RandomState(seed)
    link = L.Linear(3, 3, initialW=random.standard_normal((3, 3)), initial_bias=random.rand(3))
    link.to_device(device)
    return link


def check_chain_list(comm):
    """A model in a line of processes, there and back, has the gradients of one process."""
    if comm.size == 1:
        return
    for device in DEVICES:
        first, last = 0, comm.size - 1
        x = chainer.get_device(device).send(np.random.RandomState(5).rand(2, 3).astype('f'))
        model = chainermn.MultiNodeChainList(comm)
        if comm.rank == first:
            model.add_link(linear(0, device), rank_in=None, rank_out=1)
            model.add_link(linear(9, device), rank_in=last, rank_out=None)
        elif comm.rank < last:
            model.add_link(linear(comm.rank, device), comm.rank - 1, comm.rank + 1)
        else:
            model.add_link(linear(comm.rank, device), comm.rank - 1, first)
        y = model(x) if comm.rank == first else model()
        model.cleargrads()
        if comm.rank == first:
            F.sum(y * y).backward()
        else:
            assert y.shape == (0,)
            y.backward()
        seeds = [*range(comm.size), 9]
        links = [linear(seed, device) for seed in seeds]
        z = x
        for link in links:
            link.cleargrads()
            z = link(z)
        F.sum(z * z).backward()
        if comm.rank == first:
            np.testing.assert_array_equal(numpy(y), numpy(z))
        mine = [
            link
            for seed, link in zip(seeds, links, strict=True)
            if seed == comm.rank or (seed == 9 and comm.rank == first)
        ]
        for link, other in zip(model, mine, strict=True):
            np.testing.assert_array_equal(numpy(link.W.grad_var), numpy(other.W.grad_var))


class Both(chainer.Chain):
    def forward(self, *xs):
        return sum(xs)


class Two(chainer.Chain):
    def forward(self, x):
        return 2 * x, 3 * x


def check_chain_list_with_branches(comm):
    """Results to several processes, from several, of several variables, and to itself."""
    if comm.size == 1:
        return
    x = chainer.Variable(np.ones((2, 3), 'f'))
    model = chainermn.MultiNodeChainList(comm)
    if comm.rank == 0:
        model.add_link(Two(), rank_out=[0, 1])
        model.add_link(Both(), rank_in=[0, 1])  # 2x + 3x + (2x + 3x)
    elif comm.rank == 1:
        model.add_link(Both(), rank_in=0, rank_out=0)
    else:
        return
    y = model(x) if comm.rank == 0 else model()
    if comm.rank == 0:
        np.testing.assert_array_equal(y.array, 10 * x.array)
        F.sum(y).backward()
        np.testing.assert_array_equal(x.grad, np.full((2, 3), 10))
    else:
        y.backward()


def check_chain_list_of_wrong_parts(comm):
    model = chainermn.MultiNodeChainList(comm)
    with pytest.raises(ValueError, match='there is no part'):
        model(1)
    n = comm.size
    with pytest.raises(ValueError, match=rf'rank_out has rank {n}, and there are {n} processes'):
        model.add_link(L.Linear(1, 1), rank_out=n)
    model.add_link(L.Linear(1, 1))
    with pytest.raises(ValueError, match='another part gives the result'):
        model.add_link(L.Linear(1, 1))
    model = chainermn.MultiNodeChainList(comm)
    model.add_link(L.Linear(1, 1), rank_in=comm.rank)
    with pytest.raises(ValueError, match='and no part before it has it as rank_out'):
        model()


def check_recurrent_layers(comm):
    """An encoder in one process and a decoder in the other, as in one."""
    if comm.size == 1:
        return
    random = np.random.RandomState(3)
    xs, ts = ([random.rand(n, 2).astype('f') for n in (3, 2)] for _ in range(2))

    def make(cls, seed):
        link = cls(2, 2, 4, 0.0)
        values = np.random.RandomState(seed)
        for _, p in sorted(link.namedparams()):
            p.array[...] = values.standard_normal(p.shape)
        return link

    for cls in (L.NStepLSTM, L.NStepGRU, L.NStepRNNTanh):
        encoder, decoder = make(cls, 0), make(cls, 1)
        *states, _ = encoder(*([None] * encoder.n_cells), xs)
        *_, ys = decoder(*states, ts)
        encoder.cleargrads()
        decoder.cleargrads()
        sum(F.sum(y * y) for y in ys).backward()
        if comm.rank == 0:
            link = ML.create_multi_node_n_step_rnn(make(cls, 0), comm, rank_out=1)
            *_, delegate = link(xs)
            link.cleargrads()
            delegate.backward()
            other = encoder
        elif comm.rank == 1:
            link = ML.create_multi_node_n_step_rnn(make(cls, 1), comm, rank_in=0)
            *_, zs, delegate = link(ts)
            assert delegate is None
            link.cleargrads()
            sum(F.sum(z * z) for z in zs).backward()
            for z, y in zip(zs, ys, strict=True):
                np.testing.assert_array_equal(z.array, y.array)
            other = decoder
        else:
            continue
        for (_, p), (_, q) in zip(
            sorted(link.actual_rnn.namedparams()), sorted(other.namedparams()), strict=True
        ):
            np.testing.assert_allclose(p.grad, q.grad, rtol=1e-5, atol=1e-6)


def check_recurrent_layers_of_wrong_kinds(comm):
    with pytest.raises(ValueError, match=r'must be an NStepRNN, NStepLSTM, .*, not Linear'):
        ML.create_multi_node_n_step_rnn(L.Linear(1, 1), comm)
    link = ML.create_multi_node_n_step_rnn(L.NStepLSTM(1, 2, 2, 0), comm, rank_in=0)
    with pytest.raises(TypeError, match='got states, but they come from rank 0'):
        link(np.zeros((1, 1, 2), 'f'), None, [np.zeros((1, 2), 'f')])
    link = ML.create_multi_node_n_step_rnn(L.NStepLSTM(1, 2, 2, 0), comm)
    with pytest.raises(TypeError, match='expected 2 states, got 1'):
        link(None, [np.zeros((1, 2), 'f')])
    assert link([np.zeros((1, 2), 'f')])[-1] is None
    assert M.pseudo_connect(None) == ()
