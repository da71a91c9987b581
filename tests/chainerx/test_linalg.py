"""chainerx.linalg: layouts, sizes where recursion ends, hard matrices, errors."""

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
    """Pivots come from all rows, so these are factored right or not at all."""
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
    y = chx.linalg.det(x)
    for _ in range(2):  # backward that fails leaves the graph
        with pytest.raises(chx.LinAlgError, match='inv: matrix 0 of a is singular: pivot 1 of 40'):
            y.backward()
    assert x.grad is None
    assert issubclass(chx.LinAlgError, np.linalg.LinAlgError)
    assert issubclass(chx.LinAlgError, ValueError)
    assert chx.linalg.LinAlgError is chx.LinAlgError


def test_nan_is_not_singular():
    a = matrices(20, 20)
    a[3, 4] = np.nan
    assert np.isnan(to_numpy(chx.linalg.inv(chx.array(a)))).any()
    assert np.isnan(float(chx.linalg.det(chx.array(a))))
    s = definite(20, 20)
    s[5, 2] = np.nan
    with pytest.raises(chx.LinAlgError, match='first 5 of 20'):
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
