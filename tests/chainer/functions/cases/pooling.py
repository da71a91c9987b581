"""Rows of chainer.functions.pooling."""

import functools

import numpy as np
from functions.cases._table import Case, InvalidType, c, call, f, i

from cases.pooling import average_pool, max_pool, max_unpool, unpool

# Numbers apart: a difference quotient must not change which one is the maximum.
_d = functools.partial(f, distinct=True, lo=-8, hi=8)


def max_pooling(x, ksize, stride=None, pad=0, cover_all=True):
    return max_pool(x, ksize, stride, pad, cover_all)


def average_pooling(x, ksize, stride=None, pad=0, pad_value=0):
    return average_pool(x, ksize, stride, pad, 'ignore' if pad_value is None else 'zero')


def unpooling(x, ksize, stride=None, pad=0, outsize=None, cover_all=True):
    return unpool(x, ksize, stride, pad, outsize, cover_all)


def upsampling(x, indexes, ksize, stride=None, pad=0, outsize=None, cover_all=True):
    return max_unpool(x, indexes, ksize, stride, pad, outsize, cover_all)


def spatial_pyramid(x, pyramid_height, pooling=None):
    levels = []
    for n in range(pyramid_height):
        size = [-(-m // 2**n) for m in x.shape[2:]]
        pad = [(k * 2**n - m) // 2 for k, m in zip(size, x.shape[2:], strict=True)]
        levels.append(max_pool(x, size, None, pad, True).reshape(len(x), -1, 1, 1))
    return np.concatenate(levels, 1)


def _nd(ndim, ksize, stride=None, pad=0, cover_all=False, **more):
    def each(v):
        return (v,) * ndim if isinstance(v, int) else v

    return {'ndim': ndim, 'ksize': each(ksize), 'stride': each(ksize if stride is None else stride),
            'pad': each(pad), 'cover_all': cover_all, 'return_indices': False, **more}  # fmt: skip


def _bad(ndim, wrong):
    """What all poolings of so many axes refuse; ``wrong`` has another number of them."""
    x = f(1, 1, *(4,) * ndim)
    size = (2,) * (ndim + 1)
    return [(call(x, 2, 0), ValueError, 'stride'),
            (call(x, size), ValueError, 'ksize'),
            (call(x, 2, size), ValueError, 'stride'),
            (call(x, 2, 2, size), ValueError, 'pad'),
            (call(x, 2.5), TypeError, 'ksize'),
            (call(x, 2, 'x'), TypeError, 'stride'),
            *[(call(w, 2), *error) for w, *error in wrong]]  # fmt: skip


_X1, _X2, _X3 = _d(2, 3, 7), _d(2, 2, 7, 5), _d(1, 2, 4, 3, 5)
_TOO_LARGE = [(call(f(1, 1, 4, 4), 9), ValueError, 'ksize')]


def _axes(n):
    return [(f(1, 4), ValueError, 'axes'), (f(1, 1, *(2,) * (n + 1)), ValueError, 'axes')]


_IMAGES = [(f(1, 4, 4), InvalidType, 'ndim')]
_SMALL = f(2, 2, 3, 4)

CASES = [
    Case(
        'max_pooling_1d',
        big=call(f(8, 8, 96), 2),
        ref=max_pooling,
        cls='pooling.max_pooling_nd.MaxPoolingND',
        calls=[call(_X1, 3), call(_X1, (3,), 2, 1), call(_X1, 2, stride=3, cover_all=False)],
        attributes=[_nd(1, 3, cover_all=True), _nd(1, 3, 2, 1, True), _nd(1, 2, 3)],
        bad=_bad(1, _axes(1)),
    ),
    Case(
        'max_pooling_2d',
        big=call(f(4, 8, 32, 24), 2),
        ref=max_pooling,
        cls='pooling.max_pooling_nd.MaxPoolingND',
        calls=[
            call(_X2, 2),
            call(_X2, 3, 2, 1),
            call(_X2, (3, 2), (1, 2), (1, 0), False),
            call(_X2, (7, 5)),
            call(_X2, 2, 2, cover_all=False),
            call(f(0, 2, 4, 4), 2),
            call(f(2, 0, 4, 4), 2),
        ],
        attributes=[
            _nd(2, 2, cover_all=True),
            _nd(2, 3, 2, 1, True),
            _nd(2, (3, 2), (1, 2), (1, 0)),
        ],
        bad=[
            *_bad(2, _axes(2)),
            (call(f(1, 1, 4, 4), 9, cover_all=False), ValueError, 'ksize'),
        ],
    ),
    Case(
        'max_pooling_3d',
        big=call(f(2, 4, 16, 16, 16), 2),
        ref=max_pooling,
        cls='pooling.max_pooling_nd.MaxPoolingND',
        calls=[call(_X3, 2), call(_X3, (2, 3, 2), 2, (0, 1, 1), False)],
        attributes=[_nd(3, 2, cover_all=True), _nd(3, (2, 3, 2), 2, (0, 1, 1))],
        bad=_bad(3, _axes(3)),
    ),
    Case(
        'max_pooling_nd',
        big=call(f(4, 8, 32, 24), 3, 2, 1),
        ref=max_pooling,
        cls='pooling.max_pooling_nd.MaxPoolingND',
        calls=[call(_X1, 2), call(_X2, 2, 1), call(_X3, 2), call(_d(1, 1, 3, 2, 3, 2), 2, 1)],
        attributes=[_nd(1, 2, cover_all=True), _nd(2, 2, 1, cover_all=True)],
        bad=_bad(2, [(f(1, 4), ValueError, 'spatial')]),
    ),
    Case(
        'average_pooling_2d',
        big=call(f(4, 8, 32, 24), 2),
        ref=average_pooling,
        cls='pooling.average_pooling_2d.AveragePooling2D',
        calls=[
            call(_X2, 2),
            call(_X2, 3, 2, 1),
            call(_X2, (3, 2), (1, 2), (1, 0)),
            call(_X2, (7, 5)),
            call(f(0, 2, 4, 4), 2),
        ],
        attributes=[
            {
                'kh': 2,
                'kw': 2,
                'sy': 2,
                'sx': 2,
                'ph': 0,
                'pw': 0,
                'cover_all': False,
                'return_indices': False,
            },
            {'kh': 3, 'sx': 2, 'ph': 1},
        ],
        tol=4,
        bad=_bad(2, _IMAGES) + _TOO_LARGE,
    ),
    Case(
        'average_pooling_1d',
        big=call(f(8, 8, 96), 2),
        ref=average_pooling,
        cls='pooling.average_pooling_nd.AveragePoolingND',
        tol=4,
        calls=[call(_X1, 3), call(_X1, (3,), 2, 1), call(_X1, 3, 2, 1, pad_value=None)],
        attributes=[
            _nd(1, 3, pad_value=0),
            _nd(1, 3, 2, 1, pad_value=0),
            _nd(1, 3, 2, 1, pad_value=None),
        ],
        bad=_bad(1, _axes(1)),
    ),
    Case(
        'average_pooling_3d',
        big=call(f(2, 4, 16, 16, 16), 2),
        ref=average_pooling,
        tol=4,
        cls='pooling.average_pooling_nd.AveragePoolingND',
        calls=[
            call(_X3, 2),
            call(_X3, (2, 3, 2), 2, (0, 1, 1)),
            call(_X3, (2, 3, 2), 2, (0, 1, 1), None),
        ],
        attributes=[_nd(3, 2, pad_value=0)],
        bad=_bad(3, _axes(3)),
    ),
    Case(
        'average_pooling_nd',
        big=call(f(4, 8, 32, 24), 3, 2, 1, None),
        ref=average_pooling,
        tol=4,
        cls='pooling.average_pooling_nd.AveragePoolingND',
        calls=[call(_X1, 2), call(_X2, 2, 1), call(_X2, 3, 2, 1, None), call(_X3, 2)],
        attributes=[
            _nd(1, 2, pad_value=0),
            _nd(2, 2, 1, pad_value=0),
            _nd(2, 3, 2, 1, pad_value=None),
        ],
        bad=[
            *_bad(2, [(f(1, 4), ValueError, 'spatial')]),
            *_TOO_LARGE,
            (call(f(1, 1, 4, 4), 2, pad_value=1), ValueError, 'pad_value'),
        ],
    ),
    Case(
        'unpooling_2d',
        big=call(f(4, 8, 16, 12), 2),
        ref=unpooling,
        cls='pooling.unpooling_2d.Unpooling2D',
        tol=4,
        calls=[
            call(_SMALL, 2),
            call(_SMALL, 3, 2, 1),
            call(_SMALL, 2, outsize=(6, 8)),
            call(_SMALL, (3, 2), (2, 1), (1, 0), cover_all=False),
            call(f(0, 2, 3, 4), 2),
        ],
        attributes=[
            {
                'kh': 2,
                'kw': 2,
                'sy': 2,
                'sx': 2,
                'ph': 0,
                'pw': 0,
                'cover_all': True,
                'return_indices': False,
            },
            {'kh': 3, 'sx': 2, 'ph': 1},
            {'outh': 6, 'outw': 8},
        ],
        bad=[
            *_bad(2, _IMAGES),
            (call(_SMALL, 2, outsize=(3, 3)), ValueError, 'outsize'),
            (call(_SMALL, 2, outsize=(3,)), ValueError, 'outsize'),
        ],
    ),
    Case(
        'unpooling_1d',
        big=call(f(8, 8, 96), 2),
        ref=unpooling,
        cls='pooling.unpooling_nd.UnpoolingND',
        tol=4,
        calls=[call(f(2, 3, 4), 2), call(f(2, 3, 4), (3,), 2, 1, (7,))],
        attributes=[_nd(1, 2, cover_all=True), _nd(1, 3, 2, 1, True, outs=(7,))],
        bad=_bad(1, _axes(1)),
    ),
    Case(
        'unpooling_3d',
        big=call(f(2, 4, 8, 8, 8), 2),
        ref=unpooling,
        cls='pooling.unpooling_nd.UnpoolingND',
        tol=4,
        calls=[
            call(f(1, 2, 2, 3, 2), 2),
            call(f(1, 2, 2, 3, 2), (2, 3, 2), 1, (0, 1, 1), cover_all=False),
        ],
        attributes=[_nd(3, 2, cover_all=True)],
        bad=_bad(3, _axes(3)),
    ),
    Case(
        'unpooling_nd',
        big=call(f(4, 8, 16, 12), 3, 2, 1),
        ref=unpooling,
        cls='pooling.unpooling_nd.UnpoolingND',
        tol=4,
        calls=[call(f(2, 3, 4), 2), call(_SMALL, 3, 2, 1, (5, 7)), call(f(1, 2, 2, 1, 2), 2, 1)],
        attributes=[_nd(1, 2, cover_all=True), _nd(2, 3, 2, 1, True, outs=(5, 7))],
        bad=[
            *_bad(2, [(f(1, 4), ValueError, 'spatial')]),
            (call(_SMALL, 2, outsize=(3, 3)), ValueError, 'outsize'),
        ],
    ),
    Case(
        'upsampling_2d',
        big=call(f(4, 8, 16, 12), i(4, 8, 16, 12), 2),
        ref=upsampling,
        cls='pooling.upsampling_2d.Upsampling2D',
        params=(1,),
        calls=[
            call(_SMALL, i(2, 2, 3, 4), 2),
            call(_SMALL, i(2, 2, 3, 4, hi=8), 3, 2, 1),
            call(_SMALL, i(2, 2, 3, 4, dtype='int32'), 2, outsize=(6, 8)),
            call(_SMALL, i(2, 2, 3, 4, hi=5), (3, 2), (2, 1), (1, 0), cover_all=False),
        ],
        attributes=[
            {
                'kh': 2,
                'kw': 2,
                'sy': 2,
                'sx': 2,
                'ph': 0,
                'pw': 0,
                'cover_all': True,
                'return_indices': False,
            },
            {'kh': 3, 'sx': 2, 'ph': 1},
            {'outh': 6, 'outw': 8},
        ],
        bad=[
            (call(_SMALL, i(2, 2, 3, 3), 2), InvalidType, 'shape'),
            (call(_SMALL, i(2, 2, 3, 4), 2, outsize=(3, 3)), ValueError, 'outsize'),
            (call(_SMALL, f(2, 2, 3, 4), 2), TypeError, 'indices'),
            (call(f(1, 1, 1), i(1, 1, 1), 2), InvalidType, 'ndim'),
            (call(f(1, 1, 1, 1), c([[[[4]]]], 'int64'), 2), IndexError, '4'),
            (call(_SMALL, i(2, 2, 3, 4), 2.5), TypeError, 'ksize'),
            (call(_SMALL, i(2, 2, 3, 4), (2,)), ValueError, 'ksize'),
        ],
    ),
    Case(
        'spatial_pyramid_pooling_2d',
        big=call(f(4, 8, 32, 24), 3, 'max'),
        ref=spatial_pyramid,
        cls='array.concat.Concat',
        direct=False,
        calls=[
            call(_d(2, 3, 8, 6), 3, 'max'),
            call(_d(1, 2, 4, 8), 1, 'max'),
        ],
        bad=[
            (call(f(1, 1, 4, 4), 2), ValueError, 'max'),
            (call(f(1, 1, 4), 2, 'max'), ValueError, 'axes'),
            (call(f(1, 1, 4, 4), 0, 'max'), InvalidType, 'size'),
        ],
    ),
]
