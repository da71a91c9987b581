"""What rows of the table cannot say: infinities, many places of large rows, NaN in gradients."""

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
        q = [(p + 0.25) / n for p in some]  # far enough from the next one
        y = chx.quantile(chx.array(x, device=device), q, method='inverted_cdf')
        expected = ordered[some].astype('f8' if dtype == 'float64' else 'f4')
        np.testing.assert_array_equal(to_numpy(y), expected)


def test_gradient_passes_nan_over(device):
    x = chx.array([[1.0, NAN, 3.0, 2.0], [NAN, NAN, NAN, NAN]], device=device).require_grad()
    y = chx.nanmedian(x, 1)
    np.testing.assert_array_equal(to_numpy(y), [2.0, NAN])
    y[0].backward()
    np.testing.assert_array_equal(to_numpy(x.grad)[0], [0, 0, 0, 1])
