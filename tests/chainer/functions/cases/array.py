"""Rows of chainer.functions.array."""

import chainer
import numpy as np
from functions.cases._table import NUMBERS, Case, InvalidType, call, f, own

EVERY = (*NUMBERS, 'bool')

CASES = [
    Case('reshape', ref=lambda x, shape: x.reshape(shape), dtypes=EVERY, refuses=False,
         calls=[call(f(3, 4), (2, -1)), call(f(3, 4), (12,)), call(f(3, 4), [1, 3, 4, 1]),
                call(f(0, 3), (3, -1)), call(f(1), ())],
         cls='array.reshape.Reshape', keeps='x0', big=call(f(48, 64), (64, 48)),
         attributes=[{'shape': (2, -1)}, {'shape': (12,)}, {'shape': (1, 3, 4, 1)}],
         bad=[(call(f(3, 4), (5, -1)), InvalidType, 'known_size'),
              (call(f(3, 4), (3, 5)), InvalidType, 'prod'),
              (call(f(3, 4), (-1, -1)), ValueError, '')]),
    Case('transpose', ref=np.transpose, dtypes=EVERY, refuses=False,
         cls='array.transpose.Transpose',
         calls=[call(f(3, 4)), call(f(2, 3, 4), (2, 0, 1)), call(f(2, 3, 4), axes=(-1, 0, 1)),
                call(f()), call(f(0, 2))], keeps='x0',
         attributes=[{'axes': None}, {'axes': (2, 0, 1)}],
         bad=[(call(f(3, 4), (0, 0)), ValueError, ''), (call(f(3, 4), (0,)), ValueError, '')]),
    Case('cast', ref=lambda x, typ: x, out='float64', dtypes=('float16', 'float32'), refuses=False,
         calls=[call(f(3, 4), 'float64'), call(f(), np.float64)], cls='array.cast.Cast',
         direct=False, attributes={'type': np.dtype('float64')}, bad=[(call(f(3), 'zz'), TypeError, 'zz')]),
    Case('cast', ref=lambda x, typ: x, out='float16', dtypes=('int32', 'bool'), refuses=False,
         calls=[call(f(3, 4), chainer.mixed16)], cls='array.cast.Cast', order=0),
    Case('broadcast', ref=lambda *xs: tuple(np.broadcast_arrays(*xs)), dtypes=EVERY, refuses=False,
         calls=[call(f(3, 4), f(4)), call(f(3, 1), f(4), f()), call(f(2, 3), f(2, 3)),
                call(f(0, 1), f(3))],
         cls='array.broadcast.Broadcast', keeps='x0 x1',
         bad=[(call(f(3), f(2)), InvalidType, 'shape'), (call(), InvalidType, 'size')]),
    Case('broadcast_to', ref=np.broadcast_to, dtypes=EVERY, refuses=False,
         calls=[call(f(3, 1), (3, 4)), call(f(4), [2, 3, 4]), call(f(), (0,))],
         cls='array.broadcast.BroadcastTo', keeps='x0', big=call(f(3000, 1), (3000, 4)),
         bad=[(call(f(3), (2,)), InvalidType, 'shape'),
              (call(f(3, 3), (3,)), InvalidType, 'ndim')]),
    Case('concat', ref=lambda xs, axis=1: np.concatenate(xs, axis), dtypes=EVERY, refuses=False,
         calls=[call([f(3, 4), f(3, 2)]), call((f(3, 4), f(2, 4), f(0, 4)), axis=0),
                call([f(2, 3, 4), f(2, 3, 1)], -1), call([f(3)], 0)],
         cls='array.concat.Concat', attributes=[{'axis': 1}, {'axis': 0}, {'axis': -1}],
         big=call([f(48, 64), f(48, 32)]),
         bad=[(call([f(3), f(3)]), InvalidType, 'ndim'), (call([f(3, 4)], -3), InvalidType, 'ndim'),
              (call([f(3, 4), f(2, 3)]), InvalidType, 'shape'),
              (call([f(3, 4), f(3)]), InvalidType, 'ndim'),
              (call([f(3, 4), own('float16', 3, 4)]), InvalidType, 'dtype'),
              (call([], 0), InvalidType, 'size'), (call(f(3, 4)), TypeError, 'xs'),
              (call([f(3, 4)], 1.0), TypeError, 'axis')]),
    Case('get_item', ref=lambda x, slices: x[slices], dtypes=(*NUMBERS, 'bool'),
         cls='array.get_item.GetItem', attributes={'slices': (1,)}, keeps='x0',  # a view
         calls=[call(f(3, 4), 1), call(f(3, 4), (slice(None, None, -2), None, 2)),
                call(f(3, 4), ...), call(f(0, 4), slice(1)), call(f(3, 4), np.array([2, 0, 2])),
                call(f(3, 4), np.eye(3, 4, dtype=bool))],
         bad=[(call(f(3, 4), 3), IndexError, '')]),
]  # fmt: skip
