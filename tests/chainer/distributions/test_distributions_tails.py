"""Both tails of all distributions: no loss of digits, no underflow of logarithms.

`data/make_tails.py` has the table, and tells where the numbers come from.
"""

import json
import pathlib

import chainer
import chainer.distributions as D
import chainer.functions as F
import numpy as np
import pytest
from devices import to_numpy
from distributions.distribution_cases import SCALARS

ROWS = json.loads((pathlib.Path(__file__).parents[1] / 'data' / 'tails.json').read_text())
LEVELS = (1e-30, 1e-20, 1e-8, 1e-3, 0.25, 0.5, 0.75, 0.999, 0.99999994)
DTYPES = ('float32', 'float64')
UNITS = 32  # in units of the last place; times L for a logarithm L and values derived from it


def name_of(row):
    return f'{row["cls"]}({", ".join(f"{v:g}" for v in row["params"].values())})'


def expected_of(row):
    """By name: values, derivatives in the point, and the size of the logarithms behind them."""
    log_p, below, above = (
        np.array(row[name]) for name in ('log_prob', 'log_cdf', 'log_survival_function')
    )
    with np.errstate(over='ignore', invalid='ignore'):
        p = np.exp(log_p)
        values = {
            'log_prob': (log_p, np.array(row.get('slope', np.nan))),
            'prob': (p, p * row.get('slope', np.nan)),
            'cdf': (np.exp(below), p),
            'survival_function': (np.exp(above), -p),
            'log_cdf': (below, np.array(row.get('rate_below', np.nan))),
            'log_survival_function': (above, -np.array(row.get('rate_above', np.nan))),
        }
    depth = 1 + np.abs(np.minimum(below, above))
    return values, np.where(np.isfinite(depth), depth, 1)


def assert_near(found, expected, rtol, atol, message):
    """Compares values; those beyond the range of the dtype must be infinite."""
    dtype = found.dtype
    with np.errstate(over='ignore'):
        expected = expected.astype(dtype)
    found, expected = found.astype('d'), expected.astype('d')
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(found[~finite], expected[~finite], message)
    # Near 0, numbers have few digits.
    limit = rtol * np.abs(expected) + atol + 1e3 * np.finfo(dtype).smallest_subnormal
    with np.errstate(invalid='ignore'):
        bad = finite & ~(np.abs(found - expected) <= limit)
    assert not bad.any(), f'{message}: {found[bad]}, expected {expected[bad]}'


def evaluate(row, name, points, make, dtype):
    """Returns values, and gradients in the point and in each parameter."""
    params = {
        key: chainer.Variable(make(np.full(len(points), v, dtype)))
        for key, v in row['params'].items()
    }
    x = chainer.Variable(make(points, dtype))
    y = getattr(getattr(D, row['cls'])(**params), name)(x)
    assert y.dtype == dtype
    if y.requires_grad:
        F.sum(y).backward()
    grads = [v.grad for v in (x, *params.values())]
    return to_numpy(y), [np.zeros(len(points), dtype) if g is None else to_numpy(g) for g in grads]


def assert_numbers(grads, values, points, message):
    """Gradients must be finite where the value is."""
    for grad in grads:
        bad = np.isnan(grad) & np.isfinite(values)
        assert not bad.any(), f'{message}: no gradient at {np.array(points)[bad]}'


def test_every_distribution_of_numbers_has_a_row():
    assert {row['cls'] for row in ROWS} == {case.cls for case in SCALARS}


@pytest.mark.parametrize('row', ROWS, ids=name_of)
def test_tails(row, make):
    expected, depth = expected_of(row)
    points = np.array(row['points'])
    for dtype in DTYPES:
        units = UNITS * np.finfo(dtype).eps * depth
        for name, (values, slopes) in expected.items():
            found, grads = evaluate(row, name, points, make, dtype)
            # The density may be 1, whose logarithm is 0.
            assert_near(found, values, units, units * (name == 'log_prob'), f'{name} {dtype}')
            assert_numbers(grads, found, points, f'{name} {dtype}')
            if 'slope' not in row:
                continue
            known = np.isfinite(found) & (np.abs(found) >= np.finfo(dtype).tiny)
            if row['cls'] == 'Laplace' and 'prob' in name:
                known &= points != row['params']['loc']
            # The derivative of the density may be a difference of larger numbers.
            size = np.abs(slopes[known]).max(initial=1) if 'prob' in name else 0
            atol = units[known] * min(size, 4) * (found[known] if name == 'prob' else 1)
            assert_near(
                grads[0][known],
                slopes[known],
                8 * units[known],
                atol if 'prob' in name else 0,
                f'slope of {name} {dtype}',
            )


@pytest.mark.parametrize('row', [row for row in ROWS if 'icdf' in row], ids=name_of)
def test_quantiles(row, make):
    for dtype in DTYPES:
        found, grads = evaluate(row, 'icdf', np.float32(LEVELS), make, dtype)
        assert_near(found, np.array(row['icdf']), 2 * UNITS * np.finfo(dtype).eps, 0, dtype)
        assert_numbers(grads, found, LEVELS, dtype)
