"""chainer.backends.cuda and intel64 without CuPy and iDeep."""

from __future__ import annotations

import importlib

import chainer
import chainerx
import numpy as np
import pytest
from chainer import backend
from chainer.backends import cuda, intel64

without_cupy = pytest.mark.skipif(cuda.available, reason='CuPy is here')
without_ideep = pytest.mark.skipif(intel64.is_ideep_available(), reason='iDeep is here')


def test_the_alias():
    assert importlib.import_module('chainer.cuda') is cuda
    assert chainer.cuda is cuda


@without_cupy
@pytest.mark.parametrize(
    'call',
    [
        cuda.check_cuda_available,
        lambda: chainer.get_device(0),
        lambda: chainer.get_device('0'),
        lambda: chainer.get_device('@cupy:0'),
        lambda: chainer.using_device(0),
        lambda: cuda.GpuDevice(0),
        lambda: cuda.GpuDevice.from_device_id(0),
        lambda: cuda.get_device_from_id(0),
        lambda: cuda.to_gpu(np.ones(2)),
        lambda: cuda.to_gpu(None),
        lambda: cuda.copy(np.ones(2)),
        lambda: cuda.elementwise('T x', 'T y', 'y = x', 'name'),
        lambda: cuda.reduce('T x', 'T y', 'x', 'a + b', 'y = a', '0', 'name'),
        lambda: cuda.raw('', 'name'),
    ],
)
def test_errors_without_cupy(call):
    with pytest.raises(RuntimeError, match='CUDA environment is not correctly set up'):
        call()


@without_cupy
def test_the_module_without_cupy():
    with pytest.raises(AttributeError, match=r'^cupy\.zeros: CuPy cannot be used\. Mod'):
        cuda.cupy.zeros(2)
    with pytest.raises(AttributeError, match=r'^cupyx\.scatter_add: CuPy cannot be used\. Mod'):
        cuda.cupyx.scatter_add()


@without_cupy
def test_classes_without_cupy():
    assert cuda.available is False
    assert cuda.cudnn_enabled is False
    assert not isinstance(np.ones(2), cuda.ndarray)
    assert cuda.GpuDevice.from_array(np.ones(2)) is None
    assert cuda.GpuDevice.supported_array_types == (cuda.ndarray,)
    with cuda.Device(0):
        pass
    cuda.Stream()
    cuda.Event()


@without_cupy
def test_decorators_without_cupy():
    def f(x):
        return x + 1

    assert cuda.fuse(f) is f
    assert cuda.fuse()(f) is f
    assert cuda.fuse(kernel_name='f')(f) is f
    assert cuda.memoize()(f) is f
    assert cuda.memoize(for_each_device=True)(f) is f
    cuda.clear_memo()


@without_cupy
def test_cudnn_without_cupy():
    assert cuda.get_max_workspace_size() == 0
    cuda.set_max_workspace_size(3)
    assert cuda.get_max_workspace_size() == 0
    with pytest.raises(RuntimeError, match='cuDNN is not enabled'):
        cuda.get_cudnn_dropout_states()
    assert chainer.should_use_cudnn('>=auto') is False
    assert chainer.should_use_cudnn('==always', 5000) is False


def test_tensor_core_setting():
    for value, expected in [('always', True), ('never', False)]:
        with chainer.using_config('use_cudnn_tensor_core', value):
            assert chainer.should_use_cudnn_tensor_core(np.float16) is expected
    if not cuda.cudnn_enabled:
        assert chainer.should_use_cudnn_tensor_core(np.float16) is False
    with (
        chainer.using_config('use_cudnn_tensor_core', 'bad'),
        pytest.raises(ValueError, match="invalid use_cudnn_tensor_core configuration: 'bad'"),
    ):
        chainer.should_use_cudnn_tensor_core(np.float16)


def test_dummy_device():
    dummy = cuda.DummyDevice
    assert dummy == cuda.DummyDeviceType()
    assert dummy != -1
    assert int(dummy) == dummy.id == -1
    with dummy as entered:
        assert entered is dummy
    assert dummy.use() is None
    assert dummy.synchronize() is None
    with pytest.raises(TypeError):
        hash(dummy)


def test_get_device():
    assert cuda.get_device_from_id(None) == cuda.DummyDevice
    assert cuda.get_device_from_id(-1) == cuda.DummyDevice
    assert cuda.get_device_from_array(np.ones(2)) == cuda.DummyDevice
    for args in [(), (None,), (np.ones(2),)]:
        with pytest.warns(DeprecationWarning, match='get_device is deprecated'):
            assert cuda.get_device(*args) == cuda.DummyDevice


def test_to_cpu():
    x = np.ones(2)
    assert cuda.to_cpu(x) is x
    assert cuda.to_cpu(None) is None
    assert isinstance(cuda.to_cpu(3), np.ndarray)
    result = cuda.to_cpu([x, None, 3])
    assert isinstance(result, list)
    assert result[0] is x
    assert result[1] is None
    y = chainerx.array(x, copy=False)
    assert np.shares_memory(cuda.to_cpu((y,))[0], x)
    with pytest.raises(TypeError, match='Actual type'):
        cuda.to_cpu(object())


@without_ideep
def test_errors_without_ideep():
    for call in (
        intel64.check_ideep_available,
        intel64.Intel64Device,
        lambda: chainer.get_device('@intel64'),
    ):
        with pytest.raises(RuntimeError, match='iDeep is not available'):
            call()
    assert intel64.inputs_all_ready((np.ones((2, 2), 'f'),)) is False
    assert intel64.should_use_ideep('>=auto') is False
    assert backend.Intel64Device.from_array(np.ones(2)) is None
    assert backend.Intel64Device.supported_array_types == (np.ndarray, intel64.mdarray)
