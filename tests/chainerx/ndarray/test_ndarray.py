"""`chainerx.ndarray`: attributes, methods, and that the whole surface is there."""

import ctypes
import inspect
import warnings

import chainerx as chx
import chainerx.testing
import numpy as np
import pytest
from cases import _promotion as p
from cases._arrays import filled, same
from cases._harness import to_numpy
from cases._table import np_dtype

SHAPES = [(), (1,), (3,), (2, 3), (0,), (2, 0, 3), (2, 3, 4), (1,) * 10]


# --- attributes


@pytest.mark.parametrize('dtype', p.ALL)
@pytest.mark.parametrize('shape', SHAPES, ids=str)
def test_attributes(shape, dtype, device):
    x = chx.ndarray(shape, dtype, device)
    n = np.zeros(shape, np_dtype(dtype))
    assert type(x) is chx.ndarray
    assert (x.shape, x.ndim, x.size) == (n.shape, n.ndim, n.size)
    assert (x.itemsize, x.nbytes) == (n.itemsize, n.nbytes)
    if n.size:  # NumPy's strides of an empty array depend on its version
        assert x.strides == n.strides
    assert x.dtype == n.dtype
    assert isinstance(x.dtype, np.dtype)
    assert x.device is device
    assert x.is_contiguous is True
    assert x.offset == 0
    assert isinstance(x.data_ptr, int)
    assert x.data_size == n.nbytes
    assert x.T.shape == n.T.shape


def test_attributes_of_views():
    x, n = filled(4, 6)
    view = x[1:, ::2]
    assert view.strides == n[1:, ::2].strides
    assert view.is_contiguous is False
    assert view.offset == 24
    assert view.data_ptr in (x.data_ptr, x.data_ptr + view.offset)
    assert view.data_size == x.data_size
    assert x.T.strides == n.T.strides
    assert x[::-1].strides == n[::-1].strides
    assert chx.broadcast_to(x[0], (3, 6)).strides == (0, 4)
    same(view, n[1:, ::2])


def test_attributes_are_read_only():
    x = chx.zeros(2)
    for name in ('shape', 'dtype', 'strides', 'size', 'ndim', 'device', 'T', 'data_ptr', 'nbytes'):
        with pytest.raises(AttributeError):
            setattr(x, name, 1)
    with pytest.raises(AttributeError):
        x.no_such_attribute = 1
    with pytest.raises((TypeError, AttributeError)):
        chx.ndarray.shape = 1


def test_constructor():
    assert chx.ndarray((2, 3), 'float32').shape == (2, 3)
    assert chx.ndarray(shape=4, dtype=np.int8, device='native:1').device.name == 'native:1'
    with pytest.raises(TypeError):
        chx.ndarray((2, 3))
    for bad in ((-1,), (1,) * 11):
        with pytest.raises((chx.DimensionError, ValueError)):
            chx.ndarray(bad, 'float32')
    with pytest.raises(TypeError):
        hash(chx.zeros(2))


@pytest.mark.parametrize(
    ('specifier', 'name'),
    [
        (bool, 'bool'),
        (int, 'int64'),
        (float, 'float64'),
        ('?', 'bool'),
        ('b', 'int8'),
        ('h', 'int16'),
        ('i', 'int32'),
        ('l', 'int64'),
        ('B', 'uint8'),
        ('e', 'float16'),
        ('f', 'float32'),
        ('d', 'float64'),
        ('bool_', 'bool'),
        ('float', 'float64'),
        ('int', 'int64'),
        (np.float16, 'float16'),
        (np.dtype('uint32'), 'uint32'),
        (chx.float32, 'float32'),
        (chx.bool_, 'bool'),
        ('bfloat16', 'bfloat16'),
        ('complex64', 'complex64'),
        ('uint64', 'uint64'),
        ('f4', 'float32'),
        ('<f8', 'float64'),
        ('=i2', 'int16'),
        ('|b1', 'bool'),
        ('c8', 'complex64'),
        ('half', 'float16'),
        ('single', 'float32'),
        ('double', 'float64'),
        ('longlong', 'int64'),
        ('intp', 'int64'),
        ('q', 'int64'),
        ('ubyte', 'uint8'),
        (b'f4', 'float32'),
        (complex, 'complex128'),
        (np.longlong, 'int64'),
        (ctypes.c_uint16, 'uint16'),
        (np.ones(1, 'f4')[:0].dtype, 'float32'),
    ],
    ids=str,
)
def test_dtype_specifiers(specifier, name):
    assert chx.zeros(1, specifier).dtype.name == name


def test_every_spelling_of_numpy_everywhere():
    """All names and codes of NumPy for these dtypes, in all routines that accept a dtype."""
    names = [name for name in dir(np) if isinstance(getattr(np, name), type)]
    names += [code + size for code in 'biufc' for size in ('1', '2', '4', '8', '16')]
    names += [order + name for order in '=|<' for name in ('i4', 'f8', 'u2')]
    names += [*np.typecodes['All']]
    supported = {np.dtype(d) for d in chx.testing.extended_all_dtypes}
    tried = 0
    for spelling in names:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('error')
                dtype = np.dtype(spelling)
        except (TypeError, DeprecationWarning):
            continue
        if dtype not in supported:
            with pytest.raises(chx.DtypeError):
                chx.zeros(1, spelling)
            continue
        tried += 1
        for made in (
            chx.ndarray((1,), spelling),
            chx.zeros(1).astype(spelling),
            chx.array([1], spelling),
            chx.array(np.ones(1), dtype=spelling),
            chx.asarray(chx.zeros(1), spelling),
            chx.empty(1, spelling),
            chx.full((1,), 1, spelling),
            chx.arange(1, dtype=spelling),
            chx.eye(1, dtype=spelling),
            chx.frombuffer(np.zeros(16, 'u1'), spelling),
            chx.fromiter([1], spelling),
        ):
            assert made.dtype == dtype, spelling
    assert tried > 60


@pytest.mark.parametrize(
    'bad',
    [
        'nonsense',
        '',
        'i16',
        'f4,f4',
        '(2,)f4',
        'longdouble',
        np.dtype('S3'),
        np.dtype('O'),
        np.dtype('M8[s]'),
        object,
        str,
        [('a', 'f4')],
    ],
    ids=str,
)
def test_bad_dtypes(bad):
    with pytest.raises(chx.DtypeError):
        chx.zeros(1, bad)


@pytest.mark.parametrize(
    'bad', [3, ('f4',), chx, lambda: 0], ids=['int', 'tuple', 'module', 'function']
)
def test_errors_of_non_dtypes(bad):
    with pytest.raises(TypeError, match='dtype must be'):
        chx.zeros(1, bad)


@pytest.mark.parametrize('bad', ['>f4', '>i8', np.dtype('>u2')], ids=str)
def test_swapped_byte_order_is_refused(bad):
    with pytest.raises(chx.DtypeError, match='byte order'):
        chx.zeros(1, bad)
    with pytest.raises(chx.DtypeError, match='byte order'):
        chx.zeros(1).astype(bad)


def test_byte_swapped_data_is_converted():
    n = np.arange(3, dtype='>f4')
    same(chx.array(n), [0, 1, 2])


def test_module_constants():
    assert chx.newaxis is None
    assert np.isnan(chx.nan)
    assert (chx.inf, chx.pi, chx.e) == (np.inf, np.pi, np.e)
    assert chx.dtype is np.dtype
    assert (chx.bool, chx.int, chx.float) == (bool, int, float)
    names = ('bool_', 'int8', 'int16', 'int32', 'int64', 'uint8', 'float16', 'float32', 'float64')
    assert tuple(chx.all_dtypes) == tuple(getattr(np, name) for name in names)
    for name in ('Inf', 'Infinity', 'NAN', 'NINF', 'NZERO', 'NaN', 'PINF', 'PZERO', 'infinity'):
        assert isinstance(getattr(chx, name), float), name
    assert chx.euler_gamma == np.euler_gamma


# --- methods, against NumPy's of the same name


@pytest.mark.parametrize(
    ('method', 'args', 'kw'),
    [
        ('reshape', (3, 2), {}),
        ('reshape', ((3, -1),), {}),
        ('transpose', (), {}),
        ('transpose', (1, 0), {}),
        ('transpose', ((1, 0),), {}),
        ('squeeze', (), {}),
        ('swapaxes', (0, 1), {}),
        ('repeat', (2,), {'axis': 1}),
        ('repeat', (2,), {}),
        ('flatten', (), {}),
        ('ravel', (), {}),
        ('copy', (), {}),
        ('view', (), {}),
        ('take', ([0, 2, 1],), {'axis': 1}),
        ('dot', (np.ones((3, 2)),), {}),
        ('clip', (1, 4), {}),
        ('argmax', (), {}),
        ('argmax', (), {'axis': 1}),
        ('argmin', (0,), {}),
        *(
            (name, args, kw)
            for name in ('sum', 'prod', 'max', 'min', 'mean', 'var', 'std', 'all', 'any')
            for args, kw in (((), {}), ((0,), {}), ((), {'axis': (0, 1), 'keepdims': True}))
        ),
    ],
    ids=str,
)
def test_methods(method, args, kw):
    _, n = filled(2, 3, dtype='float64')
    x = chx.array(n)
    own = [chx.array(a) if isinstance(a, np.ndarray) else a for a in args]
    actual, expected = getattr(x, method)(*own, **kw), np.asarray(getattr(n, method)(*args, **kw))
    assert actual.shape == expected.shape
    np.testing.assert_allclose(to_numpy(actual), expected, rtol=1e-12)
    same(x, n)


def test_fill():
    for dtype in p.ALL:
        x = chx.zeros((2, 3), dtype)
        x[:, ::2].fill(1)
        np.testing.assert_array_equal(to_numpy(x).astype(int), [[1, 0, 1]] * 2)
    x = chx.zeros((2, 0))
    x.fill(3)
    y = chx.zeros(())
    y.fill(2.5)
    assert float(y) == 2.5
    with pytest.raises(TypeError):
        y.fill('x')


@pytest.mark.parametrize('source', p.ALL)
def test_astype(source):
    n = np.array([[0, 1, 3], [2, 1, 7]]).astype(np_dtype(source))
    x = chx.array(n).T
    for target in p.ALL:
        if p.category(source) == 3 and p.category(target) < 3:
            continue  # drops the imaginary part in NumPy, with a warning
        y = x.astype(target)
        assert y.dtype.name == target
        same(y, n.T.astype(np_dtype(target)))
    assert x.astype(source) is not x
    assert x.astype(source, copy=False) is x
    assert x.astype(dtype=np_dtype(source), copy=True).data_ptr != x.data_ptr


def test_astype_of_special_values():
    values = np.array([np.inf, -np.inf, np.nan, 65504, 70000, 1e-8, -0.0, 0.1])
    with np.errstate(over='ignore'):
        for target in ('float16', 'float32', 'bfloat16'):
            same(chx.array(values).astype(target), values.astype(np_dtype(target)))
    for target in ('int32', 'bool'):
        small = np.array([1.9, -1.9, 0.0, 0.3])
        same(chx.array(small).astype(target), small.astype(target))


def test_views_share_memory():
    x, _ = filled(2, 3)
    for view in (x.view(), x.T, x[1:], x.reshape(6), x.ravel(), x.squeeze(), x[:, 1]):
        assert view is not x
        view[...] = 9
        assert float(x[1, 1]) == 9
        x[...] = 0
    for made in (x.copy(), x.flatten(), x.T.ravel(), x.astype('float32')):
        made[...] = 9
        assert float(x.sum()) == 0


def test_to_device():
    x, n = filled(2, 3)
    y = x.to_device('native:1')
    assert y.device.name == 'native:1'
    same(y, n)
    assert x.to_device('native', 2).device.name == 'native:2'
    assert x.to_device(x.device).data_ptr == x.data_ptr
    y[...] = 5
    same(x, n)
    for bad, error in (
        ('nonsense:0', chx.BackendError),
        ('native:99', IndexError),
        (1.5, TypeError),
    ):
        with pytest.raises((error, chx.DeviceError) if error is IndexError else error):
            x.to_device(bad)


# --- the whole surface

METHODS = """
    require_grad is_grad_required is_backprop_required get_grad set_grad cleargrad backward
    as_grad_stopped view copy astype fill item tolist flatten ravel to_device reshape transpose
    squeeze swapaxes repeat dot take sum max min mean var all any argmax argmin clip std prod
    _is_chained _debug_dump_computational_graph __array__ __iter__ __getitem__ __setitem__
"""
ATTRIBUTES = """
    T dtype shape strides ndim size itemsize nbytes offset data_ptr data_size is_contiguous device
    grad _debug_data_memory_address _debug_flat_data __array_interface__ __array_priority__
"""


def test_documented_names_exist():
    x = chx.ones((2, 2)).require_grad()
    for name in METHODS.split():
        assert callable(getattr(x, name)), name
    for name in ATTRIBUTES.split():
        getattr(x, name)
    assert x.__array_priority__ == 100
    assert x._debug_flat_data == [1, 1, 1, 1]


def test_methods_have_signatures_and_docstrings():
    for name in dir(chx.ndarray):
        method = getattr(chx.ndarray, name)
        if not name.startswith('_'):
            assert method.__doc__, f'{name} has no docstring'
        if not name.startswith('_') and callable(method):
            assert inspect.signature(method), name


def test_axes_of_length_one_may_have_any_stride():
    n = np.arange(24).reshape(2, 3, 4)
    x = chx.array(n)
    for key in ((slice(1), slice(1), slice(2)), (slice(1), 1), (0, slice(1, 2)), (slice(2), 0, 0)):
        assert x[key].is_contiguous is n[key].flags.c_contiguous, key
    assert x[:1, :1, :2].is_contiguous
    assert not x[:, :1].is_contiguous
    assert x[:0, ::2].is_contiguous


@pytest.mark.parametrize('shape', [(0, 2**62, 2**62), (2**62, 0, 2**62), (2**62, 2**62, 0)])
def test_empty_shapes_that_cannot_be_addressed(shape):
    for make in (chx.zeros, chx.empty, chx.ones, lambda s: chx.full(s, 1)):
        with pytest.raises(chx.DimensionError, match='too large to address'):
            make(shape)
    with pytest.raises(chx.DimensionError):
        chx.broadcast_to(chx.zeros((0, 1, 1) if shape[0] == 0 else (1, 1, 1)), shape)
