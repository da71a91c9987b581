"""Elements chosen by integers or conditions."""

import numpy as np
from cases._table import ALL, Case, b, c, call, f, i

_x = f(2, 3)


def _select(condlist, choicelist, default=0):
    return np.select([np.asarray(x) for x in condlist], choicelist, default)


CASES = [
    Case(
        'choose',
        lambda a, choices, mode='raise': np.choose(np.asarray(a).astype(int), choices, mode=mode),
        sig='a, choices, mode',
        calls=[
            call(i(2, 3, hi=2), [_x, f(3), f()]),
            call(i(3, hi=1), (f(3), f(2, 3))),
            call(b(3), [f(3), f(3)]),
            call(i(2, 3, lo=-5, hi=9), [_x, _x], 'wrap'),
            call(i(2, 3, lo=-5, hi=9), [_x, _x], mode='clip'),
            call(i(2, hi=0), [f(2)]),
            call(i(3, hi=1), f(2, 3)),
            call(i(0), [f(0), f(1)]),
            call([0, 1, 1], [f(3), f(2, 3)]),
        ],
        dtypes=ALL,
        errors=[
            (call(c([2], 'int64'), [f(1), f(1)]), 'ValueError', '2'),
            (call(c([-1], 'int64'), [f(1), f(1)]), 'ValueError', '-1'),
            (call(i(2), []), 'ValueError', 'choices'),
            (call(i(2), [f(3)]), 'DimensionError', '3'),
            (call(f(2), [f(2)]), 'DtypeError', 'a must'),
            (call(i(2), [f(2)], 'x'), 'ValueError', 'x'),
        ],
    ),
    Case(
        'select',
        _select,
        sig='condlist, choicelist, default',
        calls=[
            call([b(2, 3), b(3)], [_x, f(3)]),
            call([b(2, 3), b(2, 3)], (_x, f()), f(3)),
            call([b(3)], [f(2, 1)], default=1),
            call((b(3), b(3)), [f(3), 1]),
            call([b(0)], [f(0)]),
            call([[True, False, False], b(3)], [f(2, 3), 1]),
        ],
        dtypes=ALL,
        errors=[
            (call([], []), 'ValueError', 'condlist'),
            (call([b(3)], [f(3), f(3)]), 'ValueError', '1'),
            (call([i(3)], [f(3)]), 'DtypeError', 'condlist'),
            (call([b(3)], [f(2)]), 'DimensionError', '2'),
            (call([b(3)], ['x']), 'TypeError', 'choicelist'),
            (call([1.5], [f(3)]), 'TypeError', 'condlist'),
            (call([[1, 0, 0]], [f(3)]), 'DtypeError', 'condlist'),
            (call(b(3), [f(3)]), 'TypeError', 'condlist'),
            (call([b(3)], f(3)), 'TypeError', 'choicelist'),
        ],
        out=lambda *dtypes: dtypes[0],
    ),
    Case(
        'compress',
        lambda condition, a, axis=None: np.compress(condition, a, axis),
        sig='condition, a, axis=None',
        calls=[
            call([0, 1, 2], f(2, 3)),
            call([True, False, True], f(3, 2), 0),
            call([False, True], f(2, 3), axis=-1),
            call(c([1, 0, 1], 'bool'), f(3, 2), 0),
            call(c([0.0, 0.5], 'float32'), f(2)),
            call([], f(3)),
        ],
        dtypes=ALL,
        errors=[
            (call([False, True], f(1, 3), 0), 'IndexError', '1'),
            (call([[True]], f(1, 3), 0), 'DimensionError', 'condition'),
            (call([True], f(3), 1), 'DimensionError', '1'),
            (call(1.5, f(3)), 'TypeError', 'condition'),
        ],
    ),
    Case(
        'extract',
        lambda condition, arr: np.extract(condition, arr),
        sig='condition, arr',
        calls=[
            call(c([[1, 0, 1], [0, 1, 1]], 'bool'), _x),
            call(c([1, 0, 2], 'int32'), _x),
            call([True, False], f(2)),
            call(c(1, 'bool'), f()),
        ],
        dtypes=ALL,
        errors=[
            (call([False, True], f(1)), 'IndexError', '1'),
            (call('x', f(1)), 'TypeError', 'condition'),
        ],
    ),
]
