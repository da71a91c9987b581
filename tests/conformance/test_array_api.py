"""The array API standard: what its functions give here, and in `array-api-strict`.

A row is an expression of the standard's namespace `xp` and of the arrays below. `array_api.txt` has
those that differ or fail, each with its reason; it may only shrink.
"""

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
    type(xp.broadcast_arrays(f, g)).__name__
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
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return eval(expression, {'xp': xp, **names})


@pytest.fixture(scope='module')
def arrays():
    return (
        {k: chx.array(v) for k, v in VALUES.items()},
        {k: strict.asarray(v) for k, v in VALUES.items()},
    )


@pytest.fixture(autouse=True)
def newest_version():
    """`array_api_strict` takes a version that one row asks for as that of all that follow."""
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
    if theirs is None or isinstance(theirs, (bool, int, float, complex)):
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
