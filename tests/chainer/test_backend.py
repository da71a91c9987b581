"""Device objects and functions for arrays of any kind."""

from __future__ import annotations

import chainer
import chainerx
import numpy as np
import pytest
from chainer import backend
from chainer.backends import _chainerx, _cpu, cuda

DTYPES = ['?', 'i1', 'i2', 'i4', 'i8', 'u1', 'f2', 'f4', 'f8']


@pytest.mark.parametrize(
    ('spec', 'name', 'representation', 'xp'),
    [
        ('@numpy', '@numpy', '<CpuDevice (numpy)>', np),
        (-1, '@numpy', '<CpuDevice (numpy)>', np),
        (np.int32(-5), '@numpy', '<CpuDevice (numpy)>', np),
        ('-1', '@numpy', '<CpuDevice (numpy)>', np),
        (backend.CpuDevice(), '@numpy', '<CpuDevice (numpy)>', np),
        (cuda.DummyDevice, '@numpy', '<CpuDevice (numpy)>', np),
        ('native', 'native:0', '<ChainerxDevice native:0>', chainerx),
        ('native:1', 'native:1', '<ChainerxDevice native:1>', chainerx),
        (chainerx.get_device('native:1'), 'native:1', '<ChainerxDevice native:1>', chainerx),
    ],
)
def test_get_device(spec, name, representation, xp):
    device = chainer.get_device(spec)
    assert isinstance(device, backend.Device)
    assert device.name == name
    assert str(device) == name
    assert repr(device) == representation
    assert device.xp is xp
    assert device == chainer.get_device(device)
    assert device == chainer.get_device(name)
    assert hash(device) == hash(chainer.get_device(name))
    assert device != name


@pytest.mark.parametrize(
    ('spec', 'error', 'message'),
    [
        ('@foo', ValueError, 'Actual: @foo'),
        ('@', ValueError, 'Actual: @'),
        ('@numpy:0', ValueError, 'Actual: @numpy:0'),
        ('@cupy', ValueError, 'Actual: @cupy'),
        ('@cupy:x', ValueError, "'x'"),
        ('', chainerx.DeviceError, 'device name'),
        ('native:x', chainerx.DeviceError, 'native:x'),
        ('none', chainerx.BackendError, "'none'"),
        (None, TypeError, 'NoneType'),
        (1.5, TypeError, 'float'),
        (('native', 0), TypeError, 'tuple'),
        (np, TypeError, 'module'),
    ],
)
def test_bad_device_specs(spec, error, message):
    with pytest.raises(error, match=message):
        chainer.get_device(spec)


def test_devices_differ():
    devices = [chainer.get_device(name) for name in ('@numpy', 'native:0', 'native:1')]
    assert len(set(devices)) == 3
    assert all((a == b) == (a is b) for a in devices for b in devices)


@pytest.mark.parametrize('name', ['@numpy', 'native:0'])
def test_devices_are_no_contexts(name):
    with pytest.raises(RuntimeError, match='using_device'), chainer.get_device(name):
        pass


def test_abstract_device():
    device = backend.Device()
    for attribute in ('xp', 'name', 'supported_array_types'):
        with pytest.raises(NotImplementedError):
            getattr(device, attribute)
    for call in (lambda: device == device, lambda: hash(device), lambda: device.send(3)):
        with pytest.raises(NotImplementedError):
            call()
    assert device.use() is None
    with device.create_context():
        pass


def test_using_device():
    with chainer.using_device('@numpy'):
        assert chainerx.get_default_device().name == 'native:0'
    with chainer.using_device('native:1'):
        assert chainerx.get_default_device().name == 'native:1'
        with chainer.using_device('native:2'):
            assert chainerx.zeros(2).device.name == 'native:2'
        assert chainerx.zeros(2).device.name == 'native:1'
    assert chainerx.get_default_device().name == 'native:0'


def test_use():
    with chainerx.using_device('native:0'):
        chainer.get_device('native:2').use()
        assert chainerx.get_default_device().name == 'native:2'
    assert chainerx.get_default_device().name == 'native:0'


def test_fallback_devices():
    native = chainer.get_device('native:2')
    assert native.fallback_device == backend.CpuDevice()
    assert backend.ChainerxDevice.from_fallback_device(backend.CpuDevice()).name == 'native:0'
    with pytest.raises(RuntimeError, match='Only CPU or GPU devices'):
        backend.ChainerxDevice.from_fallback_device(native)


@pytest.mark.parametrize('wrong', ['native', 3, None])
def test_chainerx_device_needs_a_device(wrong):
    with pytest.raises(TypeError, match=r'expected a chainerx.Device'):
        backend.ChainerxDevice(wrong)


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('shape', [(), (0, 2), (2, 3)])
def test_round_trip_shares_memory(shape, dtype):
    x = np.ones(shape, dtype)
    y = backend.to_chx(x)
    assert isinstance(y, chainerx.ndarray)
    assert y.device.name == 'native:0'
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    z = backend.from_chx(y)
    assert isinstance(z, np.ndarray)
    if x.size:
        assert np.shares_memory(x, z)
    np.testing.assert_array_equal(x, z)


def test_round_trip_keeps_strides():
    x = np.arange(24, dtype='f').reshape(2, 3, 4)[:, ::-1, ::2].transpose(2, 0, 1)
    y = backend.to_chx(x)
    assert y.strides == x.strides
    z = backend.from_chx(y)
    assert z.strides == x.strides
    np.testing.assert_array_equal(x, z)


def test_conversion_of_structures():
    x = np.ones(2, 'f')
    y, nothing, again = backend.to_chx((x, None, x))
    assert nothing is None
    assert y is again
    assert backend.to_chx([]) == []
    assert backend.to_chx(()) == ()
    assert backend.to_chx(None) is None
    result = backend.from_chx([y, None, x])
    assert isinstance(result, list)
    assert result[2] is x
    assert np.shares_memory(result[0], x)
    assert backend.to_chx(y) is y


def test_to_chx_stays_on_the_device():
    y = chainerx.ones(2, device='native:1')
    assert backend.to_chx(y) is y
    with chainerx.using_device('native:1'):
        assert backend.to_chx(np.ones(2)).device.name == 'native:0'


def test_from_chx_of_an_array_in_a_graph():
    x = chainerx.ones(2).require_grad()
    y = backend.from_chx(x)
    y[0] = 3
    assert x.tolist() == [3, 1]


@pytest.mark.parametrize(
    ('convert', 'wrong'),
    [
        (backend.to_chx, np.array([None])),
        (backend.to_chx, np.array(['s'])),
        (backend.to_chx, object()),
        (backend.to_chx, {'a': np.ones(1)}),
        (backend.from_chx, 3),
        (backend.from_chx, 's'),
        (backend.CpuDevice().send, (np.ones(2), (np.ones(2),))),
        (backend.CpuDevice().send, {'a': np.ones(1)}),
        (chainer.get_device('native').send, [[np.ones(1)]]),
    ],
)
def test_no_arrays(convert, wrong):
    with pytest.raises(TypeError):
        convert(wrong)


@pytest.mark.parametrize('name', ['@numpy', 'native:0', 'native:1'])
@pytest.mark.parametrize('source', ['@numpy', 'native:0', 'native:1'])
def test_send(source, name):
    x = np.arange(6, dtype='f').reshape(2, 3)
    device = chainer.get_device(name)
    array = chainer.get_device(source).send(x)
    sent = device.send(array)
    assert device.is_array_supported(sent)
    assert isinstance(sent, device.supported_array_types)
    assert backend.get_device_from_array(sent) == device
    assert type(device).from_array(sent) == device
    np.testing.assert_array_equal(_cpu._to_cpu(sent), x)
    assert device.send(sent) is sent
    assert device.send_array(sent) is sent
    assert not device.is_array_supported(3)
    assert type(device).from_array(3) is None
    assert device.is_array_supported(array) == (source == name)


@pytest.mark.parametrize('name', ['@numpy', 'native:1'])
@pytest.mark.parametrize('scalar', [3, 1.5, True, np.float32(3)])
def test_send_scalars(name, scalar):
    sent = chainer.get_device(name).send(scalar)
    assert backend.get_device_from_array(sent).name == name
    assert sent.shape == ()
    assert sent.dtype == np.asarray(scalar).dtype
    assert _cpu._to_cpu(sent) == scalar


def test_send_reads_sequences_of_arrays():
    result = backend.CpuDevice().send([np.ones(2), None, 3, chainerx.zeros(1)])
    assert [type(x) for x in result] == [np.ndarray, type(None), np.ndarray, np.ndarray]


def test_get_array_module():
    x, y = np.ones(2), chainerx.ones(2)
    assert backend.get_array_module() is np
    assert backend.get_array_module(x, 3, None) is np
    assert backend.get_array_module(x, y) is chainerx
    assert backend.get_array_module(y) is chainerx
    assert cuda.get_array_module(y) is chainerx


def test_get_device_from_array():
    y = chainerx.ones(2, device='native:1')
    assert backend.get_device_from_array() == backend.CpuDevice()
    assert backend.get_device_from_array(np.ones(2), 3, None) == backend.CpuDevice()
    assert backend.get_device_from_array(np.ones(2), y).name == 'native:1'
    assert cuda.get_device_from_array(y) == cuda.DummyDevice


@pytest.mark.parametrize('name', ['@numpy', 'native:1'])
def test_variables(name):
    device = chainer.get_device(name)
    x = chainer.Variable(device.send(np.ones(2, 'f')))
    assert backend.get_array_module(x) is device.xp
    assert backend.get_device_from_array(x) == device
    assert not chainer.is_arrays_compatible([x])
    for convert in (device.send, backend.to_chx, backend.from_chx, cuda.to_cpu):
        with pytest.raises(TypeError, match='Variable'):
            convert(x)


def test_guess_device_from_array_module():
    assert backend._guess_device_from_array_module(np) == backend.CpuDevice()
    with chainerx.using_device('native:1'):
        assert backend._guess_device_from_array_module(chainerx).name == 'native:1'
    assert backend._guess_device_from_array_module(object()) == backend.CpuDevice()


@pytest.mark.parametrize('dst', ['@numpy', 'native:0', 'native:1'])
@pytest.mark.parametrize('src', ['@numpy', 'native:0', 'native:1'])
@pytest.mark.parametrize('dtypes', [('f4', 'f8'), ('f2', 'f4'), ('f8', 'i4'), ('i4', 'i8')])
def test_copyto(dst, src, dtypes):
    to = chainer.get_device(dst).send(np.zeros((2, 3), dtypes[0]))
    backend.copyto(to, chainer.get_device(src).send(np.arange(3).astype(dtypes[1])))
    assert to.dtype == dtypes[0]
    np.testing.assert_array_equal(_cpu._to_cpu(to), [[0, 1, 2]] * 2)


@pytest.mark.parametrize('dst', ['@numpy', 'native:0'])
def test_copyto_of_scalars_and_views(dst):
    to = chainer.get_device(dst).send(np.zeros((2, 3), 'f'))
    backend.copyto(to, 5)
    backend.copyto(to[:, ::-2], np.array([[1], [2]], 'f'))
    np.testing.assert_array_equal(_cpu._to_cpu(to), [[1, 5, 1], [2, 5, 2]])


@pytest.mark.parametrize('dst', ['@numpy', 'native:0'])
def test_copyto_errors(dst):
    to = chainer.get_device(dst).send(np.zeros(3, 'i'))
    with pytest.raises(TypeError):
        backend.copyto(to, np.ones(3, 'f'))
    with pytest.raises(ValueError, match=r'.'):
        backend.copyto(to, np.ones(2, 'i'))
    with pytest.raises(TypeError, match='cannot copy to non-array object of type'):
        backend.copyto([1, 2, 3], to)


@pytest.mark.parametrize('name', ['@numpy', 'native:0'])
def test_contains_nan(name):
    send = chainer.get_device(name).send
    for dtype in ('f2', 'f4', 'f8'):
        assert backend._contains_nan(send(np.array([1, np.nan], dtype))) is True
        assert backend._contains_nan(send(np.array([1, np.inf], dtype))) is False
    assert backend._contains_nan(send(np.array([1]))) is False
    assert backend._contains_nan(send(np.zeros((0,), 'f'))) is False


def test_array_types():
    assert chainer.get_array_types()[:2] == (np.ndarray, chainerx.ndarray)
    assert chainer.get_cpu_array_types() == (np.ndarray, chainerx.ndarray)


def test_is_arrays_compatible():
    x, y = np.ones(2), chainerx.ones(2)
    assert chainer.is_arrays_compatible([])
    assert chainer.is_arrays_compatible([None])
    assert chainer.is_arrays_compatible([None, x, x])
    assert chainer.is_arrays_compatible((y, None))
    assert not chainer.is_arrays_compatible([x, y])
    assert not chainer.is_arrays_compatible([x, 3])
    assert not chainer.is_arrays_compatible([3])


def test_get_chainerx_device():
    device = chainerx.get_device('native:1')
    assert _chainerx._get_chainerx_device(device) is device
    assert _chainerx._get_chainerx_device('native:1') is device


@pytest.mark.parametrize(
    ('ndim', 'to_last', 'from_last'),
    [
        (3, (0, 2, 1), (0, 2, 1)),
        (4, (0, 2, 3, 1), (0, 3, 1, 2)),
        (5, (0, 2, 3, 4, 1), (0, 4, 1, 2, 3)),
    ],
)
@pytest.mark.parametrize('layout', ['CUDNN_CHANNEL_LAST_X', 'CUDNN_CHANNEL_LAST_W'])
def test_layout_axes(ndim, to_last, from_last, layout):
    axes = chainer.memory_layouts._get_layout_transpose_axes
    assert axes(ndim, None, layout) == to_last
    assert axes(ndim, layout, None) == from_last
    assert axes(ndim, None, layout, inverse=True) == from_last
    assert axes(ndim, layout, None, inverse=True) == to_last
    assert axes(ndim, layout, layout) is None


def test_layout_shapes():
    layouts = chainer.memory_layouts
    last = layouts.CUDNN_CHANNEL_LAST_X
    x = np.zeros((2, 3, 4, 5))
    assert layouts._transpose_array(x, None, last).shape == (2, 4, 5, 3)
    assert layouts._transpose_shape((2, 4, 5, 3), last, None) == x.shape
    assert layouts._transpose_array(x, None, None) is x
    assert layouts.get_raw_shape(x) == x.shape
    assert layouts.get_semantic_shape(x) == x.shape
    assert layouts.get_semantic_shape(x, assumed_layout=last) == (2, 5, 3, 4)
    with pytest.raises(ValueError, match="from 'None' to 'foo'"):
        layouts._transpose_shape(x.shape, None, 'foo')
    with pytest.raises(ValueError, match='needs 3 dimensions, got 2'):
        layouts._transpose_shape((2, 3), None, last)
