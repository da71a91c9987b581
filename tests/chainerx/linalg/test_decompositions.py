"""chainerx.linalg's decompositions: layouts, sizes, equal values, threads, errors, no LAPACK."""

import os
import subprocess
import sys

import chainerx as chx
import numpy as np
import pytest
from cases._harness import make, to_numpy

LA = chx.linalg


def matrices(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def check_svd(a, tol):
    u, s, vh = map(to_numpy, LA.svd(chx.array(a), full_matrices=False))
    np.testing.assert_allclose(u * s[..., None, :] @ vh, a, atol=tol)
    assert (s[..., 1:] <= s[..., :-1]).all()
    assert (s >= 0).all()


def check_eigh(a, tol):
    w, v = map(to_numpy, LA.eigh(chx.array(a)))
    symmetric = np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2)
    np.testing.assert_allclose(v * w[..., None, :] @ np.swapaxes(v, -1, -2), symmetric, atol=tol)
    np.testing.assert_allclose(to_numpy(LA.eigvalsh(chx.array(a))), w, atol=tol)


def check_qr(a, tol):
    for mode in ('reduced', 'complete'):
        q, r = map(to_numpy, LA.qr(chx.array(a), mode))
        np.testing.assert_allclose(q @ r, a, atol=tol)
        np.testing.assert_allclose(
            np.swapaxes(q, -1, -2) @ q, np.zeros(q.shape[-1:]) + np.eye(q.shape[-1]), atol=tol
        )
        assert (np.tril(r, -1) == 0).all()


def check_eig(a, tol):
    w, v = map(to_numpy, LA.eig(chx.array(a)))
    np.testing.assert_allclose(a @ v, v * w[..., None, :], atol=tol)


CHECKS = {'svd': check_svd, 'eigh': check_eigh, 'qr': check_qr, 'eig': check_eig}


@pytest.mark.parametrize('name', CHECKS)
@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize('n', [1, 2, 15, 31, 33, 65, 130])
def test_sizes(name, dtype, n):
    tol = (3e-5 if dtype == 'float32' else 1e-13) * n
    CHECKS[name](matrices(n, n).astype(dtype), tol)
    if name in ('svd', 'qr'):
        CHECKS[name](matrices(2 * n, n).astype(dtype), tol)
        CHECKS[name](matrices(n, 3 * n).astype(dtype), tol)


def deficient(kind, m, n, seed):
    """A matrix whose rank is short by one, or one."""
    a = matrices(m, n, seed=seed)
    if kind == 'a column twice':
        a[:, -1] = a[:, 0]
    elif kind == 'a column of zeros':
        a[:, 1] = 0
    else:
        a[:] = 1
    return a


@pytest.mark.parametrize('kind', ['a column twice', 'a column of zeros', 'ones'])
@pytest.mark.parametrize('dtype', ['float32', 'complex64', 'float64'])
def test_rounding_errors_are_not_inverted(kind, dtype):
    """For a deficient rank, the smallest singular values are rounding errors only."""
    for m, n in ((3, 3), (5, 3), (3, 5), (9, 8), (30, 20), (64, 60)):
        a = deficient(kind, m, n, m + n)
        expected = np.linalg.pinv(a, rcond=1e-10)
        x = chx.array(a.astype(dtype))
        size = np.abs(expected).max()
        tol = (3e-12 if dtype == 'float64' else 3e-3) * size
        np.testing.assert_allclose(to_numpy(LA.pinv(x)), expected, atol=tol)
        x.require_grad()
        y = LA.pinv(x)
        y.grad = chx.ones_like(y)
        y.backward()
        assert float(abs(x.grad).max()) < 100 * m * n * size**2
        assert int(LA.matrix_rank(x)) == np.linalg.matrix_rank(a)


def test_least_squares_without_a_cut():
    """rcond 0 keeps values that the default takes for rounding errors."""
    a, b = np.diag([1.0, 2.0**-60]), np.ones(2)
    for rcond, rank, expected in ((0.0, 2, [1, 2.0**60]), (None, 1, [1, 0]), (-1.0, 1, [1, 0])):
        x, _, found, _ = LA.lstsq(chx.array(a), chx.array(b), rcond)
        assert found == rank
        np.testing.assert_allclose(to_numpy(x), expected, rtol=1e-12)


def test_gradient_where_many_values_are_cut_off():
    """There are retained values, and cut-off ones with equal ones and zeros among them."""
    q1, q2 = (np.linalg.qr(matrices(n, n, seed=n))[0] for n in (6, 5))
    a = q1[:, :5] * np.array([4.0, 3.0, 0.5, 0.5, 0.0]) @ q2
    b = matrices(6, 2, seed=3)

    def central(f, eps=1e-6):
        out = np.empty_like(a)
        for i in np.ndindex(a.shape):
            step = np.zeros_like(a)
            step[i] = eps
            out[i] = (f(a + step) - f(a - step)) / (2 * eps)
        return out

    weights = matrices(5, 6, seed=1)
    x = chx.array(a).require_grad()
    (LA.pinv(x, 0.25) * chx.array(weights)).sum().backward()
    expected = central(lambda v: (np.linalg.pinv(v, 0.25) * weights).sum())
    np.testing.assert_allclose(to_numpy(x.grad), expected, atol=1e-7)

    x = chx.array(a).require_grad()
    LA.lstsq(x, chx.array(b), 0.25)[0].sum().backward()
    expected = central(lambda v: np.linalg.lstsq(v, b, 0.25)[0].sum())
    np.testing.assert_allclose(to_numpy(x.grad), expected, atol=1e-7)


@pytest.mark.parametrize('name', ['svdvals', 'eigvalsh', 'pinv', 'qr'])
@pytest.mark.parametrize('layout', ['transposed', 'reversed', 'strided', 'offset', 'broadcast'])
def test_layouts(name, layout):
    x = make(matrices(3, 4, 4), layout, None)
    values = to_numpy(x)
    function, reference = getattr(LA, name), getattr(np.linalg, name)
    found, expected = function(x), reference(values)
    if name == 'qr':
        found, expected = found[0] @ found[1], values
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-12)
    np.testing.assert_array_equal(to_numpy(x), values)


@pytest.mark.parametrize('name', ['svd', 'eigh', 'qr', 'eig'])
@pytest.mark.parametrize('shape', [(500, 7, 7), (6, 150, 150)])
def test_the_same_bits_on_any_number_of_threads(name, shape):
    x = chx.array(matrices(*shape).astype('float32'))
    before = chx.get_num_threads()
    found = []
    try:
        for n in (1, 2, 3):
            chx.set_num_threads(n)
            found.append([to_numpy(y).tobytes() for y in getattr(LA, name)(x)])
    finally:
        chx.set_num_threads(before)
    assert found[0] == found[1] == found[2]


def test_results_have_names():
    x = chx.array(matrices(3, 2))
    assert repr(LA.svd(x)).startswith('chainerx.linalg.SVDResult(U=')
    y = LA.svd(x)
    assert y.S is y[1]
    assert y.Vh is y[2]
    assert LA.qr(x).R.shape == (2, 2)
    square = chx.array(matrices(2, 2))
    assert LA.eigh(square).eigenvalues.shape == (2,)
    assert LA.eig(square).eigenvectors.shape == (2, 2)
    assert LA.slogdet(square).logabsdet.shape == ()


def test_equal_values():
    """The values have a gradient; that of vectors, which are not unique, is NaN."""
    for name in ('svdvals', 'eigvalsh'):
        x = chx.eye(3, dtype='float64').require_grad()
        getattr(LA, name)(x).sum().backward()
        np.testing.assert_allclose(to_numpy(x.grad), np.eye(3), atol=1e-12)
    for name in ('svd', 'eigh'):
        x = chx.eye(3, dtype='float64').require_grad()
        y = getattr(LA, name)(x)
        (y[0].sum() + y[1][0].sum()).backward()
        assert not np.isfinite(to_numpy(x.grad)).all()


def test_what_has_no_gradient():
    x = chx.array(matrices(4, 3)).require_grad()
    u, s, vh = LA.svd(x)
    with pytest.raises(chx.GradientError, match='svd: u has no gradient: full_matrices is True'):
        u.sum().backward()
    (s.sum() + vh.sum()).backward()  # the left vectors have gradients
    y = chx.array(matrices(3, 4)).require_grad()
    with pytest.raises(chx.GradientError, match='svd: vh has no gradient'):
        LA.svd(y)[2].sum().backward()
    for mode in ('complete', 'raw'):
        with pytest.raises(chx.GradientError, match=f"qr: mode '{mode}'"):
            LA.qr(x, mode)[0].sum().backward()
    square = chx.array(matrices(3, 3)).require_grad()
    for y in (LA.eig(square)[0], LA.eigvals(square)):
        with pytest.raises(chx.GradientError, match='eig'):
            chx.real(y).sum().backward()
    dependent = chx.zeros((3, 2)).require_grad()
    with pytest.raises(chx.LinAlgError, match='singular'):
        LA.qr(dependent)[0].sum().backward()


NAN = [[np.nan, 0.0], [np.nan, 1.0]]


@pytest.mark.parametrize(
    ('name', 'args', 'error', 'text'),
    [
        ('svd', ([1.0],), chx.DimensionError, 'svd: a has 1 axes, expected at least 2'),
        ('svd', (NAN,), chx.LinAlgError, 'svd: matrix 0 of a has NaN'),
        ('svd', ([[1j * np.inf]],), chx.LinAlgError, 'svd: matrix 0 of a has NaN or infinite'),
        ('svd', ([[1]],), chx.DtypeError, 'svd: a has dtype int'),
        ('qr', ([1.0],), chx.DimensionError, 'qr: a has 1 axes'),
        ('qr', ([[1.0]], 'full'), ValueError, "qr: mode is 'full', expected reduced"),
        ('eigh', ([[1.0, 2.0]],), chx.DimensionError, 'eigh: a has matrices of 1 x 2'),
        ('eigh', (NAN,), chx.LinAlgError, 'eigh: matrix 0 of a has NaN'),
        ('eigh', ([[1.0]], 'lower'), ValueError, "eigh: UPLO is 'lower'"),
        ('eig', ([[1.0, 2.0]],), chx.DimensionError, 'eig: a has matrices of 1 x 2'),
        ('eig', (NAN,), chx.LinAlgError, 'eig: matrix 0'),
        ('eigvals', (NAN,), chx.LinAlgError, 'eigvals: matrix 0'),
        ('pinv', (NAN,), chx.LinAlgError, 'pinv: matrix 0'),
        ('lstsq', ([[1.0]], [1.0, 2.0]), chx.DimensionError, r'lstsq: b.shape\[0\] is 2, exp'),
        ('lstsq', ([1.0], [1.0]), chx.DimensionError, 'lstsq: a has 1 axes, expected 2'),
        ('lstsq', ([[1.0]], [[[1.0]]]), chx.DimensionError, 'lstsq: b has 3 axes'),
        ('lstsq', (NAN, [1.0, 1.0]), chx.LinAlgError, 'lstsq: matrix 0 of a has NaN'),
    ],
)
def test_errors(name, args, error, text):
    arrays = [chx.array(a) if isinstance(a, list) else a for a in args]
    with pytest.raises(error, match=text):
        getattr(LA, name)(*arrays)


def test_without_lapack():
    """Clear errors without LAPACK; routines implemented here still work."""
    program = """if True:
        import chainerx as chx
        x = chx.array([[2., 1.], [1., 2.]])
        assert not chx.linalg._is_lapack_available()
        for name in ('svd', 'svdvals', 'eigh', 'eigvalsh', 'eig', 'eigvals', 'qr', 'pinv'):
            try:
                getattr(chx.linalg, name)(x)
            except chx.LinAlgError as e:
                assert str(e).startswith(f'{name}: the library in use as BLAS has no LAPACK'), e
            else:
                raise AssertionError(name)
        assert float(chx.linalg.det(x)) == 3
    """
    result = subprocess.run(
        [sys.executable, '-c', program],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, 'CHAINERX_BLAS': 'plain', 'PYTHONPATH': ':'.join(sys.path)},
    )
    assert result.returncode == 0, result.stderr
    assert LA._is_lapack_available()


def test_conditions_of_zeros_and_of_nothing(device):
    for order in (None, 2, -2):
        zeros = chx.zeros((3, 2, 2), 'float64', device=device)
        assert (
            chx.linalg.cond(zeros, order).tolist()
            == np.linalg.cond(np.zeros((3, 2, 2)), order).tolist()
        )
        assert chx.linalg.cond(zeros[:0], order).shape == (0,)
    assert chx.linalg.cond(zeros[:0], 1).shape == (0,)
    x = chx.array([[2.0, 0.0], [0.0, 1.0]], device=device).require_grad()
    chx.linalg.cond(x).backward()
    assert x.grad.tolist() == [[1, 0], [0, -2]]
    with pytest.raises(chx.DimensionError, match='elements'):
        chx.linalg.cond(chx.zeros((2, 0, 0), device=device))
