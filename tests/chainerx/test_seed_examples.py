"""The behaviours of the seed documents, one test per item."""

import inspect
import pathlib
import shutil
import subprocess
import sys

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from cases._table import NOT_OPS

ROOT = pathlib.Path(__file__).parents[2]


def test_a1_dtypes():
    for name in [
        'bool_',
        'int8',
        'int16',
        'int32',
        'int64',
        'uint8',
        'float16',
        'float32',
        'float64',
    ]:
        dtype = getattr(chx, name)
        assert chx.zeros((2,), dtype).dtype == np.dtype(dtype)
        assert chx.zeros((2,), name).dtype == np.dtype(dtype)


def test_a2_in_place_in_a_graph():
    a = chx.zeros((2,), chx.float32)
    a.require_grad()
    with pytest.raises(chx.ChainerxError):
        a += 1
    assert to_numpy(a).tolist() == [0, 0]


def test_a3_in_place_outside_the_graph():
    a = chx.zeros((2,), chx.float32)
    a.require_grad()
    b = a.as_grad_stopped()
    b += 1
    assert to_numpy(a).tolist() == [1, 1]
    assert not b.is_backprop_required()
    assert a.is_backprop_required()


def test_a6_mixed_dtypes_promote():
    x = chx.ones(2, chx.float32) + chx.ones(2, chx.int64) * chx.ones(2, chx.float64)
    assert x.dtype == 'float64'
    assert (chx.ones(2, 'int8') + chx.ones(2, 'float16')).dtype == 'float16'
    assert chx.ones(2).astype(chx.int32).dtype == 'int32'


def test_a7_true_division_of_integers():
    a = chx.array([3, 4], chx.int32)
    assert (a / a).dtype == 'float32'
    assert to_numpy(a / chx.array([2, 3], chx.int32))[0] == 1.5


def test_a8_cuda_without_a_gpu():
    try:
        x = chx.ones(2, device='cuda:0')
    except chx.BackendError as error:
        text = str(error)
    else:
        assert x.device.name == 'cuda:0'
        return
    assert 'cuda' in text
    assert float(chx.ones(2).sum()) == 2


def test_b1_array_attributes():
    x = chx.array([[0, 1, 2], [3, 4, 5]], dtype=chx.float32)
    assert x.shape == (2, 3)
    assert isinstance(x.dtype, np.dtype)
    assert (x.dtype, x.size, x.ndim) == ('float32', 6, 2)


def test_b2_names_of_the_text():
    for name in ['ones', 'ones_like', 'random.normal', 'using_device']:
        value = chx
        for part in name.split('.'):
            value = getattr(value, part)
        assert callable(value)


def test_b3_default_device():
    assert str(chx.array([1, 2, 3]).device) == 'native:0'


def test_b4_devices_by_name():
    x = chx.array([1, 2, 3], device='native:0')
    assert str(x.device) == 'native:0'
    assert str(x.to_device('native:1').device) == 'native:1'


def test_b5_using_device():
    before = chx.get_default_device()
    with chx.using_device('native:1'):
        x = chx.array([1, 2, 3])
    assert str(x.device) == 'native:1'
    assert chx.get_default_device() is before


def affine():
    x = chx.ones(784, dtype=chx.float32)
    W = chx.random.normal(size=(784, 1000)).astype(chx.float32).require_grad()
    b = chx.random.normal(size=(1000)).astype(chx.float32).require_grad()
    y = x.dot(W) + b
    y.grad = chx.ones_like(y)
    y.backward()
    assert type(W.grad) is chx.ndarray
    assert type(b.grad) is chx.ndarray
    assert W.grad.shape == (784, 1000)
    assert (to_numpy(W.grad) == 1).all()
    assert (to_numpy(b.grad) == 1).all()
    return y, W, b


def test_b6_affine():
    y, W, b = affine()
    np.testing.assert_allclose(
        to_numpy(y), to_numpy(W).sum(axis=0, dtype='f8') + to_numpy(b), rtol=1e-3, atol=1e-3
    )


def test_b7_affine_on_another_device():
    with chx.using_device('native:1'):
        for x in affine():
            assert x.device.name == 'native:1'


def test_c1_dtype_characters():
    arr = chx.array([1, 2, 3], dtype='f')
    assert arr.dtype == 'float32'


def test_c3_backend_name_alone():
    assert str(chx.array([1, 2, 3], dtype='f', device='native').device) == 'native:0'


def test_c5_build_switches():
    cmake = [p for p in ROOT.rglob('CMakeLists.txt') if 'build' not in p.parts]
    cmake += list(ROOT.glob('cmake/*.cmake'))
    text = ''.join(p.read_text() for p in cmake)
    assert 'CHAINERX_BUILD_CUDA' in text


def test_c6_broken_installation(tmp_path):
    assert chx.is_available() is True
    package = pathlib.Path(chx.__file__).parent
    shutil.copytree(package, tmp_path / 'chainerx', ignore=shutil.ignore_patterns('*.so', '*.pyc'))
    code = f'import sys; sys.path.insert(0, {str(tmp_path)!r}); import chainerx'
    result = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert result.returncode != 0
    message = result.stderr.splitlines()[-1]
    assert message.startswith('ImportError: the compiled part of chainerx is missing')
    assert str(tmp_path) in message
    assert 'pip install' in message


def test_c10_training_with_chainerx_alone():
    """A small network learns; examples/digits.py uses real digits."""
    chx.random.seed(0)
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((4, 16)) * 2
    labels = np.arange(200) % 4
    x = chx.array(centers[labels] + rng.standard_normal((200, 16)), 'float32')
    t = chx.array(labels, 'int64')
    shapes = [(16, 32), (32,), (32, 4), (4,)]
    params = [(chx.random.normal(size=s) * 0.1).astype('float32').require_grad() for s in shapes]
    for _ in range(60):
        w1, b1, w2, b2 = params
        y = chx.relu(x.dot(w1) + b1).dot(w2) + b2
        chx.softmax_cross_entropy(y, t).mean().backward()
        for p in params:
            data = p.as_grad_stopped()
            data -= p.grad * 0.5
            p.cleargrad()
    assert (to_numpy(y.argmax(axis=1)) == labels).mean() > 0.97


def camel(name):
    return ''.join(part[:1].upper() + part[1:] for part in name.split('_')).lower()


def test_c11_every_routine_has_a_cpp_function():
    """Each routine's name, in CamelCase, is declared in a header of the C++ operations."""
    folder = ROOT / 'cpp' / 'chainerx' / 'ops'
    if not folder.exists():
        pytest.skip('no sources beside the tests')
    text = ''.join(p.read_text() for p in [*folder.rglob('*.h'), *folder.rglob('*.def')]).lower()
    # Routines that are compositions, aliases or options of other functions (identity is Eye).
    other_names = """
        array asarray asanyarray ascontiguousarray to_numpy fromfile fromfunction fromiter
        fromstring loadtxt frombuffer amax amin absolute abs true_divide mod bitwise_not conjugate
        identity hsplit vsplit dsplit n_step_bigru n_step_bilstm n_step_birnn
        histogram2d
    """
    missing = []
    for name in dir(chx):
        value = getattr(chx, name)
        if name.startswith('_') or not callable(value) or inspect.isclass(value):
            continue
        if name in (other_names + NOT_OPS).split():
            continue
        if camel(name) not in text:
            missing.append(name)
    assert not missing


def test_d3_backend_plugin():
    """tests/cpp builds and loads a backend outside of the core; here: it exists and is short."""
    toy = ROOT / 'tests' / 'cpp' / 'toy_backend.cc'
    assert toy.exists()
    assert len(toy.read_text().splitlines()) < 100


def test_d5_core_without_python():
    core = [p for p in (ROOT / 'cpp' / 'chainerx').rglob('*') if p.suffix in ('.h', '.cc', '.def')]
    assert core
    for path in core:
        if 'python' not in path.relative_to(ROOT).parts:
            assert 'Python.h' not in path.read_text(), path
