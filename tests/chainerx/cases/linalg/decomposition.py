"""chainerx.linalg: decompositions, and functions computed by them.

Vectors may have any sign, or phase, so the rows normalize them to a positive sum.
"""

import chainerx as chx
import numpy as np
from cases._table import COMPLEX, Case, c, call, f, own, seeded, turned

DTYPES = ('float32', 'float64', *COMPLEX)


def orthogonal(*shape):
    return np.linalg.qr(seeded('orthogonal', *shape).standard_normal(shape))[0]


def distinct(*shape):
    """Matrices whose singular values are 1, 1.5, 2, ..., so that vectors have gradients."""
    *batch, m, n = shape
    k = min(m, n)
    u = orthogonal(*batch, m, m)[..., :k]
    vh = orthogonal(*batch, n, n)[..., :k, :]
    return turned(u * (1 + np.arange(k) / 2) @ vh)


def symmetric(*shape):
    *batch, n, _ = shape
    v = orthogonal(*batch, n, n)
    return turned((v * (np.arange(n) / 2 - 0.8)) @ np.swapaxes(v, -1, -2), similar=True)


def _transposed(a):
    return a.transpose((*range(a.ndim - 2), a.ndim - 1, a.ndim - 2))


def _adjoint(xp, a):
    return _transposed(xp.conj(a))


def _hermitian(xp, a):
    return xp.tril(a) + _adjoint(xp, xp.tril(a, -1))


def _sign(xp, x, axis):
    """The factor that makes sums positive: 1, -1 or a phase, outside of the graph."""
    total = np.asarray(chx.to_numpy(x) if xp is chx else x).sum(axis, keepdims=True)
    size = np.abs(total)
    sign = np.where(size == 0, 1, total.conj() / np.where(size == 0, 1, size))
    sign = sign.astype(total.dtype)
    return chx.array(sign, device=x.device) if xp is chx else sign


def _svd(xp, full=False):
    def run(a):
        u, s, vh = xp.linalg.svd(a, full_matrices=full)
        sign = _sign(xp, u, -2)
        k = s.shape[-1]
        turned_vh = vh[..., :k, :] * _adjoint(xp, sign)[..., :k, :]
        return u[..., :k] * sign[..., :k], s.astype(u.dtype), turned_vh

    return run


def _projections(xp):
    """The projection on the span of the completed vectors, which is independent of their choice."""

    def run(a):
        u, s, vh = xp.linalg.svd(a)
        k = s.shape[-1]
        rest, below = u[..., k:], vh[..., k:, :]
        return rest @ _adjoint(xp, rest), _adjoint(xp, below) @ below, s.astype(u.dtype)

    return run


def _eigh(xp, triangle='L'):
    def run(a):
        w, v = xp.linalg.eigh(_hermitian(xp, a), triangle)
        return w.astype(v.dtype), v * _sign(xp, v, -2)

    return run


def _one_triangle(xp):
    """The other triangle is not read."""

    def run(a):
        return (
            xp.linalg.eigvalsh(xp.tril(a), 'L'),
            xp.linalg.eigvalsh(xp.triu(a), 'U'),
            xp.linalg.eigvalsh(xp.tril(a)),
            xp.linalg.eigh(xp.triu(a), UPLO='U')[0],
        )

    return run


def _qr(xp, mode='reduced'):
    def run(a):
        if mode == 'r':
            r = xp.linalg.qr(a, mode='r')
            return r * _transposed(_sign(xp, _transposed(r), -2))
        q, r = xp.linalg.qr(a, mode)
        if mode == 'raw':
            return q, r
        sign = _sign(xp, _transposed(r), -2)
        return q[..., : r.shape[-2]] * xp.conj(sign), r * _transposed(sign)

    return run


def _sorted(xp):
    """Eigenvalues in order of their real parts; a v = v w."""

    def run(a):
        w, v = xp.linalg.eig(a)
        error = a @ v - v * w[..., None, :]
        norms = (xp.real(v) ** 2 + xp.imag(v) ** 2).sum(axis=-2)
        if xp is chx:
            w, error, norms = (chx.to_numpy(x) for x in (w, error, norms))
        parts = np.sort_complex(w), error, norms.astype(w.dtype)
        return tuple(chx.array(x) for x in parts) if xp is chx else parts

    return run


def _sorted_values(xp):
    def run(a):
        w = xp.linalg.eigvals(a)
        return chx.array(np.sort_complex(chx.to_numpy(w))) if xp is chx else np.sort_complex(w)

    return run


def _complex(dtype):
    return {'float32': 'complex64', 'float64': 'complex128'}.get(dtype, dtype)


_SHAPES = [(3, 3), (1, 1), (4, 3), (3, 4), (2, 3, 2), (2, 1, 2, 3)]
_EMPTY = [(0, 0), (0, 3), (3, 0), (0, 2, 2), (2, 0, 3)]
_MATRICES = [call(distinct(*s)) for s in _SHAPES] + [call(f(*s)) for s in _EMPTY]
_SYMMETRIC = [call(symmetric(*s)) for s in [(3, 3), (1, 1), (2, 3, 3), (2, 1, 2, 2)]]
_SYMMETRIC += [call(f(*s)) for s in [(0, 0), (0, 2, 2), (3, 0, 0)]]
_GENERAL = [call(f(*s)) for s in [(3, 3), (1, 1), (2, 4, 4), (0, 0), (0, 2, 2), (3, 0, 0)]]
# Rows and columns permuted alike: pairs of conjugate eigenvalues.
_GENERAL.append(call(c([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])))

_NOT_MATRICES = [
    (call(f(3)), 'DimensionError', '1 axes, expected at least 2'),
    (call(f()), 'DimensionError', '0 axes'),
]
_NOT_SQUARE = [*_NOT_MATRICES, (call(f(2, 3)), 'DimensionError', '2 x 3')]
_NOT_FINITE = [
    (call(c([[1.0, np.nan], [0.0, 1.0]])), 'LinAlgError', 'matrix 0 of a has NaN'),
    (call(c([[[1.0]], [[np.inf]]])), 'LinAlgError', 'matrix 1 of a has NaN or infinite'),
]
_NAN_BELOW = [(call(c([[1.0, 0.0], [np.nan, 1.0]])), 'LinAlgError', 'matrix 0 of a has NaN')]


def _case(name, ref, calls=_MATRICES, tol=20, **kw):
    big = kw.pop('big', None)
    return Case(
        f'linalg.{name}',
        ref,
        calls=calls,
        dtypes=DTYPES,
        tol=tol,
        gtol=50,
        # Broadcast matrices have equal singular values; test_linalg.py tests other layouts.
        layouts=False,
        big=big,
        **kw,
    )


CASES = [
    _case('svd', _svd(np), fn=_svd(chx), big=call(distinct(20, 40, 12))),
    _case('svd', _svd(np, True), fn=_svd(chx, True), order=0, diff=()),
    _case(
        'svd',
        _svd(np, True),
        calls=[call(distinct(3, 3)), call(distinct(2, 2, 2))],
        fn=_svd(chx, True),
    ),
    _case('svd', _projections(np), fn=_projections(chx), order=0, diff=()),
    _case(
        'svd',
        lambda a, full_matrices, compute_uv, hermitian=False: np.linalg.svd(
            _hermitian(np, a) if hermitian else a, compute_uv=False
        ),
        out='abs',
        sig='a, full_matrices=True, compute_uv=False, hermitian=False',
        calls=[
            *(call(*m.args, True, False) for m in _MATRICES),
            *(call(*m.args, False, compute_uv=False, hermitian=True) for m in _SYMMETRIC),
        ],
        errors=[
            *((call(*e.args, True, False), *what) for e, *what in _NOT_MATRICES + _NOT_FINITE),
            (call(f(2, 3), True, False, True), 'DimensionError', '2 x 3'),
        ],
    ),
    _case(
        'svdvals',
        lambda x: np.linalg.svd(x, compute_uv=False),
        sig='x',
        out='abs',
        errors=_NOT_MATRICES + _NOT_FINITE,
        big=call(distinct(20, 40, 12)),
    ),
    _case('eigh', _eigh(np), _SYMMETRIC, fn=_eigh(chx), big=call(symmetric(20, 30, 30))),
    _case('eigh', _eigh(np, 'U'), _SYMMETRIC, fn=_eigh(chx, 'u')),
    _case(
        'eigh',
        lambda a, UPLO='L': np.linalg.eigh(a, UPLO)[0],
        [call(f(2, 3, 3)), call(f(2, 3, 3), 'U')],
        fn=lambda a, *args: chx.linalg.eigh(a, *args)[0],
        out='abs',
        order=0,
        diff=(),
    ),
    _case(
        'eigvalsh',
        np.linalg.eigvalsh,
        [*_SYMMETRIC, call(symmetric(3, 3), 'U'), call(symmetric(3, 3), UPLO='l')],
        sig="a, UPLO='L'",
        out='abs',
        order=0,
        diff=(),
        errors=[
            *_NOT_SQUARE,
            *_NAN_BELOW,
            (call(f(2, 2), 'X'), 'ValueError', "UPLO is 'X', expected L or U"),
        ],
    ),
    _case(
        'eigvalsh',
        _one_triangle(np),
        [call(f(3, 3))],
        fn=_one_triangle(chx),
        out='abs',
        order=0,
        diff=(),
    ),
    _case(
        'eigvalsh',
        lambda a: np.linalg.eigvalsh(_hermitian(np, a)),
        _SYMMETRIC,
        fn=lambda a: chx.linalg.eigvalsh(_hermitian(chx, a)),
        out='abs',
    ),
    _case('eig', _sorted(np), _GENERAL, fn=_sorted(chx), out=_complex, order=0, diff=(), tol=50),
    _case(
        'eigvals',
        _sorted_values(np),
        _GENERAL,
        fn=_sorted_values(chx),
        out=_complex,
        order=0,
        diff=(),
        tol=50,
    ),
    _case('qr', _qr(np), fn=_qr(chx), big=call(distinct(20, 40, 12))),
    _case('qr', _qr(np, 'r'), fn=_qr(chx, 'r')),
    _case('qr', _qr(np, 'raw'), fn=_qr(chx, 'raw'), order=0, diff=()),
    _case('qr', _qr(np, 'complete'), fn=_qr(chx, 'complete'), order=0, diff=()),
    _case(
        'qr',
        _qr(np, 'complete'),
        [call(distinct(3, 3)), call(distinct(2, 2, 3))],
        fn=_qr(chx, 'complete'),
    ),
    _case(
        'pinv',
        np.linalg.pinv,
        [
            *_MATRICES,
            call(distinct(4, 3), 1e-3),
            call(distinct(3, 4), rcond=0.1, hermitian=False),
            call(distinct(3, 4), rtol=0.1),
        ],
        sig='a, rcond=None, hermitian=False, rtol=None',
        errors=[
            *_NOT_MATRICES,
            *_NOT_FINITE,
            (call(f(2, 3), None, True), 'DimensionError', '2 x 3'),
            (call(f(2, 3), 0.1, rtol=0.2), 'ValueError', 'rcond is 0.1 and rtol is 0.2'),
            (call(f(2, 2, 3), rtol=f(3)), 'DimensionError', r'rcond of shape \(3,\)'),
            (call(f(2, 3), own('complex64')), 'DtypeError', 'rcond has dtype complex64'),
        ],
        big=call(distinct(20, 30, 12)),
    ),
    _case(
        'pinv',
        np.linalg.pinv,
        [  # the singular value 1 of 1, 1.5, 2 counts as 0
            call(distinct(4, 3), 0.6),
            call(distinct(2, 3, 4), 0.6),
            call(distinct(3, 3), 0.6),
        ],
    ),
    *(
        _case(  # rank 1 up to rounding
            'pinv',
            lambda a: np.linalg.pinv(a, rtol=None),
            [call(c(np.ones((3, 2)).tolist(), dtype)), call(c(np.ones((2, 2, 4)).tolist(), dtype))],
            fn=lambda a: chx.linalg.pinv(a, rtol=None),
            order=0,
            diff=(),
        )
        for dtype in ('float32', 'float64')
    ),
    _case(  # the singular values 2 and 1 of 1, 1.5, 2 count as 0
        'pinv',
        lambda a: np.linalg.pinv(a, rtol=np.array([0.8, 0.6])),
        [call(distinct(2, 3, 4)), call(distinct(2, 4, 3))],
        fn=lambda a: chx.linalg.pinv(a, rtol=chx.array([0.8, 0.6], device=a.device)),
    ),
    *(
        _case(
            'matrix_rank',
            lambda a, name=name: np.linalg.matrix_rank(a, **{name: np.array([1.2, 0.6])}),
            [call(distinct(2, 3, 4)), call(distinct(2, 4, 3))],
            fn=lambda a, name=name: chx.linalg.matrix_rank(
                a, **{name: chx.array([1.2, 0.6], 'float32', device=a.device)}
            ),
            out='int64',
            order=0,
            diff=(),
        )
        for name in ('tol', 'rtol')
    ),
    _case(
        'pinv',
        lambda a: np.linalg.pinv(_hermitian(np, a)),
        _SYMMETRIC,
        fn=lambda a: chx.linalg.pinv(a, hermitian=True),
    ),
    _case(
        'lstsq',
        lambda *a, **kw: np.linalg.lstsq(*a, **kw)[0],
        [
            call(distinct(4, 3), f(4, 2)),
            call(distinct(4, 3), f(4)),
            call(distinct(3, 3), f(3, 1)),
            call(distinct(2, 3), f(2, 2)),
            call(distinct(4, 3), f(4, 2), 0.1),
            call(distinct(4, 3), f(4, 2), rcond=-1),
            call(distinct(3, 2), f(3, 0)),
        ],
        fn=lambda *a, **kw: chx.linalg.lstsq(*a, **kw)[0],
        binary=True,
    ),
    _case(
        'lstsq',
        lambda *a: np.linalg.lstsq(*a)[0],
        [call(distinct(4, 3), f(4, 2), 0.6), call(distinct(2, 3), f(2), 0.8)],
        fn=lambda *a: chx.linalg.lstsq(*a)[0],
    ),
    _case(
        'lstsq',
        lambda a, b: np.linalg.lstsq(a, b, None)[1],
        [call(distinct(4, 3), f(4, 2)), call(distinct(4, 3), f(4))],
        fn=lambda a, b: chx.linalg.lstsq(a, b)[1],
        out='abs',
    ),
    _case(
        'lstsq',
        lambda a, b: np.linalg.lstsq(a, b, None)[1::2],
        [call(distinct(2, 3), f(2, 2)), call(distinct(3, 3), f(3)), call(distinct(4, 3), f(4))],
        fn=lambda a, b: chx.linalg.lstsq(a, b)[1::2],
        out='abs',
        order=0,
        diff=(),
    ),
    _case(
        'matrix_rank',
        np.linalg.matrix_rank,
        [
            call(distinct(4, 3)),
            call(c([[1.0, 2.0], [2.0, 4.0]])),
            call(distinct(2, 3, 4)),
            call(distinct(2, 3, 4), 1.2),
            call(distinct(2, 3, 4), tol=1.7),
            call(symmetric(3, 3), hermitian=True),
            call(distinct(3, 3), None, False, rtol=0.6),
            call(f(0, 3)),
            call(f(2, 0, 3)),
            call(c([0.0, 0.0])),
            call(f(3)),
            call(f()),
        ],
        sig='A, tol=None, hermitian=False, rtol=None',
        out='int64',
        order=0,
        diff=(),
        errors=[
            (call(f(2, 3), None, True), 'DimensionError', '2 x 3'),
            (call(f(2, 3), 0.1, rtol=0.2), 'ValueError', 'tol is 0.1 and rtol is 0.2'),
            (call(c([[np.nan]])), 'LinAlgError', 'matrix_rank: matrix 0 of a has NaN'),
        ],
    ),
]
