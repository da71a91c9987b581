"""Sorting, partitions, the largest elements, indices in sorted arrays."""

import numpy as np
from cases._promotion import BOOL, COMPLEX, FLOATS, INTS, REAL
from cases._table import ALL, Case, b, c, call, f, i

INF, NAN = np.inf, np.nan


def _flipped(x, axis):
    return np.flip(x) if axis is None else np.flip(x, axis)


def _sort(a, axis=-1, kind=None, *, stable=None, descending=False):
    y = np.sort(a, axis, kind='stable')
    return _flipped(y, axis if y.ndim > 1 else 0) if descending else y


def _argsort(a, axis=-1, kind=None, *, stable=None, descending=False):
    if axis is None:
        a, axis = a.ravel(), 0
    if not descending:
        return np.argsort(a, axis, kind='stable')
    # Reversed twice, so that equal elements keep their order.
    places = np.argsort(np.flip(a, axis), axis, kind='stable')
    return np.flip(a.shape[axis] - 1 - places, axis)


def _argpartition(a, kth, axis=-1, kind=None):
    """The elements below, equal to and above the pivot, each part in its order."""
    if axis is None:
        a, axis = a.ravel(), 0
    if np.size(kth) != 1 or np.iscomplexobj(a):
        return np.argsort(a, axis, kind='stable')

    def line(x):
        return np.argsort(np.sign(x - np.sort(x)[np.ravel(kth)[0]]), kind='stable')

    return np.apply_along_axis(line, axis, a * 1) if a.size else np.zeros(a.shape, 'i8')


def _partition(a, kth, axis=-1, kind=None):
    places = _argpartition(a, kth, axis)
    if axis is None:
        a, axis = a.ravel(), 0
    return np.take_along_axis(a, places, axis)


def _topk(x, k, axis=-1, largest=True, sorted=True):
    places = np.take(_argsort(x, axis, descending=largest), np.arange(k), axis)
    if not sorted:
        places = np.sort(places, axis)
    return np.take_along_axis(x, places, axis), places


def _part_of(function, n):
    def run(*args, **kw):
        return function(*args, **kw)[n]

    return run


def _in_place(name):
    def run(a, *args, **kw):
        a = a.copy()
        assert getattr(a, name)(*args, **kw) is None
        return a

    return run


def _topk_of(n):
    def run(x, *args, **kw):
        import chainerx

        return chainerx.topk(x, *args, **kw)[n]

    return run


def _axes(*shape, **kw):
    return f(*shape, distinct=True, **kw)


_SORTS = [
    call(_axes(7)),
    call(_axes(3, 4)),
    call(_axes(3, 4), 0),
    call(_axes(3, 4), axis=None),
    call(_axes(2, 3, 4), 1),
    call(_axes(2, 3, 4), -1, 'stable'),
    call(_axes(3, 4), axis=0, stable=True),
    call(_axes(3, 4), descending=True),
    call(_axes(5, 2), 0, descending=True),
    call(_axes(300), kind='quicksort'),
    call(_axes(1)),
    call(f(0)),
    call(f(0, 3)),
    call(f(3, 0), 0),
]
# Arrays with equal elements.
_TIES = [
    call(f(70, lo=0, hi=3)),
    call(c([0.0, -0.0, 1, -0.0, 0.0, 3])),
    call(c([2, 1, 2, 0, 1, 2, 2]), descending=True),
]
_AXIS_ERRORS = [
    (call(f(2, 3), 2), 'DimensionError', '2'),
    (call(f(2, 3), -3), 'DimensionError', '-3'),
    (call(f(), 1), 'DimensionError'),
    (call(f(2, 3), '0'), 'TypeError'),
    (call(f(2, 3), kind='bubble'), 'ValueError', 'bubble'),
    (
        call(f(2, 3), kind='stable', stable=True),
        'ValueError',
        "kind is 'stable' and stable is True",
    ),
    (call(f(2, 3), kind=1), 'TypeError'),
]
_NO_NUMBERS = [(call(f()), 'DimensionError'), (call(f(), 0), 'DimensionError')]
_PARTS = [
    call(_axes(7), 3),
    call(_axes(7), -1),
    call(_axes(3, 4), 1),
    call(_axes(3, 4), 0, 0),
    call(_axes(3, 4), 5, axis=None),
    call(_axes(2, 3, 4), (0, 2), 2),
    call(_axes(9), [4]),
    call(_axes(9), [8, 0, -2]),
    call(_axes(9), np.array([3, 4])),
    call(_axes(4000), 1999),
]
_KTH_ERRORS = [
    (call(f(2, 3), 3), 'ValueError', '3'),
    (call(f(2, 3), [0, -4]), 'ValueError', '-4'),
    (call(f(2, 3), 0.5), 'TypeError'),
    (call(f(2, 3), 1, 2), 'DimensionError', '2'),
    (call(f(2, 3), 1, kind='quickselect'), 'ValueError', 'quickselect'),
    (call(f(0), 0.5), 'TypeError', 'kth'),
    (call(f(), 0, 1), 'DimensionError'),
]
_TOPS = [
    call(_axes(7), 3),
    call(_axes(3, 5), 2),
    call(_axes(5, 3), 2, 0),
    call(_axes(2, 5, 3), 4, axis=1, largest=False),
    call(_axes(3, 5), 3, sorted=False),
    call(_axes(3, 5), 5, -1, False, False),
    call(_axes(3, 5), 0),
    call(f(0, 3), 2),
]
_TOP_ERRORS = [
    (call(f(2, 3), 4), 'ValueError', '4'),
    (call(f(2, 3), -1), 'ValueError', '-1'),
    (call(f(2, 3), 1, 2), 'DimensionError', '2'),
    (call(f(), 1), 'DimensionError'),
    (call(f(2, 3), 1.5), 'TypeError'),
]
_SORTED = c([0, 0, 1, 2, 2, 2, 5])
_SEARCHES = [
    call(_SORTED, f(2, 3, lo=0, hi=5)),
    call(_SORTED, c([0, 1, 2, 3, 5, 6]), 'right'),
    call(_SORTED, c([0, 1, 2, 3, 5, 6]), side='left'),
    call(_SORTED, f(lo=0, hi=5)),
    call(_SORTED, f(0, 2)),
    call(_SORTED, f(300, lo=0, hi=5)),
    call(f(0), f(3)),
    call(c([5, 0, 2]), c([1, 3, 7]), sorter=c([1, 2, 0], 'int64')),
    call(c([5, 0, 2]), c([2]), 'right', [1, 2, 0]),
    call(_SORTED, 2),
    call(_SORTED, [1, 7]),
    call(_SORTED, [[1.0, 2.5]], 'right'),
]


def _kth(name, ref, **kw):
    return Case(
        name,
        ref,
        calls=kw.pop('calls', _PARTS),
        sig='a, kth, axis=-1, kind=None',
        dtypes=ALL,
        errors=kw.pop('errors', _KTH_ERRORS),
        big=call(_axes(3, 40000), 12345),
        huge=False,
        **kw,
    )


def _at_nan():
    """NaN is larger than all numbers."""
    x = [NAN, 1, INF, -INF, NAN, 0, -0.0, 2]
    return [
        Case(
            name,
            ref,
            calls=[call(c(x)), call(c(x), descending=True), call(c(x * 60))],
            dtypes=FLOATS,
            unchecked=BOOL + INTS + COMPLEX,
            order=0,
            diff=(),
            out=out,
            huge=False,
        )
        for name, ref, out in (('sort', _sort, 'same'), ('argsort', _argsort, 'int64'))
    ]


CASES = [
    Case(
        'sort',
        _sort,
        calls=_SORTS,
        sig='a, axis=-1, kind=None, stable=None, descending=False',
        dtypes=ALL,
        errors=[*_AXIS_ERRORS, *_NO_NUMBERS],
        big=call(_axes(3, 50021)),
        huge=False,
    ),
    Case(
        'sort_complex',
        lambda a: np.sort(a.astype(complex), axis=-1),
        calls=[call(_axes(7)), call(_axes(3, 5)), call(f(0)), call(f(2, 0))],
        sig='a',
        dtypes=ALL,
        out=lambda d: 'complex128' if d in ('float64', 'complex128') else 'complex64',
        order=0,
        diff=(),
        errors=[(call(f()), 'DimensionError', '0')],
        huge=False,
    ),
    Case(
        'sort_complex',
        np.sort_complex,
        calls=[call(_axes(3, 5))],
        dtypes=COMPLEX,
        unchecked=BOOL + REAL,
        huge=False,
    ),
    Case('sort', _sort, calls=_TIES, dtypes=ALL, order=0, diff=(), huge=False),
    Case(
        'argsort',
        _argsort,
        calls=_SORTS + _TIES,
        sig='a, axis=-1, kind=None, stable=None, descending=False',
        dtypes=ALL,
        out='int64',
        order=0,
        errors=_AXIS_ERRORS,
        big=call(_axes(3, 50021)),
        huge=False,
    ),
    Case(
        'ndarray.sort',
        lambda a, *args, **kw: _sort(a, *args, **kw),
        fn=_in_place('sort'),
        calls=[call(_axes(3, 4)), call(_axes(3, 4), 0), call(_axes(5), -1, None, descending=True)],
        dtypes=ALL,
        diff=(),
        errors=_AXIS_ERRORS,
    ),
    Case(
        'ndarray.partition',
        _partition,
        fn=_in_place('partition'),
        calls=_PARTS[:4] + _PARTS[5:6],
        dtypes=ALL,
        diff=(),
        errors=_KTH_ERRORS,
    ),
    _kth('partition', _partition, errors=[*_KTH_ERRORS, (call(f(), 0), 'DimensionError')]),
    _kth('argpartition', _argpartition, out='int64', order=0),
    *(
        Case(
            'topk',
            _part_of(_topk, n),
            fn=_topk_of(n),
            calls=_TOPS,
            dtypes=BOOL + REAL,
            out=out,
            order=order,
            errors=_TOP_ERRORS,
            big=call(_axes(3, 40000), 100),
            huge=False,
        )
        for n, out, order in ((0, 'same', 2), (1, 'int64', 0))
    ),
    Case(
        'lexsort',
        np.lexsort,
        calls=[
            call((f(9, lo=0, hi=2), f(9, lo=0, hi=2))),
            call([f(4, 5, lo=0, hi=2), i(4, 5), b(4, 5)]),
            call([f(4, 5, lo=0, hi=2), i(4, 5)], 0),
            call((f(6),), axis=-1),
            call(f(3, 6, lo=0, hi=2)),
            call((f(0), f(0))),
        ],
        sig='keys, axis=-1',
        dtypes=ALL,
        out='int64',
        order=0,
        errors=[
            (call(()), 'ValueError'),
            (call((f(2), f(3))), 'DimensionError', r'\(3,\)'),
            (call((f(2), f(2)), 1), 'DimensionError', '1'),
            (call(f()), 'DimensionError'),
            (call(['x', 2]), 'TypeError'),
        ],
        huge=False,
    ),
    Case(
        'searchsorted',
        np.searchsorted,
        calls=_SEARCHES,
        sig="a, v, side='left', sorter=None",
        dtypes=ALL,
        out='int64',
        order=0,
        errors=[
            (call(f(2, 2), f(2)), 'DimensionError', r'\(2, 2\)'),
            (call(f(), f(2)), 'DimensionError'),
            (call(f(3), f(2), 'middle'), 'ValueError', 'middle'),
            (call(f(3), f(2), 0), 'TypeError'),
            (call(f(3), f(2), sorter=i(2)), 'DimensionError', r'\(2,\)'),
            (call(f(3), f(2), sorter=f(3)), 'DtypeError'),
            (call(f(3), f(2), sorter=c([0, 1, 3], 'int64')), 'IndexError', '3'),
            (call(f(3), 'a'), 'TypeError'),
            (call(f(3), None), 'TypeError'),
        ],
        big=call(c(np.arange(1000)), f(50021, lo=0, hi=1000)),
        huge=False,
    ),
    *(
        Case(
            f'ndarray.{name}',
            ref,
            fn=lambda a, *args, name=name, **kw: getattr(a, name)(*args, **kw),
            calls=calls,
            dtypes=ALL,
            out='int64',
            order=0,
        )
        for name, ref, calls in (
            ('argsort', _argsort, _SORTS[:6]),
            ('argpartition', _argpartition, _PARTS[:5]),
            ('searchsorted', np.searchsorted, _SEARCHES[:3]),
        )
    ),
    *_at_nan(),
]
