"""Run by test_stand_in.py: the stand-in is CuPy, and the backend cuda exists.

It tests what is special about CuPy arrays in variables; the tests for all devices cover the rest.
"""

import copy
import gc
import pickle
import time
import weakref

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import cupy
import numpy as np
import pytest
from chainer import FunctionNode, Variable, backend
from chainer.backends import cuda

HOST = np.arange(6, dtype='f').reshape(2, 3)


@pytest.fixture(autouse=True)
def first_device():
    """Work of chainerx on another GPU makes that CuPy's current device."""
    cupy.cuda.Device(0).use()


def gpu(values, device=0):
    return cuda.to_gpu(np.asarray(values), device)


def test_conversions_share_memory():
    a = gpu(HOST)
    x = backend.to_chx(a)
    assert x.device.name == 'cuda:0'
    assert (x.shape, x.strides, x.dtype) == (a.shape, a.strides, a.dtype)
    b = backend.from_chx(x)
    assert type(b) is cupy.ndarray
    assert b.data.ptr == a.data.ptr
    a[0, 0] = 7
    assert float(backend.to_chx(a)[0, 0]) == float(b[0, 0]) == 7


@pytest.mark.parametrize('device', [0, 1])
@pytest.mark.parametrize(
    'view',
    [
        lambda a: a.T,
        lambda a: a[::-1],
        lambda a: a[:, ::2],
        lambda a: a[1:, 2:],
        lambda a: a[:0],
        lambda a: a[0, 0],
        lambda a: a[None, :, None],
        lambda a: cupy.broadcast_to(a, (4, 2, 3)),
    ],
)
def test_layouts(view, device):
    a = view(gpu(HOST, device))
    x = backend.to_chx(a)
    assert x.device.name == f'cuda:{device}'
    np.testing.assert_array_equal(chainerx.to_numpy(x), a.get())
    b = backend.from_chx(x)
    assert b.device.id == device
    assert (b.shape, b.dtype) == (a.shape, a.dtype)
    np.testing.assert_array_equal(b.get(), a.get())
    if a.size > 1:
        moves = [i for i, n in enumerate(a.shape) if n > 1]
        assert [b.strides[i] for i in moves] == [a.strides[i] for i in moves]
        assert b.data.ptr == a.data.ptr


@pytest.mark.parametrize('dtype', '?bhilBHILefdFD')
def test_dtypes(dtype):
    a = gpu(HOST.astype(dtype))
    x = backend.to_chx(a)
    assert x.dtype == a.dtype
    np.testing.assert_array_equal(backend.from_chx(x).get(), HOST.astype(dtype))


def test_parts_of_empty_arrays():
    """An empty part may begin beyond the end of the memory."""
    for y in F.split_axis(gpu(np.zeros((2, 0, 6), 'f')), 3, 2):
        assert type(y.array) is cupy.ndarray
        assert y.shape == (2, 0, 2)


def test_unaligned_memory_is_copied():
    raw = np.zeros(25, 'b')
    raw[1:] = np.frombuffer(HOST.tobytes(), 'b')
    a = cupy.ndarray((2, 3), 'f', gpu(raw).data + 1)
    assert a.data.ptr % 4 != 0
    np.testing.assert_array_equal(F.identity(Variable(a) * 1).array.get(), HOST)


def test_memory_lives_as_long_as_anybody_needs_it():
    a = gpu(HOST)
    gone = weakref.ref(a)
    x = backend.to_chx(a)
    del a
    assert gone() is not None
    b = backend.from_chx(x)
    del x
    np.testing.assert_array_equal(b.get(), HOST)
    assert gone() is not None
    del b
    for _ in range(1000):  # until our streams are idle
        gc.collect()
        if gone() is None:
            break
        time.sleep(0.005)
    assert gone() is None
    y = chainerx.ones(3, device='cuda:1') * 5
    b = backend.from_chx(y)
    del y
    assert b.device.id == 1
    np.testing.assert_array_equal(b.get(), [5, 5, 5])


class Cube(FunctionNode):
    """A function that computes forward and backward with CuPy."""

    def forward_gpu(self, inputs):
        self.retain_inputs((0,))
        (x,) = inputs
        assert type(x) is cupy.ndarray
        return (x * x * x,)

    def backward(self, indexes, grads):
        (x,) = self.get_retained_inputs()
        assert type(x.array) is cupy.ndarray
        return (3 * x * x * grads[0],)


def test_function_of_the_user():
    x = Variable(gpu(HOST))
    (y,) = Cube().apply((x,))
    assert type(y.array) is cupy.ndarray
    np.testing.assert_array_equal(y.array.get(), HOST**3)
    (gx,) = chainer.grad([F.sum(y)], [x], enable_double_backprop=True)
    (ggx,) = chainer.grad([F.sum(gx)], [x])
    np.testing.assert_allclose(gx.array.get(), 3 * HOST**2)
    np.testing.assert_allclose(ggx.array.get(), 6 * HOST)


def test_chainerx_arrays_fall_back_to_cupy_on_the_same_memory():
    a = chainerx.array(HOST, device='cuda:1')
    x = Variable(a.require_grad())
    seen = []

    class Seen(Cube):
        def forward_gpu(self, inputs):
            seen.append(inputs[0])
            return super().forward_gpu(inputs)

        def backward(self, indexes, grads):
            (x,) = self.get_retained_inputs()
            return (3 * x * x * grads[0],)

    (y,) = Seen().apply((x,))
    assert seen[0].device.id == 1
    assert seen[0].data.ptr == backend.from_chx(a).data.ptr
    assert y.array.device.name == 'cuda:1'
    y.grad = chainerx.ones((2, 3), 'float32', device='cuda:1')
    y.backward()
    np.testing.assert_allclose(chainerx.to_numpy(x.grad), 3 * HOST**2)


@pytest.mark.parametrize('other', ['@numpy', 'cuda:0', 'native:0'])
def test_kinds_do_not_mix(other):
    x, y = Variable(gpu(HOST)), Variable(chainer.get_device(other).send(HOST))
    for call in (lambda: x + y, lambda: x + y.array, lambda: F.matmul(x, y.array.T)):
        with pytest.raises(TypeError, match='cupy'):
            call()
    with pytest.raises(TypeError, match=r'is a .* array, the data a cupy array'):
        x.grad = y.array
    with pytest.raises(TypeError, match='different kinds'):
        chainer.grad([F.sum(x), F.sum(y)], [x, y])


def test_devices_do_not_mix():
    with pytest.raises(chainerx.DeviceError, match=r'@cupy:0, .*@cupy:1; move one'):
        Variable(gpu(HOST)) + Variable(gpu(HOST, 1))


def test_arrays_of_unsupported_dtypes():
    with pytest.raises(TypeError, match='so many dimensions'):
        Variable(gpu(np.zeros((1,) * 11))) + 1


def test_reassignment_and_sharing():
    x = Variable(gpu(HOST))
    y = copy.copy(x)
    h = x * x
    x.array = gpu(HOST + 1)
    assert y.array is x.array
    z = F.sum(h) + F.sum(x)
    z.backward()
    assert type(x.grad) is cupy.ndarray
    np.testing.assert_allclose(x.grad.get(), 2 * HOST + 1)


def test_copies_and_pickles():
    x = Variable(gpu(HOST), name='x')
    x.grad = gpu(HOST * 2)
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y.name == 'x'
        assert type(y.array) is type(y.grad) is cupy.ndarray
        np.testing.assert_array_equal(y.grad.get(), HOST * 2)


def test_moves():
    x = Variable(HOST.copy())
    x.grad = HOST * 2
    x.to_gpu(1)
    assert x.device.name == '@cupy:1'
    assert x.grad.device.id == 1
    memory = x.array.data.ptr
    x.to_chx()
    assert x.device.name == 'cuda:1'
    x.from_chx()
    assert x.device.name == '@cupy:1'
    assert x.array.data.ptr == memory
    x.to_cpu()
    np.testing.assert_array_equal(x.grad, HOST * 2)


DEVICES = ['@numpy', '@cupy:0', '@cupy:1', 'native:0', 'cuda:0', 'cuda:1']


@pytest.mark.parametrize('source', DEVICES)
@pytest.mark.parametrize('target', DEVICES)
def test_copy_function(source, target):
    x = Variable(chainer.get_device(source).send(HOST))
    y = F.copy(x * x, target)
    assert y.device.name == target
    assert y.creator.label == 'Copy'
    F.sum(y * y).backward()
    assert x.device.is_array_supported(x.grad)
    np.testing.assert_allclose(backend.CpuDevice().send(x.grad), 4 * HOST**3)


def test_indices_on_the_device():
    x = Variable(gpu(HOST))
    picked = x[gpu([1, 0, 1]), gpu([2, 2, 2])]
    np.testing.assert_array_equal(picked.array.get(), [5, 2, 5])
    np.testing.assert_array_equal(x[x.array > 2].array.get(), [3, 4, 5])
    F.sum(picked).backward()
    np.testing.assert_array_equal(x.grad.get(), [[0, 0, 1], [0, 0, 2]])


def test_labels_and_scores():
    x, t = Variable(gpu(HOST)), gpu(np.array([0, 2], 'i'))
    loss = F.softmax_cross_entropy(x, t)
    assert type(loss.creator.y) is cupy.ndarray
    with chainer.using_config('debug', True), pytest.raises(ValueError, match='t has 3'):
        F.softmax_cross_entropy(x, gpu(np.array([3, 0], 'i')))
    np.testing.assert_allclose(F.accuracy(x, t).array.get(), 0.5)


def test_hooks_see_cupy_arrays():
    seen = []

    class Hook(chainer.FunctionHook):
        def forward_preprocess(self, function, in_data):
            seen.append(type(in_data[0]))

        def backward_preprocess(self, function, in_data, out_grad):
            seen.append(type(out_grad[0]))

    x = Variable(gpu(HOST))
    with Hook():
        F.sum(F.relu(x)).backward()
    assert seen == [cupy.ndarray] * 4


def test_retained_gradients_and_nodes():
    x = Variable(gpu(HOST))
    h = x * 2
    y = F.sum(h * h)
    node = h.node
    y.backward(retain_grad=True)
    assert type(node.grad) is cupy.ndarray
    assert type(node.get_variable().grad) is cupy.ndarray


def test_training():
    """Training gives the same numbers as on NumPy arrays, with the update in one call."""
    results = {}
    for spec in ('@numpy', '@cupy:1'):
        np.random.seed(0)
        model = L.Classifier(chainer.Sequential(L.Linear(4, 5), F.relu, L.Linear(5, 3)))
        model.to_device(spec)
        optimizer = chainer.optimizers.Adam().setup(model)
        rng = np.random.default_rng(0)
        x = model.device.send(rng.standard_normal((8, 4), 'f'))
        t = model.device.send(rng.integers(0, 3, 8).astype('i'))
        chainer.fallback_report(reset=True)
        for _ in range(3):
            optimizer.update(model, x, t)
        assert not chainer.fallback_report()
        assert isinstance(model.loss.array, model.device.supported_array_types)
        results[spec] = [backend.CpuDevice().send(p.array) for p in model.params()]
    for a, b in zip(*results.values(), strict=True):
        np.testing.assert_array_equal(a, b)
