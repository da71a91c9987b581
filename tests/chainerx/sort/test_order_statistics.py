"""Order statistics beyond the table: infinities, many indices of large rows, NaN in gradients."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from cases._table import seeded

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ('values', 'expected'),
    [
        ([1, INF], INF),
        ([-INF, 1], -INF),
        ([INF, INF], INF),
        ([-INF, INF], NAN),
        ([-INF, 0, INF], 0),
        ([1, NAN, 2], NAN),
        ([3e38, 3e38], 3e38),
        ([1e-45, 1e-45], 1e-45),
    ],
)
def test_median_of_odd_values(values, expected, device):
    x = chx.array(np.array(values, 'f4'), device=device)
    for y in (chx.median(x), chx.quantile(x, 0.5)):
        np.testing.assert_array_equal(to_numpy(y), np.float32(expected))
    if not np.isnan(values).any():
        np.testing.assert_array_equal(to_numpy(chx.nanmedian(x)), np.float32(expected))


@pytest.mark.parametrize('dtype', ['float32', 'float64', 'int64', 'uint8'])
@pytest.mark.parametrize('kind', ['any', 'few', 'equal', 'sorted', 'heavy'])
def test_places_of_large_rows(dtype, kind, device):
    """Selection by samples; 'heavy' has one value in nine of ten places."""
    n = 50_021
    rng = seeded('places', dtype, kind)
    x = rng.normal(size=n) * 50 + 100
    if kind == 'few':
        x = rng.integers(0, 4, n)
    elif kind == 'equal':
        x = np.full(n, 7)
    elif kind == 'sorted':
        x = np.sort(x)
    elif kind == 'heavy':
        x = np.where(rng.random(n) < 0.9, 100, x)
    x = x.astype(dtype)
    ordered = np.sort(x)
    places = [0, 1, 2, n // 100, n // 3, n // 2, n // 2 + 1, n - 2, n - 1]
    for some in (places[:1], places[3:5], places[5:7], places[-2:], places):
        q = [(p + 0.25) / n for p in some]  # far enough from the next index
        y = chx.quantile(chx.array(x, device=device), q, method='inverted_cdf')
        expected = ordered[some].astype('f8' if dtype == 'float64' else 'f4')
        np.testing.assert_array_equal(to_numpy(y), expected)


def test_gradient_passes_nan_over(device):
    x = chx.array([[1.0, NAN, 3.0, 2.0], [NAN, NAN, NAN, NAN]], device=device).require_grad()
    y = chx.nanmedian(x, 1)
    np.testing.assert_array_equal(to_numpy(y), [2.0, NAN])
    y[0].backward()
    np.testing.assert_array_equal(to_numpy(x.grad)[0], [0, 0, 0, 1])


FUNCTIONS = [('quantile', 1), ('nanquantile', 1), ('percentile', 100), ('nanpercentile', 100)]
INTERPOLATING = [
    'interpolated_inverted_cdf',
    'hazen',
    'weibull',
    'linear',
    'median_unbiased',
    'normal_unbiased',
]
CHOOSING = [
    'inverted_cdf',
    'averaged_inverted_cdf',
    'closest_observation',
    'lower',
    'higher',
    'midpoint',
    'nearest',
]


def rows_of(name, dtype='float64'):
    x = seeded('slopes').normal(size=(3, 7)).astype(dtype)
    if name.startswith('nan'):
        x[0, 2] = x[1, 4] = x[1, 5] = NAN
    return x


@pytest.mark.parametrize(('name', 'most'), FUNCTIONS)
@pytest.mark.parametrize('method', INTERPOLATING)
def test_slopes_by_q(name, most, method, device):
    function = getattr(chx, name)
    x = chx.array(rows_of(name), device=device)
    q = chx.array(np.array([[0.02, 0.29], [0.61, 0.99]]) * most, device=device).require_grad()
    y = function(x, q, axis=1, method=method)
    assert y.shape == (2, 2, 3)
    detached = function(x, q.as_grad_stopped(), axis=1, method=method)
    np.testing.assert_array_equal(to_numpy(y), to_numpy(detached))
    (g,) = chx.grad([y.sum()], [q])
    eps = 1e-6 * most
    shifted = [function(x, q.as_grad_stopped() + e, axis=1, method=method) for e in (eps, -eps)]
    expected = (to_numpy(shifted[0]) - to_numpy(shifted[1])).sum(-1) / (2 * eps)
    np.testing.assert_allclose(to_numpy(g), expected, rtol=1e-7, atol=1e-8)
    _, tangent = chx.func.jvp(
        lambda q: function(x, q, axis=1, method=method), (q,), (chx.ones_like(q),)
    )
    np.testing.assert_allclose(to_numpy(tangent.sum(-1)), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(('name', 'most'), FUNCTIONS)
@pytest.mark.parametrize('method', CHOOSING)
def test_methods_that_choose_have_slope_0(name, most, method):
    q = chx.array(np.array([0.1, 0.6]) * most).require_grad()
    y = getattr(chx, name)(chx.array(rows_of(name)), q, axis=1, method=method)
    assert chx.grad([y.sum()], [q])[0].tolist() == [0, 0]


def test_slopes_by_q_of_weighted_quantiles_and_of_nothing():
    q = chx.array([0.1, 0.6]).require_grad()
    y = chx.quantile(chx.arange(5.0), q, weights=chx.arange(5), method='inverted_cdf')
    assert chx.grad([y.sum()], [q])[0].tolist() == [0, 0]
    y = chx.quantile(chx.zeros((0, 3)), q, axis=1)
    assert y.shape == (2, 0)
    assert chx.grad([y.sum()], [q])[0].tolist() == [0, 0]


def test_slopes_by_q_as_pytorch():
    """Three times the distance of the neighbours, and 0 at an element."""
    x = chx.array([1.0, 2.0, 5.0, -1.0]).require_grad()
    q = chx.array([0.5, 0.25, 1 / 3, 0.0, 1.0]).require_grad()
    chx.quantile(x, q).sum().backward()
    np.testing.assert_allclose(to_numpy(q.grad), [3, 6, 0, 0, 0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(to_numpy(x.grad), [2.25, 0.5, 1, 1.25], rtol=1e-12, atol=1e-12)


def test_second_derivatives_by_q():
    """The slope depends on the two elements."""
    x, q = chx.array([1.0, 2.0, 5.0, -1.0]).require_grad(), chx.array(0.5).require_grad()
    (g,) = chx.grad([chx.quantile(x, q)], [q], enable_double_backprop=True)
    assert g.item() == 3
    assert chx.grad([g], [x])[0].tolist() == [-3, 3, 0, 0]


def test_slopes_between_infinities_are_0():
    q = chx.array([0.1, 0.5, 0.9]).require_grad()
    x = chx.array([-INF, 1.0, 2.0, INF])
    y = chx.quantile(x, q)
    np.testing.assert_array_equal(to_numpy(y), to_numpy(chx.quantile(x, q.as_grad_stopped())))
    assert chx.grad([y.sum()], [q])[0].tolist() == [0, 3, 0]


def test_q_is_a_list_of_arrays_in_graphs():
    q = chx.array(0.3, dtype='float32').require_grad()
    y = chx.quantile(chx.array([1.0, 2.0]), [q, 0.5])
    assert chx.grad([y.sum()], [q])[0].tolist() == 1


@pytest.mark.filterwarnings('ignore:vmap')  # it has no batching rule
@pytest.mark.parametrize('name', ['quantile', 'nanquantile'])
def test_q_is_a_batch(name):
    x, q = chx.array(rows_of(name)), chx.array([0.1, 0.6])
    function = getattr(chx, name)
    found = chx.func.vmap(lambda q: function(x, q, axis=1))(q)
    np.testing.assert_array_equal(to_numpy(found), to_numpy(function(x, q, axis=1)))
    slopes = chx.func.vmap(chx.func.grad(lambda q: function(x, q, axis=1).sum()))(q)
    each = [chx.func.grad(lambda q: function(x, q, axis=1).sum())(v) for v in (q[0], q[1])]
    np.testing.assert_array_equal(to_numpy(slopes), [v.item() for v in each])
