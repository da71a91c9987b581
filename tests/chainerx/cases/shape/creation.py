"""Creation of arrays from shapes, values, files, other arrays."""

import io
import tempfile

import numpy as np
import pytest
from cases._promotion import scalar_dtype
from cases._table import ALL, BOOL, COMPLEX, FLOATS, INTS, REAL, Case, call, f

F4 = 'float32'
_ALL_NAMES = ('bool', 'int8', 'uint16', 'int64', 'bfloat16', 'float16', 'float64', 'complex64')


def _new(name, ref, calls, out=F4, **kw):
    return Case(name, ref, calls=calls, out=out, dtypes=ALL, order=0, **kw)


def _fails(*calls, error='DimensionError'):
    return [(bad, error) for bad in calls]


def _shapes(*args, dtypes=_ALL_NAMES):
    """Calls with every form of a shape and with dtypes."""
    forms = [call(s, *args) for s in ((2, 3), 4, (), (0, 2), [2, 2], (1,) * 10, np.int64(3))]
    return forms + [call((2, 3), *args, dtype=d) for d in dtypes]


_SHAPE_ERRORS = [
    (call((2, -1)), 'DimensionError|ValueError', '-1'),
    (call((1,) * 11), 'DimensionError', '11|10'),
    (call((2**62,)), 'DimensionError|MemoryError'),
    (call((2**31, 2**31)), 'DimensionError|MemoryError'),
    (call((2**62, 2**62)), 'DimensionError|MemoryError'),
    (call((2**62, 2**62, 0)), 'DimensionError|MemoryError'),
    (call('x'), 'TypeError'),
    (call((1.5,)), 'TypeError'),
    (call(None), 'TypeError'),
    (call(2, 'nonsense'), 'DtypeError', 'nonsense'),
    (call(2, object()), 'TypeError'),
]


def _arange(start, stop=None, step=None, dtype=None):
    values = (
        np.arange(start)
        if stop is None
        else np.arange(start, stop, 1 if step is None else step, dtype)
    )
    return values


def _arange_dtype(start, stop=None, step=None, dtype=None):
    return scalar_dtype(start if step is None or start % 1 != 0 else step)


def _check_empty(xp, device):
    for shape in ((2, 3), (), (0,), 5):
        for dtype in _ALL_NAMES:
            a = xp.empty(shape, dtype, device)
            assert a.shape == (shape if isinstance(shape, tuple) else (shape,))
            assert (a.dtype.name, a.device, a.is_contiguous) == (dtype, device, True)
    assert xp.empty(2).dtype == F4
    a = xp.zeros((2, 3), 'int8', device=device)
    assert xp.empty_like(a, device).shape == (2, 3)
    assert xp.empty_like(a).dtype == 'int8'


def _check_like(xp, device):
    a = xp.zeros((2, 3), 'int8', device=device).T
    for made, value in (
        (xp.zeros_like(a, device), 0),
        (xp.ones_like(a, device), 1),
        (xp.full_like(a, 7, device), 7),
    ):
        assert (made.shape, made.dtype, made.device) == ((3, 2), 'int8', device)
        assert (xp.to_numpy(made) == value).all()
    for made, value in (
        (xp.empty_like(a, device, dtype='bool', shape=(0, 4)), 0),
        (xp.zeros_like(a, device, dtype='float64', shape=(0, 4)), 0),
        (xp.ones_like(a, device, dtype='float64', shape=5), 1),
        (xp.full_like(a, 7, device=device, dtype='float16', shape=()), 7),
        (xp.full_like(a, 7.5, device=device, dtype='float16'), 7.5),
    ):
        assert made.dtype != 'int8'
        assert made.device is device
        assert (xp.to_numpy(made) == value).all()
    for shape in (-1, (2**62, 2**62)):
        with pytest.raises(xp.DimensionError):
            xp.ones_like(a, shape=shape)
    # Without `device` it is the default device, not that of the array.
    assert xp.ones_like(a).device is xp.get_default_device()


def _check_array(xp, device):
    for data in ([[1, 2], [3, 4]], [1.5], 3, 2.5, True, [], [[]], (1, 2), np.arange(3, dtype='i2')):
        a, n = xp.array(data, device=device), np.array(data)
        assert (a.shape, a.dtype, a.device) == (n.shape, n.dtype, device), data
        np.testing.assert_array_equal(xp.to_numpy(a), n)
    for dtype in _ALL_NAMES:
        a = xp.array([[0, 1], [1, 0]], dtype, device=device)
        assert a.dtype.name == dtype
        assert xp.array(a, device=device) is not a
        assert xp.asarray(a, device=device) is a
        assert xp.asanyarray(a, device=device) is a
        assert xp.asarray(a, 'float32', device=device).dtype == F4
    n = np.arange(6.0).reshape(2, 3)
    for view in (n, n.T, n[::-1], n[:, ::2], n[1], n[1, 2:], np.broadcast_to(n[0], (4, 3))):
        np.testing.assert_array_equal(xp.to_numpy(xp.array(view, device=device)), view)
    g = xp.array(n, device=device).require_grad()
    assert xp.array(g).is_backprop_required()
    assert xp.copy(g).is_backprop_required()


def _shares_memory(xp, device):
    """Whether host and device share memory; otherwise arrays are copied instead of viewed."""
    try:
        memoryview(xp.empty(1, device=device))
    except BufferError:
        return False
    return True


def _check_share(xp, device):
    shares = _shares_memory(xp, device)
    n = np.arange(6.0).reshape(2, 3)
    a = xp.array(n, copy=False)
    n[0, 0] = 42
    assert float(a[0, 0]) == (42 if shares else 0)
    back = xp.to_numpy(a, copy=False)
    back[1, 1] = 43
    assert float(a[1, 1]) == (43 if shares else 4)
    own = xp.to_numpy(a)
    own[:] = 0
    assert float(a[1, 1]) == (43 if shares else 4)


def _check_fortran(xp, device):
    """Checks `order` of all routines that accept it."""
    n = np.arange(24.0).reshape(2, 3, 4)
    for order in ('C', 'F', 'A', 'K', None):
        x = xp.array(n, device=device)
        for a in (x, x.T, x[:, ::-1], x[0], x[0, 0], x[0, 0, 0], x[:0]):
            results = [
                xp.asarray(a, order=order),
                xp.asanyarray(a, order=order),
                xp.array(a, order=order),
                xp.copy(a, order=order),
                a.copy(order),
                a.astype('float32', order=order),
            ]
            for y in results:
                assert y.tolist() == a.tolist()
                if order in ('C', 'F'):
                    assert (y if order == 'C' else y.T).is_contiguous
            assert all(y is not a and not xp.shares_memory(y, a) for y in results[2:])
        if order in ('C', 'F'):
            for name in ('empty', 'zeros', 'ones'):
                y = getattr(xp, name)((2, 3), 'int32', device=device, order=order)
                assert (y if order == 'C' else y.T).is_contiguous
                assert y.shape == (2, 3)
    t = xp.array(n, device=device).T
    assert t.copy('A').T.is_contiguous
    assert t.copy().is_contiguous
    assert xp.isfortran(t)
    assert not xp.isfortran(t.T)
    assert not xp.isfortran(t[0, 0])
    assert xp.asfortranarray(t).T.is_contiguous
    assert xp.shares_memory(xp.asfortranarray(t), t)
    y = xp.asfortranarray(t.T)
    assert y.T.is_contiguous
    assert y.tolist() == n.tolist()
    assert xp.asfortranarray([[1, 2], [3, 4]], 'float32', device).tolist() == [[1, 2], [3, 4]]
    assert xp.asfortranarray(t[0, 0, 0]).shape == (1,)
    x = xp.ones((2, 3), device=device).require_grad()
    (xp.asfortranarray(x) * x.copy('F')).sum().backward()
    assert x.grad.tolist() == [[2, 2, 2]] * 2
    for run in (lambda: x.copy('X'), lambda: xp.asarray(x, order='CF')):
        with pytest.raises(ValueError, match='order'):
            run()
    with pytest.raises(ValueError, match='copied'):
        xp.asarray(t, order='C', copy=False)


def _check_contiguous(xp, device):
    a = xp.array(np.arange(6.0).reshape(2, 3), device=device)
    assert xp.ascontiguousarray(a.T).is_contiguous
    assert xp.ascontiguousarray(a.T).shape == (3, 2)
    assert xp.ascontiguousarray(a[0, 0]).shape == (1,)
    assert xp.ascontiguousarray(a, 'int32').dtype == 'int32'


def _check_files(xp, device):
    n = np.arange(5, dtype='float32')
    same = np.testing.assert_array_equal
    same(xp.to_numpy(xp.frombuffer(n)), n)
    same(xp.to_numpy(xp.frombuffer(n.tobytes(), 'float32', 2, 4)), n[1:3])
    same(xp.to_numpy(xp.frombuffer(n, dtype='float32', count=-1, offset=8)), n[2:])
    shared = xp.frombuffer(n)
    n[0] = 9
    assert float(shared[0]) == (9 if _shares_memory(xp, device) else 0)
    with tempfile.NamedTemporaryFile() as file:
        n.astype('float64').tofile(file.name)
        same(xp.to_numpy(xp.fromfile(file.name, device=device)), n)
        same(xp.to_numpy(xp.fromfile(file.name, dtype=float, count=2)), n[:2])
    same(xp.to_numpy(xp.fromfunction(lambda i, j: i + j, (2, 3))), np.add.outer([0, 1], [0, 1, 2]))
    same(xp.to_numpy(xp.fromiter(range(4), 'int32', device=device)), np.arange(4))
    same(xp.to_numpy(xp.fromstring('1 2 3', sep=' ')), [1, 2, 3])
    same(xp.to_numpy(xp.loadtxt(io.StringIO('1 2\n3 4'), dtype=float)), [[1, 2], [3, 4]])
    same(xp.to_numpy(xp.loadtxt(io.StringIO('# a\n1,2'), delimiter=',', device=device)), [1, 2])
    for made in (
        xp.fromiter([1], 'int32', device=device),
        xp.fromstring('1', sep=' ', device=device),
    ):
        assert made.device is device


def _meshgrid(*xi, **kw):
    return [np.array(x) for x in np.meshgrid(*xi, **kw)]


def _linspace(start, stop, num=50, endpoint=True, dtype=None, *, retstep=False, axis=0):
    # NumPy reaches an array `stop` only up to rounding; steps of a single value are NaN.
    y, step = np.linspace(start, stop, num, endpoint, True, axis=axis)
    intervals = num - 1 if endpoint else num
    return (y, step if intervals > 0 else step * np.nan) if retstep else y


_x, _square = f(2, 3), f(3, 3)
_TRI = [call(3), call(3, 4), call(3, 2, 1), call(3, k=-1), call(0), call(2, 3, 9), call(2, 2, -9)]

CASES = [
    Case('empty', check=_check_empty),
    Case('empty_like', check=_check_empty),
    Case('zeros_like', check=_check_like),
    Case('ones_like', check=_check_like),
    Case('full_like', check=_check_like),
    _new('zeros', lambda shape, dtype=None: np.zeros(shape), _shapes(), errors=_SHAPE_ERRORS),
    _new('ones', lambda shape, dtype=None: np.ones(shape), _shapes(), errors=_SHAPE_ERRORS),
    _new(
        'full',
        lambda shape, value, dtype=None: np.full(shape, value),
        _shapes(1.5, dtypes=('float16', 'float64')) + _shapes(1.0)[-2:],
    ),
    _new('full', lambda shape, value: np.full(shape, value), [call((2, 2), 3)], out='int32'),
    _new('full', lambda shape, value: np.full(shape, value), [call((2, 2), True)], out='bool'),
    *(
        _new('arange', _arange, [c_], out=_arange_dtype(*c_.args, **c_.kw))
        for c_ in (
            call(5),
            call(5.0),
            call(2, 7),
            call(1, 2.5),
            call(2, 9, 3),
            call(9, 2, -3),
            call(0, 1, 0.25),
            call(0.5, 3, 1),
            call(-0.25, 5, 2),
            call(1.0, 3.5, 1),
            call(3, 1),
            call(0),
            call(5, dtype='int8'),
            call(1, 5, 2, dtype='float64'),
            call(-2.2, 3.4, dtype='int32'),
            call(0, 5, 0.5, dtype='int32'),
            call(2.5, -4, -1.5, dtype='int16'),
            call(0.5, 200, 1.25, dtype='uint8'),
        )
    ),
    _new('arange', _arange, [], errors=[(call(0, 5, 0), 'DimensionError', 'step is 0')]),
    _new(
        'linspace',
        lambda start, stop, num=50, endpoint=True, dtype=None: np.linspace(
            start, stop, num, endpoint
        ),
        [
            call(0, 1),
            call(0, 10, 5),
            call(0, 1, 4, False),
            call(1, 1, 1),
            call(0, 1, 0),
            call(5, -5, num=11, dtype='float64'),
            call(0, 4, 5, dtype='int32'),
        ],
        errors=[
            (call(0, 1, -1), 'DimensionError', '-1'),
            (call(0, 1, axis=1), 'DimensionError', '1'),
        ],
        tol=4,
    ),
    Case(
        'linspace',
        _linspace,
        calls=[
            call(f(2, 3), f(3), 5),
            call(f(3), 2, 4, False),
            call(1, f(2, 3), num=4, axis=-1),
            call(f(2), f(2), 1),
            call(f(2), f(2), 0),
            call(f(0), f(0), 3),
            call(f(), f(), 3),
            call(f(2, 3), f(2, 3), 3, axis=1),
        ],
        dtypes=REAL,
        out='float',
        unchecked=BOOL + COMPLEX,
        errors=[
            (call(f(2), f(3)), 'DimensionError'),
            (call(f(2), f(2), axis=2), 'DimensionError', '2'),
            (call(f(2), f(2), -1), 'DimensionError', '-1'),
        ],
        tol=8,
    ),
    Case(
        'linspace',
        _linspace,
        calls=[call(f(2, 3), f(3), 5, retstep=True), call(f(3), 2, 4, False, retstep=True)],
        dtypes=FLOATS,
        unchecked=BOOL + INTS + COMPLEX,
        multi=tuple,
        tol=8,
    ),
    _new(
        'identity',
        lambda n, dtype=None: np.identity(n),
        [call(3), call(0), call(2, dtype='int8')],
    ),
    _new('identity', None, [], errors=_fails(call(-1))),
    _new('eye', np.eye, [*_TRI], out='float64', errors=_fails(call(-1), call(2, -1))),
    _new('eye', lambda *a, dtype: np.eye(*a), [call(3, 2, 1, dtype='int8')]),
    _new('tri', np.tri, [*_TRI], errors=_fails(call(-1), call(2, -1))),
    _new('tri', lambda *a, dtype: np.tri(*a), [call(3, 2, 1, dtype='int8')]),
    Case(
        'diag',
        np.diag,
        sig='v, k=0',
        calls=[
            call(f(3)),
            call(f(3), 1),
            call(f(2), k=-1),
            call(_square),
            call(_x, 1),
            call(_x, -1),
            call(_x, 5),
            call(f(0)),
        ],
        dtypes=ALL,
        errors=_fails(call(f()), call(f(2, 2, 2))),
    ),
    Case(
        'diagflat',
        np.diagflat,
        sig='v, k=0',
        calls=[call(f(3)), call(_x), call(f(2), k=1), call(f(), -1)],
        dtypes=ALL,
    ),
    *(
        Case(
            name,
            ref,
            sig='m, k=0',
            calls=[
                call(_square),
                call(_x, 1),
                call(_x, k=-1),
                call(f(2, 3, 4)),
                call(f(3)),
                call(f(0, 2)),
            ],
            dtypes=ALL,
            errors=_fails(call(f())),
        )
        for name, ref in (('tril', np.tril), ('triu', np.triu))
    ),
    Case(
        'meshgrid',
        _meshgrid,
        calls=[
            call(f(2), f(3)),
            call(f(2), f(3), indexing='ij'),
            call(f(3)),
            call(f(2), f(1), f(3)),
            call(f(2), f(1), f(3), sparse=True),
            call(f(2), f(3), copy=True),
            call(f(2), f(0), sparse=True, indexing='ij'),
        ],
        dtypes=ALL,
        out='first',
        multi=tuple,
        errors=[(call(f(2), f(3), indexing='zz'), 'ValueError', 'zz')],
    ),
    Case(
        'copy',
        np.array,
        [_x],
        [call(f()), call(f(0, 2)), call(f(3, 3, 3))],
        sig='a, order=C',
        dtypes=ALL,
    ),
    *(Case(name, check=_check_array) for name in ('array', 'asarray', 'asanyarray')),
    Case('to_numpy', check=_check_share),
    Case('ascontiguousarray', check=_check_contiguous),
    Case('asfortranarray', check=_check_fortran),
    *(
        Case(name, check=_check_files)
        for name in ('frombuffer', 'fromfile', 'fromfunction', 'fromiter', 'fromstring', 'loadtxt')
    ),
]
