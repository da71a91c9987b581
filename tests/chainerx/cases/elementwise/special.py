"""chainerx.special: functions related to the error function and to the gamma function."""

import dataclasses

import numpy as np
import pytest
import scipy.special as sp
from cases._table import BOOL, REAL, Case, call, f, i
from cases.elementwise.explog import quiet

INF, NAN = np.inf, np.nan
OPTIONS = ', out=None, where, dtype'


def _special(name, ref, inputs, border=(), **kw):
    return Case(
        f'special.{name}',
        quiet(ref or getattr(sp, name)),
        inputs,
        out='float',
        elastic=True,
        tol=4,
        gtol=4,
        border=border,
        **kw,
    )


def _unary(name, lo=-2.0, hi=2.0, border=(), ref=None):
    return _special(
        name, ref, [f(2, 3, lo=lo, hi=hi)], border, sig=f'x{OPTIONS}', dtypes=BOOL + REAL
    )


_BESSEL = {
    'i0': {0.0: 1.0, INF: INF, -INF: INF, NAN: NAN, 1e4: INF},
    'i0e': {0.0: 1.0, INF: 0.0, -INF: 0.0, NAN: NAN},
    'i1': {0.0: 0.0, INF: INF, -INF: -INF, NAN: NAN, -1e4: -INF},
    'i1e': {0.0: 0.0, INF: 0.0, -INF: -0.0, NAN: NAN},
}
_LGAMMA = {0.0: INF, 1.0: 0.0, 2.0: 0.0, -1.0: INF, -3.0: INF, INF: INF, -INF: -INF, NAN: NAN}
_DIGAMMA = {-1.0: NAN, INF: INF, -INF: NAN, NAN: NAN, 1.0: -np.euler_gamma}
_ZETA = {(1.0, 2.0): INF, (0.5, 2.0): NAN, (2.0, -1.0): INF, (2.5, -0.5): NAN, (2.0, INF): 0.0}
_ZETA |= {(INF, 1.0): 1.0, (INF, 3.0): 0.0, (3.0, 0.0): INF, (NAN, 1.0): NAN, (2.0, NAN): NAN}
_POLYGAMMA = {
    (-1.0, 2.0): NAN,
    (1.5, 2.0): NAN,
    (1.0, 0.0): INF,
    (2.0, -1.0): -INF,
    (3.0, INF): 0.0,
}
_POLYGAMMA |= {
    (3.0, INF): 0.0,
    (0.0, 1.0): -np.euler_gamma,
    (1.0, 1.0): np.pi**2 / 6,
    (1.0, NAN): NAN,
}


def _incomplete(name, n, border, last='x', ref=None, diff=None):
    """A point between 0 and 1, where all of them are defined, preceded by exponents."""
    exponents = [f(2, 3, lo=0.4, hi=5) for _ in range(n - 1)]
    return _special(
        name,
        ref,
        [*exponents, f(2, 3, lo=0.1, hi=0.9)],
        border,
        sig=f'{", ".join("ab"[: n - 1])}, {last}{OPTIONS}',
        dtypes=REAL,
        maybe=BOOL,
        unchecked=('float16', 'bfloat16'),  # their parameters are rounded
        diff=diff or (n - 1,),
    )


_GAMMAINC = {
    'gammainc': {(2.0, 0.0): 0.0, (2.0, INF): 1.0, (-1.0, 1.0): NAN, (1.0, -1.0): NAN},
    'gammaincc': {(2.0, 0.0): 1.0, (2.0, INF): 0.0, (NAN, 1.0): NAN, (1.0, NAN): NAN},
}
_GAMMAINC['gammainc'] |= {(0.0, 1.0): 1.0, (INF, 1.0): 0.0, (0.0, 0.0): NAN, (INF, INF): NAN}
_GAMMAINV = {
    'gammaincinv': {(2.0, 0.0): 0.0, (2.0, 1.0): INF, (2.0, 1.5): NAN, (-1.0, 0.5): NAN},
    'gammainccinv': {(2.0, 0.0): INF, (2.0, 1.0): 0.0, (2.0, -0.5): NAN, (NAN, 0.5): NAN},
}
_BETAINC = {(2.0, 3.0, 0.0): 0.0, (2.0, 3.0, 1.0): 1.0, (2.0, 3.0, 1.5): NAN}
_BETAINC |= {(-1.0, 3.0, 0.5): NAN, (2.0, NAN, 0.5): NAN, (0.0, 2.0, 0.5): 1.0}
_BETAINV = {(2.0, 3.0, 0.0): 0.0, (2.0, 3.0, 1.0): 1.0, (2.0, 3.0, -1.0): NAN, (NAN, 1.0, 0.5): NAN}

_BETAINCC = {(2.0, 3.0, 0.0): 1.0, (2.0, 3.0, 1.0): 0.0, (-1.0, 3.0, 0.5): NAN}


def _log_of(function):
    return lambda *xs: np.log(function(*xs))


# The logarithm, and values at borders.
_LOGS = [
    ('log_gammainc', 2, sp.gammainc, {(2.0, 0.0): -INF, (2.0, INF): -0.0, (-1.0, 1.0): NAN}),
    ('log_gammaincc', 2, sp.gammaincc, {(2.0, 0.0): -0.0, (2.0, INF): -INF, (1.0, NAN): NAN}),
    ('log_betainc', 3, sp.betainc, {(2.0, 3.0, 0.0): -INF, (2.0, 3.0, 1.0): -0.0}),
    ('log_betaincc', 3, sp.betaincc, {(2.0, 3.0, 0.0): -0.0, (2.0, 3.0, 1.0): -INF}),
]
_LOG_GAMMA_DENSITY = {(1.0, 0.0): 0.0, (0.5, 0.0): INF, (2.0, 0.0): -INF, (2.0, INF): -INF}
_LOG_BETA_DENSITY = {(1.0, 3.0, 0.0): np.log(3), (0.5, 1.0, 0.0): INF, (1.0, 2.0, 1.0): -INF}
_LOG_GAMMA_DENSITY |= {(NAN, 1.0): NAN, (1.0, -1.0): NAN}
_LOG_BETA_DENSITY |= {(1.0, 1.0, NAN): NAN, (1.0, 1.0, 2.0): NAN}


def _log_gamma_density(a, x):
    return sp.xlogy(a - 1, x) - x - sp.gammaln(a)


def _log_beta_density(a, b, x):
    value = sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b)
    return np.where((a > 0) & (b > 0) & (x >= 0) & (x <= 1), value, NAN)


_XLOGY = {(0.0, 0.0): 0.0, (0.0, NAN): NAN, (0.0, INF): 0.0, (2.0, INF): INF}
_ENTROPY = {(-1.0, 1.0): INF, (1.0, -1.0): INF, (1.0, 0.0): INF, (NAN, 1.0): NAN, (0.0, NAN): NAN}
_ENTROPY |= {(0.0, 0.0): 0.0}


def _logarithmic(name, border, names='xy'):
    return _special(
        name,
        None,
        [f(2, 3, lo=0.3, hi=4), f(2, 3, lo=0.3, hi=4)],
        border,
        sig=f'{", ".join(names)}{OPTIONS}',
        dtypes=REAL,
        maybe=BOOL,
        binary=True,
        bools='any',
        unchecked=('float16', 'bfloat16') if name in ('kl_div', 'betaln') else (),
    )


def _multigammaln(a, d):
    steps = np.arange(d) / 2
    return d * (d - 1) / 4 * np.log(np.pi) + sp.gammaln(a[..., None] - steps).sum(-1)


def _check_riemann(xp, device):
    x = np.array([*np.linspace(-20.3, 4, 200), -INF, INF, NAN, -4, -1, -1e-300, 0, 1])
    expected = sp.zeta(x)
    for a in (xp.array(x, device=device), xp.array(x, 'float32', device=device)):
        y = xp.special.zeta(a)
        assert y.dtype == a.dtype
        assert xp.special.zeta(a, None).tolist()[:9] == y.tolist()[:9]
        tol = 1e-13 if a.dtype == 'float64' else 2e-7
        exact = expected if a.dtype == 'float64' else sp.zeta(xp.to_numpy(a).astype('float64'))
        np.testing.assert_allclose(xp.to_numpy(y), exact.astype(a.dtype), rtol=tol, atol=1e-30)
    with pytest.raises(xp.ChainerxError, match='zeta: x has no gradient'):
        xp.special.zeta(xp.array([2.0], device=device).require_grad()).backward()


CASES = [
    _unary('erf', border={0.0: 0.0, INF: 1.0, -INF: -1.0, NAN: NAN}),
    _unary('erfc', border={0.0: 1.0, INF: 0.0, -INF: 2.0, NAN: NAN, 1e3: 0.0, -1e3: 2.0}),
    _unary('erfcx', border={0.0: 1.0, INF: 0.0, -INF: INF, NAN: NAN, -1e3: INF}),
    _unary('erfinv', -0.8, 0.8, {0.0: 0.0, 1.0: INF, -1.0: -INF, 1.5: NAN, NAN: NAN, -INF: NAN}),
    _unary('erfcinv', 0.2, 1.8, {0.0: INF, 2.0: -INF, -0.5: NAN, 3.0: NAN, NAN: NAN}),
    _unary('ndtr', border={0.0: 0.5, INF: 1.0, -INF: 0.0, NAN: NAN, 1e3: 1.0, -1e3: 0.0}),
    _unary('log_ndtr', border={0.0: np.log(0.5), INF: -0.0, -INF: -INF, NAN: NAN, 1e3: -0.0}),
    _unary('ndtri', 0.1, 0.9, {0.5: 0.0, 0.0: -INF, 1.0: INF, -0.5: NAN, 2.0: NAN, NAN: NAN}),
    _unary('logit', 0.05, 0.95, {0.0: -INF, 1.0: INF, 0.5: 0.0, -0.5: NAN, 2.0: NAN, NAN: NAN}),
    _unary('log_expit', -4, 4, {0.0: np.log(0.5), INF: 0.0, -INF: -INF, NAN: NAN, -1e3: -1e3}),
    _unary('entr', 0.2, 3, {0.0: 0.0, 1.0: -0.0, -1.0: -INF, INF: -INF, NAN: NAN}),
    *(
        _logarithmic(name, _XLOGY | more)
        for name, more in (
            ('xlogy', {(0.0, -1.0): 0.0, (1.0, 0.0): -INF}),
            ('xlog1py', {(0.0, -2.0): 0.0, (1.0, -1.0): -INF}),
        )
    ),
    _logarithmic('rel_entr', _ENTROPY | {(0.0, 2.0): 0.0, (2.0, 2.0): 0.0}),
    _logarithmic(
        'kl_div',
        _ENTROPY | {(0.0, 2.0): 2.0, (2.0, 2.0): 0.0, (INF, 0.0): INF, (1.0, -INF): INF},
    ),
    _logarithmic(
        'betaln', {(1.0, 1.0): 0.0, (NAN, 1.0): NAN, (0.0, 1.0): INF, (0.0, 0.0): INF}, 'ab'
    ),
    Case(
        'special.multigammaln',
        _multigammaln,
        sig='a, d',
        calls=[call(f(2, 3, lo=2.2, hi=5), d) for d in (1, 2, 5)] + [call(f(0, lo=3, hi=5), 2)],
        dtypes=BOOL + REAL,
        out='float',
        tol=8,
        gtol=8,
        errors=[
            (call(f(2), 0), 'ValueError', '0'),
            (call(f(2), 2**40), 'ValueError', '10000'),
            (call(f(2), 1.5), 'TypeError', 'd'),
        ],
    ),
    *(_unary(name, border=_BESSEL[name]) for name in _BESSEL),
    dataclasses.replace(_unary('i0', border=_BESSEL['i0']), name='i0'),
    *(_unary(name, 0.3, 4, _LGAMMA, sp.gammaln) for name in ('lgamma', 'gammaln')),
    *(
        _unary(name, 0.3, 4, [*_DIGAMMA.items(), (0.0, -INF), (-0.0, INF)], sp.psi)
        for name in ('digamma', 'psi')
    ),
    _special(
        'polygamma',
        sp.polygamma,
        [i(2, 3), f(2, 3, lo=0.5, hi=4)],
        _POLYGAMMA,
        sig=f'n, x{OPTIONS}',
        dtypes=REAL,
        maybe=BOOL,
        unchecked=('uint64',),  # float64 with int64 orders
    ),
    _special(
        'zeta',
        sp.zeta,
        [f(2, 3, lo=1.5, hi=4), f(2, 3, lo=0.5, hi=4)],
        _ZETA,
        sig=f'x, q=None{OPTIONS}',
        dtypes=REAL,
        maybe=BOOL,
        binary=True,
        bools='any',
        diff=(1,),
    ),
    Case('special.zeta', None, check=_check_riemann),
    *(_incomplete(name, 2, _GAMMAINC[name]) for name in ('gammainc', 'gammaincc')),
    *(_incomplete(name, 2, _GAMMAINV[name], 'y') for name in ('gammaincinv', 'gammainccinv')),
    _incomplete('betainc', 3, _BETAINC),
    _incomplete('betaincc', 3, _BETAINCC),
    _incomplete('betaincinv', 3, _BETAINV, 'y'),
    *(_incomplete(name, n, border, ref=_log_of(p)) for name, n, p, border in _LOGS),
    _incomplete('log_gamma_density', 2, _LOG_GAMMA_DENSITY, ref=_log_gamma_density, diff=(0, 1)),
    _incomplete('log_beta_density', 3, _LOG_BETA_DENSITY, ref=_log_beta_density, diff=(0, 1, 2)),
]
