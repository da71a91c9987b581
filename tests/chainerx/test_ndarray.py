"""`chainerx.ndarray`: attributes, methods, operators and conversions."""

import copy
import inspect
import operator
import pickle
import weakref

import chainerx as chx
import numpy as np
import pytest
from cases import _promotion as p
from cases._harness import to_numpy, wide
from cases._table import np_dtype

SHAPES = [(), (1,), (3,), (2, 3), (0,), (2, 0, 3), (2, 3, 4), (1,) * 10]


def same(x, expected):
    assert isinstance(x, chx.ndarray)
    expected = np.asarray(expected)
    assert x.shape == expected.shape
    x = to_numpy(x)
    if 'bfloat16' in (x.dtype, expected.dtype):  # NumPy doesn't see its nan as equal
        x, expected = wide(x), wide(expected)
    np.testing.assert_array_equal(x, expected)


def filled(*shape, dtype='float32'):
    n = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    return chx.array(n), n


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
    ],
    ids=str,
)
def test_dtype_specifiers(specifier, name):
    assert chx.zeros(1, specifier).dtype.name == name


@pytest.mark.parametrize('bad', ['nonsense', '', np.dtype('S3'), np.dtype('O'), np.dtype('M8[s]')])
def test_bad_dtypes(bad):
    with pytest.raises(chx.DtypeError):
        chx.zeros(1, bad)


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


# --- conversion


@pytest.mark.parametrize('dtype', p.ALL)
def test_numpy_round_trip(dtype):
    n = np.array([[0, 1, 2], [3, 4, 1]]).astype(np_dtype(dtype))
    for view in (n, n.T, n[::-1, ::-1], n[:, 1:], n[0, 0], n[:0], np.broadcast_to(n[0], (4, 3))):
        x = chx.array(view)
        assert x.dtype == view.dtype
        for back in (to_numpy(x), np.asarray(x), np.array(x)):
            assert back.dtype == view.dtype
            np.testing.assert_array_equal(back, view)


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
    assert 'nan' in repr(chx.array([float('nan')]))
    assert isinstance(str(x), str)


def test_format():
    assert f'{chx.array(3.14159):.2f}' == '3.14'
    assert f'{chx.array(7):5d}' == '    7'
    assert f'{chx.array([2.5]):.1f}' == '2.5'
    assert format(chx.array([1, 2])) == str(chx.array([1, 2]))
    with pytest.raises(TypeError):
        format(chx.array([1.0, 2.0]), '.2f')


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


# --- operators

BINARY = {
    '+': operator.add,
    '-': operator.sub,
    '*': operator.mul,
    '/': operator.truediv,
    '//': operator.floordiv,
    '%': operator.mod,
    '**': operator.pow,
}
BITS = {'&': operator.and_, '|': operator.or_, '^': operator.xor}
SHIFTS = {'<<': operator.lshift, '>>': operator.rshift}
COMPARE = {'==': operator.eq, '!=': operator.ne, '<': operator.lt, '<=': operator.le}
COMPARE |= {'>': operator.gt, '>=': operator.ge}
IN_PLACE = {'+': operator.iadd, '-': operator.isub, '*': operator.imul, '/': operator.itruediv}
IN_PLACE |= {'//': operator.ifloordiv, '%': operator.imod, '&': operator.iand, '|': operator.ior}
IN_PLACE |= {'^': operator.ixor, '<<': operator.ilshift, '>>': operator.irshift}


@pytest.mark.parametrize('symbol', BINARY | BITS | SHIFTS | COMPARE)
def test_binary_operators(symbol):
    function = (BINARY | BITS | SHIFTS | COMPARE)[symbol]
    dtype = 'int32' if symbol in BITS | SHIFTS else 'float64'
    n1, n2 = np.array([[5, 1, 4]] * 2, dtype), np.array([2, 3, 4], dtype)
    x1, x2 = chx.array(n1), chx.array(n2)
    same(function(x1, x2), function(n1, n2))
    same(function(x2, x1), function(n2, n1))
    same(function(x1, 3), function(n1, 3))
    if symbol not in SHIFTS:
        same(function(7, x2), function(7, n2))
        same(function(x1, np.int64(3)), function(n1, 3))
    if dtype == 'float64':
        same(function(x1, 2.5), function(n1, 2.5))
        same(function(2.5, x2), function(2.5, n2))
        same(function(x1, np.float64(2.5)), function(n1, 2.5))
    else:
        with pytest.raises(chx.DtypeError):
            function(x1, 2.5)
    if symbol == '<<':
        same(2 << x2, 2 << n2)


@pytest.mark.parametrize('symbol', IN_PLACE)
def test_in_place_operators(symbol):
    function = IN_PLACE[symbol]
    dtype = 'int32' if symbol in ['&', '|', '^', '<<', '>>'] else 'float64'
    n, m = np.array([[5, 1, 4]] * 2, dtype), np.array([2, 3, 1], dtype)
    for operand in (chx.array(m), 2):
        x, expected = chx.array(n), n.copy()
        view = x[:]
        result = function(x, operand)
        assert result is x
        same(x, function(expected, m if isinstance(operand, chx.ndarray) else operand))
        same(view, to_numpy(x))
    base, expected = chx.array(n), n.copy()
    part, expected_part = base[:, ::-2], expected[:, ::-2]
    function(part, chx.array(m[:2]))
    function(expected_part, m[:2])
    same(base, expected)
    with pytest.raises(chx.DimensionError):
        function(chx.array(n), chx.array(m[:2]))
    with pytest.raises(chx.DimensionError):  # the result would be larger than the target
        function(chx.array(m), chx.array(n))


def test_in_place_rules_of_dtypes():
    i4, f2, b = chx.array([4], 'int32'), chx.array([4], 'float16'), chx.array([True])
    for bad in (2.5, chx.array([2.5]), f2):
        with pytest.raises(chx.DtypeError):
            i4 += bad
    with pytest.raises(chx.DtypeError):
        i4 /= 2
    for bad in (1, True, chx.array([1]), b):
        with pytest.raises(chx.DtypeError):
            b += bad
    b *= b
    same(b, [True])
    i4 += chx.array([2**40 + 1], 'int64')  # wraps
    same(i4, [5])
    f2 += chx.array([1.0], 'float64')
    assert f2.dtype == 'float16'
    same(f2, [5])


def test_overlapping_operands():
    for step in (1, -1):
        n = np.arange(100.0)
        x = chx.array(n)
        a, b = (x[1:], x[:-1]) if step == 1 else (x[:-1], x[1:])
        a += b
        na, nb = (n[1:], n[:-1]) if step == 1 else (n[:-1], n[1:])
        na += nb.copy()
        same(x, n)
    n = np.arange(16.0).reshape(4, 4)
    x = chx.array(n)
    x *= x.T
    same(x, n * n.T)
    x = chx.array(n)
    x[...] = x[::-1]
    same(x, n[::-1])


def test_power_in_place_rebinds():
    x = y = chx.array([2.0, 3.0])
    x **= 2
    same(x, [4, 9])
    same(y, [2, 3])


def test_unary_operators():
    x = chx.array([[-1.5, 2.0]])
    same(-x, [[1.5, -2.0]])
    same(abs(x), [[1.5, 2.0]])
    same(+x, [[-1.5, 2.0]])
    with pytest.raises(chx.DtypeError):
        -chx.array([True])


def test_matmul_operator():
    x, n = filled(2, 3)
    same(x @ x.T, n @ n.T)
    same(x @ chx.array([1, 2, 3], 'float32'), n @ [1, 2, 3])
    with pytest.raises(chx.DimensionError):
        x @ x
    with pytest.raises(TypeError):
        x @ 2


def test_comparison_with_what_is_no_array():
    x = chx.array([1.0, 2.0])
    assert (x == None) is False or isinstance(x == None, chx.ndarray)  # noqa: E711
    assert (x != 'text') is True
    with pytest.raises(TypeError):
        x < 'text'  # noqa: B015
    assert x is not None


OPERATORS = [*BINARY.values(), *COMPARE.values(), operator.matmul]


@pytest.mark.parametrize('function', OPERATORS, ids=lambda f: f.__name__)
def test_numpy_operands_are_refused_with_the_fix(function):
    x, n = chx.array([[1.0, 2.0], [3.0, 4.0]]), np.ones((2, 2))
    for a, b in ((x, n), (n, x)):
        with pytest.raises(TypeError, match=r'chainerx\.array'):
            function(a, b)
    before = to_numpy(x)
    if function in BINARY.values() and function is not operator.pow:
        with pytest.raises(TypeError, match=r'chainerx\.array'):
            IN_PLACE[next(s for s, f in BINARY.items() if f is function)](x, n)
    same(x, before)
    with pytest.raises(TypeError):
        np.add(n, x)
    with pytest.raises(TypeError):
        np.exp(x)


@pytest.mark.parametrize('function', [operator.add, operator.mul, operator.sub, operator.matmul])
def test_operators_refuse_other_objects(function):
    x = chx.array([1.0])
    for other in (None, 'x', [1.0], (1.0,), object(), {}):
        with pytest.raises(TypeError):
            function(x, other)
        with pytest.raises(TypeError):
            function(other, x)

    class Other:
        __array_priority__ = 1000

        def __radd__(self, x):
            return 'mine'

    assert x + Other() == 'mine'


def test_scalars_out_of_range():
    x = chx.array([1, 2], 'int32')
    for value in (-(2**63) - 1, 2**64, 2**70, -(2**70)):
        with pytest.raises((chx.ChainerxError, OverflowError, ValueError)):
            x + value
    same(x, [1, 2])


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
