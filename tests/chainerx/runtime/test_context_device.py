"""Contexts, backends and devices: section 3 of the contract."""

import copy
import pickle

import chainerx as chx
import pytest
from cases._harness import to_numpy


@pytest.fixture(autouse=True)
def _restore():
    device, context = chx.get_default_device(), chx.get_default_context()
    yield
    chx.set_default_context(context)
    chx.set_default_device(device)


def test_is_available():
    assert chx.is_available() is True


def test_backend():
    backend = chx.get_backend('native')
    assert isinstance(backend, chx.Backend)
    assert backend.name == 'native'
    assert backend.context is chx.get_default_context()
    assert backend.get_device_count() == 4
    assert backend.get_device(1) is chx.get_device('native:1')
    assert chx.get_default_context().get_backend('native') is backend
    for index in (4, -1, 100):
        with pytest.raises(IndexError):
            backend.get_device(index)
    with pytest.raises(chx.BackendError, match=r"'cpu' is neither .*; the CPU is 'native', a GPU"):
        chx.get_backend('cpu')
    for bad in (None, 1, b'native'):
        with pytest.raises(TypeError):
            chx.get_backend(bad)


def test_device():
    device = chx.get_device('native:1')
    assert isinstance(device, chx.Device)
    assert (device.name, device.index, device.backend.name) == ('native:1', 1, 'native')
    assert repr(device) == str(device) == 'native:1'
    assert device.context is chx.get_default_context()
    assert device.synchronize() is None
    assert device is chx.get_device('native', 1)
    assert device == chx.get_device('native:1')
    assert device != chx.get_device('native:0')
    assert pickle.loads(pickle.dumps(device)) is device
    assert copy.deepcopy(device) is device
    assert len({device, chx.get_device('native:1')}) == 1


def test_get_device():
    first = chx.get_device('native:0')
    assert chx.get_device('native') is first
    assert chx.get_device(first) is first
    assert chx.get_device() is chx.get_default_device()
    assert chx.get_device(None) is chx.get_default_device()
    for bad in (
        'native:',
        'native:x',
        'native:-1',
        ':0',
        '',
        'native:0:1',
        'native:99',
        'native: 1',
    ):
        with pytest.raises((chx.DeviceError, chx.BackendError, IndexError)):
            chx.get_device(bad)
    for bad in (1, 1.5, b'native', ['native']):
        with pytest.raises(TypeError):
            chx.get_device(bad)


def test_default_device():
    assert chx.get_default_device().name == 'native:0'
    chx.set_default_device('native:2')
    assert chx.get_default_device().name == 'native:2'
    assert chx.zeros(1).device.name == 'native:2'
    chx.set_default_device(chx.get_device('native:1'))
    assert chx.ones(1).device.name == 'native:1'
    with pytest.raises(TypeError):
        chx.set_default_device(None)


def test_using_device():
    before = chx.get_default_device()
    with chx.using_device('native:1') as scope:
        assert isinstance(scope, chx.DeviceScope)
        assert scope.device.name == 'native:1'
        assert chx.get_default_device() is scope.device
        with chx.using_device('native', 2):
            assert chx.get_default_device().name == 'native:2'
        assert chx.get_default_device().name == 'native:1'
    assert chx.get_default_device() is before
    with pytest.raises(KeyError), chx.using_device('native:3'):
        raise KeyError
    assert chx.get_default_device() is before
    scope = chx.using_device('native:1')
    scope.__enter__()
    scope.__exit__()
    assert chx.get_default_device() is before


def test_operands_on_two_devices():
    x, y = chx.ones(2, device='native:0'), chx.ones(2, device='native:1')
    with pytest.raises(chx.DeviceError, match=r'native:0.*native:1'):
        x + y
    with pytest.raises(chx.DeviceError):
        x += y
    with pytest.raises(chx.DeviceError):
        x[0] = y[0]
    assert to_numpy(x).tolist() == [1, 1]
    assert (x + y.to_device('native:0')).device is x.device
    assert (y * 2).device is y.device


def test_result_is_on_the_device_of_the_operands():
    x = chx.ones((2, 3), device='native:2')
    for y in (x + 1, x.sum(), x.T, x @ x.T, chx.exp(x), chx.concatenate([x, x]), x[0], x.copy()):
        assert y.device is x.device


def test_contexts():
    default = chx.get_default_context()
    assert isinstance(default, chx.Context)
    assert default is chx.get_global_default_context()
    other = chx.Context()
    assert other.get_device('native:0') is not chx.get_device('native:0')
    assert other.get_device('native', 1).context is other
    chx.set_default_device('native:2')
    with chx.context_scope(other) as scope:
        assert isinstance(scope, chx.ContextScope)
        assert chx.get_default_context() is other
        assert chx.get_default_device().context is other
        assert chx.get_default_device().name == 'native:0'
        assert chx.ones(2).device.context is other
    assert chx.get_default_context() is default
    assert chx.get_default_device().name == 'native:2'


def test_set_default_context():
    default, other = chx.get_default_context(), chx.Context()
    chx.set_default_context(other)
    assert chx.get_default_context() is other
    chx.set_default_context(default)
    for bad in (1, 'native'):
        with pytest.raises(TypeError):
            chx.set_default_context(bad)


def test_device_of_another_context():
    other = chx.Context()
    with pytest.raises(chx.ContextError):
        chx.set_default_device(other.get_device('native:0'))
    x, y = chx.ones(2), chx.ones(2, device=other.get_device('native:0'))
    with pytest.raises(chx.DeviceError, match='different contexts'):
        x + y
    with pytest.raises(chx.ContextError, match='different contexts'):
        x.to_device(y.device)
    assert (x + chx.array(chx.to_numpy(y), device=x.device)).tolist() == [2, 2]


def test_context_outlives_its_arrays():
    context = chx.Context()
    x = chx.ones(3, device=context.get_device('native:0'))
    del context
    assert float((x + x).sum()) == 6
    assert x.device.context.get_backend('native').get_device_count() == 4


def test_cuda_without_a_device():
    """All else works without a GPU, and the error names the searched library."""
    try:
        count = chx.get_backend('cuda').get_device_count()
    except chx.BackendError as error:
        text = str(error)
    else:
        pytest.skip(f'{count} CUDA devices')
    assert 'cuda' in text
    with pytest.raises(chx.BackendError, match='cuda'):
        chx.get_device('cuda:0')


def test_plugin_search(tmp_path, monkeypatch):
    (tmp_path / 'backends').mkdir()
    (tmp_path / 'backends' / 'broken.so').write_bytes(b'not a library')
    monkeypatch.setenv('CHAINERX_PATH', str(tmp_path))
    with pytest.raises(chx.BackendError, match='broken'):
        chx.get_backend('broken')
    with pytest.raises(chx.BackendError, match='absent'):
        chx.get_backend('absent')
    for bad in ('../x', 'a/b', '', '.', 'x' * 5000, 'nul\0'):
        with pytest.raises((chx.ChainerxError, ValueError)):
            chx.get_backend(bad)


def test_thread_count():
    before = chx.get_num_threads()
    try:
        chx.set_num_threads(2)
        assert chx.get_num_threads() == 2
        for bad in (0, -1, -7, 1025):
            with pytest.raises(ValueError, match=f'n is {bad},'):
                chx.set_num_threads(bad)
        for bad in ('x', 1.5, None):
            with pytest.raises(TypeError):
                chx.set_num_threads(bad)
        assert chx.get_num_threads() == 2
    finally:
        chx.set_num_threads(before)
