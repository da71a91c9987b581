"""Products of arrays by NumPy's names, and norms."""

import numpy as np
from cases._table import ALL, BOOL, COMPLEX, INTS, NUMERIC, REAL, Case, c, call, f, seeded
from cases.linalg.decomposition import distinct
from cases.linalg.linalg import DTYPES, _good


def _pairs(name, calls, ref=None, dtypes=ALL, errors=(), **kw):
    reference = np
    for part in name.split('.'):
        reference = getattr(reference, part)
    return Case(
        name,
        ref or reference,
        calls=calls,
        dtypes=dtypes,
        binary=True,
        bools='yes' if 'bool' in dtypes else 'no',
        tol=8,
        gtol=8,
        errors=list(errors),
        sums='product',
        **kw,
    )


_TENSORDOT = [
    call(f(2, 3), f(3, 4), 1),
    call(f(2, 3), f(2, 3)),
    call(f(2, 3, 2), f(3, 2, 2)),
    call(f(2, 3), f(4), 0),
    call(f(2, 3, 4), f(4, 3, 2), ([1], [1])),
    call(f(2, 3, 4), f(4, 3, 2), ([0, 1], [2, 1])),
    call(f(2, 3, 4), f(4, 3, 2), axes=((-1, 1), (0, -2))),
    call(f(2, 3), f(4, 3), (1, 1)),
    call(f(2, 0), f(0, 3), 1),
    call(f(0, 2), f(2, 3), 1),
    call(f(), f(), 0),
    call(f(2), f(2), ([], [])),
]
_TENSORDOT_ERRORS = [
    (call(f(2, 3), f(2, 3), 1), 'DimensionError', r'a.shape\[1\] is 3, but b.shape\[0\] is 2'),
    (call(f(2), f(2), 2), 'DimensionError', 'axes is 2, but a has 1 axes'),
    (call(f(2), f(2), -1), 'DimensionError', 'axes is -1'),
    (call(f(2), f(2), ([0], [0, 0])), 'DimensionError', 'axes has 1 axes of a, and 2 of b'),
    (call(f(2, 2), f(2, 2), ([0, 0], [0, 1])), 'DimensionError', 'twice'),
    (call(f(2, 2), f(2, 2), ([0, 1], [0, 0])), 'DimensionError', 'twice'),
    (call(f(2, 2), f(2, 2), ([2], [0])), 'DimensionError'),
    (call(f(2, 2), f(2, 2), ([0], [0], [0])), 'ValueError', 'axes has 3 items'),
    (call(f(2, 2), f(2, 2), 'ij'), 'TypeError'),
]
_VECDOT = [
    call(f(3), f(3)),
    call(f(2, 3), f(2, 3)),
    call(f(2, 3), f(3)),
    call(f(2, 1, 3), f(4, 3)),
    call(f(2, 3), f(2, 3), axis=0),
    call(f(2, 3, 2), f(3, 2), axis=-2),
    call(f(2, 0), f(2, 0)),
    call(f(0, 2), f(0, 2)),
    call(f(5, 19), f(5, 19)),
    call(f(2, 3, 7), f(2, 3, 7)),
    call(f(2, 9, 3), f(2, 9, 3), axis=1),
]
_VECDOT_ERRORS = [
    (call(f(3), f(2)), 'DimensionError', r'vecdot: x1.shape\[0\] is 3, but x2.shape\[0\] is 2'),
    (call(f(), f(2)), 'DimensionError', 'x1 has 0 axes, expected at least 1'),
    (call(f(2, 3), f(4, 3)), 'DimensionError'),
    (call(f(2), f(2), axis=1), 'DimensionError'),
]
_DIAGONALS = [call(f(3, 3)), call(f(2, 3, 4)), call(f(3, 4), offset=1), call(f(3, 4), offset=-2)]
_DIAGONALS += [call(f(3, 4), offset=5), call(f(0, 3)), call(f(2, 3, 0))]
_ONE_AXIS = [
    (call(f(3)), 'DimensionError', '1 axes, expected at least 2'),
    (call(f()), 'DimensionError', '0 axes'),
]


def _last_two(function):
    return lambda x, **kw: function(x, axis1=-2, axis2=-1, **kw)


def _vector_norm(x, axis=None, ord=2, keepdims=False):
    return np.linalg.vector_norm(x, axis=axis, ord=ord, keepdims=keepdims)


def _norm_dtype(*dtypes):
    (dtype,) = dtypes
    if dtype in ('bool', *INTS):
        return 'float32'
    return {'complex64': 'float32', 'complex128': 'float64'}.get(dtype, dtype)


def _norm(name, calls, ref=None, dtypes=REAL, errors=(), **kw):
    return Case(
        f'linalg.{name}',
        ref or getattr(np.linalg, name),
        calls=calls,
        dtypes=dtypes,
        maybe=kw.pop('maybe', BOOL + COMPLEX),
        unchecked=('uint8', 'uint16', 'uint32', 'uint64'),  # negative numbers
        out=_norm_dtype,
        tol=kw.pop('tol', 20),
        gtol=20,
        errors=list(errors),
        **kw,
    )


# Values far from 0 with distinct sums: there absolute values and extremes are differentiable.
def _d(*shape):
    rng = seeded('norm', *shape)
    return c(rng.uniform(0.3, 2, shape) * rng.choice([-1, 1], shape))


_ORDERS = [None, 'fro', 1, -1, np.inf, -np.inf]
_CROSS = [call(f(3), f(3)), call(f(2, 3), f(2, 3)), call(f(2, 1, 3), f(4, 3)), call(f(0, 3), f(3))]
_SQUARE_ERRORS = [
    (call(f(2, 3), 2), 'DimensionError', '2 x 3, expected square'),
    (call(f(3), 2), 'DimensionError', '1 axes, expected at least 2'),
]
CASES = [
    _pairs('tensordot', _TENSORDOT, errors=_TENSORDOT_ERRORS, sig='a, b, axes=2'),
    _pairs('linalg.tensordot', _TENSORDOT[:2], ref=np.tensordot),
    _pairs('linalg.matmul', [call(f(2, 3), f(3, 4)), call(f(2, 2, 3), f(3))]),
    _pairs('vecdot', _VECDOT, errors=_VECDOT_ERRORS, sig='x1, x2, axis=-1'),
    _pairs('linalg.vecdot', _VECDOT[:3], ref=np.vecdot),
    _pairs(
        'matvec',
        [
            call(f(2, 3), f(3)),
            call(f(2, 2, 3), f(3)),
            call(f(2, 2, 3), f(2, 3)),
            call(f(2, 3), f(4, 3)),
            call(f(2, 0), f(0)),
        ],
        sig='x1, x2',
        errors=[
            (call(f(2, 3), f(2)), 'DimensionError', r'x1.shape\[1\] is 3, but x2.shape\[0\] is 2'),
            (call(f(3), f(3)), 'DimensionError', 'x1 has 1 axes, expected at least 2'),
            (call(f(2, 3), f()), 'DimensionError', 'x2 has 0 axes'),
        ],
    ),
    _pairs(
        'vecmat',
        [
            call(f(2), f(2, 3)),
            call(f(2), f(2, 2, 3)),
            call(f(2, 2), f(2, 2, 3)),
            call(f(4, 2), f(2, 3)),
            call(f(0), f(0, 2)),
        ],
        sig='x1, x2',
        errors=[
            (call(f(3), f(2, 3)), 'DimensionError', r'x1.shape\[0\] is 3, but x2.shape\[0\] is 2'),
            (call(f(3), f(3)), 'DimensionError', 'x2 has 1 axes'),
            (call(f(), f(2, 3)), 'DimensionError', 'x1 has 0 axes'),
        ],
    ),
    _pairs(
        'outer',
        [call(f(2), f(3)), call(f(2, 2), f(3)), call(f(), f(2)), call(f(0), f(2))],
        sig='a, b',
    ),
    _pairs(
        'linalg.outer',
        [call(f(2), f(3)), call(f(0), f(2))],
        ref=np.outer,
        sig='x1, x2',
        errors=[(call(f(2, 2), f(2)), 'DimensionError', 'x1 has 2 axes, expected 1')],
    ),
    _pairs(
        'inner',
        [
            call(f(3), f(3)),
            call(f(2, 3), f(3)),
            call(f(2, 3), f(4, 3)),
            call(f(2, 2, 3), f(2, 3)),
            call(f(), f(2)),
            call(f(2), f()),
            call(f(2, 0), f(0)),
        ],
        sig='a, b',
        errors=[(call(f(3), f(2)), 'DimensionError', r'a.shape\[0\] is 3, but b.shape\[0\] is 2')],
    ),
    _pairs(
        'vdot',
        [call(f(3), f(3)), call(f(2, 3), f(3, 2)), call(f(), f()), call(f(0), f(0, 2))],
        sig='a, b',
        errors=[(call(f(3), f(2)), 'DimensionError', 'a has 3 elements, but b has 2')],
    ),
    _pairs(
        'kron',
        [
            call(f(2), f(3)),
            call(f(2, 3), f(2, 2)),
            call(f(2, 3), f(2)),
            call(f(2), f(2, 1, 3)),
            call(f(), f(2)),
            call(f(0, 2), f(2, 2)),
        ],
        sig='a, b',
        errors=[(call(f(*[1] * 6), f(2)), 'DimensionError', 'a has 6 axes, and b 1, expected')],
    ),
    _pairs(
        'cross',
        [
            *_CROSS,
            call(f(3, 2), f(2, 3), 0, 1, 0),
            call(f(3, 2), f(3, 2), axis=0),
            call(f(3, 2), f(2, 3), axisa=0, axisb=-1, axisc=0),
            call(f(2, 3, 2), f(2, 3, 2), axis=1),
        ],
        dtypes=NUMERIC,
        maybe=BOOL,
        sig='a, b, axisa=-1, axisb=-1, axisc=-1, axis=None',
        errors=[
            (call(f(2), f(3)), 'DimensionError', r'cross: a.shape\[0\] is 2, expected 3'),
            (call(f(3), f(2, 4)), 'DimensionError', r'b.shape\[1\] is 4, expected 3'),
            (call(f(), f(3)), 'DimensionError', 'a has 0 axes'),
            (call(f(3), f(3), axis=1), 'DimensionError'),
        ],
    ),
    _pairs(
        'linalg.cross',
        [*_CROSS, call(f(3, 2), f(3, 2), axis=0)],
        ref=lambda a, b, axis=-1: np.cross(a, b, axis=axis),
        dtypes=NUMERIC,
        maybe=BOOL,
        sig='x1, x2, axis=-1',
        errors=[(call(f(2), f(3)), 'DimensionError', 'is 2, expected 3')],
    ),
    Case(
        'linalg.diagonal',
        _last_two(np.diagonal),
        calls=_DIAGONALS,
        sig='x, offset=0',
        dtypes=ALL,
        errors=_ONE_AXIS,
    ),
    *(
        Case(
            name,
            lambda a, dtype=None, offset=0: np.trace(a, offset),
            calls=[call(f(3, 3), dtype='float64'), call(f(3, 3), offset=1, dtype='int16')],
            dtypes=INTS,
            unchecked=tuple(d for d in ALL if d not in INTS),
            order=0,
            diff=(),
            huge=False,  # a diagonal of 2**31 elements is 16 GB in another dtype
        )
        for name in ('linalg.trace',)
    ),
    Case(
        'linalg.trace',
        _last_two(np.trace),
        calls=_DIAGONALS,
        dtypes=ALL,
        out='total',
        errors=_ONE_AXIS,
    ),
    *(
        Case(
            name,
            np.matrix_transpose,
            calls=[call(f(2, 3)), call(f(2, 3, 4)), call(f(0, 2))],
            sig='x',
            dtypes=ALL,
            errors=_ONE_AXIS,
        )
        for name in ('matrix_transpose', 'linalg.matrix_transpose')
    ),
    Case(
        'linalg.multi_dot',
        np.linalg.multi_dot,
        calls=[
            call([f(2, 3), f(3, 4)]),
            call([f(2, 3), f(3, 4), f(4, 2)]),
            call([f(2, 30), f(30, 4), f(4, 20), f(20, 1)]),
            call([f(3), f(3, 4), f(4)]),
            call([f(3), f(3, 4), f(4, 2)]),
            call([f(2, 3), f(3, 4), f(4)]),
            call([f(3), f(3)]),
            call([f(2, 0), f(0, 3)]),
        ],
        sig='arrays',
        dtypes=ALL,
        tol=20,
        gtol=8,
        errors=[
            (call([f(2, 3)]), 'ValueError', 'there are 1 arrays, expected at least 2'),
            (call([f(2, 3), f(2, 3)]), 'DimensionError', r'arrays\[1\] has shape \(2, 3\), exp'),
            (call([f(2, 3), f(3), f(3, 2)]), 'DimensionError', r'arrays\[1\] has 1 axes'),
            (call([f(2, 2, 3), f(3, 2)]), 'DimensionError', r'arrays\[0\] has 3 axes'),
        ],
        sums='product',
    ),
    Case(
        'linalg.matrix_power',
        np.linalg.matrix_power,
        calls=[
            *(call(f(3, 3), n) for n in (1, 2, 3, 6)),
            call(f(2, 2, 2), 3),
            call(f(0, 0), 2),
            call(f(0, 2, 2), 3),
        ],
        sig='a, n',
        dtypes=NUMERIC,
        maybe=BOOL,
        tol=200,
        gtol=200,
        errors=[
            *_SQUARE_ERRORS,
            (call(f(2, 2), 1.5), 'TypeError'),
            (call(c([[1.0, 1.0], [1.0, 1.0]]), -1), 'LinAlgError', 'singular'),
        ],
        sums='product',
    ),
    Case(
        'linalg.matrix_power',
        np.linalg.matrix_power,
        calls=[call(f(3, 3), 0), call(f(2, 0, 0), 0)],
        dtypes=ALL,
        order=0,
        diff=(),
        sums='product',
    ),
    Case(
        'linalg.matrix_power',
        np.linalg.matrix_power,
        calls=[call(_good(3, 3), -1), call(_good(2, 2, 2), -3), call(_good(2, 2), -2)],
        dtypes=DTYPES,
        tol=20,
        gtol=20,
        layouts=False,
        sums='product',
    ),
    Case(
        'linalg.tensorsolve',
        np.linalg.tensorsolve,
        calls=[
            call(c(_good(6, 6).data.reshape(2, 3, 6)), f(2, 3)),
            call(c(_good(6, 6).data.reshape(6, 3, 2)), f(6)),
            call(c(_good(4, 4).data.reshape(2, 2, 2, 2).transpose(2, 0, 3, 1)), f(2, 2), (0, 2)),
            call(c(_good(4, 4).data.reshape(2, 2, 2, 2).transpose(0, 3, 1, 2)), f(2, 2), axes=(1,)),
            call(_good(3, 3), f(3)),
        ],
        sig='a, b, axes=None',
        dtypes=DTYPES,
        tol=50,
        gtol=50,
        layouts=False,
        errors=[
            (call(f(2, 3), f(2)), 'DimensionError', 'as many equations, 2, as unknowns, 3'),
            (call(f(2), f(2, 3)), 'DimensionError', 'b has 2 axes'),
            (call(c([[0.0]]), f(1)), 'LinAlgError', 'singular'),
        ],
        sums='product',
    ),
    Case(
        'linalg.tensorinv',
        np.linalg.tensorinv,
        calls=[
            call(c(_good(4, 4).data.reshape(2, 2, 4))),
            call(c(_good(4, 4).data.reshape(2, 2, 2, 2))),
            call(c(_good(4, 4).data.reshape(4, 2, 2)), 1),
            call(c(_good(6, 6).data.reshape(6, 2, 3)), ind=1),
        ],
        sig='a, ind=2',
        dtypes=DTYPES,
        tol=50,
        gtol=50,
        layouts=False,
        errors=[
            (call(f(2, 3), 1), 'DimensionError', 'first 1 axes have 2 elements, expected those'),
            (call(f(2, 2), 0), 'ValueError', 'ind is 0, expected 1 to 2'),
            (call(f(2, 2), 3), 'ValueError', 'ind is 3'),
            (call(c([[0.0]]), 1), 'LinAlgError', 'singular'),
        ],
        sums='product',
    ),
    _norm(
        'norm',
        [
            *(call(_d(2, 3), p) for p in _ORDERS),
            *(call(_d(5), p) for p in (None, 1, 2, 3, 2.5, -1, -2, np.inf, -np.inf)),
            call(_d(2, 3, 2)),
            call(_d(2, 3, 2), keepdims=True),
            call(_d(2, 3, 2), None, 1),
            call(_d(2, 3, 2), axis=-1, ord=1, keepdims=True),
            call(_d(2, 3, 2), axis=(0, 2)),
            call(_d(2, 3, 2), np.inf, (2, 0)),
            call(_d(2, 3, 2), 1, (0, -1), True),
            call(_d()),
            call(f(0)),
            call(f(0, 3), 1, 0),
        ],
        sig='x, ord=None, axis=None, keepdims=False',
        errors=[
            (call(f(2, 3, 2), 1), 'DimensionError', '3 axes, expected 1 or 2 with ord 1'),
            (call(f(), 1), 'DimensionError', '0 axes'),
            (call(f(2, 3), 3), 'ValueError', "ord is 3, expected None, 'fro', 'nuc'"),
            (call(f(3), 'fro'), 'ValueError', "ord is 'fro', expected None or a number"),
            (call(f(3), 'max'), 'ValueError', "ord is 'max', expected 'fro'"),
            (call(f(2, 3, 2), None, (0, 1, 2)), 'DimensionError', 'axis has 3 axes'),
            (call(f(2, 3), None, (0, 0)), 'DimensionError', 'axis 0 twice'),
            (call(f(3), np.nan), 'ValueError', 'ord is nan'),
            (call(f(3), None, 1), 'DimensionError'),
        ],
    ),
    _norm('norm', [call(c([0.0, 1.0, 0.0, -2.0]), 0), call(f(2, 3), 0, 1)], order=0, diff=()),
    _norm(
        'vector_norm',
        [call(c([0.0, 1.0, 0.0, -2.0]), ord=0), call(f(2, 3), ord=0, axis=1)],
        ref=_vector_norm,
        order=0,
        diff=(),
    ),
    _norm(
        'norm',
        [call(f(2, 3)), call(f(3), 1), call(f(2, 3), np.inf), call(f(2, 3), None, 1)],
        dtypes=COMPLEX,
        maybe=ALL,
        order=0,
        diff=(),
    ),
    _norm(
        'norm',
        [call(distinct(3, 4), p) for p in (2, -2, 'nuc')]
        + [call(distinct(2, 3, 4), 2, (1, 2)), call(distinct(2, 3, 4), 'nuc', (2, 1), True)],
        dtypes=DTYPES,
        maybe=ALL,
        layouts=False,
    ),
    _norm(
        'vector_norm',
        [
            *(call(_d(2, 3), ord=p) for p in (1, 2, 3, -1, np.inf, -np.inf)),
            call(_d(2, 3)),
            call(_d(2, 3, 2), axis=1),
            call(_d(2, 3, 2), axis=(0, 2), keepdims=True),
            call(_d(2, 3, 2), axis=(0, 1, 2)),
            call(_d(2, 3), keepdims=True),
            call(_d()),
            call(f(0)),
        ],
        ref=_vector_norm,
        errors=[
            (call(f(2, 3), axis=2), 'DimensionError'),
            (call(f(2, 3), ord=np.nan), 'ValueError', 'ord is nan'),
        ],
    ),
    _norm(
        'matrix_norm',
        [
            *(call(_d(2, 3), ord=p) for p in _ORDERS[1:]),
            call(_d(2, 3, 2)),
            call(_d(2, 3, 2), ord=1, keepdims=True),
        ],
        errors=[
            (call(f(3)), 'DimensionError', '1 axes, expected at least 2'),
            (call(f(2, 3), ord=0), 'ValueError', 'ord is 0'),
            (call(c([[np.nan]]), ord=2), 'LinAlgError', 'matrix_norm: matrix 0 of a has NaN'),
        ],
    ),
    _norm(
        'cond',
        [
            call(distinct(3, 4)),
            call(distinct(4, 3), 2),
            call(distinct(2, 3, 3), -2),
            *(call(_good(3, 3), p) for p in _ORDERS),
            call(_good(3, 3), p='nuc'),
        ],
        sig='x, p=None',
        dtypes=DTYPES,
        maybe=(),
        layouts=False,
        errors=[
            (call(f(2, 3), 1), 'DimensionError', '2 x 3'),
            (call(f(0, 0)), 'DimensionError', 'expected matrices with elements'),
            (call(f(3)), 'DimensionError', '1 axes'),
            (call(c([[0.0]]), 1), 'LinAlgError', 'singular'),
            (call(f(2, 2), 5), 'ValueError', 'ord is 5'),
        ],
    ),
]
