"""Products of matrices, and chainerx.linalg."""

import chainerx as chx
import numpy as np
from cases._table import ALL, BOOL, COMPLEX, REAL, Case, c, call, f, seeded, turned


def _linear(x, w, b=None, n_batch_axes=1):
    batch = x.shape[:n_batch_axes]
    y = x.reshape(int(np.prod(batch)), -1 if x.size else w.shape[1]) @ w.T
    if b is not None:
        y = y + b
    return y.reshape(*batch, w.shape[0])


DTYPES = ('float32', 'float64', *COMPLEX)
_PRODUCTS = [
    call(f(2, 3), f(3, 4)),
    call(f(3), f(3)),
    call(f(2, 3), f(3)),
    call(f(3), f(3, 4)),
    call(f(0, 3), f(3, 2)),
    call(f(2, 0), f(0, 3)),
    call(f(0), f(0)),
    call(f(17, 19), f(19, 5)),
    call(f(1, 1), f(1, 1)),
]


def _good(*shape):
    """Well-conditioned matrices whose lower triangles are those of positive definite ones."""
    n = shape[-1] if shape else 0
    data = seeded('linalg', *shape).uniform(-0.5, 0.5, shape) / max(1, n) ** 0.5 + 1.2 * np.eye(n)
    return turned(data, similar=True)


def _transposed(a):
    return a.transpose((*range(a.ndim - 2), a.ndim - 1, a.ndim - 2))


def _adjoint(a, xp=np):
    return _transposed(xp.conj(a))


def _lower(a, xp=np):
    return xp.tril(a) + _adjoint(xp.tril(a, -1), xp)


def _upper_factor(a):
    return _adjoint(np.linalg.cholesky(_lower(_adjoint(a))))


def _slogdet(xp):
    """slogdet with both results in one dtype."""

    def run(a):
        sign, log = xp.linalg.slogdet(a)
        return sign, log.astype(sign.dtype)

    return run


_MATRICES = [
    call(_good(3, 3)),
    call(_good(1, 1)),
    call(_good(2, 3, 3)),
    call(_good(2, 1, 2, 2)),
    call(_good(0, 0)),
    call(_good(0, 2, 2)),
    call(_good(3, 0, 0)),
    call(_good(18, 18)),
]
_SINGULAR = [
    (call(c([[1.0, 2.0], [2.0, 4.0]])), 'LinAlgError', 'matrix 0 of a is singular: pivot 1 of 2'),
    (call(c([[[1.0, 0.0], [0.0, 1.0]], [[0.0] * 2] * 2])), 'LinAlgError', 'matrix 1 of a'),
]
_INDEFINITE = [
    (call(c([[1.0, 2.0], [2.0, 1.0]])), 'LinAlgError', 'not positive definite.* order 2 of 2'),
]
_NOT_SQUARE = [
    (call(f(2, 3)), 'DimensionError', '2 x 3'),
    (call(f(3)), 'DimensionError', '1 axes'),
    (call(f()), 'DimensionError', '0 axes'),
]


def _factor(name, ref, errors=(), **kw):
    return Case(
        f'linalg.{name}',
        ref,
        sig='a',
        calls=_MATRICES,
        dtypes=DTYPES,
        tol=8,
        gtol=8,
        errors=[] if 'fn' in kw else [*_NOT_SQUARE, *errors],
        layouts=False,  # broadcast matrices are singular; test_linalg.py tests other layouts
        big=call(_good(150, 150)),
        **kw,
    )


CASES = [
    _factor('inv', np.linalg.inv, _SINGULAR),
    _factor('det', np.linalg.det),
    _factor('slogdet', _slogdet(np), fn=_slogdet(chx), order=0, diff=()),
    _factor(
        'slogdet',
        lambda a: np.linalg.slogdet(a)[1],
        fn=lambda a: chx.linalg.slogdet(a)[1],
        out='abs',
    ),
    _factor('cholesky', lambda a: np.linalg.cholesky(_lower(a)), _INDEFINITE, order=0, diff=()),
    _factor(
        'cholesky',
        _upper_factor,
        fn=lambda a: chx.linalg.cholesky(a, upper=True),
        order=0,
        diff=(),
    ),
    _factor(
        'cholesky',
        _upper_factor,
        fn=lambda a: chx.linalg.cholesky(chx.triu(a) + _adjoint(chx.triu(a, 1), chx), upper=True),
    ),
    _factor(
        'cholesky',
        lambda a: np.linalg.cholesky(_lower(a)),
        fn=lambda a: chx.linalg.cholesky(_lower(a, chx)),
    ),
    Case(
        'linalg.solve',
        np.linalg.solve,
        sig='a, b',
        calls=[
            call(_good(3, 3), f(3)),
            call(_good(3, 3), f(3, 2)),
            call(_good(2, 3, 3), f(2, 3, 1)),
            call(_good(2, 1, 2, 2), f(3, 2, 4)),
            call(_good(4, 2, 2), f(2)),
            call(_good(3, 3), f(2, 3, 2)),
            call(_good(3, 3), f(3, 0)),
            call(_good(0, 0), f(0, 2)),
            call(_good(0, 2, 2), f(2, 3)),
            call(_good(18, 18), f(18, 3)),
        ],
        dtypes=DTYPES,
        binary=True,
        tol=8,
        gtol=8,
        errors=[
            (call(f(2, 3), f(2)), 'DimensionError', '2 x 3'),
            (call(_good(2, 2), f(3)), 'DimensionError', r'b.shape\[0\] is 3, expected 2'),
            (call(_good(2, 2), f(2, 3, 2)), 'DimensionError', r'b.shape\[1\] is 3, expected 2'),
            (call(_good(2, 2, 2), f(3, 2, 2)), 'DimensionError'),
            (call(_good(2, 2), f()), 'DimensionError', 'no axes'),
            (call(c([[0.0]]), f(1)), 'LinAlgError', 'solve: matrix 0 of a is singular'),
        ],
        big=call(_good(150, 150), f(150, 40)),
        layouts=False,
    ),
    Case(
        'dot',
        np.dot,
        sig='a, b',
        calls=[
            *_PRODUCTS,
            call(f(2, 2, 3), f(3, 4)),
            call(f(2, 3), f(2, 3, 2)),
            call(f(), f(2, 3)),
            call(f(2), f()),
            call(f(), f()),
        ],
        dtypes=ALL,
        binary=True,
        bools='yes',
        tol=8,
        errors=[
            (call(f(2, 3), f(2, 3)), 'DimensionError', r'\(2, 3\)|3.*2|2.*3'),
            (call(f(2), f(3)), 'DimensionError'),
            (call(f(2, 3), f(4)), 'DimensionError'),
        ],
        big=call(f(130, 260), f(260, 140)),
        sums='product',
    ),
    Case(
        'matmul',
        np.matmul,
        sig='x1, x2',
        calls=[
            *_PRODUCTS,
            call(f(2, 2, 3), f(2, 3, 2)),
            call(f(2, 2, 3), f(3, 4)),
            call(f(2, 3), f(2, 3, 2)),
            call(f(3), f(2, 3, 2)),
            call(f(2, 2, 3), f(3)),
            call(f(2, 1, 2, 3), f(3, 3, 1)),
            call(f(0, 2, 3), f(3, 2)),
            call(f(2, 2, 0), f(0, 3)),
        ],
        dtypes=ALL,
        binary=True,
        bools='yes',
        tol=8,
        errors=[
            (call(f(2, 3), f(2, 3)), 'DimensionError', r'3.*2|2.*3'),
            (call(f(2, 2, 3), f(3, 3, 4)), 'DimensionError'),
            (call(f(), f(2, 3)), 'DimensionError'),
            (call(f(2, 3), f()), 'DimensionError'),
        ],
        big=call(f(3, 130, 260), f(3, 260, 140)),
        sums='product',
    ),
    Case(
        'linear',
        _linear,
        sig='x, w, b=None, n_batch_axes=1',
        calls=[
            call(f(2, 3), f(4, 3), f(4)),
            call(f(2, 3), f(4, 3)),
            call(f(2, 3), f(4, 3), None),
            call(f(2, 3, 2), f(4, 6), f(4)),
            call(f(2, 2, 3), f(4, 3), f(4), n_batch_axes=2),
            call(f(0, 3), f(4, 3), f(4)),
            call(f(1, 7), f(16, 7), f(16)),
        ],
        dtypes=REAL,
        maybe=COMPLEX + BOOL,
        tol=8,
        errors=[
            (call(f(2, 3), f(4, 2), f(4)), 'DimensionError'),
            (call(f(2, 3), f(4, 3), f(3)), 'DimensionError'),
            (call(f(2, 3), f(3), f(3)), 'DimensionError'),
            (call(f(2, 3), f(4, 3), f(4), n_batch_axes=3), 'DimensionError'),
            (call(f(2, 3), f(4, 3), f(4), n_batch_axes=-1), 'DimensionError'),
        ],
        big=call(f(100, 784), f(200, 784), f(200)),
        sums='product',
    ),
]
