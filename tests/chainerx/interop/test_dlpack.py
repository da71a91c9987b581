"""DLPack: memory shared with other libraries: NumPy, PyTorch if installed, odd producers."""

import contextlib
import ctypes
import gc
import threading
import typing as tp
import weakref

import chainerx as chx
import numpy as np
import pytest

DTYPES = [d for d in chx.testing.all_dtypes if d != 'bfloat16']
A = np.arange(12, dtype='float32').reshape(3, 4)


class Other:
    """An object of another library that supports DLPack, over a NumPy array."""

    def __init__(self, array, **changes):
        self.array = array
        self.changes = changes
        self.asked = []

    def __dlpack_device__(self):
        return self.changes.get('device', (1, 0))

    def __dlpack__(self, **keywords):
        self.asked.append(keywords)
        if self.changes.get('old') and keywords:
            raise TypeError('unexpected keyword argument')
        return self.array.__dlpack__(**keywords)


@pytest.mark.parametrize('dtype', DTYPES)
def test_all_dtypes_both_ways(dtype):
    x = chx.array(A).astype(dtype)
    y = np.from_dlpack(x)
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, chx.to_numpy(x))
    back = chx.from_dlpack(A.astype(dtype))
    assert back.dtype == x.dtype
    np.testing.assert_array_equal(chx.to_numpy(back), A.astype(dtype))


def test_bfloat16():
    x = chx.array(A).astype('bfloat16')
    again = chx.from_dlpack(x)
    assert again.dtype == x.dtype
    np.testing.assert_array_equal(chx.to_numpy(again.astype('float32')), A)


@pytest.mark.parametrize(
    'view',
    [
        lambda x: x,
        lambda x: x.T,
        lambda x: x[::-1],
        lambda x: x[:, 1::2],
        lambda x: x[1, 2],
        lambda x: x[:0],
        lambda x: x[None, :, None],
    ],
)
def test_layouts_both_ways(view):
    x = view(chx.array(A))
    np.testing.assert_array_equal(np.from_dlpack(x), view(A))
    y = chx.from_dlpack(np.asarray(view(A.copy())))
    assert y.shape == view(A).shape
    np.testing.assert_array_equal(chx.to_numpy(y), view(A))


def test_memory_is_shared():
    x = chx.array(A)
    y = np.from_dlpack(x)
    x[0, 0] = 100
    assert y[0, 0] == 100
    a = A.copy()
    z = chx.from_dlpack(a)
    z[1, 1] = 50
    assert a[1, 1] == 50


def test_memory_lives_while_it_is_used():
    a = A.copy()
    gone = weakref.ref(a)
    x = chx.from_dlpack(a)
    y = x[1:] * 1
    view = x[1:]
    del a, x
    gc.collect()
    assert gone() is not None
    np.testing.assert_array_equal(chx.to_numpy(view), chx.to_numpy(y))
    del view
    gc.collect()
    assert gone() is None
    b = np.from_dlpack(chx.array(A) + 1)
    gc.collect()
    np.testing.assert_array_equal(b, A + 1)


def test_nothing_leaks():
    def counts():
        gc.collect()
        return tuple(chx._core._live_counts())

    chx._core._set_leak_tracking(True)
    try:
        before = counts()
        x = chx.array(A)
        x.__dlpack__()  # no one consumes it
        x.__dlpack__(max_version=(1, 0))
        y = chx.from_dlpack(np.from_dlpack(x))
        del x, y
        assert counts() == before
    finally:
        chx._core._set_leak_tracking(False)


def test_it_is_released_on_another_thread():
    a = A.copy()
    gone = weakref.ref(a)
    held = [chx.from_dlpack(a)]
    del a
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    chx.from_dlpack(A.copy())
    gc.collect()
    assert gone() is None


def test_read_only_memory():
    a = A.copy()
    a.flags.writeable = False
    try:
        x = chx.from_dlpack(a)
    except BufferError:
        pytest.skip('this NumPy cannot say that memory is read-only')
    with pytest.raises(chx.ChainerxError, match='read-only'):
        x[0, 0] = 1
    assert not np.from_dlpack(x).flags.writeable
    with pytest.raises(BufferError, match='read-only'):
        x.__dlpack__()
    x.__dlpack__(copy=True)


def test_gradients_stay_behind():
    x = chx.array(A).require_grad()
    y = x * 2
    z = chx.from_dlpack(y)
    assert not z.is_backprop_required()
    np.testing.assert_array_equal(np.from_dlpack(y), A * 2)


def test_a_capsule_is_taken_once():
    capsule = chx.array(A).__dlpack__(max_version=(1, 0))
    np.testing.assert_array_equal(chx.to_numpy(chx.from_dlpack(capsule)), A)
    with pytest.raises(BufferError, match='named used_dltensor_versioned'):
        chx.from_dlpack(capsule)


@pytest.mark.parametrize('dims', [(0, 2**62, 2**62), (2**62, 0, 2), (0, -1, 1), (2**61, 4, 4)])
def test_shapes_that_are_none(dims):
    """Another library may pass any values."""
    capsule = np.zeros((1, 1, 1)).__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    at_shape = pointer(capsule, b'dltensor') + 24  # the offset after data, device, ndim and dtype
    shape = ctypes.cast(at_shape, ctypes.POINTER(ctypes.POINTER(ctypes.c_int64)))[0]
    for i, n in enumerate(dims):
        shape[i] = n
    with pytest.raises(chx.DimensionError, match='from_dlpack'):
        chx.from_dlpack(capsule)


class Tensor(ctypes.Structure):
    _fields_: tp.ClassVar = [
        ('data', ctypes.c_void_p),
        ('device', ctypes.c_int32 * 2),
        ('ndim', ctypes.c_int32),
        ('dtype', ctypes.c_uint8 * 4),
        ('shape', ctypes.c_void_p),
        ('strides', ctypes.c_void_p),
        ('byte_offset', ctypes.c_uint64),
    ]


@pytest.mark.parametrize(
    ('fields', 'error', 'text'),
    [
        ({'data': None}, BufferError, 'its address is null'),
        ({'ndim': -1}, BufferError, 'has -1 dimensions'),
        ({'ndim': 100}, chx.DimensionError, 'too many dimensions: 100'),
        ({'shape': None}, BufferError, '2 dimensions and no shape'),
        ({'byte_offset': 3}, BufferError, 'not aligned'),
        ({'stride': 2**61}, BufferError, r'strides\[0\] is 2305843009213693952'),
        ({'dtype': (2, 64, 2, 0)}, chx.DtypeError, '2 lanes'),
        ({'device': (99, 0)}, BufferError, 'of type 99'),
    ],
)
def test_capsules_that_make_no_sense(fields, error, text):
    """They are checked before they are consumed, and the error survives the producer's deleter."""
    released = []

    class Watched(np.ndarray):
        def __del__(self):
            released.append(True)
            with contextlib.suppress(ValueError):
                raise ValueError('of its own')

    capsule = np.ones((2, 3)).view(Watched).__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = Tensor.from_address(pointer(capsule, b'dltensor'))
    for name, value in fields.items():
        if name == 'stride':
            ctypes.cast(tensor.strides, ctypes.POINTER(ctypes.c_int64))[0] = value
        else:
            setattr(tensor, name, value)
    with pytest.raises(error, match=text):
        chx.from_dlpack(capsule)
    del capsule
    gc.collect()
    assert released


def test_versions():
    x = chx.array(A)
    assert 'dltensor_versioned' in repr(x.__dlpack__(max_version=(1, 0)))
    assert 'dltensor_versioned' in repr(x.__dlpack__(max_version=(2, 3)))
    for version in (None, (0, 8)):
        assert '"dltensor"' in repr(x.__dlpack__(max_version=version))


def test_producers():
    new, old = Other(A.copy()), Other(A.copy(), old=True)
    for other in (new, old):
        np.testing.assert_array_equal(chx.to_numpy(chx.from_dlpack(other)), A)
        np.testing.assert_array_equal(chx.to_numpy(chx.from_dlpack(other, copy=False)), A)
    assert new.asked == [{'max_version': (1, 0)}, {'max_version': (1, 0), 'copy': False}]
    assert old.asked[1] == {}

    class Broken(Other):
        def __dlpack__(self, **keywords):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        chx.from_dlpack(Broken(A))


def test_device_and_copy():
    a = A.copy()
    x = chx.from_dlpack(a, device='native:1')
    assert x.device.name == 'native:1'
    assert chx.from_dlpack(a, device='native:0').device.name == 'native:0'
    with pytest.raises(ValueError, match=r'copy is False.*native:0.*native:1'):
        chx.from_dlpack(a, device='native:1', copy=False)
    y = chx.from_dlpack(a, copy=True)
    y[0, 0] = -1
    assert a[0, 0] == 0
    with chx.using_device('native:1'):
        assert chx.from_dlpack(a).device.name == 'native:1'


def test_device_numbers():
    x = chx.array(A)
    assert x.__dlpack_device__() == (1, 0)
    assert chx.array(A, device='native:1').__dlpack_device__() == (1, 0)
    x.__dlpack__(dl_device=(1, 0), copy=False)


def test_versions_that_are_not_there_yet():
    x = chx.array(A)
    assert 'versioned' in repr(x.__dlpack__(max_version=(2**40, 0)))
    assert 'versioned' not in repr(x.__dlpack__(max_version=(0, 9)))


class NoCapsule:
    def __dlpack__(self, **keywords):
        return 3


@pytest.mark.parametrize(
    ('call', 'error', 'text'),
    [
        (lambda x: chx.from_dlpack(3), TypeError, 'x is a int, expected an object with __dlpack__'),
        (lambda x: x.__dlpack__(stream=1), BufferError, 'native:0 has none'),
        (lambda x: x.__dlpack__(dl_device=(2, 0)), BufferError, r'on device \(2, 0\)'),
        (lambda x: x.__dlpack__(dl_device=3), TypeError, 'dl_device is a int'),
        (lambda x: x.__dlpack__(max_version=(1,)), TypeError, 'max_version is a tuple'),
        (lambda x: x.__dlpack__(dl_device=(2**32 + 1, 0)), BufferError, 'on device'),
        (lambda x: chx.from_dlpack(np.zeros((1,) * 11)), chx.DimensionError, '11'),
        (
            lambda x: chx.from_dlpack(Other(A, device=(1,))),
            TypeError,
            'is a tuple, expected a tuple of two',
        ),
        (
            lambda x: chx.from_dlpack(Other(A, device='cpu')),
            TypeError,
            'is a str, expected a tuple',
        ),
        (
            lambda x: chx.from_dlpack(Other(A, device=(1, 'x'))),
            TypeError,
            'from_dlpack: x.__dlpack',
        ),
        (
            lambda x: chx.from_dlpack(NoCapsule()),
            TypeError,
            r'__dlpack__\(\) is a int, expected a caps',
        ),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(chx.array(A))


def test_unaligned_memory():
    raw = np.zeros(A.nbytes + 1, 'int8')
    a = raw[1:].view('float32')
    try:
        capsule = a.__dlpack__()
    except BufferError:
        pytest.skip('this NumPy does not export it')
    with pytest.raises(BufferError, match='not aligned to elements of float32'):
        chx.from_dlpack(capsule)


def test_other_backends(build_backend, monkeypatch):
    monkeypatch.setenv('CHAINERX_PATH', str(build_backend('cuda').parents[1]))
    with chx.context_scope(chx.Context()):
        x = chx.array(A, device='cuda:1')
        assert x.__dlpack_device__() == (2, 1)
        y = chx.from_dlpack(x)
        assert y.device is x.device
        y[0, 0] = 7
        assert float(x[0, 0]) == 7
        host = chx.from_dlpack(x.__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
        assert host.device.name == 'native:0'
        with pytest.raises(BufferError, match='without a copy'):
            x.__dlpack__(dl_device=(1, 0), copy=False)
        x.__dlpack__(stream=1)
        del x, y, host
    monkeypatch.setenv('CHAINERX_PATH', str(build_backend('toy').parents[1]))
    with (
        chx.context_scope(chx.Context()),
        pytest.raises(BufferError, match=r'backend toy of toy:0 .* use to_device'),
    ):
        chx.ones(3, device='toy:0').__dlpack__()


def test_pytorch():
    torch = pytest.importorskip('torch')
    t = torch.arange(6.0).reshape(2, 3)
    x = chx.from_dlpack(t)
    x *= 2
    assert t[1, 2] == 10
    y = torch.from_dlpack(chx.array(A).T)
    np.testing.assert_array_equal(y.numpy(), A.T)
    assert torch.from_dlpack(chx.array(A).astype('bfloat16')).dtype is torch.bfloat16
    b = chx.from_dlpack(t.to(torch.bfloat16))
    assert b.dtype.name == 'bfloat16'


@pytest.mark.parametrize('pair', ['x', None, [1, 0], 1])
def test_device_that_is_no_tuple(pair):
    with pytest.raises(TypeError, match=r'from_dlpack: x.__dlpack_device__\(\) is a'):
        chx.from_dlpack(Other(A, device=pair))


def test_long_chains_of_owners():
    """Each array owns the memory of the one before; releasing them needs no stack."""
    gone = []
    for share in (chx.from_dlpack, lambda x: chx.frombuffer(x, 'float64')):
        a = np.ones(3)
        gone.append(weakref.ref(a))
        x = chx.from_dlpack(a)
        for _ in range(50_000):
            x = share(x)
        del a, x
    assert [ref() for ref in gone] == [None, None]
