"""Polynomials as vectors of coefficients."""

import numpy as np
import pytest
from cases._table import ALL, NUMERIC, Case, b, c, call, f

FLOATS32 = ('float32', 'float64')
OTHERS = tuple(d for d in ALL if d not in FLOATS32)


def _binary(name, ref, errors=()):
    return Case(
        name,
        ref,
        sig='a1, a2',
        calls=[
            call(f(3), f(3)),
            call(f(2), f(4)),
            call(f(4), f(1)),
            call(f(), f(3)),
            call(f(3), 2),
        ],
        dtypes=NUMERIC,
        tol=8,
        gtol=4,
        errors=[
            (call(f(2, 2), f(3)), 'DimensionError', 'a1 has shape'),
            (call(f(3), f(2, 2)), 'DimensionError', 'a2 has shape'),
            (call(f(3), b(2)), 'DtypeError', 'a2'),
            (call(f(3), 'x'), 'TypeError', 'a2'),
            (call('x', 2), 'TypeError'),
            *errors,
        ],
    )


def _fit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    found = np.polyfit(x, y, deg, rcond, full, w, cov)
    return list(found) if isinstance(found, tuple) else found


CASES = [
    _binary('polyadd', np.polyadd),
    _binary('polysub', np.polysub),
    _binary('polymul', np.polymul),
    Case(
        'polydiv',
        lambda u, v: list(np.polydiv(u, v)),
        sig='u, v',
        calls=[
            call(f(5, lo=1, hi=3), f(3, lo=1, hi=2)),
            call(f(3, lo=1), f(3, lo=1)),
        ],
        dtypes=('float64', 'complex128'),
        unchecked=tuple(d for d in ALL if d not in ('float64', 'complex128')),
        layouts=False,  # the remainder of equal rows is trimmed
        multi=tuple,
        tol=64,
        gtol=64,
        errors=[
            (call(f(0), f(2)), 'ValueError', 'u is empty'),
            (call(f(2), f(0)), 'ValueError', 'v is empty'),
            (call(f(2, 2), f(2)), 'DimensionError', '2, 2'),
            (call(f(2), 'x'), 'TypeError', 'v'),
        ],
    ),
    Case(
        'polyder',
        np.polyder,
        sig='p, m=1',
        calls=[call(f(4)), call(f(4), 2), call(f(2), 3), call(f(1))],
        dtypes=NUMERIC,
        unchecked=('uint64',),
        out=lambda d: 'int64' if 'int' in d else d,
        errors=[
            (call(f(3), -1), 'ValueError', '-1'),
            (call(f(2, 2)), 'DimensionError', '2, 2'),
            (call(b(2)), 'DtypeError', 'bool'),
        ],
    ),
    Case(
        'polyint',
        lambda p, m=1, k=None: np.polyint(p, m, k),
        sig='p, m=1, k=None',
        calls=[
            call(f(3)),
            call(f(3), 2),
            call(f(3), 2, f(2)),
            call(f(3), 2, f()),
            call(f(2), 1, 3),
            call(f(0)),
        ],
        dtypes=NUMERIC,
        out='float',
        tol=4,
        errors=[
            (call(f(3), -1), 'ValueError', '-1'),
            (call(f(3), 3, f(2)), 'DimensionError', '2 constants'),
            (call(f(2, 2)), 'DimensionError', '2, 2'),
            (call(f(2), 1, 'x'), 'TypeError', 'k'),
        ],
    ),
    Case(
        'poly',
        lambda z: np.atleast_1d(np.poly(np.atleast_1d(z))),
        sig='seq_of_zeros',
        calls=[call(f(3)), call(f(1)), call(f())],
        dtypes=NUMERIC,
        out='float',
        tol=16,
        gtol=8,
        errors=[
            (call(f(2, 3)), 'DimensionError', '2, 3'),
            (call(f(2, 2, 2)), 'DimensionError', '2, 2, 2'),
            (call(b(2)), 'DtypeError', 'bool'),
        ],
    ),
    Case(
        'roots',
        fn=None,
        check=lambda xp, device: _check_roots(xp, device),
        errors=[
            (call(f(2, 2)), 'DimensionError', '2, 2'),
            (call(b(2)), 'DtypeError', 'bool'),
        ],
    ),
    Case(
        'polyfit',
        _fit,
        sig='x, y, deg, rcond=None, full=False, w=None, cov=False',
        calls=[
            call(c([0.0, 1.0, 2.5, 3.0, 4.5]), f(5), 2),
            call(c([0.0, 1.0, 2.5, 3.0, 4.5]), f(5, 2), 1),
            call(c([0.0, 1.0, 2.5, 3.0]), f(4), 0),
            call(c([0.0, 1.0, 2.5, 3.0]), f(4), 2, w=c([1.0, 2.0, 0.5, 1.0])),
        ],
        dtypes=(*FLOATS32, 'complex64', 'complex128'),
        unchecked=tuple(d for d in OTHERS if d[0] != 'c'),
        layouts=False,  # repeated equal points determine no polynomial
        tol=64,
        gtol=64,
        errors=[
            (call(f(3), f(3), -1), 'ValueError', '-1'),
            (call(f(0), f(0), 1), 'ValueError', 'empty'),
            (call(f(3), f(4), 1), 'DimensionError', '4'),
            (call(f(2, 2), f(4), 1), 'DimensionError', '2, 2'),
            (call(f(3), f(3, 1, 1), 1), 'DimensionError', '3, 1, 1'),
            (call(f(3), f(3), 1, w=f(2)), 'DimensionError', 'w.shape'),
            (call(f(3), f(3), 2, cov=True), 'ValueError', '3'),
            (call(f(3), f(3), 1, cov='x'), 'ValueError', 'cov'),
            (call(f(3), f(3), 1.5), 'TypeError', 'deg'),
        ],
    ),
]


def _check_roots(xp, device):
    for p in ([1.0, -6, 11, -6], [0, 2, 0, 8, 0, 0], [3.0, 1], [5.0], [0.0, 0], [], [1, 2, 3, 4]):
        x = xp.array(p, 'float64', device=device)
        found = xp.to_numpy(xp.roots(x))
        assert found.dtype == 'complex128'
        np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(np.roots(p)), atol=1e-12)
    assert xp.roots(xp.array([1, -3, 2], device=device)).dtype == 'complex64'
    x = xp.array([1.0, -3, 2], device=device).require_grad()
    assert not xp.roots(x).is_backprop_required()
    matrix = np.array([[1.0, 2], [3, 4]])
    y = xp.to_numpy(xp.poly(xp.array(matrix, device=device)))
    np.testing.assert_allclose(y, np.poly(matrix), rtol=1e-12)
    assert xp.poly(xp.array([1 + 2j, 1 - 2j], device=device)).dtype == 'float64'
    low, high = xp.array([1.0, 2], device=device), xp.array([1.0, 2, 3], device=device)
    assert [y.tolist() for y in xp.polydiv(low, high)] == [[0], [1, 2]]
    assert [y.tolist() for y in xp.polydiv(high, 2)] == [[0.5, 1, 1.5], [0]]
    assert xp.poly(xp.array([], 'float64', device=device)).tolist() == [1]
    whole = xp.array([1, 2], 'int8', device=device)
    assert xp.polyder(whole, 0).dtype == 'int8'
    _check_fit(xp, device)


def _check_fit(xp, device):
    """Checks the results of polyfit besides the polynomial."""
    x = np.linspace(0, 3, 9)
    y = np.stack([np.sin(x), np.cos(x)], 1)
    w = np.linspace(1, 2, 9)
    here = [xp.array(v, device=device) for v in (x, y, w)]
    for cov in (True, 'unscaled'):
        for columns in (np.s_[:], np.s_[:, 0]):
            p, v = xp.polyfit(here[0], here[1][columns], 3, w=here[2], cov=cov)
            p0, v0 = np.polyfit(x, y[columns], 3, w=w, cov=cov)
            if cov == 'unscaled' and y[columns].ndim == 2:
                v0 = np.broadcast_to(v0, (4, 4, 2))
            np.testing.assert_allclose(xp.to_numpy(p), p0, rtol=1e-9)
            np.testing.assert_allclose(xp.to_numpy(v), v0, rtol=1e-7, atol=1e-12)
    found = xp.polyfit(here[0], here[1], 3, full=True)
    for ours, theirs in zip(found, np.polyfit(x, y, 3, full=True), strict=True):
        ours = xp.to_numpy(ours) if isinstance(ours, xp.ndarray) else ours
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    same = xp.ones(4, 'float64', device=device)
    with pytest.warns(RuntimeWarning, match='do not determine'):
        xp.polyfit(same, same, 2)
