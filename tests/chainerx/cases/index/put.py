"""Scatter to many elements of an array at once, and gather along an axis."""

import numpy as np
from cases._table import ALL, BOOL, NUMERIC, REAL, Case, b, c, call, f, i


def _in_place(name, ref, calls, errors=(), **kw):
    """A routine that writes to its first argument, applied to a copy of it."""
    import chainerx

    def written(function):
        def run(a, *args, **kwargs):
            a = a.copy()
            function(a, *args, **kwargs)
            return a

        return run

    def run(a, *args, **kwargs):
        a = a.copy()
        getattr(chainerx, name)(a, *args, **kwargs)
        return a

    kw = {'dtypes': ALL} | kw
    return Case(
        name, written(ref), fn=run, calls=calls, errors=list(errors), diff=(), out='first', **kw
    )


def _place(arr, mask, vals):
    np.place(arr, np.asarray(mask).astype(bool), vals)


def _putmask(a, mask, values):
    np.putmask(a, np.asarray(mask).astype(bool), values)


_x, _x3 = f(2, 3), f(2, 3, 4)
_KEYS = {
    (4, 3): [
        0,
        (slice(None), 1),
        (slice(None, None, -2), slice(1, None)),
        (1, 2),
        Ellipsis,
        None,
        [0, 2],
        [0, -1, 0, 3],
        ([0, 1, 0], [1, 1, 1]),
        (slice(None), [2, 0, 2]),
        (1, [0, 0]),
        [[0, 1], [1, 3]],
        [True, False, True, False],
        (slice(1, 3), None, [0, 0, 1]),
        [],
    ],
    (2, 3, 4): [([0, 1, 1], slice(None), [0, 3, 3]), (Ellipsis, [1, 1]), (slice(None), [0, 0])],
    (): [(), Ellipsis, None],
    (0, 2): [slice(None), (slice(None), 1)],
}
_AT_ERRORS = [
    (4, 'IndexError', '4'),
    ((0, 0, 0), 'IndexError'),
    ([9], 'IndexError', '9'),
    ('a', 'IndexError'),
    (1.5, 'IndexError'),
]


def _picked(shape, key):
    return np.zeros(shape)[key].shape


def _at(method, ref, keys=_KEYS, **kw):
    """x.at[key].method(values), for values of the whole shape, of fewer axes, and numbers."""
    value = f(lo=0.5, hi=2) if method in ('divide', 'power') else f()
    calls = []
    for shape, several in keys.items():
        for key in several:
            like = _picked(shape, key)
            for v in (like, like[1:], (1, *like[-1:])):
                calls.append(call(f(*shape, **kw), key, f(*v, lo=value.lo, hi=value.hi)))
        calls.append(call(f(*shape, **kw), several[0], 2))
    return calls


def _update(name, ref, dtypes=NUMERIC, calls=None, values='', tol=1.0, **kw):
    def run(x, key, v):
        return getattr(x.at[key], name)(v)

    return Case(
        f'ndarray.at.{name}',
        ref,
        fn=run,
        calls=calls or _at(name, ref),
        dtypes=dtypes,
        out='first',
        errors=[(call(f(4, 3), key, 1), *rest) for key, *rest in _AT_ERRORS]
        + [
            (call(f(4, 3), 0, f(2)), 'DimensionError'),
            (call(f(4, 3, dtype='int32'), 0, f(3)), 'DtypeError', 'int32'),
            (call(f(4, 3), 0, 'x'), 'TypeError', 'values'),
        ],
        tol=tol,
        **kw,
    )


def _set(x, key, v):
    x = x.copy()
    x[key] = v if np.ndim(x[key]) else np.reshape(v, ())
    return x


def _by(ufunc):
    def ref(x, key, v):
        x = x.copy()
        np_v = np.asarray(v)
        picked = x[key]
        while np_v.ndim > np.ndim(picked):  # leading axes of length 1
            np_v = np_v[0]
        if np.ndim(picked) == 0 and isinstance(key, tuple) and key == ():
            return ufunc(x, np_v)
        ufunc.at(x, key, np.broadcast_to(np_v, np.shape(picked)))
        return x

    return ref


CASES = [
    _in_place(
        'put',
        np.put,
        [
            call(_x, i(3, hi=5), f(3)),
            call(_x, [0, -1, 0], f(2)),
            call(_x, 2, f()),
            call(_x, [[0, 1], [2, 3]], 1),
            call(_x, [0, 7, -9], f(3), 'wrap'),
            call(_x, [0, 7, -9], f(3), mode='clip'),
            call(_x, [], f(3)),
            call(_x, [1], f(0)),
            call(f(), [0], f(1)),
            call(f(60), i(80, hi=59), f(80)),
        ],
        [
            (call(_x, [6], 1), 'IndexError', '6'),
            (call(_x, [0.5], 1), 'DtypeError', 'ind'),
            (call(_x, [0], 1, 'x'), 'ValueError', 'x'),
            (call(f(0), [0], 1), 'IndexError'),
            (call(f(3, dtype='int32'), [0], f(1)), 'DtypeError', 'int32'),
        ],
    ),
    _in_place(
        'place',
        _place,
        [
            call(_x, b(2, 3), f(6)),
            call(_x, b(2, 3), f(2)),
            call(_x, i(2, 3, hi=1), 1),
            call(_x, c(np.zeros((2, 3)), 'bool'), f(0)),
            call(f(), b(), f(1)),
        ],
        [
            (call(_x, b(3), 1), 'DimensionError', 'mask'),
            (call(_x, c(np.ones((2, 3)), 'bool'), f(0)), 'ValueError', 'vals'),
            (call(f(3, dtype='int32'), b(3), f(1)), 'DtypeError', 'int32'),
        ],
    ),
    _in_place(
        'putmask',
        _putmask,
        [
            call(_x, b(2, 3), f(2, 3)),
            call(_x, b(2, 3), f(2)),
            call(_x, b(2, 3), f(4)),
            call(_x, i(2, 3, hi=1), 1),
            call(_x, b(2, 3), f(0)),
            call(f(), b(), f(1)),
        ],
        [
            (call(_x, b(3), 1), 'DimensionError', 'mask'),
            (call(f(3, dtype='int32'), b(3), f(1)), 'DtypeError', 'int32'),
        ],
    ),
    _in_place(
        'fill_diagonal',
        np.fill_diagonal,
        [
            call(f(3, 3), 1),
            call(f(2, 3), f(2)),
            call(f(5, 2), f()),
            call(f(7, 2), f(3), True),
            call(f(7, 2), 1, wrap=True),
            call(f(3, 2), 1, wrap=True),
            call(f(2, 3), f(1), True),
            call(f(2, 2, 2), f(2)),
            call(f(0, 3), 1),
        ],
        [
            (call(f(3), 1), 'DimensionError', '3'),
            (call(f(2, 3, 2), 1), 'DimensionError', '2, 3, 2'),
            (call(f(2, 2), f(0)), 'ValueError', 'val'),
            (call(f(3, 3, dtype='int32'), f(1)), 'DtypeError', 'int32'),
        ],
    ),
    _in_place(
        'add_at',
        lambda a, indices, b: _into(a, _by(np.add)(a, indices, b)),
        [
            call(f(4, 3), [0, 2, 0], f(3, 3)),
            call(f(4, 3), ([0, 0], [1, 1]), 1),
            call(f(4, 3), slice(None, None, -2), f(2, 3)),
            call(f(4, 3), [True, False, True, True], f(3)),
            call(f(60), i(80, hi=59), f(80)),
            call(f(3, 4), (slice(None), i(5, hi=3)), f(3, 5)),
        ],
        [
            (call(f(4), [4], 1), 'IndexError', '4'),
            (call(f(4), [0, 1], f(3)), 'DimensionError', '3'),
            (call(f(3, dtype='int32'), 0, f(1)), 'DtypeError', 'int32'),
        ],
    ),
    Case(
        'take_along_axis',
        lambda arr, indices, axis=-1: np.take_along_axis(arr, np.asarray(indices), axis),
        sig='arr, indices, axis=-1',
        calls=[
            call(f(3, 4), i(3, 2)),
            call(f(3, 4), i(2, 4, hi=2), 0),
            call(f(3, 4), i(1, 2)),
            call(f(1, 4), i(3, 2)),
            call(f(2, 3, 4), i(2, 5, 4, hi=2), axis=1),
            call(f(3, 4), i(5, hi=11), None),
            call(f(3, 4), c([[-1], [0], [-4]], 'int32')),
            call(f(3, 4), i(3, 0)),
            call(f(5), i(7, hi=4), 0),
        ],
        dtypes=ALL,
        out='first',
        errors=[
            (call(f(3, 4), c([[4]] * 3, 'int64')), 'IndexError', '4'),
            (call(f(3, 4), i(3)), 'DimensionError', '3'),
            (call(f(3, 4), i(2, 2)), 'DimensionError', '2, 2'),
            (call(f(3, 4), i(3, 2), 2), 'DimensionError', '2'),
            (call(f(3, 4), f(3, 2)), 'DtypeError'),
            (call(f(3, 4), i(3, 2), None), 'DimensionError'),
            (call(f(3, 0), i(3, 2)), 'IndexError'),
        ],
    ),
    _in_place(
        'put_along_axis',
        lambda arr, indices, values, axis=-1: np.put_along_axis(
            arr, np.asarray(indices), values, axis
        ),
        [
            call(f(3, 4), c([[0, 2]] * 3, 'int64'), f(3, 2)),
            call(f(3, 4), c([[0, 1, 2, 0]], 'int64'), f(4), 0),
            call(f(3, 4), c([[-1], [0], [2]], 'int32'), 1),
            call(f(3, 4), c([5, 0, 5], 'int64'), f(3), None),
            call(f(3, 4), i(3, 0), 1),
        ],
        [
            (call(f(3, 4), c([[4]] * 3, 'int64'), 1), 'IndexError', '4'),
            (call(f(3, 4), i(3), 1), 'DimensionError', '3'),
            (call(f(3, 4), i(3, 2), f(3)), 'DimensionError', '3'),
            (call(f(3, 4), i(3, 2), 1, 2), 'DimensionError', '2'),
            (call(f(3, 4), f(3, 2), 1), 'DtypeError'),
            (call(f(3, 4), i(5), f(4), None), 'DimensionError', '4'),
        ],
    ),
    _update('set', _set, ALL),
    _update('add', _by(np.add), ALL),
    _update('subtract', _by(np.subtract)),
    _update('multiply', _by(np.multiply), ALL, tol=2),
    _update('min', _by(np.minimum), (*BOOL, *REAL)),
    _update('max', _by(np.maximum), (*BOOL, *REAL)),
    Case(
        'ndarray.at.divide',
        lambda x, key, v: _by(np.true_divide)(x, key, v),
        fn=lambda x, key, v: x.at[key].divide(v),
        calls=_at('divide', None),
        dtypes=NUMERIC,
        out='float',
        tol=4,
        gtol=4,
    ),
    Case(
        'ndarray.at.power',
        lambda x, key, v: _by(np.power)(x, key, v),
        fn=lambda x, key, v: x.at[key].power(v),
        calls=_at('power', None, lo=0.5),
        dtypes=('float32', 'float64'),
        unchecked=tuple(d for d in ALL if d not in ('float32', 'float64')),
        out='first',
        tol=8,
        gtol=8,
    ),
    Case(
        'ndarray.at.get',
        lambda x, key: x[key],
        fn=lambda x, key: x.at[key].get(),
        calls=[call(f(*shape), key) for shape, keys in _KEYS.items() for key in keys],
        dtypes=ALL,
        errors=[(call(f(4, 3), key), *rest) for key, *rest in _AT_ERRORS],
    ),
    Case(
        'ndarray.at.apply',
        lambda x, key: _set(x, key, x[key] * x[key]),
        fn=lambda x, key: x.at[key].apply(lambda y: y * y),
        calls=[call(f(4, 3), key) for key in (0, [0, 2], (slice(None), 1))],
        dtypes=NUMERIC,
        unchecked=BOOL,
    ),
    Case(
        'ndarray.flat',
        lambda x, key: np.array(x.ravel()[key]),
        fn=lambda x, key: x.flat[key],
        calls=[
            call(_x, key)
            for key in (0, -1, slice(None), slice(4, 0, -2), [0, 5, 0], np.array([1, 2]), Ellipsis)
        ]
        + [call(f(), 0), call(f(0), slice(None)), call(f(4), [True, False, True, False])],
        dtypes=ALL,
        errors=[
            (call(_x, 6), 'IndexError', '6'),
            (call(_x, -7), 'IndexError', '-7'),
            (call(_x, 2**70), 'IndexError'),
            (call(_x, (0, 0)), 'IndexError'),
            (call(_x, 'x'), 'IndexError'),
        ],
    ),
    Case(
        'ndarray.flat of a write',
        lambda x, key, v: _written_ravelled(x, key, v),
        fn=lambda x, key, v: _written(x, key, v),
        calls=[
            call(_x, 0, 1),
            call(_x, -2, f()),
            call(_x, slice(None), f(6)),
            call(_x, slice(4, 0, -2), f(2)),
            call(_x, slice(None), f(4)),
            call(_x, [0, 5, 0], f(3)),
            call(_x, [0, 5, 1], f(2)),
            call(_x, [True, False] * 3, f(3)),
            call(_x, slice(2, 2), f(1)),
            call(f(), 0, f(1)),
        ],
        dtypes=ALL,
        diff=(),
        out='first',
        errors=[
            (call(_x, 6, 1), 'IndexError', '6'),
            (call(_x, slice(None), f(0)), 'ValueError', 'flat'),
            (call(_x, 0, 'x'), 'TypeError', 'flat'),
            (call(f(3, dtype='int32'), 0, f(1)), 'DtypeError', 'int32'),
        ],
    ),
]


def _into(a, values):
    a[...] = values


def _written(x, key, v):
    x = x.copy()
    x.flat[key] = v
    return x


def _written_ravelled(x, key, v):
    """NumPy accepts no bool arrays here."""
    flat = x.flatten()
    picked = flat[key]
    flat[key] = np.resize(v, np.shape(picked))
    return flat.reshape(x.shape)
