"""chainerx.linalg: layouts, sizes at the end of recursion, hard matrices, errors."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy


def matrices(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def definite(*shape, seed=0):
    a = matrices(*shape, seed=seed)
    return a @ np.swapaxes(a, -1, -2) + shape[-1] * np.eye(shape[-1])


LAYOUTS = {
    'transposed': lambda a: chx.array(np.swapaxes(a, -1, -2).copy()).swapaxes(-1, -2),
    'reversed': lambda a: chx.array(a[..., ::-1, ::-1].copy())[..., ::-1, ::-1],
    'strided': lambda a: chx.array(np.repeat(a, 2, axis=-1))[..., ::2],
    'broadcast': lambda a: chx.broadcast_to(chx.array(a[:1]), a.shape),
}


@pytest.mark.parametrize('layout', LAYOUTS)
def test_layouts(layout):
    a = definite(3, 20, 20)
    x = LAYOUTS[layout](a)
    values = to_numpy(x)
    for name in ('inv', 'det', 'cholesky'):
        found = to_numpy(getattr(chx.linalg, name)(x))
        np.testing.assert_allclose(found, getattr(np.linalg, name)(values), rtol=1e-9, atol=1e-12)
    found = to_numpy(chx.linalg.solve(x, x[:, :, :2]))
    np.testing.assert_allclose(found, np.broadcast_to(np.eye(20, 2), (3, 20, 2)), atol=1e-12)
    np.testing.assert_array_equal(to_numpy(x), values)


@pytest.mark.parametrize('n', [1, 2, 15, 16, 17, 31, 32, 33, 63, 65, 127, 129, 200, 333])
@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_sizes(n, dtype):
    """Pivots come from all rows, so an error in any row would show."""
    tol = (3e-4 if dtype == 'float32' else 1e-11) * n
    a = matrices(n, n).astype(dtype)
    x = chx.array(a)
    np.testing.assert_allclose(to_numpy(x @ chx.linalg.inv(x)), np.eye(n), atol=tol)
    b = matrices(n, 5, seed=1).astype(dtype)
    np.testing.assert_allclose(to_numpy(x @ chx.linalg.solve(x, chx.array(b))), b, atol=tol)
    sign, log = np.linalg.slogdet(a.astype('float64'))
    found_sign, found_log = chx.linalg.slogdet(x)
    assert float(found_sign) == sign
    assert float(found_log) == pytest.approx(log, rel=1e-4 if dtype == 'float32' else 1e-10)
    s = definite(n, n).astype(dtype)
    factor = to_numpy(chx.linalg.cholesky(chx.array(s)))
    assert (np.triu(factor, 1) == 0).all()
    np.testing.assert_allclose(factor @ factor.T, s, atol=tol * n)


def test_many_small_matrices():
    a = matrices(1000, 3, 3)
    np.testing.assert_allclose(
        to_numpy(chx.linalg.inv(chx.array(a))), np.linalg.inv(a), rtol=1e-7, atol=1e-9
    )


def test_only_the_lower_triangle_is_read_by_cholesky():
    a = definite(40, 40)
    b = np.tril(a) + np.triu(np.full((40, 40), np.nan), 1)
    np.testing.assert_array_equal(
        to_numpy(chx.linalg.cholesky(chx.array(a))), to_numpy(chx.linalg.cholesky(chx.array(b)))
    )


def test_hard_matrices():
    n = 30
    graded = np.diag(10.0 ** np.arange(-15, 15)) + 1e-28 * matrices(n, n)
    np.testing.assert_allclose(
        np.diag(to_numpy(chx.linalg.inv(chx.array(graded)))), 10.0 ** np.arange(15, -15, -1), 1e-9
    )
    order = np.random.default_rng(3).permutation(n)
    permutation = np.eye(n)[order]
    np.testing.assert_array_equal(to_numpy(chx.linalg.inv(chx.array(permutation))), permutation.T)
    assert float(chx.linalg.det(chx.array(permutation))) == round(np.linalg.det(permutation))


def test_singular_matrices():
    a = np.ones((40, 40))
    assert float(chx.linalg.det(chx.array(a))) == 0
    sign, log = chx.linalg.slogdet(chx.array(a))
    assert (float(sign), float(log)) == (0, -np.inf)
    x = chx.array(a).require_grad()
    y = chx.linalg.slogdet(x)[1]
    for _ in range(2):  # a failing backward keeps the graph
        with pytest.raises(chx.LinAlgError, match='inv: matrix 0 of a is singular: pivot 1 of 40'):
            y.backward()
    assert x.grad is None
    assert issubclass(chx.LinAlgError, np.linalg.LinAlgError)
    assert issubclass(chx.LinAlgError, ValueError)
    assert chx.linalg.LinAlgError is chx.LinAlgError


@pytest.mark.parametrize('n', [5, 16, 17, 33, 50, 90])
@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_columns_without_a_pivot(n, dtype):
    for at in {0, n // 3, n // 2, n - 2, n - 1}:
        a = matrices(n, n, seed=at).astype(dtype)
        a[:, at] = 0
        a[at:, :at] *= np.float32(2.0**-20)  # not all rows below are needed as pivots
        assert float(chx.linalg.det(chx.array(a))) == 0
        with pytest.raises(chx.LinAlgError, match=f'singular: pivot {at} of {n}'):
            chx.linalg.inv(chx.array(a))


@pytest.mark.parametrize('n', [5, 17, 33, 50, 90])
@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_what_is_not_finite_is_seen(n, value, dtype):
    b = matrices(n, 3).astype(dtype)
    last = n - 1
    for i, j in [(0, 0), (last, last), (n // 2, n // 3), (n // 3, n // 2), (last, 0), (0, last)]:
        a = matrices(n, n, seed=1).astype(dtype)
        a[i, j] = value
        with np.errstate(all='ignore'):
            expected = np.linalg.solve(a, b)
        found = to_numpy(chx.linalg.solve(chx.array(a), chx.array(b)))
        assert np.isfinite(found).all() == np.isfinite(expected).all()
        assert not np.isfinite(float(chx.linalg.det(chx.array(a))))


def cofactors(a):
    """The cofactors by minors."""
    n = a.shape[-1]
    y = np.empty(a.shape)
    for i, j in np.ndindex(n, n):
        minor = np.delete(np.delete(a, i, -2), j, -1)
        y[..., i, j] = (-1) ** (i + j) * np.linalg.det(minor)
    return y


def of_rank(rank, *shape, seed=0):
    """Matrices of small integers, so that zero pivots are exactly 0 in half of the matrices."""
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-2, 3, (2, *shape[:-1], rank)) + 0.0 for _ in range(2))
    a[1] += 0.1 * rng.standard_normal(a[1].shape)
    return a @ np.swapaxes(b, -1, -2)


@pytest.mark.parametrize(('n', 'rank'), [(n, r) for n in range(1, 6) for r in range(n + 1)])
def test_derivatives_of_the_determinant_at_any_rank(n, rank, device):
    a, g = of_rank(rank, 3, n, n), matrices(3, n, n, seed=1)
    x = chx.array(a, device=device).require_grad()
    (gx,) = chx.grad([chx.linalg.det(x)], [x], enable_double_backprop=True)
    np.testing.assert_allclose(to_numpy(gx), cofactors(a), rtol=1e-9, atol=1e-9)
    (gx * chx.array(g, device=device)).sum().backward()
    h = 1e-5
    expected = (cofactors(a + h * g) - cofactors(a - h * g)) / (2 * h)
    np.testing.assert_allclose(to_numpy(x.grad), expected, rtol=1e-5, atol=1e-5)
    single = chx.array(a.astype('float32'), device=device).require_grad()
    chx.linalg.det(single).sum().backward()
    expected = cofactors(a.astype('float32').astype('float64'))
    np.testing.assert_allclose(to_numpy(single.grad), expected, rtol=1e-3, atol=2e-4)


def test_third_derivative_of_the_determinant():
    a, h = matrices(3, 3), 1e-5
    step = np.zeros((3, 3))
    step[1, 2] = h
    hessian = chx.func.hessian(chx.linalg.det)
    expected = (to_numpy(hessian(chx.array(a + step))) - to_numpy(hessian(chx.array(a - step)))) / (
        2 * h
    )
    third = chx.func.jacrev(hessian)
    np.testing.assert_allclose(to_numpy(third(chx.array(a)))[..., 1, 2], expected, atol=1e-7)
    with pytest.raises(chx.LinAlgError, match='singular'):
        third(chx.ones((3, 3)))


@pytest.mark.parametrize('n', [20, 150])
def test_gradient_of_the_determinant_of_large_matrices(n):
    a = matrices(n, n) / n**0.5
    x = chx.array(a).require_grad()
    y = chx.linalg.det(x)
    y.backward()
    np.testing.assert_allclose(
        to_numpy(x.grad), float(y) * np.linalg.inv(a).T, rtol=1e-8, atol=1e-9 * abs(float(y))
    )
    u, s, vh = np.linalg.svd(a)
    s[-1] = 0
    x = chx.array(u * s @ vh).require_grad()
    chx.linalg.det(x).backward()
    sign = np.linalg.det(u) * np.linalg.det(vh)
    expected = sign * np.prod(s[:-1]) * np.outer(u[:, -1], vh[-1])
    np.testing.assert_allclose(to_numpy(x.grad), expected, atol=1e-9 * abs(expected).max())


def test_determinants_whose_factors_are_out_of_range():
    for pivots in ([1e200, 1e200, 0.0], [1e200, 1e200, 1e-300], [1e-200, 1e-200, 1e300]):
        found = float(chx.linalg.det(chx.array(np.diag(pivots))))
        assert found == pytest.approx(pivots[0] * pivots[2] * pivots[1], rel=1e-14)
    assert float(chx.linalg.det(chx.array(np.diag([1e200, -1e200])))) == -np.inf
    assert float(chx.linalg.det(chx.array(np.diag([1e-200, 1e-200])))) == 0


def test_nan_is_not_singular():
    a = matrices(20, 20)
    a[3, 4] = np.nan
    assert np.isnan(to_numpy(chx.linalg.inv(chx.array(a)))).any()
    assert np.isnan(float(chx.linalg.det(chx.array(a))))
    s = definite(20, 20)
    s[5, 2] = np.nan
    with pytest.raises(chx.LinAlgError, match='order 6 of 20'):
        chx.linalg.cholesky(chx.array(s))


def test_norms_of_nothing_are_0():
    nothing = chx.zeros((0, 3))
    for order in (2, np.inf, 1):
        assert chx.linalg.norm(nothing, order).item() == 0
        assert chx.linalg.norm(nothing, order, axis=0).tolist() == [0, 0, 0]
        assert chx.linalg.norm(nothing, order, axis=1).tolist() == []
        assert chx.linalg.vector_norm(nothing, ord=order, keepdims=True).tolist() == [[0]]
    for order in (-np.inf, -2):
        with pytest.raises(ValueError, match='nothing to choose from'):
            chx.linalg.norm(nothing, order)


@pytest.mark.parametrize('order', [3, 2.5, 1.5, 1, 0.5, -0.5, -1, -2, 2, np.inf, -np.inf])
@pytest.mark.parametrize('dtype', ['float32', 'complex64'])
def test_gradients_of_norms_at_zeros(order, dtype):
    """Like PyTorch's: 0 where there is none, and no NaN."""
    rows = np.array([[0, 0, 0], [1, 0, 2], [0, -3, 0], [2, 1, -3]], 'float64')
    x = chx.array(rows.astype(dtype)).require_grad()
    y = chx.linalg.vector_norm(x, axis=1, ord=order)
    with np.errstate(all='ignore'):
        norms = np.linalg.norm(rows, axis=1, ord=order)
        size, norm = np.abs(rows), norms[:, None]
        slopes = size == norm if np.isinf(order) else size ** (order - 1) * norm ** (1 - order)
        expected = np.where((norm == 0) | (size == 0), 0, np.sign(rows) * slopes)
    np.testing.assert_allclose(to_numpy(y), norms, rtol=1e-6)
    (g,) = chx.grad([y.sum()], [x], enable_double_backprop=True)
    # Equal elements share the gradient.
    counted = slice(3, None) if order == -np.inf else slice(None)
    np.testing.assert_allclose(to_numpy(g)[counted], expected[counted], rtol=1e-5, atol=1e-7)
    if g.is_backprop_required():
        g2 = chx.grad([(g * g.conj()).real.sum()], [x])[0]
        assert g2 is None or np.isfinite(to_numpy(g2)).all()
