"""chainerx.linalg of complex matrices: sizes, layouts, products, unread elements, errors."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import make, to_numpy

LA = chx.linalg
DTYPES = ['complex64', 'complex128']


def draw(*shape, seed=0):
    rng = np.random.default_rng((seed, *shape))
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def adjoint(a):
    return np.swapaxes(a.conj(), -1, -2)


def definite(*shape):
    a = draw(*shape)
    return a @ adjoint(a) + shape[-1] * np.eye(shape[-1])


def identity(a):
    return np.broadcast_to(np.eye(a.shape[-1]), (*a.shape[:-2], a.shape[-1], a.shape[-1]))


def check_factors(x, tol):
    a = to_numpy(x)
    n = a.shape[-1]
    np.testing.assert_allclose(a @ to_numpy(LA.inv(x)), identity(a), atol=tol)
    b = draw(*a.shape[:-1], 3, seed=1).astype(a.dtype)
    np.testing.assert_allclose(a @ to_numpy(LA.solve(x, chx.array(b))), b, atol=tol)
    sign, log = map(to_numpy, LA.slogdet(x))
    expected = np.linalg.slogdet(a.astype('complex128'))
    np.testing.assert_allclose(sign, expected[0], atol=tol)
    np.testing.assert_allclose(log, expected[1], atol=tol)
    assert log.dtype == a.real.dtype
    if n < 20:
        scale = np.exp(expected[1])
        det = to_numpy(LA.det(x))
        assert det.dtype == a.dtype
        np.testing.assert_allclose(det / scale, expected[0], atol=tol)


def check_cholesky(x, tol):
    a = to_numpy(x)
    hermitian = (a @ adjoint(a) + a.shape[-1] * np.eye(a.shape[-1])).astype(a.dtype)
    lower = to_numpy(LA.cholesky(chx.array(hermitian)))
    assert (np.triu(lower, 1) == 0).all()
    assert (np.diagonal(lower, 0, -2, -1).imag == 0).all()
    np.testing.assert_allclose(lower @ adjoint(lower), hermitian, atol=tol * a.shape[-1])
    upper = to_numpy(LA.cholesky(chx.array(hermitian), upper=True))
    np.testing.assert_allclose(upper, adjoint(lower), atol=tol)


def check_svd(x, tol):
    a = to_numpy(x)
    for full in (True, False):
        u, s, vh = map(to_numpy, LA.svd(x, full_matrices=full))
        k = s.shape[-1]
        assert (u.dtype, s.dtype, vh.dtype) == (a.dtype, a.real.dtype, a.dtype)
        np.testing.assert_allclose(u[..., :k] * s[..., None, :] @ vh[..., :k, :], a, atol=tol)
        np.testing.assert_allclose(adjoint(u) @ u, identity(u), atol=tol)
        np.testing.assert_allclose(vh @ adjoint(vh), identity(adjoint(vh)), atol=tol)
    np.testing.assert_allclose(to_numpy(LA.svdvals(x)), s, atol=tol)


def check_eigh(x, tol):
    a = to_numpy(x)
    for triangle in 'LU':
        w, v = map(to_numpy, LA.eigh(x, triangle))
        assert (w.dtype, v.dtype) == (a.real.dtype, a.dtype)
        half = np.tril(a, -1) if triangle == 'L' else adjoint(np.triu(a, 1))
        diagonal = np.diagonal(a, 0, -2, -1).real[..., None] * np.eye(a.shape[-1])
        hermitian = half + adjoint(half) + diagonal
        np.testing.assert_allclose(v * w[..., None, :] @ adjoint(v), hermitian, atol=tol)
        np.testing.assert_allclose(adjoint(v) @ v, identity(v), atol=tol)
        np.testing.assert_allclose(to_numpy(LA.eigvalsh(x, triangle)), w, atol=tol)


def check_eig(x, tol):
    a = to_numpy(x)
    w, v = map(to_numpy, LA.eig(x))
    np.testing.assert_allclose(a @ v, v * w[..., None, :], atol=tol)
    assert w.dtype == a.dtype
    values = to_numpy(LA.eigvals(x))
    distance = np.abs(w[..., :, None] - values[..., None, :])
    assert (distance.min(-1) < 10 * tol).all()


def check_qr(x, tol):
    a = to_numpy(x)
    for mode in ('reduced', 'complete'):
        q, r = map(to_numpy, LA.qr(x, mode))
        np.testing.assert_allclose(q @ r, a, atol=tol)
        np.testing.assert_allclose(adjoint(q) @ q, identity(q), atol=tol)
        assert (np.tril(r, -1) == 0).all()
        assert (np.diagonal(r, 0, -2, -1).imag == 0).all()
    np.testing.assert_array_equal(to_numpy(LA.qr(x, 'r')), to_numpy(LA.qr(x)[1]))


def check_pinv(x, tol):
    expected = np.linalg.pinv(to_numpy(x).astype('complex128'))
    np.testing.assert_allclose(
        to_numpy(LA.pinv(x)), expected, atol=tol * (1 + np.abs(expected).sum())
    )


SQUARE = [check_factors, check_cholesky, check_eigh, check_eig]
ANY = [check_svd, check_qr, check_pinv]


def far_from_singular(*shape):
    n = shape[-1]
    return draw(*shape) / n**0.5 + 4j * np.eye(shape[-2], n)


@pytest.mark.parametrize('check', SQUARE + ANY)
@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('n', [1, 2, 8, 9, 15, 16, 17, 31, 33, 65, 130])
def test_sizes(check, dtype, n):
    tol = (3e-5 if dtype == 'complex64' else 1e-13) * (n + 3)
    check(chx.array(far_from_singular(n, n).astype(dtype)), tol)
    if check in ANY:
        check(chx.array(far_from_singular(2 * n, n).astype(dtype)), tol)
        check(chx.array(far_from_singular(n, 2 * n + 1).astype(dtype)), tol)


@pytest.mark.parametrize('check', SQUARE + ANY)
@pytest.mark.parametrize(
    'layout', ['contiguous', 'transposed', 'reversed', 'strided', 'offset', 'broadcast']
)
@pytest.mark.parametrize('shape', [(3, 4, 4), (0, 3, 3), (2, 1, 5, 5)])
def test_layouts(check, layout, shape):
    x = make(far_from_singular(*shape), layout, None)
    before = to_numpy(x).copy()
    check(x, 1e-12)
    np.testing.assert_array_equal(to_numpy(x), before)


@pytest.mark.parametrize('shape', [(0, 0), (3, 0, 0), (0, 3), (3, 0), (2, 0, 4)])
def test_empty_matrices(shape):
    x = chx.zeros(shape, 'complex64')
    check_svd(x, 0)
    check_qr(x, 0)
    assert LA.pinv(x).shape == (*shape[:-2], shape[-1], shape[-2])
    if shape[-1] == shape[-2]:
        assert to_numpy(LA.det(x)).tolist() == np.ones(shape[:-2]).tolist()
        for name in ('inv', 'cholesky', 'eigvals', 'eigvalsh'):
            assert getattr(LA, name)(x).size == 0


@pytest.mark.parametrize('shape', [(5, 3), (3, 5), (2, 4, 4)])
def test_raw_factors_are_those_of_numpy(shape):
    a = draw(*shape)
    for found, expected in zip(LA.qr(chx.array(a), 'raw'), np.linalg.qr(a, 'raw'), strict=True):
        np.testing.assert_allclose(to_numpy(found), expected, atol=1e-13)


def test_what_is_not_read():
    """The other triangle, and the imaginary parts of the diagonal."""
    a = definite(20, 20)
    spoiled = a + np.triu(np.full(a.shape, np.nan), 1)
    diagonal = np.arange(20)
    for imag in (7.0, np.nan):
        spoiled.imag[diagonal, diagonal] = imag
        x, y = chx.array(spoiled), chx.array(a)
        for name in ('cholesky', 'eigvalsh', 'eigh'):
            found, expected = getattr(LA, name)(x), getattr(LA, name)(y)
            pairs = zip(found, expected, strict=True) if name == 'eigh' else [(found, expected)]
            for p, q in pairs:
                np.testing.assert_array_equal(to_numpy(p), to_numpy(q))
        s = LA.svd(x, hermitian=True)[1]
        np.testing.assert_allclose(to_numpy(s), np.linalg.svd(a)[1], rtol=1e-12)
        found = LA.pinv(x, hermitian=True)
        np.testing.assert_allclose(to_numpy(found), np.linalg.inv(a), atol=1e-12)
        assert int(LA.matrix_rank(x, hermitian=True)) == 20


@pytest.mark.parametrize('name', ['inv', 'det', 'cholesky', 'svd', 'eigh', 'eig', 'qr', 'pinv'])
@pytest.mark.parametrize('shape', [(500, 7, 7), (3, 150, 150), (1, 300, 300)])
def test_the_same_bits_on_any_number_of_threads(name, shape):
    x = chx.array(definite(*shape).astype('complex64'))
    before = chx.get_num_threads()
    found = []
    try:
        for n in (1, 2, 3):
            chx.set_num_threads(n)
            y = getattr(LA, name)(x)
            found.append([to_numpy(z).tobytes() for z in (y if isinstance(y, tuple) else (y,))])
    finally:
        chx.set_num_threads(before)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize('shape', [(5, 3), (3, 5), (4, 4)])
@pytest.mark.parametrize('vector', [True, False])
def test_least_squares(shape, vector):
    a, b = draw(*shape), draw(shape[0], *(() if vector else (2,)), seed=1)
    found = LA.lstsq(chx.array(a), chx.array(b))
    for y, expected in zip(found, np.linalg.lstsq(a, b, None), strict=True):
        y = y if isinstance(y, int) else to_numpy(y)
        np.testing.assert_allclose(y, expected, atol=1e-12)
        assert np.asarray(y).dtype.kind == np.asarray(expected).dtype.kind


@pytest.mark.parametrize('order', [None, 'fro', 'nuc', 1, -1, 2, -2, np.inf, -np.inf])
def test_norms_and_conditions(order):
    a = draw(4, 4)
    for name in ('norm', 'cond'):
        found = getattr(LA, name)(chx.array(a), order)
        assert found.dtype == 'float64'
        assert float(found) == pytest.approx(getattr(np.linalg, name)(a, order), rel=1e-11)


def test_products_and_tensors():
    a, t = draw(3, 3), draw(2, 3, 6)
    pairs = [
        (LA.matrix_power(chx.array(a), -3), np.linalg.matrix_power(a, -3)),
        (LA.multi_dot([chx.array(x) for x in (a, t[0], t[1].T)]), a @ t[0] @ t[1].T),
        (LA.tensorinv(chx.array(t), 2), np.linalg.tensorinv(t, 2)),
        (LA.tensorsolve(chx.array(t), chx.array(t[..., 0])), np.linalg.tensorsolve(t, t[..., 0])),
        (LA.solve(chx.array(a.real), chx.array(a)), np.linalg.solve(a.real, a)),
        (chx.roots(chx.array(a[0])), np.roots(a[0])),
    ]
    for found, expected in pairs:
        np.testing.assert_allclose(to_numpy(found), expected, atol=1e-10)


def test_determinants_whose_factors_are_out_of_range():
    for pivots in ([1e200, 1e200j, 1e-300], [1e-200j, 1e-200, 1e300], [1e308 + 1e308j, 1e-10]):
        product = complex(np.prod(np.array(pivots, 'clongdouble')))
        assert complex(LA.det(chx.array(np.diag(pivots)))) == pytest.approx(product, rel=1e-14)
    zeros = chx.zeros((3, 3), 'complex128')
    assert complex(LA.det(zeros)) == 0
    assert [x.item() for x in LA.slogdet(zeros)] == [0, -np.inf]
    for scale in (1e-200, 1e200, 1e300):
        inverse = LA.inv(chx.array(np.diag([scale * 1j, scale])))
        np.testing.assert_allclose(to_numpy(inverse), np.diag([-1j / scale, 1 / scale]), rtol=1e-15)


@pytest.mark.parametrize(
    ('name', 'a', 'text'),
    [
        ('inv', [[1, 1j], [1j, -1]], 'inv: matrix 0 of a is singular: pivot 1 of 2 is 0'),
        ('cholesky', [[1, 2j], [-2j, 1]], 'definite: its leading minor of order 2 of 2 is not'),
        ('cholesky', [[1j]], 'definite: its leading minor of order 1 of 1 is not'),
        ('svd', [[[1j]], [[complex(0, np.inf)]]], 'svd: matrix 1 of a has NaN or infinite'),
        ('eigh', [[1, 0], [complex(0, np.nan), 1]], 'eigh: matrix 0 of a has NaN'),
        ('eigvals', [[complex(0, np.nan)]], 'eigvals: matrix 0 of a has NaN'),
        ('matrix_rank', [[complex(0, np.inf)]], 'matrix_rank: matrix 0 of a has NaN'),
    ],
)
def test_errors(name, a, text):
    x = chx.array(np.array(a, 'complex128'))
    with pytest.raises(chx.LinAlgError, match=text):
        getattr(LA, name)(x)
