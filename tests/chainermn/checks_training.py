"""Training in several processes, against the same in one."""

import contextlib
import pathlib
import tempfile
import warnings

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
import chainermn.extensions as E
import chainerx as chx
import numpy as np
import pytest
from chainer import training
from chainer.training import extensions

DEVICES = ['@numpy', 'native:0']


def numpy(x):
    return chainer.get_device('@numpy').send(x).copy()


def make_model(seed, n_in=4):
    random = np.random.RandomState(seed)
    sizes = [(8, n_in or 4), (3, 8)]
    weights = [random.standard_normal(s).astype('f') for s in sizes]
    first = L.Linear(n_in, 8, initialW=lambda a: np.copyto(a, weights[0]))
    return L.Classifier(chainer.Sequential(first, F.tanh, L.Linear(8, 3, initialW=weights[1])))


def make_data(n=48):
    random = np.random.RandomState(7)
    x = random.standard_normal((n, 4)).astype('f')
    return chainer.datasets.TupleDataset(x, (x.sum(axis=1) > 0).astype('i'))


def parameters(model):
    return {path: numpy(p.array) for path, p in model.namedparams()}


def same_everywhere(comm, model):
    first, *others = comm.allgather_obj(parameters(model))
    for other in others:
        for path, x in first.items():
            np.testing.assert_array_equal(x, other[path])


def train(comm, device, out, make_optimizer, batch_size, n_epochs=2, **kwargs):
    """One process with all data, if there is no communicator."""
    rank = 0 if comm is None else comm.rank
    size = 1 if comm is None else comm.size
    model = make_model(rank)  # others than in rank 0 are written over
    data = make_data()
    # Each process gets the examples that are its part of the minibatch of one.
    optimizer = make_optimizer()
    if comm is not None:
        optimizer = chainermn.create_multi_node_optimizer(optimizer, comm, **kwargs)
        data = (
            data[[i for i in range(len(data)) if i // batch_size % size == rank]]
            if size > 1
            else data
        )
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-2))
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(0.5))
    iterator = chainer.iterators.SerialIterator(data, batch_size, shuffle=False)
    updater = training.StandardUpdater(iterator, optimizer, device=device)
    trainer = training.Trainer(updater, (n_epochs, 'epoch'), out=out)
    return model, trainer


def check_training(comm):
    """Parts of a minibatch in several processes make the steps of the whole in one."""
    for device in DEVICES:
        for make in (
            lambda: chainer.optimizers.MomentumSGD(0.1),
            lambda: chainer.optimizers.Adam(0.05),
        ):
            with tempfile.TemporaryDirectory() as out:
                model, trainer = train(comm, device, out, make, 4)
                trainer.run()
                one, other = train(None, device, out, make, 4 * comm.size)
                other.run()
            assert trainer.updater.get_optimizer('main').t == other.updater.get_optimizer('main').t
            same_everywhere(comm, model)
            for path, x in parameters(one).items():
                y = parameters(model)[path]
                if comm.size == 1:
                    np.testing.assert_array_equal(y, x)
                else:
                    np.testing.assert_allclose(y, x, rtol=1e-4, atol=1e-5)


def check_update_by_hand(comm):
    """Gradients that are there, of parameters that differ: v7's first update makes no step."""
    for device in DEVICES:
        for seed, steps in ((comm.rank, comm.size == 1), (3, True)):
            model = make_model(seed)
            model.to_device(device)
            optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(1.0), comm)
            optimizer.setup(model)
            d = model.device
            x, t = (d.send(a) for a in chainer.dataset.concat_examples(make_data(8)))
            model.cleargrads()
            model(x, t).backward()
            optimizer.update()
            assert optimizer.t == int(steps)
            same_everywhere(comm, model)
            model.cleargrads()
            part = slice(comm.rank, None, comm.size)
            model(x[part], t[part]).backward()
            grads = {path: numpy(p.grad) for path, p in model.namedparams()}
            before = parameters(model)
            optimizer.update()
            assert optimizer.t == 1 + int(steps)
            for path, grad in grads.items():
                mean = sum(comm.allgather_obj(grad)) / comm.size
                np.testing.assert_allclose(
                    parameters(model)[path], before[path] - mean, rtol=1e-5, atol=1e-6
                )


def check_layers_that_get_shapes_later(comm):
    """Parameters that the first input makes are those of rank 0, too."""
    for device in DEVICES:
        model = L.Classifier(chainer.Sequential(L.Linear(None, 4), L.Linear(4, 3)))
        model.to_device(device)
        optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.1), comm)
        optimizer.setup(model)
        x, t = (model.device.send(a) for a in chainer.dataset.concat_examples(make_data(8)))
        for _ in range(3):
            optimizer.update(model, x, t)
            same_everywhere(comm, model)
        assert optimizer.t == (3 if comm.size == 1 else 2)


def check_parameters_that_come_later(comm):
    model = make_model(0)
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.1), comm)
    optimizer.setup(model)
    x, t = chainer.dataset.concat_examples(make_data(8))
    optimizer.update(model, x, t)
    with model.init_scope():
        model.scale = L.Scale(W_shape=(1,))
        model.scale.W.array[...] = comm.rank + 1
        model.scale.W.update_rule = optimizer.create_update_rule()
    optimizer.update(lambda x, t: model(x, t) * F.sum(model.scale.W), x, t)
    same_everywhere(comm, model)
    assert optimizer.t == 2
    assert model.scale.W.array[0] < 1


def check_parameters_without_gradients(comm):
    for zero_fill in (True, False):
        model = chainer.Chain(a=L.Linear(2, 2), b=L.Linear(2, 2))
        optimizer = chainermn.create_multi_node_optimizer(
            chainer.optimizers.SGD(1.0), comm, zero_fill=zero_fill
        )
        optimizer.setup(model)
        x = np.ones((1, 2), 'f')
        optimizer.update(lambda x, model=model: F.sum(model.a(x)), x)
        same_everywhere(comm, model)
        before = parameters(model)

        def loss(x, model=model):
            return F.sum(model.a(x) if comm.rank == 0 else model.b(x))

        if zero_fill or comm.size == 1:
            optimizer.update(loss, x)
            moved = before['/a/b'] - parameters(model)['/a/b']
            np.testing.assert_allclose(moved, np.ones(2) / comm.size, rtol=1e-5)
        else:
            with pytest.raises(ValueError, match=r'rank 0 has /a/W .*, and rank 1 has no gradient'):
                optimizer.update(loss, x)


def check_loss_scale(comm):
    for device in DEVICES:
        model = make_model(0)
        model.to_device(device)
        optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(1.0), comm)
        optimizer.setup(model)
        optimizer.loss_scaling()
        plain = make_model(0)
        plain.to_device(device)
        other = chainer.optimizers.SGD(1.0).setup(plain)
        x, t = (model.device.send(a) for a in chainer.dataset.concat_examples(make_data(6)))
        part = slice(comm.rank, None, comm.size)
        for _ in range(3):
            optimizer.update(model, x[part], t[part])
            other.update(plain, x, t)
        assert optimizer._loss_scale == 8
        for path, a in parameters(plain).items():
            np.testing.assert_allclose(parameters(model)[path], a, rtol=1e-4, atol=1e-5)
        # Where one process overflows, none makes the step.
        before = parameters(model)
        bad = x[part] * (float('inf') if comm.rank == 0 else 1)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            optimizer.update(model, bad, t[part])
        for path, a in parameters(model).items():
            np.testing.assert_array_equal(before[path], a)
        assert optimizer._loss_scale == 4


def check_captured_steps(comm):
    """Replays would send nothing, so they are refused; a single process replays."""
    model = make_model(0)
    model.to_device('native:0')
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.1), comm)
    optimizer.setup(model)
    x, t = (model.device.send(a) for a in chainer.dataset.concat_examples(make_data(8)))
    step = chx.capture(lambda x, t: optimizer.update(model, x, t))
    part = slice(comm.rank, None, comm.size)
    step(x[part], t[part])
    for _ in range(3):
        if comm.size == 1:
            step(x, t)
            continue
        with pytest.raises(chx.CaptureError, match='mean_grad of chainermn sends messages'):
            step(x[part], t[part])
    assert optimizer.t == 4
    same_everywhere(comm, model)


class WithUnused(chainer.Chain):
    """A classifier with a parameter that the loss does not depend on."""

    def __init__(self, seed):
        super().__init__(model=make_model(seed), unused=L.Bias(1, 3))

    def forward(self, x, t):
        return self.model(x, t)


def check_captured_updates(comm):
    """Messages stand between replays and steps, which have the bits of no capture."""
    for make_optimizer, scale in (
        (lambda: chainer.optimizers.Adam(0.1), None),
        (lambda: chainer.optimizers.MomentumSGD(0.1), 8),
        (lambda: chainer.optimizers.MomentumSGD(0.1), 'dynamic'),
    ):
        trained = []
        for capture in (False, True):
            model = WithUnused(comm.rank)
            optimizer = chainermn.create_multi_node_optimizer(make_optimizer(), comm)
            optimizer.setup(model)
            optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.01))
            # The last minibatch of an epoch is a smaller one.
            iterator = chainer.iterators.SerialIterator(make_data(44), 8, False, False)
            scales = {} if scale == 'dynamic' else {'loss_scale': scale}
            updater = training.StandardUpdater(
                iterator, optimizer, device='native:0', capture=capture, **scales
            )
            if scale == 'dynamic':
                optimizer.loss_scaling(interval=4, scale=16)
            for _ in range(3):
                iterator.reset()
                for _ in range(6):
                    updater.update()
                same_everywhere(comm, model)
            trained.append(parameters(model))
        replays = sum(variant.replays for variant in optimizer._captured.info())
        assert replays > 5, (scale, optimizer._captured.info())
        assert optimizer.t == 18
        for path, x in trained[0].items():
            np.testing.assert_array_equal(trained[1][path], x, f'{path} {scale}')


def check_captured_messages(comm):
    """What a model sends itself can't be replayed."""
    model = L.Classifier(
        chainer.Sequential(chainermn.links.MultiNodeBatchNormalization(4, comm), L.Linear(4, 3))
    )
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.1), comm)
    optimizer.setup(model)
    iterator = chainer.iterators.SerialIterator(make_data(), 8)
    updater = training.StandardUpdater(iterator, optimizer, device='native:0', capture=True)
    updater.update()
    if comm.size > 1:
        # Where it is called by the program, not by chainermn.
        with pytest.raises(
            chx.CaptureError, match=r'allgather of .* messages .* \(checks_training'
        ):
            updater.update()


class First(chainer.Chain):
    """One part of a classifier, in rank 0."""

    def __init__(self, weights):
        super().__init__(l=L.Linear(4, 8, initialW=weights))

    def forward(self, x):
        return F.tanh(self.l(x))


class Last(chainer.Chain):
    """The other part, in rank 1, which has the labels."""

    def __init__(self, weights):
        super().__init__(l=L.Linear(8, 3, initialW=weights))

    def forward(self, h, t):
        return F.softmax_cross_entropy(self.l(h), t)


class Labelled(chainermn.MultiNodeChainList):
    """Gives the labels to the last part."""

    def forward(self, *inputs):
        if self._comm.rank == 0:
            return super().forward(*inputs)
        (t,) = inputs
        return self[0](chainermn.functions.recv(self._comm, 0), t)


def check_parts_of_a_model_in_trainers(comm):
    """Each rank trains its part with an optimizer of its own, in step with the other."""
    if comm.size == 1:
        return
    random = np.random.RandomState(4)
    w1, w2 = random.standard_normal((8, 4)), random.standard_normal((3, 8))
    data = make_data(24)
    parts = [[example[i] for example in data] for i in range(2)]
    for device in DEVICES:
        for scale in (None, 16.0):
            whole = chainer.Chain(first=First(w1), last=Last(w2))
            whole.to_device(device)
            other = chainer.optimizers.SGD(0.1).setup(whole)
            batches = chainer.iterators.SerialIterator(data, 6, shuffle=False)
            for _ in range(8):
                batch = chainer.dataset.concat_examples(batches.next(), whole.first.device)
                other.update(lambda x, t, m=whole: m.last(m.first(x), t), *batch)
            if comm.rank > 1:
                # Without data, and without a part, but as many iterations.
                empty = chainermn.datasets.create_empty_dataset(data)
                iterator = chainer.iterators.SerialIterator(empty, 6)
                assert [iterator.next() for _ in range(8)][-1] == [()] * 6
                assert chainer.dataset.concat_examples([(), ()]) == ()
                continue
            model = Labelled(comm)
            if comm.rank == 0:
                model.add_link(First(w1), rank_out=1)
            else:
                model.add_link(Last(w2), rank_in=0)
            optimizer = chainer.optimizers.SGD(0.1).setup(model)
            if scale is not None:
                optimizer.set_loss_scale(scale)
            iterator = chainer.iterators.SerialIterator(parts[comm.rank], 6, shuffle=False)
            updater = training.StandardUpdater(iterator, optimizer, device=device)
            with tempfile.TemporaryDirectory() as out:
                training.Trainer(updater, (8, 'iteration'), out=out).run()
            expected = parameters(whole.first if comm.rank == 0 else whole.last)
            for path, x in parameters(model[0]).items():
                np.testing.assert_allclose(x, expected[path], rtol=1e-4, atol=1e-5)


def check_attributes(comm):
    import copy

    actual = chainer.optimizers.Adam()
    optimizer = chainermn.create_multi_node_optimizer(actual, comm)
    assert optimizer.actual_optimizer is actual
    assert optimizer.communicator is comm
    with pytest.raises(RuntimeError, match='not set up'):
        optimizer.update()
    model = make_model(0)
    assert optimizer.setup(model) is optimizer
    assert optimizer.target is model
    optimizer.alpha = 0.25
    assert actual.alpha == 0.25
    assert optimizer.hyperparam is actual.hyperparam
    with pytest.raises(AttributeError):
        optimizer.no_such_name  # noqa: B018
    copied = copy.deepcopy(optimizer)
    assert copied.actual_optimizer is not actual
    assert copied.communicator is comm
    with pytest.raises(ValueError, match='double_buffering needs the communicator pure_nccl, not'):
        chainermn.create_multi_node_optimizer(actual, comm, double_buffering=True)
    with pytest.raises(TypeError, match='actual_optimizer must be an optimizer, not int'):
        chainermn.create_multi_node_optimizer(3, comm)


def check_snapshot_of_one_process_only(comm):
    """States of optimizers would differ, so the parameters would part."""
    if comm.size == 1:
        return
    model = make_model(0)
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm)
    optimizer.setup(model)
    optimizer.t = 100 if comm.rank == 0 else 0
    x, t = chainer.dataset.concat_examples(make_data(8))
    with pytest.raises(ValueError, match='rank 0 has made 100 updates, and that of rank 1 0'):
        optimizer.update(model, x, t)


def observed(comm, trainer):
    log = extensions.LogReport(trigger=(1, 'epoch'))
    trainer.extend(log)
    trainer.run()
    return log.log


def check_evaluator(comm):
    """The means of parts of one size are the mean of all."""
    model, data = make_model(0), make_data(6 * comm.size)
    part = chainermn.scatter_dataset(data, comm)
    for device in DEVICES:
        results = []
        for d in (part, data):
            it = chainer.iterators.SerialIterator(d, 2, repeat=False, shuffle=False)
            model.to_device(device)
            results.append(extensions.Evaluator(it, model, device=device))
        mine = chainermn.create_multi_node_evaluator(results[0], comm)
        assert mine is results[0]
        for _ in range(2):
            here, whole = mine(), results[1]()
            assert here.keys() == whole.keys()
            for name in whole:
                np.testing.assert_allclose(float(here[name]), float(numpy(whole[name])), rtol=1e-5)
        assert len(set(map(str, comm.allgather_obj(here)))) == 1


def check_evaluators_that_differ(comm):
    if comm.size == 1:
        return

    class Mine(extensions.Evaluator):
        def evaluate(self):
            return {'a': 1} if comm.rank == 0 else {'b': 1}

    it = chainer.iterators.SerialIterator([1], 1, repeat=False)
    evaluator = chainermn.create_multi_node_evaluator(Mine(it, make_model(0)), comm)
    with pytest.raises(ValueError, match=r"rank 0 reports \['a'\], and rank 1 \['b'\]"):
        evaluator()


class Median(E.GenericMultiNodeEvaluator):
    takes = None

    def calc_local(self, x, t):
        return [int(n) for n in t]

    def aggregate(self, results):
        taken = []
        for i, result in enumerate(results):
            taken += result
            if i == self.takes:
                break
        return {'median': np.median(taken), 'n': len(taken)}


def check_generic_evaluator(comm):
    x = np.zeros((5 + comm.rank, 2), 'f')
    data = chainer.datasets.TupleDataset(x, np.arange(5 + comm.rank) + 10 * comm.rank)
    seen = []
    for takes in (None, 0):
        for root in {0, comm.size - 1}:
            it = chainer.iterators.SerialIterator(data, 2, repeat=False, shuffle=False)
            evaluator = Median(comm, it, make_model(0), root=root, progress_hook=seen.append)
            evaluator.takes = takes
            result = evaluator()
            if comm.rank == root:
                everything = [10 * r + i for r in range(comm.size) for i in range(5 + r)]
                if takes is None:
                    assert result['n'] == len(everything)
                    assert result['median'] == np.median(everything)
                else:
                    assert result['n'] == 2
            else:
                assert result == {}
    assert [len(batch) for batch in seen[:2]] == [2, 2]
    evaluator = E.GenericMultiNodeEvaluator(comm, it, make_model(0))
    with pytest.raises(NotImplementedError, match=r'GenericMultiNodeEvaluator\.calc_local'):
        evaluator.calc_local(1)
    with pytest.raises(NotImplementedError, match=r'GenericMultiNodeEvaluator\.aggregate'):
        evaluator.aggregate([])


def check_allreduce_persistent(comm):
    for device in DEVICES:
        for dtype in ('f', 'e'):
            model = chainer.Chain(bn=L.BatchNormalization(3, dtype=dtype))
            model.bn.avg_mean[...] = comm.rank + 1
            model.bn.avg_var[...] = 40000  # a sum that float16 does not have
            model.bn.N = 5
            model.to_device(device)
            E.AllreducePersistent(model, comm)()
            np.testing.assert_allclose(numpy(model.bn.avg_mean), (comm.size + 1) / 2)
            np.testing.assert_allclose(numpy(model.bn.avg_var), 40000, rtol=1e-3)
            assert model.bn.avg_mean.dtype == np.dtype(dtype)
            assert model.bn.N == 5


def check_observations(comm):
    seen = []

    @training.make_extension(priority=extensions.Evaluator.priority)
    def write(trainer):
        trainer.observation['x'] = float(trainer.updater.iteration * 10 + comm.rank)

    @training.make_extension(priority=1)
    def read(trainer):
        seen.append([trainer.observation.get(k) for k in ('x_aggregated', 'sum', 'absent')])

    with tempfile.TemporaryDirectory() as out:
        _, trainer = train(comm, '@numpy', out, chainer.optimizers.SGD, 4, 1)
        trainer.extend(write)
        trainer.extend(E.ObservationAggregator(comm, 'x'))
        trainer.extend(
            E.ObservationAggregator(
                comm, 'x', 'sum', comm_trigger=(2, 'iteration'), aggregator=lambda xs: np.sum(xs)
            )
        )
        trainer.extend(E.ObservationAggregator(comm, 'nothing', 'absent'))
        trainer.extend(read)
        trainer.run()
    mean = (comm.size - 1) / 2
    assert [s[0] for s in seen[:3]] == [10 + mean, 20 + mean, 30 + mean]
    assert [s[1] for s in seen[:4]] == [
        None,
        comm.size * (30 + 2 * mean),
        None,
        comm.size * (70 + 2 * mean),
    ]
    assert {s[2] for s in seen} == {None}


def check_early_stopping(comm):
    """The mean stops improving in epoch 3, whatever single ranks see; all stop in one."""

    @training.make_extension(priority=extensions.Evaluator.priority)
    def write(trainer):
        value = [3, 2, 1, 1, 1, 1, 1, 1, 1][trainer.updater.epoch]
        trainer.observation['v'] = value + (comm.rank + 1) * 0.1

    with tempfile.TemporaryDirectory() as out:
        _, trainer = train(comm, '@numpy', out, chainer.optimizers.SGD, 4)
        trigger = E.MultiNodeEarlyStoppingTrigger(
            comm, monitor='v', patience=2, max_trigger=(8, 'epoch')
        )
        assert trigger.get_training_length() == (8, 'epoch')
        trainer.stop_trigger = trigger
        trainer.extend(write)
        trainer.run()
    epochs = comm.allgather_obj(trainer.updater.epoch)
    assert len(set(epochs)) == 1
    assert epochs[0] in (4, 5)
    with pytest.raises(ValueError, match='mode must be'):
        E.MultiNodeEarlyStoppingTrigger(comm, mode='best')


def resume(comm, out, n_epochs, stop=None, **options):
    """A training with checkpoints, which begins where the last one ended."""
    model, trainer = train(
        comm, 'native:0', out, lambda: chainer.optimizers.Adam(0.05), 4, n_epochs
    )
    optimizer = trainer.updater.get_optimizer('main')
    checkpointer = chainermn.create_multi_node_checkpointer('job', comm, **options)
    trainer.extend(checkpointer, trigger=(1, 'iteration'))
    iteration = checkpointer.maybe_load(trainer, optimizer)
    trainer.run()
    return model, trainer, checkpointer, iteration


def check_checkpoints(comm):
    with tempfile.TemporaryDirectory() as mine:
        # One folder for each process, as on machines without a common disk.
        whole, trainer, checkpointer, loaded = resume(comm, mine + '/a', 4)
        assert loaded is None
        n = trainer.updater.iteration
        stats = checkpointer.get_stats()
        assert stats['count'] == n == len(stats['saved'])
        assert stats['bytes'] > 0
        assert stats['seconds'] > 0
        files = sorted(pathlib.Path(mine, 'a').glob('job_iter_*'))
        assert len(files) < 5 + 5  # older ones were removed
        model, trainer, _, _ = resume(comm, mine + '/b', 2)
        half = trainer.updater.iteration
        # A newer file of one process alone is of no use.
        if comm.rank == 0:
            source = pathlib.Path(mine, 'b', f'job_iter_{half}_rank_0_of_{comm.size}')
            source.with_name(f'job_iter_{half + 1}_rank_0_of_{comm.size}').write_bytes(
                source.read_bytes()
            )
        model, trainer, _, loaded = resume(comm, mine + '/b', 4)
        assert loaded == (half if comm.size > 1 else half + 1)
        if comm.size > 1:
            for path, x in parameters(whole).items():
                np.testing.assert_array_equal(parameters(model)[path], x)
        # A damaged one is passed over by all.
        newest = trainer.updater.iteration
        if comm.rank == comm.size - 1:
            name = f'job_iter_{newest}_rank_{comm.rank}_of_{comm.size}'
            pathlib.Path(mine, 'b', name).write_bytes(b'nothing')
        _, trainer = train(comm, 'native:0', mine, lambda: chainer.optimizers.Adam(0.05), 4)
        checkpointer = chainermn.create_multi_node_checkpointer('job', comm, path=mine + '/b')
        with pytest.warns(
            UserWarning, match=rf'cannot be loaded by rank {comm.size - 1}, an older'
        ):
            assert checkpointer.maybe_load(trainer) == newest - 1
        assert checkpointer.maybe_load(trainer, path=mine + '/none') is None
        # Where no older one is there, some have loaded what others can't.
        for file in pathlib.Path(mine, 'b').iterdir():
            if f'_iter_{newest}_' not in file.name:
                file.unlink()
        failure = contextlib.nullcontext()
        if comm.size > 1:
            failure = pytest.raises(RuntimeError, match=f'rank 0 has loaded iteration {newest}')
        with pytest.warns(UserWarning, match='cannot be loaded'), failure:
            assert checkpointer.maybe_load(trainer) is None


def check_checkpoints_of_several_runs(comm):
    """An iteration that one process has from a run that was killed is none of the next run."""
    with tempfile.TemporaryDirectory() as folder:
        folder = comm.bcast_obj(folder)
        model = make_model(0)
        for iterations, value in (([1, 2], 5), ([2], 7)):
            checkpointer = chainermn.create_multi_node_checkpointer('job', comm, path=folder)
            assert checkpointer.maybe_load(model) == (None if value == 5 else 1)
            comm.allreduce_obj(0)
            model.predictor[0].b.array[...] = value
            for iteration in iterations:
                # The last process is killed before it saves the second one: first all but that
                # one have it, then that one alone saves it.
                if iteration == 1 or (comm.rank == comm.size - 1) == (value == 7):
                    checkpointer.save(model, iteration)
            comm.allreduce_obj(0)
        other = make_model(1)
        is_whole = comm.size == 1  # it has saved the second one in the second run
        assert checkpointer.maybe_load(other) == (2 if is_whole else 1)
        assert (other.predictor[0].b.array == (7 if is_whole else 5)).all()
        comm.allreduce_obj(0)  # files stay until all have loaded


def check_checkpoints_of_objects(comm):
    with tempfile.TemporaryDirectory() as mine:
        checkpointer = chainermn.create_multi_node_checkpointer(
            'm', comm, cp_interval=2, gc_interval=3, path=mine
        )
        model = make_model(comm.rank)
        for i in range(1, 7):
            checkpointer.save(model, i)
        names = sorted(p.name for p in pathlib.Path(mine).iterdir())
        assert names == [f'm_iter_{i}_rank_{comm.rank}_of_{comm.size}' for i in (5, 6)]
        other = make_model(9)
        assert checkpointer.maybe_load(other) == 6
        for path, x in parameters(model).items():
            np.testing.assert_array_equal(parameters(other)[path], x)
        checkpointer.finalize()
    with pytest.raises(ValueError, match='path is None, and there is no trainer'):
        chainermn.create_multi_node_checkpointer('m', comm).save(model, 1)
    with pytest.raises(ValueError, match='gc_interval must be at least 1, not 0'):
        chainermn.create_multi_node_checkpointer('m', comm, gc_interval=0)
    with pytest.raises(ValueError, match="name is 'a/b', expected a part of the name of a file"):
        chainermn.create_multi_node_checkpointer('a/b', comm)


def check_snapshots(comm):
    folder = comm.bcast_obj(tempfile.mkdtemp() if comm.rank == 0 else None)

    def run(n_epochs, sets):
        model, trainer = train(
            comm, '@numpy', folder, lambda: chainer.optimizers.Adam(0.05), 4, n_epochs
        )
        if comm.rank == 0:
            trainer.extend(extensions.LogReport())
        snapshot = extensions.snapshot(filename='s_{.updater.epoch}', autoload=True)
        trainer.extend(E.multi_node_snapshot(comm, snapshot, sets), trigger=(1, 'epoch'))
        trainer.run()
        return model, trainer

    model, _ = run(2, [0])
    comm.mpi_comm.Barrier()
    names = {p.name for p in pathlib.Path(folder).iterdir()} - {'log'}
    assert names == {f'{s}_s_{e}' for s in range(min(comm.size, 2)) for e in (1, 2)}
    again, trainer = run(2, [0])
    assert trainer.updater.epoch == 2
    for path, x in parameters(model).items():
        np.testing.assert_array_equal(parameters(again)[path], x)
    n = comm.size
    snapshot = extensions.snapshot()
    with pytest.raises(ValueError, match=rf'rank {n} is in replica_sets, and there are {n}'):
        E.multi_node_snapshot(comm, snapshot, [0, [n]])
    with pytest.raises(ValueError, match='rank 0 is in replica_sets twice'):
        E.multi_node_snapshot(comm, snapshot, [0, range(1)])
    comm.mpi_comm.Barrier()
    if comm.rank == 0:
        import shutil

        shutil.rmtree(folder)


def check_devices(comm):
    from chainermn.testing import get_device

    assert get_device() == chainer.get_device('@numpy')
    assert get_device(use_chainerx=True) == chainer.get_device('native:0')
