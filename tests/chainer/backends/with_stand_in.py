"""Run by test_stand_in.py in a process of its own, in which the stand-in is CuPy."""

import chainer
import chainerx
import cupy
import numpy as np
import pytest
from chainer import backend, initializers
from chainer.backends import cuda
from chainer.utils import type_check

HOST = np.arange(6, dtype='f').reshape(2, 3)


def values(x):
    return x.get() if isinstance(x, cupy.ndarray) else chainer.backend.CpuDevice().send(x)


def test_names():
    assert cuda.available
    assert cuda.cupy is cupy
    assert cuda.ndarray is cupy.ndarray
    assert cuda.Device is cupy.cuda.Device
    assert not cuda.cudnn_enabled
    assert chainer.get_array_types() == (np.ndarray, chainerx.ndarray, cupy.ndarray)
    cuda.check_cuda_available()


@pytest.mark.parametrize(
    'spec',
    [1, np.int64(1), '1', '@cupy:1', cupy.cuda.Device(1), backend.GpuDevice.from_device_id(1)],
)
def test_get_device(spec):
    device = chainer.get_device(spec)
    assert isinstance(device, backend.GpuDevice)
    assert device.device.id == 1
    assert str(device) == device.name == '@cupy:1'
    assert repr(device) == '<GpuDevice (cupy):1>'
    assert device.xp is cupy
    assert device == chainer.get_device('@cupy:1')
    assert hash(device) == hash(chainer.get_device('@cupy:1'))
    assert device != chainer.get_device('@cupy:0')
    assert device != chainer.get_device('@numpy')


def test_wrong_devices():
    with pytest.raises(ValueError, match='Invalid CUDA device ID: -1'):
        backend.GpuDevice.from_device_id(-1)
    with pytest.raises(TypeError, match=r'expected a cupy.cuda.Device'):
        backend.GpuDevice(1)
    with pytest.raises(ValueError, match='Invalid CUDA device specifier'):
        cuda.to_gpu(HOST, device='x')


def test_current_device():
    with chainer.using_device('@cupy:1'):
        assert cupy.cuda.Device().id == 1
        assert backend._guess_device_from_array_module(cupy).name == '@cupy:1'
        with chainer.using_device(0):
            assert cuda.to_gpu(HOST).device.id == 0
    assert cupy.cuda.Device().id == 0
    chainer.get_device(1).use()
    assert cupy.cuda.Device().id == 1
    chainer.get_device(0).use()


@pytest.mark.parametrize('source', ['@numpy', '@cupy:0', '@cupy:1', 'native:0'])
@pytest.mark.parametrize('target', ['@numpy', '@cupy:0', '@cupy:1', 'native:0'])
def test_send_and_copyto(source, target):
    x = chainer.get_device(source).send(HOST)
    device = chainer.get_device(target)
    y = device.send(x)
    assert device.is_array_supported(y)
    assert backend.get_device_from_array(y) == device
    assert type(device).from_array(y) == device
    assert device.send(y) is y
    np.testing.assert_array_equal(values(y), HOST)
    z = device.send(np.zeros((2, 3), 'd'))
    backend.copyto(z, x)
    np.testing.assert_array_equal(values(z), HOST)
    np.testing.assert_array_equal(cuda.to_cpu(x), HOST)
    np.testing.assert_array_equal(cuda.to_gpu(x, 1).get(), HOST)
    assert cuda.to_gpu(x, device=1).device.id == 1


def test_to_gpu():
    x = cuda.to_gpu(HOST)
    assert cuda.to_gpu(x) is x
    assert cuda.to_gpu(None) is None
    assert cuda.to_gpu(3).shape == ()
    one, none, two = cuda.to_gpu((HOST, None, HOST))
    assert none is None
    assert one is two
    with pytest.raises(TypeError, match='must be an array or a scalar'):
        cuda.to_gpu(object())


def test_async_transfer(recwarn):
    """A separate stream copies once computation has reached it, and is waited for."""
    convert = chainer.dataset.ConcatWithAsyncTransfer()
    batch = [(HOST, 1), (HOST + 1, 2)]
    log = cupy.cuda.Stream.log
    for device, padding in ((1, None), ('@cupy:1', None), (1, 9)):
        log.clear()
        x, t = convert(batch, device, padding)
        assert x.device.id == t.device.id == 1
        np.testing.assert_array_equal(x.get(), [HOST, HOST + 1])
        assert t.get().tolist() == [1, 2]
        assert log == [
            'event of null',
            'stream on 1 waits for event of null',
            'copy on stream on 1',
            'copy on stream on 1',
            'event of stream on 1',
            'null waits for event of stream on 1',
        ]
    assert convert([{'a': HOST}], 0)['a'].shape == (1, 2, 3)
    assert convert([HOST, HOST], 0).device.id == 0
    assert 'copy on stream on 0' in log  # a stream belongs to one device
    assert isinstance(convert(batch, 'native:0')[0], chainerx.ndarray)
    assert not recwarn.list
    with pytest.raises(ValueError, match='example 1 has'):
        convert([HOST, HOST[:1]], 0)


def test_copy():
    x = cuda.to_gpu(HOST, device=1)
    assert cuda.copy(x).device.id == 1
    assert cuda.copy(x, out_device=0).device.id == 0
    out = cuda.to_gpu(HOST * 0)
    assert cuda.copy(x, out=out) is out
    np.testing.assert_array_equal(out.get(), HOST)


def test_copyto_of_a_scalar():
    x = cuda.to_gpu(HOST)
    backend.copyto(x, 7)
    assert (x.get() == 7).all()


def test_get_array_module():
    x = cuda.to_gpu(HOST)
    assert backend.get_array_module(HOST, x) is cupy
    assert backend.get_array_module(x, chainerx.ones(2)) is chainerx
    assert chainer.is_arrays_compatible([x, x])
    assert not chainer.is_arrays_compatible([x, HOST])


def test_conversion_from_chainerx():
    x = cuda.to_gpu(HOST)
    assert backend.from_chx(x) is x
    with pytest.raises(chainerx.BackendError, match='cuda'):
        backend.to_chx(x)  # there is no such device here
    assert backend.ChainerxDevice.from_fallback_device(backend.CpuDevice()).name == 'native:0'


def test_devices_of_cuda():
    x = cuda.to_gpu(HOST, device=1)
    assert cuda.get_device_from_id(1).id == 1
    assert cuda.get_device_from_array(HOST, x).id == 1
    for spec in (x, cupy.cuda.Device(1), 1):
        with pytest.warns(DeprecationWarning, match='get_device is deprecated'):
            assert cuda.get_device(spec).id == 1


def test_kernels_are_made_once():
    elementwise = ('T x', 'T y', 'y = x', 'name')
    reduction = ('T x', 'T y', 'x', 'a + b', 'y = a', '0', 'name')
    for make, args in (
        (cuda.elementwise, elementwise),
        (cuda.reduce, reduction),
        (cuda.raw, ('code', 'name')),
    ):
        kernel = make(*args, option=1)
        assert make(*args, option=1) is kernel
        assert make(*args) is not kernel
        assert kernel.args == args
        assert kernel.kwargs == {'option': 1}
        cuda.clear_memo()
        assert make(*args, option=1) is not kernel


def test_fuse():
    assert cuda.fuse(kernel_name='name') == ('fuse', (), {'kernel_name': 'name'})


def test_cudnn():
    assert chainer.should_use_cudnn('>=auto') is False
    assert cuda.get_max_workspace_size() == 0
    with pytest.raises(RuntimeError, match='cuDNN is not enabled'):
        cuda.get_cudnn_dropout_states()


def test_initializers():
    x = initializers.generate_array(initializers.Normal(2), (2, 3), cupy, 'f', device='@cupy:1')
    assert x.device.id == 1
    assert x.dtype == np.float32
    assert x.get().std() > 0


def test_type_check():
    types = type_check.get_types((cuda.to_gpu(HOST),), 'in_types', False)
    assert types[0].shape.eval() == (2, 3)


def test_contains_nan():
    assert backend._contains_nan(cuda.to_gpu(HOST * np.nan))
    assert not backend._contains_nan(cuda.to_gpu(HOST))


def make_link():
    link = chainer.Link()
    link.add_persistent('state', HOST.copy())
    link.add_persistent('count', 3)
    return chainer.Chain(child=link)


def assert_on(net, spec):
    device = chainer.get_device(spec)
    for link in net.links():
        assert link.device == device
    assert backend.get_device_from_array(net.child.state) == device
    np.testing.assert_array_equal(values(net.child.state), HOST)
    assert net.child.count == 3


def test_links_to_gpu():
    net = make_link()
    with pytest.warns(DeprecationWarning, match=r"to_gpu is deprecated.*'@cupy:0'") as caught:
        assert net.to_gpu() is net
    assert caught[0].filename == __file__
    assert_on(net, '@cupy:0')
    assert net.xp is cupy
    with (
        pytest.warns(DeprecationWarning, match="'@cupy:1'"),
        pytest.warns(RuntimeWarning, match=r"@cupy:0 there; use to_device\('@cupy:1'\)"),
    ):
        net.to_gpu(1)
    assert_on(net, '@cupy:0')
    net.to_device('@cupy:1')
    assert_on(net, '@cupy:1')
    with pytest.warns(DeprecationWarning, match="'@numpy'"):
        net.to_cpu()
    assert_on(net, '@numpy')
    with chainer.using_device('@cupy:1'), pytest.warns(DeprecationWarning, match="'@cupy:1'"):
        net.to_gpu()
    assert_on(net, '@cupy:1')


def test_an_overridden_to_gpu_is_called():
    calls = []
    with pytest.warns(DeprecationWarning, match="Overriding method 'to_gpu'"):

        class Old(chainer.Link):
            def to_gpu(self, device=None):
                calls.append(device)
                with pytest.warns(DeprecationWarning, match='to_gpu is deprecated'):
                    return super().to_gpu(device)

    net = chainer.Chain(child=Old())
    net.to_device('@cupy:1')
    assert calls == [1]
    assert net.child.device == chainer.get_device('@cupy:1')
    net.to_device('native:0')
    assert calls == [1]


def test_timer_hook_uses_events():
    link = chainer.Link()
    link.forward = lambda x: x
    link.to_device('@cupy:0')
    hook = chainer.link_hooks.TimerHook()
    with hook:
        link(1)
    ((name, seconds),) = hook.call_history
    assert name == 'Link'
    assert 0 < seconds < 60


class Square(chainer.FunctionNode):
    def forward_gpu(self, inputs):
        (x,) = inputs
        assert type(x) is cupy.ndarray
        return (x * x,)


def test_variables_without_the_backend():
    """Variables hold arrays; operations that need chainerx name what is missing."""
    a = cuda.to_gpu(HOST)
    x = chainer.Variable(a)
    assert x.array is a
    assert x.xp is cupy
    assert x.device.name == '@cupy:0'
    assert (x.shape, x.dtype, x.ndim, x.size) == ((2, 3), np.float32, 2, 6)
    assert repr(x).startswith('variable([[0., 1., 2.]')
    with chainer.no_backprop_mode():
        (y,) = Square().apply((x,))
    assert type(y.array) is cupy.ndarray
    assert y.requires_grad
    for call in (lambda: x + x, lambda: Square().apply((x,)), lambda: x.node):
        with pytest.raises(chainerx.BackendError, match='with its backend cuda, which can') as info:
            call()
        assert 'cuda.so' in str(info.value)
    x.to_cpu()
    np.testing.assert_array_equal((x + x).array, HOST + HOST)
