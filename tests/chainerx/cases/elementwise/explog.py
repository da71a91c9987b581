"""Functions of one real or complex number: exponentials, trigonometry, rounding."""

import chainerx as chx
import numpy as np
import scipy.special
from cases._table import ALL, BOOL, COMPLEX, REAL, Case, call, f

INF, NAN = np.inf, np.nan


def quiet(ref):
    def run(*xs):
        with np.errstate(all='ignore'):
            return ref(*xs)

    return run


REAL_ONLY = ('erf', 'cbrt', 'ceil', 'floor', 'trunc', 'fix')


def _math(name, ref, lo=-2.0, hi=2.0, **kw):
    dtypes = BOOL + REAL + (() if name in REAL_ONLY else COMPLEX)
    x = f(2, 3, lo=lo, hi=hi, avoid=kw.pop('avoid', ()))
    if 0.0 in kw.get('border', ()):  # odd functions keep the sign of zero
        kw['border'] = [*kw['border'].items(), (-0.0, quiet(ref)(-0.0))]
    kw.setdefault('out', 'float')
    return Case(name, quiet(ref), [x], sig='x', dtypes=dtypes, elastic=True, tol=2, **kw)


def _complex(name, ref):
    """Derivatives at complex numbers, by the derivatives of their parts."""

    def parts(xp, function, a):
        y = function(a[0] + a[1] * 1j)
        return xp.real(y) - 2 * xp.imag(y)

    return Case(
        name,
        lambda a: parts(np, ref, a),
        [
            f(2, 5, lo=0.2, hi=0.8),
        ],
        calls=[call(f(2, 5, lo=-3, hi=-1.2))],
        dtypes=('float64',),
        unchecked=tuple(d for d in ALL if d != 'float64'),
        fn=lambda a: parts(chx, getattr(chx, name), a),
        tol=4,
    )


def _clip(a, low=None, high=None, **names):
    for name, bound in names.items():
        low, high = (bound, high) if 'min' in name else (low, bound)
    return np.clip(a, low, high)


CASES = [
    _math('sqrt', np.sqrt, 0.2, 5, border={0.0: 0.0, -1.0: NAN, INF: INF, NAN: NAN, 4.0: 2.0}),
    _math('exp', np.exp, border={0.0: 1.0, INF: INF, -INF: 0.0, NAN: NAN, 1000.0: INF}),
    _math('expm1', np.expm1, border={0.0: 0.0, -INF: -1.0, INF: INF, 1e-30: 1e-30, NAN: NAN}),
    _math('exp2', np.exp2, border={0.0: 1.0, 3.0: 8.0, -INF: 0.0, INF: INF, NAN: NAN}),
    _math('log', np.log, 0.2, 5, border={0.0: -INF, 1.0: 0.0, -1.0: NAN, INF: INF, NAN: NAN}),
    _math('log2', np.log2, 0.2, 5, border={0.0: -INF, 8.0: 3.0, -1.0: NAN, INF: INF}),
    _math('log10', np.log10, 0.2, 5, border={0.0: -INF, 1.0: 0.0, -1.0: NAN, INF: INF}),
    _math('log1p', np.log1p, -0.7, 5, border={-1.0: -INF, 0.0: 0.0, 1e-30: 1e-30, -2.0: NAN}),
    *(
        _complex(name, getattr(np, name))
        for name in (
            *('expm1', 'exp2', 'log1p', 'log2', 'log10', 'sqrt', 'exp', 'log', 'sin', 'cos', 'tan'),
            *(
                'arcsin',
                'arccos',
                'arctan',
                'arcsinh',
                'arccosh',
                'arctanh',
                'sinh',
                'cosh',
                'tanh',
            ),
            'abs',
        )
    ),
    _math('erf', scipy.special.erf, border={0.0: 0.0, INF: 1.0, -INF: -1.0, NAN: NAN}),
    _math('sin', np.sin, border={0.0: 0.0, INF: NAN, NAN: NAN}),
    _math('cos', np.cos, border={0.0: 1.0, INF: NAN, NAN: NAN}),
    _math('tan', np.tan, -1.2, 1.2, border={0.0: 0.0, INF: NAN}),
    _math('arcsin', np.arcsin, -0.8, 0.8, border={0.0: 0.0, 1.5: NAN, 1.0: np.pi / 2}),
    _math('arccos', np.arccos, -0.8, 0.8, border={1.0: 0.0, 1.5: NAN, -1.0: np.pi}),
    _math('arctan', np.arctan, border={0.0: 0.0, INF: np.pi / 2, -INF: -np.pi / 2}),
    _math('sinh', np.sinh, border={0.0: 0.0, INF: INF, -INF: -INF}),
    _math('cosh', np.cosh, border={0.0: 1.0, INF: INF, -INF: INF}),
    _math('tanh', np.tanh, border={0.0: 0.0, INF: 1.0, -INF: -1.0, NAN: NAN}),
    _math('arcsinh', np.arcsinh, border={0.0: 0.0, INF: INF, -INF: -INF}),
    _math('arccosh', np.arccosh, 1.3, 4, border={1.0: 0.0, 0.5: NAN, INF: INF}),
    _math(
        'ceil',
        np.ceil,
        avoid=(-1, 0, 1),
        order=0,
        out='same',
        maybe=(),
        border={-0.5: -0.0, INF: INF},
    ),
    _math(
        'floor',
        np.floor,
        avoid=(-1, 0, 1),
        order=0,
        out='same',
        maybe=(),
        border={-0.5: -1.0, NAN: NAN},
    ),
    _math('cbrt', np.cbrt, 0.2, 5, border={0.0: 0.0, 8.0: 2.0, -8.0: -2.0, INF: INF, NAN: NAN}),
    _math('arctanh', np.arctanh, -0.8, 0.8, border={0.0: 0.0, 1.0: INF, -1.0: -INF, 2.0: NAN}),
    _math('rint', np.rint, avoid=(-1.5, -0.5, 0.5, 1.5), order=0, border={2.5: 2.0, -0.5: -0.0}),
    _math(
        'trunc',
        np.trunc,
        avoid=(-1, 0, 1),
        order=0,
        out='same',
        maybe=(),
        border={-1.5: -1.0, 1.5: 1.0},
    ),
    _math(
        'fix',
        np.fix,
        avoid=(-1, 0, 1),
        order=0,
        out='same',
        maybe=(),
        border={-1.5: -1.0, 1.5: 1.0},
    ),
    Case(
        'arctan2',
        np.arctan2,
        [f(2, 3, avoid=(0,), gap=0.3), f(2, 3, avoid=(0,), gap=0.3)],
        sig='x1, x2',
        dtypes=REAL,
        maybe=BOOL,
        out='float',
        elastic=True,
        binary=True,
        bools='any',
        tol=2,
        border=[((0.0, -1.0), np.pi), ((-0.0, -1.0), -np.pi), ((1.0, 0.0), np.pi / 2)],
    ),
    *(
        Case(
            name,
            ref,
            [f(2, 3, avoid=(0,), gap=0.3), f(2, 3, avoid=(0,), gap=0.3)],
            sig='x1, x2',
            dtypes=REAL,
            maybe=BOOL,
            out='float',
            elastic=True,
            binary=True,
            bools='any',
            tol=2,
            border=border,
        )
        for name, ref, border in (
            ('hypot', np.hypot, {(3.0, 4.0): 5.0, (1e30, 0.0): 1e30, (INF, NAN): INF}),
            ('logaddexp', np.logaddexp, {(-INF, 0.0): 0.0, (-INF, -INF): -INF, (1e4, 0.0): 1e4}),
        )
    ),
    Case(
        'copysign',
        np.copysign,
        [f(2, 3, avoid=(0,)), f(2, 3, avoid=(0,))],
        sig='x1, x2',
        dtypes=REAL,
        maybe=BOOL,
        out='float',
        diff=(0,),
        elastic=True,
        binary=True,
        bools='any',
        border={(1.0, -0.0): -1.0, (NAN, 1.0): NAN, (-2.0, INF): 2.0},
    ),
    Case(
        'clip',
        _clip,
        sig='a, min=None, max=None',
        dtypes=REAL,
        calls=[
            call(f(2, 3, avoid=(0, 1)), 0, 1),
            call(f(2, 3, avoid=(1,)), None, 1),
            call(f(2, 3, avoid=(1,)), 1, None),
            call(f(), 0, 1),
            call(f(0, 2), 0, 1),
            call(f(67, avoid=(0, 1)), 0, 1),
            call(f(2, 3), f(2, 3, lo=-2, hi=-1), f(2, 3, lo=1)),
            call(f(3, 4), f(4), f(3, 1)),
            call(f(67), 0, f(67)),
            call(f(67), f(67), 1),
            call(f(2, 1, 3), f(4, 1), 1),
            call(f(0, 2), f(0, 2), f(2)),
            call(f(), f(), f()),
            call(f(3, 2), f(3, 2), None),
            call(f(3, 2), None, f(2)),
            call(f(2, 3), min=0),
            call(f(2, 3), max=f(3)),
            call(f(2, 3), None, max=1),
            call(f(2, 3), a_min=0, a_max=f(3)),
            call(f(2, 3), a_min=-1, max=1),
            call(f(2, 3)),
            call(f(2, 3), None, None),
        ],
        big=call(f(50021), 0, 1),
        errors=[
            (call(f(2, 3), 0, 1, a_min=0), 'TypeError', 'a_min and min'),
            (call(f(2, 3), max=1, a_max=f(3)), 'TypeError', 'a_max and max'),
        ],
    ),
    *(
        Case(
            name,
            ref,
            [f(2, 3)],
            sig='x',
            dtypes=REAL + BOOL,
            maybe=COMPLEX,
            out='bool',
            order=0,
            elastic=True,
            border=border,
        )
        for name, ref, border in (
            ('signbit', np.signbit, {-0.0: True, INF: False, -1.0: True}),
            ('isnan', np.isnan, {NAN: True, INF: False, 0.0: False}),
            ('isinf', np.isinf, {NAN: False, INF: True, -INF: True}),
            ('isfinite', np.isfinite, {NAN: False, -INF: False, 1.0: True}),
        )
    ),
]
