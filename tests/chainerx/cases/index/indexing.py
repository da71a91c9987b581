"""Indexing, assignment to items, take, where, nonzero."""

import numpy as np
from cases._table import ALL, Case, b, c, call, f, i

_GET_KEYS = {
    (4, 3): [
        0,
        -1,
        np.int32(2),
        slice(None),
        slice(1, 3),
        slice(None, None, -1),
        slice(3, 0, -2),
        slice(10, 20),
        slice(-100, 100),
        slice(2, 1),
        None,
        Ellipsis,
        (),
        (1, 2),
        (-1, -3),
        (slice(None), 1),
        (Ellipsis, 0),
        (1, None),
        (None, 0, None, slice(1, None)),
        (0, Ellipsis),
        (slice(None, None, 2), slice(None, None, -1)),
        (Ellipsis, None),
        (3, slice(0, 0)),
    ],
    (2, 3, 2): [(1, Ellipsis, 0), (Ellipsis, slice(1)), (slice(None), 1, None, 0), (0, 0, 0)],
    (): [(), Ellipsis, None, (Ellipsis, None)],
    (0, 2): [slice(None), (slice(None), 1), (Ellipsis, slice(None, None, -1))],
}
_KEY_ERRORS = [
    (4, 'IndexError', '4'),
    (-5, 'IndexError', '-5'),
    ((0, 3), 'IndexError', '3'),
    ((0, 0, 0), 'IndexError'),
    ((Ellipsis, Ellipsis), 'IndexError'),
    (1.0, 'IndexError'),
    ('a', 'IndexError'),
    (slice(None, None, 0), 'DimensionError|ValueError'),
    (slice(0.5, None), 'TypeError|IndexError'),
    (2**70, 'IndexError'),
    ((None,) * 12, 'DimensionError|IndexError'),
]


def _set(a, key, value):
    a = a.copy()
    a[key] = value
    return a


def _set_aliased(a):
    a = a.copy()
    a[1:] = a[:-1]
    return a


def _take(a, indices, axis, mode=None):
    return np.take(a, indices, axis, mode='raise' if mode is None else mode)


CASES = [
    Case(
        'ndarray.__getitem__',
        lambda a, key: a[key],
        fn=lambda a, key: a[key],
        calls=[call(f(*shape), key) for shape, keys in _GET_KEYS.items() for key in keys],
        dtypes=ALL,
        errors=[(call(f(4, 3), key), *rest) for key, *rest in _KEY_ERRORS]
        + [(call(f(), 0), 'IndexError'), (call(f(0, 2), 0), 'IndexError')],
    ),
    Case(
        'ndarray.__setitem__',
        _set,
        fn=_set,
        calls=[
            *(call(f(4, 3), k, 1) for k in (0, -1, slice(1, 3), (1, 2), (Ellipsis, 0), Ellipsis)),
            call(f(4, 3), 1, f(3)),
            call(f(4, 3), slice(None, None, -2), f(2, 3)),
            call(f(4, 3), (slice(None), 1), f(4)),
            call(f(4, 3), (slice(None), slice(1, None)), f(2)),
            call(f(4, 3), slice(0, 0), f(3)),
            call(f(4, 3), Ellipsis, f()),
            call(f(4, 3), (1, 1), f()),
            call(f(4, 3), slice(1, 3), f(1, 3)),
            call(f(), (), f()),
            call(f(0, 2), slice(None), 1),
        ],
        dtypes=ALL,
        diff=(),
        errors=[(call(f(4, 3), key, 1), *rest) for key, *rest in _KEY_ERRORS]
        + [
            (call(f(4, 3), 0, f(2)), 'DimensionError'),
            (call(f(4, 3), slice(2), f(3, 3)), 'DimensionError'),
        ],
    ),
    Case(
        'ndarray.__setitem__ of itself',
        _set_aliased,
        fn=_set_aliased,
        inputs=[f(5, 3)],
        calls=[call(f(70)), call(f(1, 2))],
        dtypes=ALL,
        diff=(),
    ),
    Case(
        'take',
        _take,
        sig='a, indices, axis, mode=None',
        calls=[
            call(f(3, 4), i(5, hi=2), 0),
            call(f(3, 4), i(2, 3), -1),
            call(f(3, 4), i(hi=2), 0),
            call(f(3, 4), i(0), 1),
            call(f(3, 4), [0, 2, 2], 0),
            call(f(3, 4), [[0], [1]], axis=1),
            call(f(3, 4), 1, 0),
            call(f(3, 4), c([-1, -3], 'int32'), 0),
            call(f(3, 4), c([0, 2], 'uint8'), axis=0),
            call(f(3, 4), c([-1, 0, 7, -9], 'int64'), 0, mode='wrap'),
            call(f(3, 4), c([-1, 0, 7, -9], 'int64'), 0, mode='clip'),
            call(f(3, 4), c([-1, 2], 'int64'), 0, mode='raise'),
            call(f(2, 3, 2), i(4, hi=2), 1),
            call(f(0, 2), i(3, hi=1), 1),
            call(f(40), i(60, hi=39), 0),
        ],
        dtypes=ALL,
        errors=[
            (call(f(3, 4), c([3], 'int64'), 0), 'IndexError', '3'),
            (call(f(3, 4), c([-4], 'int64'), 0), 'IndexError', '-4'),
            (call(f(3, 4), [0, 9], 0), 'IndexError', '9'),
            (call(f(3, 4), i(2), 2), 'DimensionError', '2'),
            (call(f(3, 4), i(2), -3), 'DimensionError', '-3'),
            (call(f(3, 4), f(2), 0), 'DtypeError'),
            (call(f(3, 4), b(3), 0), 'DtypeError'),
            (call(f(3, 4), [0.5], 0), 'DtypeError|TypeError|IndexError'),
            (call(f(3, 4), [[0, 1], [2]], 0), 'ValueError|TypeError'),
            (call(f(3, 4), i(2), 0, mode='nonsense'), 'ValueError', 'nonsense'),
            (call(f(), i(2), 1), 'DimensionError'),
            (call(f(0, 2), i(2), 0), 'IndexError'),
            (call(f(0, 2), i(2), 0, mode='wrap'), 'IndexError|DimensionError'),
            (call(f(0, 2), i(2), 0, mode='clip'), 'IndexError|DimensionError'),
        ],
        big=call(f(500, 301), i(1000, hi=300), 1),
    ),
    Case(
        'where',
        lambda condition, x, y: np.where(condition, x, y),
        sig='condition, x, y',
        calls=[
            call(b(2, 3), f(2, 3), f(2, 3)),
            call(b(3), f(2, 3), f(2, 1)),
            call(b(), f(2), f(2)),
            call(b(2, 1), f(), f(3)),
            call(i(2, 3, hi=1), f(2, 3), f(2, 3)),
            call(c([0.0, 0.5, np.nan], 'float32'), f(3), f(3)),
            call(b(2, 3), f(2, 3), 1),
            call(b(2, 3), 1, f(2, 3)),
            call(b(0, 3), f(0, 3), f(3)),
            call(b(67), f(67), f(67)),
            call([[True], [False]], f(2, 3), f(3)),
            call([1, 0, 2], f(3), 1),
        ],
        dtypes=ALL,
        errors=[
            (call(b(2, 3), f(4), f(2, 3)), 'DimensionError'),
            (call([True, False], f(4), 0), 'DimensionError', '2'),
            (call('x', f(4), 0), 'TypeError', 'condition'),
        ],
        big=call(b(200, 301), f(200, 301), f(301)),
    ),
    Case(
        'nonzero',
        np.nonzero,
        sig='a',
        calls=[
            call(f(3, 4, lo=-1, hi=1)),
            call(f(7, lo=0, hi=1)),
            call(f(2, 3, 2, lo=0, hi=1)),
            call(f(0)),
            call(f(2, 0)),
        ],
        dtypes=ALL,
        out='int64',
        order=0,
        multi=tuple,
        errors=[(call(f()), 'DimensionError')],
        huge=False,
    ),
]
