"""Rows of chainer.functions.pooling."""

import functools

import numpy as np
from functions.cases._table import Case, InvalidType, c, call, f, i

from cases.pool.pooling import average_pool, max_pool, max_unpool, unpool

# Well-separated numbers: a difference step must not change the maximum.
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


def _parts(begin, end, n, size):
    """n parts of a region, clipped to the image."""
    edges = [(begin + i * (end - begin) // n, begin - (-(i + 1) * (end - begin) // n))
             for i in range(n)]  # fmt: skip
    return [slice(min(max(a, 0), size), min(max(b, 0), size)) for a, b in edges]


def _of_parts(x, regions, outs, reduce, empty):
    """`regions` are (image, top, bottom, left, right)."""
    y = np.full((len(regions), x.shape[1], *outs), empty, x.dtype)
    for n, (image, top, bottom, left, right) in enumerate(regions):
        for row, a in enumerate(_parts(top, max(bottom, top + 1), outs[0], x.shape[2])):
            for column, b in enumerate(_parts(left, max(right, left + 1), outs[1], x.shape[3])):
                part = x[image, :, a, b]
                if part.size:
                    y[n, :, row, column] = reduce(part, (1, 2))
    return y


def roi_pooling(x, rois, outh, outw, spatial_scale):
    regions = [[int(r[0]), *(round(float(r[k]) * spatial_scale) for k in (2, 4, 1, 3))]
               for r in rois]  # fmt: skip
    # The last row and column belong to the region.
    regions = [(n, t, max(b, t) + 1, left, max(r, left) + 1) for n, t, b, left, r in regions]
    return _of_parts(x, regions, (outh, outw), np.max, 0)


def _roi(reduce, empty):
    def pool(x, rois, indices, outsize, spatial_scale):
        regions = [[int(n), *(round(float(r[k]) * spatial_scale) for k in (0, 2, 1, 3))]
                   for n, r in zip(indices, rois, strict=True)]  # fmt: skip
        return _of_parts(x, regions, _pair(outsize), reduce, empty)

    return pool


def _pair(v):
    return tuple(v) if isinstance(v, list | tuple) else (v, v)


def _near(image, row, column):
    """The interpolated value at a point; None if it is outside the image."""
    h, w = image.shape[1:]
    if not (-1 <= row <= h and -1 <= column <= w):
        return None
    row, column = min(max(row, 0), h - 1), min(max(column, 0), w - 1)
    i, j = int(row), int(column)
    p, q = row - i, column - j
    below, right = min(i + 1, h - 1), min(j + 1, w - 1)
    return ((1 - p) * ((1 - q) * image[:, i, j] + q * image[:, i, right])
            + p * ((1 - q) * image[:, below, j] + q * image[:, below, right]))  # fmt: skip


def _align(average):
    def pool(x, rois, indices, outsize, spatial_scale, sampling_ratio=None):
        outs = _pair(outsize)
        y = np.zeros((len(rois), x.shape[1], *outs), x.dtype)
        for n, roi in enumerate(rois):
            points = []
            for axis, (m, ratio) in enumerate(zip(outs, _pair(sampling_ratio), strict=True)):
                begin, end = (float(roi[k]) * spatial_scale for k in (axis, axis + 2))
                part = max(end - begin, 1) / m
                count = ratio or int(np.ceil(part))
                points.append([[begin + i * part + (k + 0.5) * part / count for k in range(count)]
                               for i in range(m)])  # fmt: skip
            for row, column in np.ndindex(*outs):
                values = [_near(x[int(indices[n])], a, b)
                          for a in points[0][row] for b in points[1][column]]  # fmt: skip
                if average:
                    total = sum(v for v in values if v is not None)
                    y[n, :, row, column] = total / len(values)
                else:
                    inside = [v for v in values if v is not None]
                    y[n, :, row, column] = np.max(inside, 0) if inside else -np.inf
        return y

    return pool


def _nd(ndim, ksize, stride=None, pad=0, cover_all=False, **more):
    def each(v):
        return (v,) * ndim if isinstance(v, int) else v

    return {'ndim': ndim, 'ksize': each(ksize), 'stride': each(ksize if stride is None else stride),
            'pad': each(pad), 'cover_all': cover_all, 'return_indices': False, **more}  # fmt: skip


def _bad(ndim, wrong):
    """Errors of all poolings over so many axes; ``wrong`` has another number of axes."""
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
_ROIS = c([[0, 0, 4, 4], [1, 1.5, 5.5, 4.5], [2, 1, 2, 1], [0.5, 2, 3, 4]])
_OF = c([0, 1, 1, 0], 'int32')
_BEYOND = c([[-2, -1, 3, 4], [3, 2, 9, 8]])
_TWO = c([1, 0], 'int32')


def _roi_case(name, cls, ref, average, ratios=(), **kw):
    x = _d(2, 3, 7, 6)
    attributes = {'outh': 2, 'outw': 2, 'spatial_scale': 1.0}
    if ratios:
        attributes['sampling_ratio'] = (None, None)
    beyond = [call(x, _BEYOND, _TWO, 2, 1.0)] if average else []
    return Case(name, ref=ref, cls=f'pooling.{name}.{cls}', diff=(0,), tol=4, gtol=4,
                layouts=False, attributes=attributes,
                calls=[call(x, _ROIS, _OF, 2, 1.0), call(x, _ROIS, _OF, (3, 2), 0.5),
                       call(x, own_empty(4), own_empty(dtype='int32'), 2, 1.0), *beyond,
                       *[call(x, _ROIS, _OF, (1, 2), 0.5, r) for r in ratios]],
                bad=[(call(x, _ROIS, _OF, 0, 1.0), TypeError, 'outsize'),
                     (call(x, _ROIS, _OF, 1.5, 1.0), TypeError, 'outsize'),
                     (call(x, _ROIS, _OF, 2, 0), TypeError, 'spatial_scale'),
                     (call(x, _ROIS, _OF, 2, 'x'), TypeError, 'spatial_scale'),
                     (call(x, _ROIS, c([0, 2, 0, 0], 'int32'), 2, 1.0), IndexError, '2'),
                     (call(x, c([[0, 0, np.nan, 1]]), c([0], 'int32'), 2, 1.0), ValueError,
                      'finite'),
                     (call(x, _ROIS, c([0, 1], 'int32'), 2, 1.0), InvalidType, 'shape'),
                     (call(x, _ROIS, c([0, 0, 0, 0], 'int64'), 2, 1.0), InvalidType, 'dtype'),
                     (call(f(3, 7, 6), _ROIS, _OF, 2, 1.0), InvalidType, 'ndim')],
                **kw)  # fmt: skip


def own_empty(*shape, dtype=None):
    return f(0, *shape) if dtype is None else c(np.zeros((0, *shape)), dtype)


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
    _roi_case('roi_max_pooling_2d', 'ROIMaxPooling2D', _roi(np.max, -np.inf), False),
    _roi_case('roi_average_pooling_2d', 'ROIAveragePooling2D', _roi(np.mean, 0), True),
    _roi_case('roi_max_align_2d', 'ROIMaxAlign2D', _align(False), False, (2, (1, None))),
    _roi_case('roi_average_align_2d', 'ROIAverageAlign2D', _align(True), True, (2, (1, None))),
    Case(
        'roi_pooling_2d',
        ref=roi_pooling,
        cls='pooling.roi_pooling_2d.ROIPooling2D',
        diff=(0,),
        layouts=False,
        attributes={'outh': 2, 'outw': 3, 'spatial_scale': 1.0},
        calls=[
            call(_d(2, 3, 7, 6), c([[0, 0, 0, 4, 4], [1, 2, 1, 5, 3], [1, 3, 3, 2, 2]]), 2, 3, 1.0),
            call(_d(2, 3, 7, 6), c([[1, -2, -4, 4, 4], [0, 12, 12, 30, 30]]), 2, 2, 0.5),
            call(_d(2, 3, 7, 6), own_empty(5), 2, 2, 0.5),
        ],
        bad=[
            (call(f(1, 1, 4, 4), c([[2, 0, 0, 1, 1]]), 2, 2, 1.0), IndexError, '2'),
            (call(f(1, 1, 4, 4), c([[np.nan, 0, 0, 1, 1]]), 2, 2, 1.0), ValueError, 'finite'),
            (call(f(1, 1, 4, 4), c([[0, 0, 0, 1, 1]]), 0, 2, 1.0), TypeError, 'outsize'),
            (call(f(1, 1, 4, 4), c([[0, 0, 0, 1, 1]]), 2, 2, -1.0), TypeError, 'scale'),
            (call(f(1, 1, 4, 4), c([[0, 0, 0, 1]]), 2, 2, 1.0), InvalidType, 'shape'),
            (call(f(1, 4, 4), c([[0, 0, 0, 1, 1]]), 2, 2, 1.0), InvalidType, 'ndim'),
        ],
    ),
]
