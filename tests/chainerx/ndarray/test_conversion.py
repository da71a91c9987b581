"""`chainerx.ndarray` to and from NumPy, buffers, lists, numbers, text, pickles and copies."""

import copy
import importlib
import operator
import pickle
import subprocess
import sys
import threading
import weakref

import chainerx as chx
import chainerx.testing
import numpy as np
import pytest
from cases import _promotion as p
from cases._arrays import filled, same
from cases._harness import to_numpy
from cases._table import np_dtype

SHAPES = [(), (1,), (3,), (2, 3), (0,), (2, 0, 3), (2, 3, 4), (1,) * 10]


@pytest.mark.parametrize('dtype', p.ALL)
def test_numpy_round_trip(dtype):
    n = np.array([[0, 1, 2], [3, 4, 1]]).astype(np_dtype(dtype))
    for view in (n, n.T, n[::-1, ::-1], n[:, 1:], n[0, 0], n[:0], np.broadcast_to(n[0], (4, 3))):
        x = chx.array(view)
        assert x.dtype == view.dtype
        for back in (to_numpy(x), np.asarray(x), np.array(x)):
            assert back.dtype == view.dtype
            np.testing.assert_array_equal(back, view)


@pytest.mark.parametrize(
    'view',
    [
        np.ones((4, 1)).T,
        np.ones((3, 4))[:, :1],
        np.ones((3, 4))[1:2],
        np.ones((5, 4, 3))[:1, :, :1],
        np.ones((0, 4))[:, ::2],
        np.ones((4, 0, 3)).T,
        np.lib.stride_tricks.as_strided(np.ones(1), (1, 1), (56, 16)),
        np.ones((2, 1, 3), 'f4')[:, ::-1],
    ],
    ids=lambda view: str(view.shape),
)
def test_strides_that_no_element_depends_on(view):
    """NumPy hides strides of axes of length 1 or 0 from buffers."""
    for x in (chx.asarray(view), chx.array(view, copy=False)):
        assert x.strides == view.strides
        assert chx.to_numpy(x, copy=False).strides == view.strides
        assert x.shape == view.shape
        assert to_numpy(x + 1).tolist() == (view + 1).tolist()
    assert chx.testing._fromnumpy(view, keepstrides=True).strides == view.strides


def test_array_protocol():
    x, n = filled(2, 3)
    a = np.asarray(x)
    a[0, 0] = 42  # no copy was made
    assert float(x[0, 0]) == 42
    assert np.array(x).ctypes.data != a.ctypes.data
    assert np.asarray(x, 'float64').dtype == 'float64'
    np.testing.assert_array_equal(np.asarray(x.T), np.asarray(x).T)
    assert np.asarray(x, copy=False).ctypes.data == a.ctypes.data
    with pytest.raises(ValueError, match='copy'):
        np.asarray(x, 'float64', copy=False)
    interface = x.__array_interface__
    assert interface['shape'] == (2, 3)
    assert interface['data'][0] == a.ctypes.data
    assert interface['typestr'] == n.dtype.str


def test_buffer_protocol():
    x, _ = filled(2, 3)
    view = memoryview(x)
    assert (view.shape, view.strides, view.format) == ((2, 3), (12, 4), 'f')
    assert view.tolist() == x.tolist()
    assert memoryview(x.T).strides == (4, 12)
    view[0, 0] = 7
    assert float(x[0, 0]) == 7
    assert bytes(memoryview(chx.array([1, 2], 'int8'))) == b'\x01\x02'
    kept = memoryview(chx.array([1.0, 2.0]))  # keeps the memory alive
    assert kept.tolist() == [1, 2]
    for dtype in p.ALL:
        if dtype != 'bfloat16':
            m = memoryview(chx.ones((2,), dtype))
            assert np.dtype(np.asarray(m).dtype) == dtype
    shared = chx.array(bytearray(b'\x01\x02'), copy=False)
    assert shared.tolist() == [1, 2]


def test_sharing_both_ways():
    n = np.arange(6.0).reshape(2, 3)
    x = chx.array(n, copy=False)
    assert x.dtype == 'float64'
    n[1, 2] = 50
    assert float(x[1, 2]) == 50
    x += 1
    assert n[1, 2] == 51
    transposed = chx.array(n.T[::-1], copy=False)
    assert transposed.strides == n.T[::-1].strides
    same(transposed, n.T[::-1])
    del n
    assert float(x[0, 0]) == 1


def test_read_only_sources_stay_unchanged():
    n = np.arange(3.0)
    n.flags.writeable = False
    x = chx.array(n, copy=False)
    same(x, n)
    with pytest.raises((chx.ChainerxError, ValueError)):
        x += 1
    with pytest.raises((chx.ChainerxError, ValueError)):
        x[0] = 5
    same(x, [0, 1, 2])
    assert not np.asarray(x).flags.writeable


def test_tolist_item_and_scalars():
    for dtype in p.ALL:
        x = chx.array([[1, 0], [0, 1]], dtype)
        n = np.array([[1, 0], [0, 1]])
        assert x.tolist() == n.tolist()
        kind = (bool, int, float, complex)[p.category(dtype)]
        assert type(x.tolist()[0][0]) is kind
        assert type(x[0, 0].item()) is kind
        assert x[0, 0].item() == 1
        assert bool(x[0, 0]) is True
        if kind is not complex:
            assert (int(x[0, 0]), float(x[0, 0])) == (1, 1.0)
        assert complex(x[0, 0]) == 1
    assert chx.array(2**63 - 1).item() == 2**63 - 1
    assert chx.array(2**64 - 1, 'uint64').item() == 2**64 - 1
    assert chx.array(5.0).tolist() == 5.0
    assert chx.zeros((2, 0)).tolist() == [[], []]
    assert int(chx.array([[3.7]])) == 3
    assert [10, 20, 30][chx.array(1)] == 20  # __index__
    with pytest.raises(TypeError):
        operator.index(chx.array(1.5))
    for convert in (int, float, bool, complex, lambda x: x.item()):
        for shape in ((2,), (0,)):
            with pytest.raises(chx.DimensionError):
                convert(chx.zeros(shape))
    x = chx.array([1.0], 'float32').require_grad()
    assert x.tolist() == [1.0]


def test_len_and_iteration():
    x, n = filled(3, 2)
    assert len(x) == 3
    for row, expected in zip(x, n, strict=True):
        same(row, expected)
    first, *rest = x
    assert len(rest) == 2
    same(first, n[0])
    assert list(chx.zeros((0, 3))) == []
    for use in (len, iter, list):
        with pytest.raises(TypeError):
            use(chx.zeros(()))
    g = chx.ones((2, 2)).require_grad()
    for row in g:
        row.backward()
    same(g.grad, np.ones((2, 2)))


@pytest.mark.parametrize(
    'values',
    [
        [0, 0.4337808, 999.3, 4.7e-7],
        [1, 1e-5],
        [0.001, 1000.5],
        [1e8, 1],
        [1e300, -1e-300, 0],
        [1 / 3, -2, 1000],
        [0.1, 0.25, -0.0],
        [np.nan, 1.5, -np.inf],
        [np.nan, np.inf],
        [np.nan, 1e10],
        [-np.inf, 1e-7, 123],
        [65504, 1, 6e-8],
        [16777217.0, 0.123456789],
        [1 + 2j, 10.5 + 3.25j],
        [1 - 2j, 1 + 22j, 1 - 333.5j],
        [1e-10 + 2j, -3 - 1e5j],
        [complex(np.nan, 1), complex(1, -np.inf), complex(1, np.nan)],
        [True, False],
        [1, -20, 300],
        [[1.5, 2], [-3, 0.25]],
        np.linspace(-1, 1, 8),
        np.logspace(-3, 3, 7),
        np.arange(5000) / 7,
        [],
        2.5,
        1e-10,
        np.nan,
    ],
)
def test_repr_shows_the_values_that_numpy_shows(values):
    values = np.array(values)
    kinds = {'f': ['float16', 'float32', 'float64'], 'c': ['complex64', 'complex128']}
    for dtype in kinds.get(values.dtype.kind, [values.dtype.name]):
        with np.errstate(over='ignore'):
            a = values.astype(dtype)
        shown = np.array2string(a, separator=', ', prefix='array(')
        assert repr(chx.array(a)).startswith(f'array({shown}, shape='), dtype


def test_repr_and_str():
    x = chx.array([[1, 2], [3, 4]], 'float32')
    text = repr(x)
    assert text.startswith('array([[1., 2.],')
    assert "shape=(2, 2), dtype=float32, device='native:0')" in text
    assert "backprop_ids=['<default>']" in repr(x.require_grad())
    assert repr(chx.zeros((0,))) == "array([], shape=(0,), dtype=float32, device='native:0')"
    for dtype in p.ALL:
        assert f'dtype={dtype}' in repr(chx.ones(2, dtype))
    assert '...' in repr(chx.zeros(5000))
    assert isinstance(str(x), str)


def test_format():
    assert f'{chx.array(3.14159):.2f}' == '3.14'
    assert f'{chx.array(7):5d}' == '    7'
    assert f'{chx.array([2.5]):.1f}' == '2.5'
    assert format(chx.array([1, 2])) == str(chx.array([1, 2]))
    with pytest.raises(TypeError):
        format(chx.array([1.0, 2.0]), '.2f')


@pytest.mark.parametrize(
    'make', [chx.linalg.qr, chx.linalg.svd, chx.linalg.eigh, chx.linalg.slogdet, chx.unique_all]
)
def test_results_with_names_are_pickled(make):
    result = make(chx.eye(2) * 3)
    for made in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert type(made) is type(result)
        assert [to_numpy(a).tolist() for a in made] == [to_numpy(a).tolist() for a in result]
    # Another process looks up the type before it has computed any result of it.
    code = f'import pickle; print(len(pickle.loads({pickle.dumps(result)!r})))'
    found = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert found.stdout.strip() == str(len(result)), found.stderr


@pytest.mark.parametrize('name', ['fft', 'linalg', 'random', 'special'])
def test_modules_are_imported_by_name(name):
    assert importlib.import_module(f'chainerx.{name}') is getattr(chx, name)


def test_pickle_and_copies():
    for dtype in p.ALL:
        x = chx.array([[1, 0, 1]], dtype, device='native:1').T
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            y = pickle.loads(pickle.dumps(x, protocol))
            same(y, to_numpy(x))
            assert (y.dtype, y.device) == (x.dtype, x.device)
        for made in (copy.deepcopy(x), copy.copy(x), x.copy()):
            same(made, to_numpy(x))
            assert made.device is x.device
    x = chx.ones(2).require_grad()
    (x * 2).backward()
    for made in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        same(made, [1, 1])
        assert not made.is_backprop_required()
    same(pickle.loads(pickle.dumps(chx.zeros((0, 2)))), np.zeros((0, 2)))


def test_weakref():
    x = chx.ones(2)
    ref = weakref.ref(x)
    assert ref() is x
    del x
    assert ref() is None


def test_identity():
    x = chx.ones(2).require_grad()
    (x * 2).backward()
    assert x.grad is x.grad
    assert x.device is x.device
    g = chx.ones(2)
    x.grad = g
    assert x.grad is g
    assert x.require_grad() is x


@pytest.mark.parametrize('origin', ['int64', 'uint64', 'float64'])
@pytest.mark.parametrize('target', ['bool', 'float16', 'float32', 'float64', 'int64'])
def test_any_64_bits(origin, target):
    """Including values for which halves of integers, ties and the ends of ranges fail first."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, 20000, 'uint64', endpoint=False)
    bits[::2] >>= rng.integers(0, 64, 10000, 'uint64')
    edges = [2**k + d for k in range(64) for d in (-1, 0, 1, 2 ** max(k - 53, 0))]
    edges = np.array([e % 2**64 for e in edges], 'uint64')
    halves = rng.integers(0, 2**16, 5000).astype('uint16').view('float16').astype('float64')
    halves = halves[np.isfinite(halves)]
    floats = [*halves, *np.nextafter(halves, 0), *(halves * (1 + 2**-12)), *(halves * 1.5)]
    floats += [np.inf, -np.inf, np.nan, 0.0, -0.0, 5e-324, 2.0**63, -(2.0**63), 1e300, 65520.0]
    n = np.concatenate([bits, edges, -edges, np.array(floats).view('uint64')]).view(origin)
    with np.errstate(all='ignore'):
        if origin == 'float64' and target == 'int64':
            fits = (n >= -(2.0**63)) & (n < 2.0**63)
            expected = np.where(fits, np.where(fits, n, 0).astype('int64'), -(2**63))
        else:
            expected = n.astype(target)
    found = chx.to_numpy(chx.array(n).astype(target))
    np.testing.assert_array_equal(found, expected)
    if target.startswith('float'):
        where = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found[where]), np.signbit(expected[where]))


def test_lists_of_different_lengths():
    for nested, text in (
        ([[1], [1, 2]], r'\[1\] has length 2, \[0\] has length 1'),
        ([1, [2]], r'\[1\] has length 1, \[0\] is no list'),
        ([[[1, 2]], [[1, 2], (3,)]], r'\[1\] has length 2, \[0\] has length 1'),
        ([[[1], (2,)], [[1], (2, 3)]], r'\[1\]\[1\] has length 2, \[1\]\[0\] has length 1'),
    ):
        for name in ('array', 'asarray'):
            with pytest.raises(ValueError, match=f'^{name}: the lists are inhomogeneous: {text}'):
                getattr(chx, name)(nested)


def test_a_list_that_holds_itself():
    """Recursion searches for the difference, here on a stack that would be too small."""
    nested = []
    nested.append(nested)
    found = []

    def convert():
        for function in (chx.array, chx.exp):
            with pytest.raises(ValueError, match='dimension') as error:
                function(nested)
            found.append(error)

    size = threading.stack_size(1 << 19)
    try:
        thread = threading.Thread(target=convert)
        thread.start()
    finally:
        threading.stack_size(size)
    thread.join()
    assert len(found) == 2
