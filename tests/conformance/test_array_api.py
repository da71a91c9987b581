"""The array API standard: results of its functions here and in `array-api-strict`.

A row is an expression in the standard's namespace `xp` and the arrays below. `array_api.txt` lists
those that differ or fail, each with its reason; it may only shrink.
"""

import inspect
import pathlib
import warnings

import chainerx as chx
import numpy as np
import pytest

strict = pytest.importorskip('array_api_strict')

VALUES = {
    'f': np.array([[0.5, -1.25, 3.0, 2.0], [1.5, 0.25, -0.75, 4.0], [2.5, 1.0, 0.125, -2.0]]),
    'g': np.array([[1.0, 2.0, 0.5, 4.0]]),
    'p': np.array([[0.1, 0.2, 0.75], [0.3, 0.9, 0.5]]),
    'q': np.array([1.5, 2.5, 7.0]),
    't': np.array([[4.0, 1j, 0.5], [-1j, 3.0, 0.25 - 1j], [0.5, 0.25 + 1j, 2.0]]),
    'm': np.array([[1 + 2j, 0.5j], [3.0, -1.0], [0.25 - 1j, 2.0]]),
    's': np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]]),
    'h': np.array([0.5, -2.0, 3.25], 'f4'),
    'i': np.array([[3, 1, 2], [7, 5, 1]]),
    'j': np.array([2, 3, 1]),
    'k': np.array([4, 5, 6], 'u1'),
    'b': np.array([[True, False, True], [False, False, True]]),
    'c': np.array([1 + 2j, -0.5j, 3.0 + 0j]),
    'n': np.array([np.nan, np.inf, -np.inf, 0.0, -1.5]),
    'o': np.array([], 'f8'),
    'z': np.array(2.5),
}

UNARY = {
    'f': 'abs ceil cos sin exp expm1 floor round sign square tan tanh trunc negative positive cosh '
    'sinh atan asinh isfinite isinf isnan signbit',
    'p': 'acos asin atanh log log1p log2 log10 sqrt reciprocal',
    'q': 'acosh',
    'i': 'abs sign square negative bitwise_invert ceil floor trunc round',
    'b': 'logical_not bitwise_invert',
    'c': 'abs conj exp imag real log sqrt square negative sign',
    'n': 'isfinite isinf isnan signbit abs sign',
}
BINARY = {
    'f, g': 'add subtract multiply divide pow atan2 copysign floor_divide remainder greater '
    'greater_equal less less_equal equal not_equal maximum minimum hypot logaddexp nextafter',
    'i, j': 'add subtract multiply floor_divide remainder pow bitwise_and bitwise_or bitwise_xor '
    'bitwise_left_shift bitwise_right_shift equal less maximum minimum',
    'b, b': 'logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor equal',
    'c, c': 'add multiply divide equal',
    'k, j': 'add multiply',
}
REDUCTIONS = 'sum prod max min mean std var'
OTHERS = """
    f + g; f - 2.0; 2 * f; f / g; f ** 2; f @ f.T; -f; abs(f); f % g; f // g; i & j; i | j; i ^ j
    ~b; ~i; i << j; i >> j; f > g; f == f; f != g; +f; 3 - i; f[1, ...]; f[:, ::2]; f[..., None]
    f[::-1, 1:3]; f[f > 0]; f[1, 2]; i[b]; f[xp.asarray([2, 0]), xp.asarray([1, 3])]
    f.T; f.mT; f.shape; f.size; f.ndim; f.dtype
    z.shape; float(z); int(z); bool(z); complex(z); xp.abs(z); xp.sum(o)
    xp.prod(o); xp.mean(q, keepdims=True); xp.arange(3, dtype=xp.int64)
    xp.arange(2.0, 8.0, 1.5, dtype=xp.float64); xp.asarray([[1, 2], [3, 4]], dtype=xp.float32)
    xp.asarray(f, copy=True); xp.asarray(f); xp.asarray(2.5, dtype=xp.float64); xp.asarray(True)
    xp.asarray(f, dtype=xp.float32); xp.empty((2, 3), dtype=xp.int8).shape
    xp.empty_like(f).shape; xp.eye(3, 4, k=1, dtype=xp.float64)
    xp.full((2, 3), 7, dtype=xp.int64); xp.full_like(f, 3.0)
    xp.linspace(0.0, 1.0, 5, dtype=xp.float64)
    xp.linspace(0.0, 1.0, 4, endpoint=False, dtype=xp.float64); xp.ones((2,), dtype=xp.bool)
    xp.ones_like(i); xp.zeros((2, 0), dtype=xp.float32); xp.zeros_like(b); xp.tril(f)
    xp.triu(f, k=1); xp.meshgrid(q, q, indexing='ij'); xp.meshgrid(q, q)
    xp.broadcast_to(j, (2, 3)); xp.broadcast_arrays(f, g); xp.broadcast_shapes((2, 1), (3,))
    xp.concat([f, f], axis=1); xp.concat([q, j.__array_namespace__().asarray(q)])
    xp.concat([f, g], axis=None); xp.expand_dims(f, axis=1); xp.flip(f); xp.flip(f, axis=0)
    xp.moveaxis(f, 0, 1); xp.permute_dims(f, (1, 0)); xp.repeat(j, 2); xp.repeat(i, 3, axis=1)
    xp.reshape(f, (4, 3)); xp.reshape(f, (-1,), copy=True); xp.roll(f, 1)
    xp.roll(f, (1, 2), axis=(0, 1)); xp.squeeze(g, axis=0); xp.stack([f, f], axis=-1)
    xp.tile(j, (2, 2)); xp.unstack(i, axis=1); xp.matmul(f, f.T); xp.matrix_transpose(f)
    xp.tensordot(f, f, axes=2); xp.tensordot(s, s, axes=1); xp.vecdot(f, f); xp.vecdot(c, c)
    xp.tensordot(f, f, axes=((0,), (0,))); xp.argmax(f); xp.argmax(f, axis=1)
    xp.argmin(f, axis=0, keepdims=True); xp.nonzero(b); xp.count_nonzero(b)
    xp.count_nonzero(i, axis=1, keepdims=True); xp.where(b, i, 0 * i)
    xp.searchsorted(q, xp.asarray([2.0, 8.0], dtype=xp.float64))
    xp.searchsorted(q, q, side='right'); xp.sort(f); xp.sort(f, axis=0, descending=True)
    xp.argsort(f); xp.argsort(f, descending=True); xp.argsort(i, stable=True)
    xp.unique_values(i); xp.unique_counts(i).counts; xp.unique_inverse(i).inverse_indices
    xp.unique_all(i).indices; xp.all(b); xp.any(b, axis=1); xp.all(b, axis=0, keepdims=True)
    xp.any(i); xp.cumulative_sum(q); xp.cumulative_sum(f, axis=1, include_initial=True)
    xp.cumulative_prod(j); xp.diff(f); xp.diff(f, axis=0, n=2)
    xp.take(f, xp.asarray([2, 0]), axis=1); xp.take_along_axis(f, xp.argsort(f), axis=-1)
    xp.clip(f, 0.0, 1.0); xp.clip(f, min=0.5); xp.sum(i, dtype=xp.float64);  xp.sum(k)
    xp.sum(h); xp.prod(k); xp.var(f, correction=1.0); xp.std(f, axis=0, correction=1.0)
    xp.sum(f, axis=(0, 1)); xp.max(i, axis=-1); xp.astype(f, xp.int32); xp.astype(i, xp.float32)
    xp.astype(f, xp.float64, copy=False); xp.can_cast(xp.int8, xp.int16)
    xp.can_cast(xp.float64, xp.float32); xp.can_cast(f, xp.complex128)
    xp.result_type(xp.int8, xp.uint8); xp.result_type(f, h); xp.result_type(h, xp.complex64)
    xp.result_type(h, 1.0); xp.result_type(k, 1); xp.isdtype(xp.int8, 'integral')
    xp.isdtype(xp.uint8, 'signed integer'); xp.isdtype(xp.bool, 'bool')
    xp.isdtype(xp.float32, ('integral', 'real floating')); xp.isdtype(xp.complex64, xp.complex64)
    xp.isdtype(xp.float64, 'numeric'); xp.finfo(xp.float32).eps; xp.finfo(h).bits
    xp.iinfo(xp.int16).max; xp.finfo(xp.float64).smallest_normal; xp.iinfo(k).bits; xp.e; xp.pi
    xp.inf; xp.newaxis; f.__array_namespace__().pi
    f.__array_namespace__(api_version='2023.12').pi; xp.linalg.cholesky(s); xp.linalg.det(s)
    xp.linalg.inv(s); xp.linalg.solve(s, q); xp.linalg.trace(s); xp.linalg.slogdet(s).logabsdet
    xp.linalg.eigh(s).eigenvalues; xp.linalg.eigvalsh(s); xp.linalg.svdvals(f)
    xp.linalg.svd(f, full_matrices=False).S; xp.linalg.pinv(f); xp.linalg.matrix_norm(f)
    xp.linalg.vector_norm(f); xp.linalg.vector_norm(f, axis=1, ord=1)
    xp.linalg.matrix_power(s, 3); xp.linalg.matrix_rank(s); xp.linalg.outer(q, q)
    xp.linalg.cross(q, q); xp.linalg.diagonal(s, offset=1); xp.linalg.matmul(f, f.T)
    xp.linalg.matrix_transpose(f); xp.linalg.vecdot(f, f); xp.linalg.tensordot(s, s, axes=1)
    abs(xp.linalg.qr(s).R); xp.linalg.cholesky(t); xp.linalg.cholesky(t, upper=True)
    xp.linalg.det(t); xp.linalg.inv(t); xp.linalg.solve(t, c); xp.linalg.solve(t, m)
    xp.linalg.trace(t); xp.linalg.slogdet(1j * t).sign; xp.linalg.slogdet(t).logabsdet
    xp.linalg.eigh(t).eigenvalues; abs(xp.linalg.eigh(t).eigenvectors); xp.linalg.eigvalsh(t)
    xp.linalg.svdvals(m); xp.linalg.svd(m, full_matrices=False).S; xp.linalg.svd(m).U.shape
    xp.linalg.svd(m).Vh.dtype; xp.linalg.pinv(m); xp.linalg.pinv(m, rtol=0.5)
    xp.linalg.matrix_norm(m); xp.linalg.matrix_norm(m, ord=2); xp.linalg.matrix_norm(m, ord='nuc')
    xp.linalg.vector_norm(m, axis=1, ord=1); xp.linalg.matrix_power(t, 3)
    xp.linalg.matrix_power(t, -1); xp.linalg.matrix_rank(m); xp.linalg.qr(m).R; xp.linalg.qr(m).Q
    xp.linalg.qr(m, mode='complete').R; xp.linalg.vecdot(c, c); xp.linalg.outer(c, c)
    xp.fft.fft(c); xp.fft.ifft(c); xp.fft.rfft(q); xp.fft.irfft(c)
    xp.fft.fftn(c); xp.fft.hfft(c); xp.fft.fftfreq(5, d=0.5, dtype=xp.float64)
    xp.fft.rfftfreq(4, dtype=xp.float64); xp.fft.fftshift(q)
    f.__array_namespace__(api_version='2025.12').pi; xp.isin(i, j); xp.isin(i, 3); xp.isin(3, j)
    xp.searchsorted(q, 2.0)
    abs(xp.linalg.eigvals(t)); type(xp.meshgrid(q, q)).__name__
    type(xp.broadcast_arrays(f, g)).__name__; 3 << xp.asarray([1, 2], dtype=xp.int8)
    100 >> xp.asarray([1, 9], dtype=xp.uint8); xp.bitwise_left_shift(i, 2);
    f[xp.zeros((0,), dtype=xp.bool)]; f[xp.zeros((3, 0), dtype=xp.bool)]; f.to_device(f.device)
    type(xp.finfo(xp.float32).eps).__name__; xp.finfo(xp.float64).max; xp.finfo(xp.complex64).bits
    xp.finfo(f.dtype).smallest_normal; xp.eye(2, k=2**63, dtype=xp.float64)
    xp.eye(2, k=-(2**70), dtype=xp.float64)
    xp.reshape(f, shape=(4, 3)); xp.clip(f, min=0.0, max=1.0); xp.clip(f, 0.0, 1.0); xp.clip(i, 2)
    f.to_device(f.device, stream=None); type(xp.__array_namespace_info__().devices()).__name__
    xp.asarray(1.5).dtype == default('real floating')
    xp.asarray([1]).dtype == default('integral')
    xp.eye(2).dtype == default('real floating')
    xp.sum(xp.astype(j, xp.int8)).dtype == default('integral')
"""


def rows():
    for table in (UNARY, BINARY):
        for arguments, names in table.items():
            yield from (f'xp.{name}({arguments})' for name in names.split())
    for name in REDUCTIONS.split():
        yield from (
            f'xp.{name}(f)',
            f'xp.{name}(f, axis=1)',
            f'xp.{name}(f, axis=0, keepdims=True)',
        )
    for line in OTHERS.split('\n'):
        yield from filter(None, map(str.strip, line.split(';')))


ROWS = list(dict.fromkeys(rows()))
GAPS = dict(
    line.split('  # ')
    for line in (pathlib.Path(__file__).parent / 'array_api.txt').read_text().splitlines()
    if line
)


def evaluate(expression, xp, names):
    def default(kind):
        return xp.__array_namespace_info__().default_dtypes()[kind]

    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return eval(expression, {'xp': xp, 'default': default, **names})


@pytest.fixture(scope='module')
def arrays():
    return (
        {k: chx.array(v) for k, v in VALUES.items()},
        {k: strict.asarray(v) for k, v in VALUES.items()},
    )


@pytest.fixture(autouse=True)
def newest_version():
    """Restores the version of `array_api_strict`, which otherwise applies to later rows, too."""
    yield
    strict.reset_array_api_strict_flags()


def name_of(dtype):
    return getattr(dtype, 'name', None) or str(dtype).rsplit('.', 1)[-1]


def same(ours, theirs):
    if isinstance(theirs, (tuple, list)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, type(strict.asarray(0))):
        assert isinstance(ours, chx.ndarray), type(ours)
        x, y = chx.to_numpy(ours), np.asarray(theirs)
        assert x.dtype == y.dtype, (x.dtype, y.dtype)
        assert x.shape == y.shape, (x.shape, y.shape)
        np.testing.assert_allclose(x, y, rtol=1e-6 if y.dtype == 'f4' else 1e-12, atol=1e-14)
        return True
    if theirs is None or isinstance(theirs, (bool, int, float, complex, str)):
        assert ours == theirs, (ours, theirs)
        return True
    assert name_of(np.dtype(ours)) == name_of(theirs)
    return True


@pytest.mark.parametrize('expression', ROWS)
def test_as_array_api_strict(expression, arrays):
    expected = evaluate(expression, strict, arrays[1])
    try:
        assert same(evaluate(expression, chx, arrays[0]), expected)
    except Exception:
        if expression in GAPS:
            pytest.xfail(GAPS[expression])
        raise
    assert expression not in GAPS, 'it is as in array-api-strict: take it out of array_api.txt'


def test_the_list_names_rows():
    assert set(GAPS) <= set(ROWS)
    assert all(reason.strip() for reason in GAPS.values())


COMPLEX_EXPM1 = [  # the standard's special cases, a row each
    (complex(np.inf, 0), complex(np.inf, 0)),
    (complex(-np.inf, 0), complex(-1, 0)),
    (complex(-np.inf, 1), complex(-1, 0)),
    (complex(np.inf, 1), complex(np.inf, np.inf)),
    (complex(np.inf, 2), complex(-np.inf, np.inf)),
    (complex(-np.inf, np.inf), complex(-1, 0)),
    (complex(np.inf, np.inf), complex(np.inf, np.nan)),
    (complex(-np.inf, np.nan), complex(-1, 0)),
    (complex(np.inf, np.nan), complex(np.inf, np.nan)),
    (complex(np.nan, 0), complex(np.nan, 0)),
    (complex(np.nan, 1), complex(np.nan, np.nan)),
    (complex(0, np.inf), complex(np.nan, np.nan)),
    (complex(1, np.nan), complex(np.nan, np.nan)),
]


@pytest.mark.parametrize('dtype', ['complex64', 'complex128'])
def test_complex_expm1_at_infinities_and_nan(dtype):
    for x, expected in COMPLEX_EXPM1:
        for z, parts in ((x, expected), (np.conj(x), np.conj(expected))):
            y = chx.expm1(chx.array(z, dtype)).item()
            found = [y.real, y.imag]
            parts = [np.real(parts), np.imag(parts)]
            if not np.isfinite(x.imag):  # the signs are not determined
                found, parts = np.abs(found), np.abs(parts)
            np.testing.assert_equal(found, parts, str(z))


def test_the_sign_of_zero_is_zero():
    for x in (complex(-0.0, 0.0), complex(0.0, -0.0), complex(-0.0, -0.0), -0.0):
        y = chx.sign(chx.array(x)).item()
        assert y == 0
        assert not np.signbit([np.real(y), np.imag(y)]).any()
    y = chx.sign(chx.array(complex(-0.0, 3.0))).item()
    assert y == 1j
    assert np.signbit(y.real)


def test_signatures():
    """Parameters that may be passed by name have the standard's names and positions."""
    P = inspect.Parameter

    def check(name, theirs, ours):
        ours = list(inspect.signature(ours).parameters.values())
        names = [p.name for p in ours]
        for place, p in enumerate(inspect.signature(theirs).parameters.values()):
            if p.kind is P.KEYWORD_ONLY:
                assert p.name in names, f'{name} has no {p.name}'
            elif p.kind is P.POSITIONAL_OR_KEYWORD and p.name != 'self':
                assert names[place : place + 1] == [p.name], f'{name}: {names}'
            elif p.kind is not P.VAR_KEYWORD and p.name != 'self':
                assert ours[place].kind is not P.KEYWORD_ONLY, f'{name}: {names}'

    for prefix in ('', 'linalg', 'fft'):
        theirs = getattr(strict, prefix) if prefix else strict
        ours = getattr(chx, prefix) if prefix else chx
        for name in theirs.__all__:
            if inspect.isfunction(getattr(theirs, name)) and not name.endswith('strict_flags'):
                check(name, getattr(theirs, name), getattr(ours, name))
    stream = inspect.signature(chx.ndarray.to_device).parameters['stream']
    assert (stream.kind, stream.default) == (P.KEYWORD_ONLY, None)


def test_an_axis_that_is_not_there_is_an_index_error():
    x = chx.ones((2, 3))
    for f in (
        lambda: chx.expand_dims(x, axis=5),
        lambda: chx.expand_dims(x, axis=-4),
        lambda: chx.sum(x, axis=2),
        lambda: chx.flip(x, axis=1000),
        lambda: chx.size(x, 2),
        lambda: chx.func.vmap(lambda a: chx.expand_dims(a, 3))(x),
    ):
        for error in (IndexError, ValueError, chx.DimensionError, chx.AxisError):
            with pytest.raises(error, match=r'axis|axes'):
                f()


def test_to_device_orders_copies_itself():
    with pytest.raises(ValueError, match='stream is a int, expected None'):
        chx.ones(2).to_device('native:1', stream=1)


def test_a_shifted_number_has_the_dtype_of_the_counts():
    for dtype in ('int8', 'uint8', 'int64', 'uint64'):
        n = np.array([0, 1, 6], dtype)
        x = chx.array(n)
        for y, expected in [(2 << x, 2 << n), (100 >> x, 100 >> n), (chx.left_shift(1, x), 1 << n)]:
            assert y.dtype == dtype
            np.testing.assert_array_equal(chx.to_numpy(y), expected)
    with pytest.raises(OverflowError, match='200 does not fit in int8'):
        200 >> chx.array([1], 'int8')


def test_masks_with_an_axis_of_length_0():
    x = chx.array(np.arange(24.0).reshape(2, 3, 4), 'float64').require_grad()
    for shape in ((0,), (2, 0), (0, 3), (0, 0), (2, 3, 0)):
        mask = np.zeros(shape, bool)
        y = x[chx.array(mask)]
        assert y.shape == chx.to_numpy(x)[mask].shape
    chx.sum(y).backward()
    assert not chx.to_numpy(x.grad).any()
    assert x[:, chx.zeros((0,), bool)].shape == (2, 0, 4)
    z = chx.zeros((2, 3))
    z[chx.zeros((0,), bool)] = 5
    assert not chx.to_numpy(z).any()
    for shape in ((0, 2), (3, 0)):
        with pytest.raises(IndexError, match='bool index'):
            x[chx.zeros(shape, bool)]


def test_namespace_info():
    info = chx.__array_namespace_info__()
    assert info.capabilities() == {
        'boolean indexing': True,
        'data-dependent shapes': True,
        'max dimensions': chx.ones((1,) * 10).ndim,
    }
    assert info.default_device() is chx.get_default_device()
    assert info.default_device() in info.devices()
    defaults = info.default_dtypes()
    assert chx.zeros(2).dtype == defaults['real floating']
    assert chx.arange(3).dtype == defaults['integral']
    assert chx.argmax(chx.ones(3)).dtype == defaults['indexing']
    assert (chx.ones(2) * 1j).dtype == defaults['complex floating']
    assert set(info.dtypes()) == set(strict.__array_namespace_info__().dtypes())
    for kind in ('bool', 'integral', 'real floating', ('bool', 'unsigned integer')):
        assert set(info.dtypes(kind=kind)) == set(
            strict.__array_namespace_info__().dtypes(kind=kind)
        )
    with pytest.raises((TypeError, ValueError)):
        info.dtypes(kind='x')


def test_versions():
    with pytest.raises(ValueError, match=r'2020\.1.*expected'):
        chx.ones(1).__array_namespace__(api_version='2020.1')
    assert chx.ones(1).__array_namespace__() is chx


def test_dlpack():
    x = chx.array(VALUES['f'])
    assert (chx.to_numpy(chx.from_dlpack(strict.asarray(VALUES['f']))) == VALUES['f']).all()
    shared = np.from_dlpack(x)
    assert np.shares_memory(shared, chx.to_numpy(x, copy=False))
    assert not np.shares_memory(np.from_dlpack(x, copy=True), chx.to_numpy(x, copy=False))
    moved = chx.from_dlpack(x, device='native:1')
    assert moved.device.name == 'native:1'
    with pytest.raises(ValueError, match='copy'):
        chx.from_dlpack(x, device='native:1', copy=False)
    assert x.__dlpack_device__() == (1, 0)
