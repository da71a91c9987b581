"""Arrays that are concatenated, cut, flipped or rotated."""

import numpy as np
from cases._table import ALL, Case, c, call, f


def _row(name, ref, sig, calls, errors=(), **kw):
    return Case(name, ref, sig=sig, calls=calls, dtypes=ALL, errors=list(errors), **kw)


_x, _x3 = f(2, 3), f(2, 3, 4)


def _inserted(arr, obj, values, axis=None):
    obj = obj.tolist() if isinstance(obj, np.ndarray) and obj.dtype == bool else obj
    if isinstance(obj, list) and obj and isinstance(obj[0], bool):
        obj = np.flatnonzero(obj)
    return np.insert(arr, obj, values, axis)


CASES = [
    _row('concat', np.concatenate, 'arrays, axis=0', [call([f(2, 3), f(1, 3)], 0)]),
    _row('row_stack', np.vstack, 'arrays', [call([f(3), f(2, 3)])]),
    _row('permute_dims', np.transpose, 'a, axes=None', [call(_x3, (2, 0, 1)), call(_x)]),
    _row(
        'column_stack',
        np.column_stack,
        'arrays',
        [call([f(3), f(3, 2)]), call([f(3)] * 3), call([f(2, 3, 2)] * 2), call([f(), f()])],
        [
            (call([f(3), f(4)]), 'DimensionError', '3|4'),
            (call([]), 'DimensionError|ValueError'),
            (call([None]), 'TypeError'),
        ],
    ),
    _row(
        'block',
        np.block,
        'arrays',
        [
            call(f(2, 3)),
            call(f()),
            call([f(3), f(2)]),
            call([[f(2, 3), f(2, 1)], [f(1, 4)]]),
            call([[f(3)], [f(3)]]),
            call([[f(), f(1)]]),
            call([[[f(2, 2)]]]),
            call([f(2, 3), f(2, 1)]),
            call([[f(2, 2, 1), f(2, 2, 2)], [f(2, 1, 3)]]),
            call([[f(0, 2)], [f(1, 2)]]),
        ],
        [
            (call([]), 'ValueError', 'empty'),
            (call([[f(2)], []]), 'ValueError', 'empty'),
            (call([f(2), [f(2)]]), 'ValueError', 'deep'),
            (call([[f(2), f(3)], [f(4)]]), 'DimensionError'),
            (call('x'), 'TypeError'),
            (call([[[[[[[[[[[f()]]]]]]]]]]]), 'DimensionError'),
        ],
    ),
    _row(
        'append',
        np.append,
        'arr, values, axis=None',
        [
            call(_x, f(4)),
            call(_x, f(1, 3), 0),
            call(_x, f(2, 2), axis=-1),
            call(f(0), f(2)),
            call(f(), f()),
        ],
        [
            (call(_x, f(2), 0), 'DimensionError'),
            (call(_x, f(1, 2), 0), 'DimensionError'),
            (call(_x, _x, 2), 'DimensionError', '2'),
            (call(_x, None), 'TypeError', 'values'),
        ],
    ),
    _row(
        'insert',
        _inserted,
        'arr, obj, values, axis=None',
        [
            call(f(4), 1, f()),
            call(_x, 3, f(2)),
            call(f(4), -1, f(3)),
            call(f(4), 4, 1),
            call(_x, 1, f(3), 0),
            call(_x, 1, f(2), 1),
            call(_x, 0, f(2, 2), 1),
            call(_x, [1], f(2, 1), 1),
            call(_x, [0, 2], f(2, 2), axis=1),
            call(_x, [2, 0, 0, 3], f(2, 1), 1),
            call(_x, [-1, 1], f(3), 0),
            call(_x3, (1, 1), f(2, 1, 4), -2),
            call(f(4), slice(0, 4, 2), f(2)),
            call(f(4), [], f(1)),
            call(f(4), c([0, 3], 'int64'), f(2)),
            call(f(4), [True, False, True, False], f(2)),
            call(f(0), 0, f(2)),
            call(f(0, 2), 0, f(2), 0),
        ],
        [
            (call(f(4), 5, 1), 'IndexError', '5'),
            (call(f(4), [0, -5], 1), 'IndexError', '-5'),
            (call(_x, 0, f(4), 0), 'DimensionError', '4'),
            (call(_x, 0, f(3, 1, 1, 1), 0), 'DimensionError'),
            (call(_x, 0, 1, 2), 'DimensionError', '2'),
            (call(f(4), [[0]], 1), 'DimensionError', 'obj'),
            (call(f(4), [0.5], 1), 'DtypeError', 'obj'),
            (call(f(4), [True], 1), 'DimensionError', 'bool'),
            (call(f(4), 'x', 1), 'TypeError', 'obj'),
            (call(f(4, dtype='int32'), 0, f(1)), 'DtypeError', 'int32'),
            (call(f(4, dtype='int32'), 0, 0.5), 'DtypeError', 'int32'),
            (call(f(4), 0, 'x'), 'TypeError', 'values'),
        ],
    ),
    _row(
        'delete',
        np.delete,
        'arr, obj, axis=None',
        [
            call(f(4), 1),
            call(f(4), -1),
            call(_x, 4),
            call(_x, 0, 0),
            call(_x3, 1, axis=-2),
            call(f(5), [0, 2, 2, -1]),
            call(f(30), slice(1, None, 2)),
            call(f(30, 2), slice(None, None, -3), 0),
            call(f(4), [True, False, True, False]),
            call(f(4), []),
            call(f(1), 0),
            call(f(4), slice(0)),
            call(f(4), c([1, 2], 'int32')),
            call(f(4), c(1, 'int64')),
            call(f(0, 3), 1, 1),
        ],
        [
            (call(f(4), 4), 'IndexError', '4'),
            (call(f(4), [0, -5]), 'IndexError', '-5'),
            (call(_x, 0, 2), 'DimensionError', '2'),
            (call(f(4), [[0]]), 'DimensionError', 'obj'),
            (call(f(4), [0.5]), 'DtypeError', 'obj'),
            (call(f(4), [True]), 'DimensionError', 'bool'),
            (call(f(4), 'x'), 'TypeError', 'obj'),
        ],
    ),
    _row(
        'unstack',
        lambda x, axis=0: tuple(np.moveaxis(x, axis, 0)),
        'x, axis=0',
        [call(_x), call(_x3, 1), call(_x3, axis=-1), call(f(3)), call(f(1, 0))],
        [
            (call(f()), 'DimensionError'),
            (call(_x, 2), 'DimensionError', '2'),
            (call(_x, -3), 'DimensionError', '-3'),
        ],
        multi=tuple,
        huge=False,
    ),
    _row(
        'resize',
        np.resize,
        'a, new_shape',
        [
            call(_x, (3, 4)),
            call(_x, 4),
            call(_x, (3, 2)),
            call(_x, (2, 3)),
            call(_x, ()),
            call(_x, (0, 2)),
            call(f(), (2, 2)),
            call(f(0), (2, 2)),
            call(f(3), 13),
        ],
        [
            (call(_x, -1), 'DimensionError', '-1'),
            (call(_x, (2**62, 2**62)), 'DimensionError|MemoryError'),
            (call(_x, 1.5), 'TypeError'),
        ],
    ),
    _row(
        'trim_zeros',
        lambda filt, trim='fb', axis=None: _trimmed(filt, trim, axis),
        'filt, trim, axis=None',
        [
            call(c([0, 0, 1, 0, 2, 0])),
            call(c([0, 0, 1, 0, 2, 0]), 'f'),
            call(c([0, 0, 1, 0, 2, 0]), trim='B'),
            call(c([0, 0])),
            call(c([])),
            call(c([[0, 0, 0], [0, 1, 0], [0, 1, 1]])),
            call(c([[0, 0, 0], [0, 1, 0], [0, 1, 0]]), 'fb', 1),
            call(c([[0, 0, 0], [0, 1, 0], [0, 1, 0]]), 'b', (0, 1)),
        ],
        [
            (call(f(3), 'x'), 'ValueError', 'x'),
            (call(f(3), ''), 'ValueError', 'trim'),
            (call(f(3), 'fb', 1), 'DimensionError', '1'),
            (call(f(), 'fb', 0), 'DimensionError', '0'),
        ],
        huge=False,
        layouts=False,  # a broadcast row is another array, with zeros at other positions
        order=0,
        diff=(),
    ),
    _row(
        'rot90',
        np.rot90,
        'm, k=1, axes=(0, 1)',
        [
            *(call(_x, k) for k in (-1, 0, 1, 2, 3, 5)),
            call(_x3, 1, (1, 2)),
            call(_x3, 3, axes=(-1, 0)),
            call(f(0, 2), 2),
        ],
        [
            (call(f(3)), 'DimensionError'),
            (call(_x, 1, (0, 2)), 'DimensionError', '2'),
            (call(_x, 1, (1, -1)), 'DimensionError', '1'),
            (call(_x, 1, (0,)), 'DimensionError', 'axes'),
        ],
    ),
]


def _trimmed(filt, trim, axis):
    """trim_zeros of NumPy 2.2; earlier versions accept one dimension only."""
    axes = range(filt.ndim) if axis is None else np.atleast_1d(axis)
    places = np.nonzero(filt)
    index = [slice(None)] * filt.ndim
    for a in axes:
        along = places[a]
        begin = along.min() if along.size and 'f' in trim.lower() else 0
        end = 0 if not along.size else along.max() + 1 if 'b' in trim.lower() else None
        index[a] = slice(begin, end)
    return filt[tuple(index)]
