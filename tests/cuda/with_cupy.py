"""Run by test_cupy.py: CuPy is the stand-in on the memory and the streams of the test driver.

What a stream is given while it is `Blocked` runs at the end of the block, so that work on another
stream, without an order, would come too early.
"""

import contextlib
import gc
import threading
import time
import weakref

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as chx
import cupy
import numpy as np
import pytest
from chainer import FunctionNode, Variable, backend
from chainer.backends import cuda

HOST = np.arange(6, dtype='f').reshape(2, 3)
HOST.flags.writeable = False
STREAMS = {
    'null': lambda: cupy.cuda.Stream.null,
    'blocking': cupy.cuda.Stream,
    'non-blocking': lambda: cupy.cuda.Stream(non_blocking=True),
    'of another library': lambda: cupy.cuda.ExternalStream(chx.cuda.Stream('cuda:0').ptr),
}


@pytest.fixture(autouse=True)
def first_device():
    cupy.cuda.Device(0).use()
    yield
    for i in range(2):
        cupy.cuda.Device(i).synchronize()


@pytest.fixture(params=STREAMS)
def stream(request):
    """A stream that is the current one."""
    with STREAMS[request.param]() as stream:
        yield stream


class Blocked:
    """What is queued to a stream from now on waits until the end of the block."""

    def __init__(self, stream):
        self.go = threading.Event()
        stream.launch_host_func(lambda _: self.go.wait(20), None)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.go.set()


def gpu(values, device=0):
    return cuda.to_gpu(np.asarray(values), device)


def wait_until(condition):
    for _ in range(2000):
        gc.collect()
        if condition():
            return True
        time.sleep(0.005)
    return False


def same(x, expected):
    np.testing.assert_allclose(x.get(), expected, 1e-6)


def test_functions_run_on_the_current_stream(stream):
    """Also where an array has become an array of chainerx before CuPy writes to it."""
    a = gpu(HOST)
    x = Variable(a)
    assert F.sum(x).array.get() == 15
    with Blocked(stream):
        a.set(HOST + 1)
        y = F.relu(x) * 2
        loss = F.sum(y * y)
        loss.backward()
        a.set(HOST * 0)
        assert not stream.done
        z = x + 1
    same(y.array, 2 * (HOST + 1))
    same(x.grad, 8 * (HOST + 1))
    same(z.array, HOST * 0 + 1)


def test_second_derivatives_run_on_the_current_stream(stream):
    a = gpu(HOST)
    x = Variable(a)
    with Blocked(stream):
        a.set(HOST + 2)
        (gx,) = chainer.grad([F.sum(x**3)], [x], enable_double_backprop=True)
        (ggx,) = chainer.grad([F.sum(gx * gx)], [x])
        assert not stream.done
    assert type(gx.array) is type(ggx.array) is cupy.ndarray
    same(gx.array, 3 * (HOST + 2) ** 2)
    same(ggx.array, 36 * (HOST + 2) ** 3)


def test_methods_run_on_the_current_stream(stream):
    x = Variable(gpu(HOST))
    x.sum()
    with Blocked(stream):
        x.array.set(HOST + 1)
        total, turned, part = x.sum(), x.T.reshape(6), x[1:, ::2]
        x.array.set(HOST)
    assert total.array.get() == 21
    same(turned.array, (HOST + 1).T.reshape(6))
    same(part.array + 0, HOST[1:, ::2])  # a view


@pytest.mark.parametrize('make', [chainer.optimizers.SGD, chainer.optimizers.Adam])
def test_updates_run_on_the_current_stream(stream, make):
    """Both the first step and those that repeat a plan."""

    def steps(spec, write, between):
        link = L.Linear(3, 2, initialW=1).to_device(spec)
        optimizer = make().setup(link)
        x = link.device.send(HOST.copy())
        optimizer.update(lambda: F.sum(link(x) ** 2))
        for scale in (2, 3):
            with between():
                write(x, HOST * scale)
                write(link.W.array, np.full((2, 3), 0.5, 'f'))
                optimizer.update(lambda: F.sum(link(x) ** 2))
                assert spec == '@numpy' or not stream.done
        return backend.CpuDevice().send(link.W.array)

    expected = steps('@numpy', np.copyto, contextlib.nullcontext)
    result = steps('@cupy:0', cupy.ndarray.set, lambda: Blocked(stream))
    np.testing.assert_allclose(result, expected, 1e-6)


def test_streams_of_both_wait_for_each_other(stream):
    """What goes to the other library is in order, whatever the streams."""
    with chx.cuda.Stream('cuda:0') as ours, Blocked(stream):
        a = gpu(HOST)
        x = backend.to_chx(a)
        y = x * 2
        assert not ours.query()
    np.testing.assert_array_equal(chx.to_numpy(y), 2 * HOST)
    go = threading.Event()
    cupy.cuda.ExternalStream(chx.cuda.current_stream('cuda:0').ptr).launch_host_func(
        lambda _: go.wait(20), None
    )
    y = backend.to_chx(gpu(HOST)) * 3
    b = backend.from_chx(y).copy()
    assert not stream.done
    go.set()
    same(b, 3 * HOST)


def test_memory_is_used_again_when_the_stream_of_cupy_has_passed(stream):
    y = chx.zeros(1000, 'float32', device='cuda:0') + 7
    b = backend.from_chx(y)
    pointer = y.data_ptr
    assert b.data.ptr == pointer
    with Blocked(stream):
        c = b.copy()
        del b, y
        z = chx.full(1000, 1, 'float32', device='cuda:0')
        assert z.data_ptr != pointer
    same(c, np.full(1000, 7))


def test_memory_of_results_is_used_again_at_once():
    """As that of CuPy's pool is: all is in the order of one stream."""
    with cupy.cuda.Stream() as stream:
        x = Variable(gpu(np.ones(1000, 'f')))
        y = x * 2
        pointer = y.array.data.ptr
        with Blocked(stream):
            z = (y + 1).array.copy()
            del y
            pointers = {(x * i).array.data.ptr for i in range(8)}
        assert pointer in pointers
        same(z, np.full(1000, 3))


def test_streams_are_let_go():
    x = Variable(gpu(HOST))
    gone = []
    for i in range(4):
        with cupy.cuda.Stream() as stream:
            y = x * i
            y.array.copy()
            stream.synchronize()
            gone.append(weakref.ref(stream))
        del stream
        same((y + 1).array, i * HOST + 1)
    del y
    with cupy.cuda.Stream():
        x * 2
    assert wait_until(lambda: sum(s() is not None for s in gone) <= 1)


def test_streams_of_threads():
    """Each thread computes on its own current stream."""
    results, streams = {}, {}

    def work(i):
        cupy.cuda.Device(0).use()
        with cupy.cuda.Stream() as stream, Blocked(stream):
            x = Variable(gpu(HOST + i))
            results[i] = F.sum(x * x)
            streams[i] = stream
            assert chx.cuda.current_stream('cuda:0').ptr != stream.ptr  # outside of the call
        stream.synchronize()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({s.ptr for s in streams.values()}) == 3
    for i, y in results.items():
        assert y.array.get() == ((HOST + i) ** 2).sum()


@pytest.mark.parametrize(('spec', 'other'), [('@cupy:0', 'cuda:0'), ('cuda:0', '@cupy:0')])
def test_graphs_of_both_kinds(stream, spec, other):
    """Parts of a graph on arrays of both libraries run in one order, forward and backward."""
    a = gpu(HOST)
    x = Variable(a if spec == '@cupy:0' else backend.to_chx(a))
    F.copy(x, other)
    with Blocked(stream):
        a.set(HOST + 1)
        if spec == 'cuda:0':
            backend.to_chx(a)
        h = x * x
        y = F.copy(h, other)
        loss = F.sum(y * y)
        loss.backward(retain_grad=True)
        g = x.grad if spec == '@cupy:0' else backend.from_chx(x.grad)
        g = g.copy()
        assert not stream.done
    assert y.device.name == other
    np.testing.assert_array_equal(backend.CpuDevice().send(loss.array), ((HOST + 1) ** 4).sum())
    same(g, 4 * (HOST + 1) ** 3)


def test_no_copies():
    model = chainer.Sequential(L.Linear(3, 4), L.BatchNormalization(4)).to_device('@cupy:0')
    pointers = [p.array.data.ptr for p in model.params()]
    model.to_chx()
    assert {p.device.name for p in model.params()} == {'cuda:0'}
    assert [p.array.data_ptr for p in model.params()] == pointers
    model.from_chx()
    assert {p.device.name for p in model.params()} == {'@cupy:0'}
    assert [p.array.data.ptr for p in model.params()] == pointers
    x = Variable(gpu(HOST))
    assert F.reshape(x, (3, 2)).array.data.ptr == x.array.data.ptr
    assert x.array is x.array


def test_nothing_is_left():
    def step():
        x = Variable(gpu(HOST))
        F.sum(F.softmax(x @ x.T)).backward()
        assert type(x.grad) is cupy.ndarray
        with cupy.cuda.Stream():
            backend.from_chx(backend.to_chx(x.grad) * 2).copy()

    def used():
        cupy.cuda.Device(0).synchronize()
        return cupy.get_default_memory_pool().used_bytes(), chx.memory_stats('cuda:0')['in_use']

    step()
    assert wait_until(lambda: used() == used())
    gc.collect()
    before = used()
    for _ in range(20):
        step()
    assert wait_until(lambda: used()[0] <= before[0] and used()[1] <= before[1])


class Tripled(FunctionNode):
    """A function that asks CuPy for the current device and stream."""

    def forward_gpu(self, inputs):
        (x,) = inputs
        self.seen = [(cupy.cuda.Device().id, cupy.cuda.get_current_stream().ptr)]
        out = cupy.zeros_like(x)  # on the current device
        out[...] = x * 3
        return (out,)

    def backward(self, indexes, grads):
        self.seen.append((cupy.cuda.Device().id, cupy.cuda.get_current_stream().ptr))
        return (grads[0] * 3,)


@pytest.mark.parametrize('spec', ['@cupy:0', '@cupy:1', 'cuda:0', 'cuda:1'])
def test_functions_of_the_user(spec):
    """They run on the device of the arrays, and CuPy's current one stays."""
    x = Variable(chainer.get_device(spec).send(HOST))
    number = int(spec[-1])
    function = Tripled()
    cupy.cuda.Device(number).synchronize()
    with cupy.cuda.Device(number), cupy.cuda.Stream() as stream:
        with cupy.cuda.Device(1 - number):
            (y,) = function.apply((x,))
            assert cupy.cuda.Device().id == 1 - number or spec.startswith('cuda')
        F.sum(y * y).backward()
        stream.synchronize()
    assert function.seen == [(number, stream.ptr)] * 2
    assert y.device.name == x.grad_var.device.name == spec
    np.testing.assert_allclose(backend.CpuDevice().send(x.grad), 18 * HOST)


class OldSquare(chainer.Function):
    def forward_gpu(self, inputs):
        (x,) = inputs
        return (cuda.elementwise('T x', 'T y', 'y = x * x', 'square')(x),)

    def backward_gpu(self, inputs, grads):
        kernel = cuda.elementwise('T x, T gy', 'T gx', 'gx = 2 * x * gy', 'square_back')
        return (kernel(inputs[0], grads[0]),)


@pytest.mark.parametrize('spec', ['@cupy:0', '@cupy:1', 'cuda:0'])
def test_old_functions_with_kernels(spec):
    x = Variable(chainer.get_device(spec).send(HOST))
    y = OldSquare()(x)
    F.sum(y).backward()
    assert y.device.name == spec
    np.testing.assert_allclose(backend.CpuDevice().send(y.array), HOST**2)
    np.testing.assert_allclose(backend.CpuDevice().send(x.grad), 2 * HOST)


def test_kernels_of_the_user():
    x = gpu(HOST)
    y = cuda.reduce('T x', 'T y', 'x * x', 'a + b', 'y = a', '0', 'squares')(x, axis=1)
    same(y, (HOST**2).sum(1))
    code = 'extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }'
    cuda.raw(code, 'twice')((1,), (6,), (x,))
    same(x, 2 * HOST)


class Decay(chainer.UpdateRule):
    """An update rule of the user, which writes to the memory of the parameter."""

    def init_state(self, param):
        self.state['sum'] = param.xp.zeros_like(param.array)

    def update_core_cpu(self, param):
        raise AssertionError

    def update_core_gpu(self, param):
        assert type(param.array) is type(param.grad) is type(self.state['sum']) is cupy.ndarray
        assert cupy.cuda.Device() == param.array.device
        param.array.set(np.full((2, 3), 4, 'f'))
        self.state['sum'] += param.grad


@pytest.mark.parametrize('spec', ['@cupy:0', '@cupy:1', 'cuda:0', 'cuda:1'])
def test_update_rules_of_the_user(spec):
    param = chainer.Parameter(HOST.copy())
    param.to_device(spec)
    param.update_rule = rule = Decay()
    param.grad = param.device.send(HOST)
    param.update()
    with cupy.cuda.Device(int(spec[-1])) as device, cupy.cuda.Stream() as stream:
        device.synchronize()
        with Blocked(stream):
            rule.update_core_gpu = lambda view: view.array.set(np.full((2, 3), 5, 'f'))
            param.update()
            y = param * 2
            assert not stream.done
        assert y.device.name == spec
        np.testing.assert_array_equal(backend.CpuDevice().send(y.array), np.full((2, 3), 10))
    np.testing.assert_array_equal(backend.CpuDevice().send(rule.state['sum']), HOST)


def test_the_current_device_stays():
    model = L.Linear(3, 2).to_device('@cupy:1')
    optimizer = chainer.optimizers.Adam().setup(model)
    x = gpu(HOST, 1)
    for _ in range(3):
        optimizer.update(lambda: F.sum(F.dropout(model(x)) ** 2))
        assert cupy.cuda.Device().id == 0
    backend.from_chx(backend.to_chx(x))
    assert cupy.cuda.Device().id == 0


def test_random_numbers():
    x = Variable(gpu(np.ones((50, 4), 'f')))
    results = []
    for _ in range(2):
        np.random.seed(3)
        results.append(F.dropout(x).array.get())
    np.testing.assert_array_equal(*results)
    assert set(results[0].ravel()) == {0, 2}
    w = []
    for _ in range(2):
        cupy.random.seed(3)
        array = chainer.initializers.generate_array(
            chainer.initializers.LeCunNormal(), (4, 5), cupy, 'f', device='@cupy:1'
        )
        assert array.device.id == 1
        w.append(array.get())
    np.testing.assert_array_equal(*w)
    assert w[0].std() > 0


@pytest.mark.parametrize('source', ['@cupy:0', '@cupy:1', 'cuda:1', 'native:0', '@numpy'])
def test_snapshots(source, tmp_path):
    model = chainer.Sequential(L.Linear(3, 4), L.BatchNormalization(4)).to_device(source)
    optimizer = chainer.optimizers.Adam().setup(model)
    x = model.device.send(HOST)
    optimizer.update(lambda: F.sum(model(x) ** 2))
    chainer.serializers.save_npz(tmp_path / 'model', model)
    chainer.serializers.save_npz(tmp_path / 'optimizer', optimizer)
    other = chainer.Sequential(L.Linear(3, 4), L.BatchNormalization(4)).to_device('@cupy:0')
    again = chainer.optimizers.Adam().setup(other)
    chainer.serializers.load_npz(tmp_path / 'model', other)
    chainer.serializers.load_npz(tmp_path / 'optimizer', again)
    for p, q in zip(model.params(), other.params(), strict=True):
        assert q.device.name == '@cupy:0'
        a, b = map(backend.CpuDevice().send, (p.array, q.array))
        np.testing.assert_array_equal(a, b)
    y = gpu(HOST)
    again.update(lambda: F.sum(other(y) ** 2))
    assert again.t == 2


def error(call, *args):
    with pytest.raises((TypeError, chx.DeviceError, RuntimeError)) as info:
        call(*args)
    return str(info.value)


@pytest.mark.parametrize('spec', ['@cupy:0', 'cuda:0'])
def test_a_model_that_gets_arrays_of_the_host(spec):
    text = error(L.Linear(3, 2).to_device(spec), HOST)
    assert f'input 0 is on @numpy, input 1 (W) is on {spec}' in text
    assert f"chainer.get_device('{spec}').send(x)" in text


@pytest.mark.parametrize(
    ('model', 'x'), [('@cupy:0', '@cupy:1'), ('@cupy:0', 'cuda:0'), ('cuda:0', '@cupy:1')]
)
def test_a_model_that_gets_arrays_of_another_device(model, x):
    text = error(L.Linear(3, 2).to_device(model), chainer.get_device(x).send(HOST))
    assert f'{x} ' in text.replace(',', ' ').replace(';', ' ')
    assert f'{model}' in text
    assert f"chainer.get_device('{model}').send(x)" in text


def test_training_by_numbers_of_devices(tmp_path):
    """A program for v7: `--gpu 1`."""
    chainer.get_device(1).use()
    model = L.Classifier(chainer.Sequential(L.Linear(None, 5), F.relu, L.Linear(5, 3)))
    with pytest.warns(DeprecationWarning, match='to_gpu is deprecated'):
        model.to_gpu()
    optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-4))
    rng = np.random.RandomState(0)
    data = chainer.datasets.TupleDataset(
        rng.rand(24, 4).astype('f'), rng.randint(0, 3, 24).astype('i')
    )
    iterator = chainer.iterators.SerialIterator(data, 6)
    updater = chainer.training.StandardUpdater(iterator, optimizer, device=1)
    trainer = chainer.training.Trainer(updater, (2, 'epoch'), out=tmp_path)
    test = chainer.iterators.SerialIterator(data, 6, repeat=False, shuffle=False)
    trainer.extend(chainer.training.extensions.Evaluator(test, model, device=1))
    trainer.extend(chainer.training.extensions.LogReport())
    chainer.fallback_report(reset=True)
    trainer.run()
    assert type(model.loss.array) is cupy.ndarray
    assert model.loss.array.device.id == cupy.cuda.Device().id == 1
    assert {p.array.device.id for p in model.params()} == {1}
    assert not chainer.fallback_report(reset=True)


@pytest.mark.parametrize('device', [0, 1])
def test_batches_that_are_sent_ahead(device):
    """A stream of its own copies, and the current one waits for it."""
    convert = chainer.dataset.ConcatWithAsyncTransfer()
    batch = [(HOST + i, np.int32(i)) for i in range(3)]
    with cupy.cuda.Device(device), cupy.cuda.Stream() as stream:
        for step in range(20):
            x, t = convert(batch, device)
            assert x.device.id == t.device.id == device
            y = F.sum(Variable(x) * step) + F.sum(F.cast(t, 'f'))
            del x, t
        stream.synchronize()
        assert y.array.get() == 19 * sum((HOST + i).sum() for i in range(3)) + 3


def test_an_iterator_that_sends_the_next_batch():
    data = [(np.full(4, i, 'f'), np.int32(i)) for i in range(12)]
    iterator = chainer.iterators.DevicePrefetchIterator(
        chainer.iterators.SerialIterator(data, 3, repeat=False, shuffle=False), '@cupy:1'
    )
    seen = []
    for batch in iterator:
        x, t = chainer.dataset.convert.call_converter(
            chainer.dataset.concat_examples, batch, chainer.get_device('@cupy:1')
        )
        assert x.device.id == t.device.id == 1
        seen.append((F.sum(Variable(x)).array, t))
    assert [float(total.get()) for total, _ in seen] == [12, 48, 84, 120]
    np.testing.assert_array_equal(np.concatenate([t.get() for _, t in seen]), np.arange(12))


def test_parallel_updater(tmp_path):
    """The gradients of both halves are added up, each of which is a mean: as in v7."""
    model = L.Classifier(L.Linear(4, 3, initialW=1))
    model.to_device('@cupy:0')
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    rng = np.random.RandomState(0)
    data = chainer.datasets.TupleDataset(
        rng.rand(8, 4).astype('f'), rng.randint(0, 3, 8).astype('i')
    )
    iterator = chainer.iterators.SerialIterator(data, 8, shuffle=False)
    updater = chainer.training.updaters.ParallelUpdater(
        iterator, optimizer, devices={'main': 0, 'second': 1}
    )
    updater.update()
    alone = L.Classifier(L.Linear(4, 3, initialW=1))
    whole = chainer.optimizers.SGD(0.1).setup(alone)
    whole.update(alone, *chainer.dataset.concat_examples(data[:]))
    assert model.predictor.W.array.device.id == 0
    updated = model.predictor.W.array.get()
    np.testing.assert_allclose(updated - 1, 2 * (alone.predictor.W.array - 1), 1e-3, 1e-6)


def test_hooks():
    x = Variable(gpu(HOST))
    link = L.Linear(3, 2).to_device('@cupy:0')
    hooks = [
        chainer.function_hooks.TimerHook(),
        chainer.function_hooks.CupyMemoryProfileHook(),
        chainer.function_hooks.CUDAProfileHook(),
        chainer.link_hooks.TimerHook(),
    ]
    with hooks[0], hooks[1], hooks[2], hooks[3]:
        F.sum(link(x) * 2).backward()
    for hook in (hooks[0], hooks[1], hooks[3]):
        assert hook.call_history
    assert all(seconds >= 0 for _, seconds in hooks[0].call_history)
    assert 'LinearFunction' in {name for name, *_ in hooks[1].call_history}


def test_pictures_and_sequences():
    """A step of larger links, and one of a recurrent network, give the numbers of NumPy."""

    class Net(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.conv = L.Convolution2D(2, 3, 3, pad=1)
                self.norm = L.BatchNormalization(3)
                self.rnn = L.NStepLSTM(1, 12, 5, 0)
                self.out = L.Linear(5, 2)

        def forward(self, x):
            h = F.max_pooling_2d(F.relu(self.norm(self.conv(x))), 2)
            h = F.reshape(h, (len(h), -1))
            _, _, ys = self.rnn(None, None, [h[:, :12], h[1:, 12:24]])
            return self.out(F.concat(ys, axis=0))

    results = []
    for spec in ('@numpy', '@cupy:1'):
        np.random.seed(0)
        net = Net().to_device(spec)
        optimizer = chainer.optimizers.Adam().setup(net)
        rng = np.random.RandomState(1)
        x = net.device.send(rng.rand(3, 2, 6, 8).astype('f'))
        t = net.device.send(np.array([0, 1, 0, 1, 1], 'i'))
        for _ in range(2):
            loss = F.softmax_cross_entropy(net(x), t)
            net.cleargrads()
            loss.backward()
            optimizer.update()
        results.append([backend.CpuDevice().send(p.array) for _, p in sorted(net.namedparams())])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, 1e-3, 1e-4)
