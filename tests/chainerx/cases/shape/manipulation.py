"""Changes of shape, views, joining and splitting."""

import numpy as np
from cases._table import ALL, Case, call, f, own


def _move(name, ref, sig, calls, errors=(), **kw):
    return Case(name, ref, sig=sig, calls=calls, dtypes=ALL, errors=list(errors), **kw)


def _check_reshape_copy(xp, device):
    x = xp.arange(6, dtype='float64', device=device).reshape(2, 3).require_grad()
    for function in (lambda x, **kw: xp.reshape(x, **kw), lambda x, **kw: x.reshape(**kw)):
        for y, shared in (
            (function(x, shape=6), True),
            (function(x, newshape=(3, 2), copy=None), True),
            (function(x, shape=(3, 2), copy=False, order='C'), True),
            (function(x, shape=(3, 2), copy=True), False),
            (function(x.T, shape=6, copy=True), False),
            (function(x.T, shape=6), False),
            (function(x.T, shape=(3, 1, 2), copy=False), True),
            (function(x, shape=(2, 3), copy=True), False),
        ):
            assert xp.shares_memory(x, y) == shared
            assert y.is_backprop_required()
        with np.testing.assert_raises_regex(ValueError, 'copy is False'):
            function(x.T, shape=6, copy=False)
    y = xp.reshape(x.T, 6, copy=True)
    np.testing.assert_array_equal(xp.to_numpy(y), [0, 3, 1, 4, 2, 5])
    (y * xp.arange(6, dtype='float64', device=device)).sum().backward()
    np.testing.assert_array_equal(xp.to_numpy(x.grad), [[0, 2, 4], [1, 3, 5]])


def _reshape(a, *shape, order='C'):
    return np.reshape(a, shape[0] if len(shape) == 1 else shape, order=order)


def _fails(*calls, error='DimensionError'):
    return [(bad, error) for bad in calls]


_x, _x3 = f(2, 3), f(2, 3, 4)
_JOIN = [
    call([f(2, 3)]),
    call([f(2, 3), f(2, 3)]),
    call((f(2, 3), f(2, 3), f(2, 3))),
    call([f(2, 3, 2)] * 2),
    call([f(0, 3)] * 2),
]


def _as_strided(x, shape, strides, storage_offset=None):
    x = np.ascontiguousarray(x)
    places = np.zeros(shape, int) + (storage_offset or 0)
    for axis, (n, step) in enumerate(zip(shape, strides, strict=True)):
        places += (np.arange(n) * step).reshape(-1, *[1] * (len(shape) - axis - 1))
    return x.ravel()[places]


CASES = [
    Case(
        'as_strided',
        _as_strided,
        sig='x, shape, strides, storage_offset',
        dtypes=ALL,
        layouts=False,  # strides refer to the memory; test_layouts.py tests layouts
        calls=[
            call(f(3, 4), (2, 2), (4, 1)),
            call(f(3, 4), (2, 2), (4, 1), 1),
            call(f(3, 4), (3, 3), (1, 1)),
            call(f(3, 4), (3, 3), (-1, 1), 2),
            call(f(12), (2, 0, 3), (1, 1, 1)),
            call(f(12), (), ()),
            call(f(12), (3, 4), (0, 1), 5),
            call(f(2, 3, 4), (4, 3, 2), (1, 4, 12)),
            call(f(), (2,), (0,)),
            call(f(0), (0,), (1,)),
        ],
        errors=[
            (call(f(3, 4), (3, 5), (4, 1)), 'DimensionError', 'elements 0 to 12, but .* has 12'),
            (call(f(3), (2,), (-1,)), 'DimensionError', 'elements -1 to 0'),
            (call(f(3), (2,), (1,), -1), 'DimensionError', 'elements -1 to 0'),
            (call(f(3), (2,), (1,), 2), 'DimensionError', 'elements 2 to 3'),
            (call(f(3), (2, 2), (1,)), 'DimensionError', '2 axes'),
            (call(f(3), (-1,), (1,)), 'DimensionError', 'negative'),
            (call(f(3), (2,), (2**62,)), 'DimensionError'),
            (call(f(3), (3,), (2**62,)), 'DimensionError', '64 bits'),
            (call(f(0), (1,), (1,)), 'DimensionError', 'has 0'),
            (call(f(3), (2**62, 2**62), (0, 0)), 'DimensionError', 'too large to address'),
        ],
    ),
    Case(
        'reshape',
        _reshape,
        calls=[
            call(_x, (3, 2)),
            call(_x, 3, 2),
            call(_x, 6),
            call(_x, -1),
            call(_x, (-1, 2)),
            call(_x, [6, 1]),
            call(_x3, (4, 1, 6)),
            call(f(), (1, 1)),
            call(f(1), ()),
            call(f(0, 3), (3, 0)),
            call(f(0, 3), (0, 5)),
            call(_x3, (4, -1), order='F'),
            call(_x3, 2, 12, order='F'),
        ],
        dtypes=ALL,
        errors=[
            (call(_x, (4, 2)), 'DimensionError', '4'),
            (call(_x, (-1, -1)), 'DimensionError'),
            (call(_x, (-1, 4)), 'DimensionError'),
            (call(_x, (-2, 3)), 'DimensionError'),
            (call(f(0), (-1, 0)), 'DimensionError'),
            (call(_x, (2**62, 2**62)), 'DimensionError'),
            (call(f(1), (1,) * 11), 'DimensionError'),
            (call(_x, (3, 2), order='K'), 'ValueError', 'K'),
            (call(_x, 'x'), 'TypeError'),
            (call(_x, (1.5, 4)), 'TypeError'),
            (call(_x, (3, 2), shape=(6,)), 'TypeError', 'multiple'),
            (call(_x, copy=True), 'TypeError', 'shape'),
            (call(_x, 6, other=1), 'TypeError', 'other'),
        ],
    ),
    Case('reshape', check=_check_reshape_copy),
    _move(
        'ravel',
        np.ravel,
        "a, order='C'",
        [
            call(_x),
            call(_x3),
            call(f()),
            call(f(0, 2)),
            call(_x3, 'F'),
            call(f(), 'F'),
            call(f(0, 2), order='F'),
            call(_x, order='C'),
        ],
        [(call(_x, 'B'), 'ValueError', 'B'), (call(_x, order='CF'), 'ValueError', 'CF')],
    ),
    _move(
        'transpose',
        np.transpose,
        'a, axes=None',
        [
            call(_x),
            call(_x3),
            call(_x3, (2, 0, 1)),
            call(_x3, axes=(-1, 0, 1)),
            call(f()),
            call(f(3)),
            call(f(0, 2), (1, 0)),
        ],
        _fails(call(_x, (0, 2)), call(_x, (0, 0)), call(_x, (0,)), call(_x, (0, 1, 2))),
    ),
    _move(
        'squeeze',
        np.squeeze,
        'a, axis=None',
        [
            call(f(1, 3, 1)),
            call(f(1, 3, 1), 0),
            call(f(1, 3, 1), axis=(0, -1)),
            call(_x),
            call(f()),
            call(f(1, 0)),
            call(f(1, 1)),
        ],
        _fails(call(_x, 0), call(f(1, 3), 2), call(f(1, 3), -3), call(f(1, 1), (0, 0))),
    ),
    _move(
        'expand_dims',
        np.expand_dims,
        'a, axis',
        [call(_x, 0), call(_x, 1), call(_x, 2), call(_x, axis=-1), call(_x, -3), call(f(), 0)],
        _fails(call(_x, 3), call(_x, -4), call(f(*(1,) * 10), 0)),
    ),
    _move(
        'swapaxes',
        np.swapaxes,
        'a, axis1, axis2',
        [call(_x, 0, 1), call(_x3, 0, 2), call(_x3, -1, 0), call(_x3, 1, 1), call(f(0, 2), 0, 1)],
        _fails(call(_x, 0, 2), call(_x, -3, 0), call(f(), 0, 0)),
    ),
    _move(
        'moveaxis',
        np.moveaxis,
        'a, source, destination',
        [call(_x3, 0, 2), call(_x3, -1, 0), call(_x3, (0, 1), (2, 0)), call(_x3, (0, 1), (-1, -2))],
        _fails(
            call(_x3, 3, 0),
            call(_x3, 0, -4),
            call(_x3, (0, 0), (1, 2)),
            call(_x3, (0, 1), (1, 1)),
            call(_x3, (0, 1), (2,)),
        ),
    ),
    _move(
        'rollaxis',
        np.rollaxis,
        'a, axis, start=0',
        [call(_x3, 2), call(_x3, 0, 3), call(_x3, 1, start=0), call(_x3, -1, -2), call(_x3, 1, 1)],
        _fails(call(_x3, 3), call(_x3, 0, 4), call(_x3, -4), call(_x3, 0, -4)),
    ),
    _move(
        'flip',
        lambda m, axes=None: np.flip(m, axes),
        'm, axes=None',
        [call(_x), call(_x, 0), call(_x, axes=-1), call(_x3, (0, 2)), call(f()), call(f(0, 2), 1)],
        _fails(call(_x, 2), call(_x, -3), call(_x, (0, 0)), call(f(), 0)),
    ),
    _move(
        'fliplr',
        np.fliplr,
        'm',
        [call(_x), call(_x3), call(f(2, 0))],
        _fails(call(f(3)), call(f())),
    ),
    _move('flipud', np.flipud, 'm', [call(_x), call(f(3)), call(f(0))], _fails(call(f()))),
    _move('atleast_2d', np.atleast_2d, '', [call(f()), call(f(3)), call(_x), call(_x3)]),
    _move(
        'atleast_3d',
        np.atleast_3d,
        '',
        [call(f()), call(f(3)), call(_x), call(_x3), call(f(1, 2, 1, 2))],
    ),
    _move(
        'broadcast_to',
        np.broadcast_to,
        'array, shape',
        [
            call(f(3), (2, 3)),
            call(f(2, 1), (2, 3)),
            call(f(), (2,)),
            call(f(), ()),
            call(f(1), 3),
            call(f(1, 3), (4, 2, 3)),
            call(f(1), (0,)),
            call(f(0, 1), (0, 2)),
        ],
        [
            (call(f(3), (2, 4)), 'DimensionError', '3|4'),
            (call(_x, (3,)), 'DimensionError'),
            (call(f(3), (-1, 3)), 'DimensionError'),
            (call(f(1), (1,) * 11), 'DimensionError'),
        ],
    ),
    _move(
        'repeat',
        np.repeat,
        'a, repeats, axis=None',
        [
            call(_x, 2),
            call(_x, 2, 0),
            call(_x, 3, axis=-1),
            call(_x, (1, 2, 0), 1),
            call(_x, 0, 0),
            call(f(), 3),
            call(_x, [2, 1], axis=0),
            call(f(0, 2), 2, 0),
        ],
        [
            (call(_x, -1), 'DimensionError|ValueError', '-1'),
            (call(_x, 2, 2), 'DimensionError'),
            (call(_x, (1, 2), 1), 'DimensionError|ValueError'),
            (call(_x, (1, -2, 0), 1), 'DimensionError|ValueError', '-2'),
        ],
    ),
    Case(
        'broadcast_arrays',
        lambda *args: [np.array(x) for x in np.broadcast_arrays(*args)],
        calls=[call(f(2, 3), f(3)), call(f(2, 1), f(1, 3)), call(f()), call(f(2), f(), f(3, 1))],
        dtypes=ALL,
        out='first',
        multi=tuple,
        errors=_fails(call(f(2), f(3))),
    ),
    _move(
        'concatenate',
        np.concatenate,
        'arrays, axis=0',
        [
            *_JOIN,
            call([f(2, 3), f(1, 3)], 0),
            call([f(2, 1), f(2, 3)], axis=-1),
            call([_x, f(4)], None),
            call([f(2, 0), f(2, 3)], 1),
            call([f(3), f(0)]),
            call([f(2, 3, 2), f(2, 1, 2)], 1),
        ],
        [
            (call([]), 'DimensionError|ValueError'),
            (call([f(2, 3), f(2, 4)]), 'DimensionError', '3|4'),
            (call([f(2, 3), f(3)]), 'DimensionError'),
            (call([f(), f()]), 'DimensionError'),
            (call([f(2, 3)], 2), 'DimensionError', '2'),
            (call([f(2, 3)], -3), 'DimensionError', '-3'),
            (call([f(2), None]), 'TypeError'),
            (call([f(2)], casting='foo'), 'ValueError', "casting is 'foo'"),
            (call(None), 'TypeError'),
        ],
        big=call([f(100, 301), f(200, 301)], 0),
    ),
    _move(
        'stack',
        np.stack,
        'arrays, axis=0',
        [*_JOIN, call([_x, _x], 1), call([_x, _x], axis=-1), call([f(), f()]), call([_x, _x], 2)],
        [
            *_fails(call([_x, f(2, 4)]), call([_x], 3), call([_x], -4), call([f(*((1,) * 10))])),
            (call([_x], casting='foo'), 'ValueError', "casting is 'foo'"),
            (call([]), 'DimensionError|ValueError'),
        ],
    ),
    *(
        _move(
            name,
            ref,
            'arrays',
            [*_JOIN, call([f(), f()]), call([f(3), f(3)])],
            [
                *_fails(call([f(2, 3), f(1, 4)])),
                (call([]), 'DimensionError|ValueError'),
                (call([None]), 'TypeError'),
            ],
        )
        for name, ref in (('hstack', np.hstack), ('vstack', np.vstack), ('dstack', np.dstack))
    ),
    _move(
        'split',
        np.split,
        'ary, indices_or_sections, axis=0',
        [
            call(f(4, 3), 2),
            call(f(4, 3), 1),
            call(f(4, 3), 3, 1),
            call(f(4, 3), [1, 3]),
            call(f(4, 3), (1,), axis=-1),
            call(f(4), [2, 2]),
            call(f(4), [3, 1]),
            call(f(4), [9]),
            call(f(4), []),
            call(f(0, 2), 2),
            call(f(4), 2.0),
            call(f(4), [-1]),
            call(f(4), np.array([1, 3], 'int8')),
            call(f(4), np.array([], int)),
            call(f(4), np.array(2)),
            call(f(4), np.array(2.0)),
            call(f(4), np.float32(2)),
            call(f(4), np.int32(2)),
        ],
        [
            (call(f(4), np.array(1.5)), 'ValueError', '1.5'),
            (call(f(4, 3), 3), 'DimensionError', '3'),
            (call(f(4, 3), 0), 'DimensionError|ValueError'),
            (call(f(4, 3), -1), 'DimensionError|ValueError'),
            (call(f(4, 3), 2, 2), 'DimensionError', '2'),
            (call(f(4), 1.5), 'ValueError'),
            (call(f(), 1), 'DimensionError'),
            (call(f(4), 'x'), 'TypeError'),
        ],
        multi=list,
    ),
    *(
        _move(
            name,
            ref,
            'ary, indices_or_sections',
            [call(f(2, 2, 4), 2), call(f(2, 2, 4), [1]), call(f(2, 2, 4), np.array([1])), *more],
            bad,
            multi=list,
        )
        for name, ref, more, bad in (
            ('hsplit', np.hsplit, [call(f(4), 2)], _fails(call(f(), 1), call(f(4), 3))),
            ('vsplit', np.vsplit, [call(f(4, 1), 2)], _fails(call(f(4), 2), call(f(3, 1), 2))),
            ('dsplit', np.dsplit, [], _fails(call(f(4, 4), 2), call(f(2, 2, 3), 2))),
        )
    ),
    _move('atleast_1d', np.atleast_1d, '', [call(f()), call(f(3)), call(_x), call(f(0))]),
    _move(
        'array_split',
        np.array_split,
        'ary, indices_or_sections, axis=0',
        [
            call(f(5, 2), 3),
            call(f(4), 2),
            call(f(2), 3),
            call(f(3, 4), 3, 1),
            call(f(4), [1, 3]),
            call(f(5), np.array([1, 3])),
            call(f(5), np.array(3)),
        ],
        [
            (call(f(4), 0), 'DimensionError', '0'),
            (call(f(4), 2, 1), 'DimensionError', '1'),
            (call(f(4), 1.5), 'ValueError'),
        ],
        multi=list,
    ),
    _move(
        'tile',
        np.tile,
        'A, reps',
        [
            call(_x, 2),
            call(_x, (2, 3)),
            call(_x, (2, 1, 2)),
            call(_x3, (2,)),
            call(f(), 3),
            call(f(), (2, 2)),
            call(_x, (0, 2)),
            call(f(0, 2), (2, 2)),
            call(_x, (1, 1)),
        ],
        [
            (call(_x, -1), 'DimensionError', '-1'),
            (call(_x, (2**62, 2**62)), 'DimensionError|MemoryError'),
            (call(_x, (1,) * 11), 'DimensionError'),
            (call(_x, 1.5), 'TypeError'),
        ],
    ),
    _move(
        'roll',
        np.roll,
        'a, shift, axis=None',
        [
            call(_x, 1),
            call(_x, -7),
            call(_x, 1, 0),
            call(_x3, (1, 2), (0, -1)),
            call(_x3, 1, (0, 1)),
            call(_x3, (1, 2), (1, 1)),
            call(_x3, (1, 2, 3), (1, 0, -1)),
            call(_x, (1, 3), 1),
            call(_x, (1, 3)),
            call(_x, 0, 1),
            call(f(0, 2), 1, 0),
            call(_x, 2**40 + 1, axis=1),
        ],
        [
            (call(_x, 1, 2), 'DimensionError', '2'),
            (call(_x, (1, 2), (0, 1, 1)), 'DimensionError'),
            (call(_x, 1.5), 'TypeError'),
        ],
    ),
    _move(
        'diagonal',
        np.diagonal,
        'a, offset=0, axis1=0, axis2=1',
        [
            call(_x),
            call(_x, 1),
            call(_x, -1),
            call(_x, 9),
            call(_x3, 0, 1, 2),
            call(_x3, -1, axis1=-1, axis2=0),
            call(f(0, 3)),
        ],
        [
            (call(f(3)), 'DimensionError'),
            (call(_x, 0, 1, -1), 'DimensionError', '1'),
            (call(_x, 0, 0, 2), 'DimensionError', '2'),
            (call(_x, 1.5), 'TypeError', 'offset'),
        ],
    ),
    Case(
        'trace',
        np.trace,
        sig='a, offset=0, axis1=0, axis2=1, dtype=None',
        calls=[
            call(_x),
            call(_x, 1),
            call(_x3, -1, 1, 2),
            call(_x3, axis1=2, axis2=0),
            call(f(0, 3)),
            call(own('int32', 2, 2), dtype='float64'),
        ],
        dtypes=ALL,
        out='total',
        tol=2,
        errors=[
            (call(f(3)), 'DimensionError'),
            (call(_x, 0, 1, -1), 'DimensionError', '1'),
            (call(_x, 0, 0, 2), 'DimensionError', '2'),
        ],
    ),
    Case(
        'copyto',
        lambda dst, src, casting='no', where=True: _copyto(np, dst, src, casting, where),
        fn=lambda dst, src, casting='no', where=True: _copyto(None, dst, src, casting, where),
        calls=[
            call(f(2, 3), f(2, 3)),
            call(f(2, 3), f(3)),
            call(f(2, 3), f(2, 3), where=f(2, 3, dtype='bool')),
            call(f(2, 3), f(2, 3), where=[True, False, True]),
            call(f(2, 3), f(2, 3), where=np.array([[False], [True]])),
            *(call(f(2, 3), f(2, 3), where=number) for number in (1, 0, 2.5, 0.0, np.int64(0))),
            call(f(2, 3), f()),
            call(f(0, 3), f(3)),
            call(f(2, 3), 1),
            call(f(2, 3), 1, where=f(2, 3, dtype='bool')),
            call(f(0, 3), 1, where=f(3, dtype='bool')),
        ],
        dtypes=ALL,
        diff=(),
        errors=[
            (call(f(3, dtype='int32'), 0.5), 'DtypeError'),
            (call(f(3, dtype='int8'), 300), 'OverflowError'),
            (call(f(2, 3), f(4)), 'DimensionError'),
            (call(f(3), f(2, 3)), 'DimensionError'),
            (call(f(3), f(3, dtype='int8')), 'DtypeError'),
            (call(f(3), f(3), casting='safe'), 'NotImplementedError'),
            (call(f(3), f(3), casting='nonsense'), 'ValueError'),
            (call(f(3), f(3), where='a'), 'TypeError', 'where'),
            (call(f(3), f(3), where=f(3)), 'DtypeError', 'where has dtype float'),
            (call(f(3), f(3), where=[0, 1, 0]), 'DtypeError', 'where has dtype int64'),
        ],
    ),
]


def _copyto(xp, dst, src, casting, where):
    import chainerx

    dst = dst.copy()
    if xp is None:
        chainerx.copyto(dst, src, casting=casting, where=where)
    else:
        xp.copyto(dst, src, casting='unsafe', where=where)
    return dst
