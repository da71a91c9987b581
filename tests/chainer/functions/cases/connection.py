"""Rows of chainer.functions.connection."""

import numpy as np
from chainer.functions.connection.linear import _rectified_linear
from functions.cases._table import Case, InvalidType, c, call, f, own

from cases.conv.connection import conv, conv_transpose


def linear(x, w, b=None, n_batch_axes=1):
    y = x.reshape(*x.shape[:n_batch_axes], w.shape[1]) @ w.T
    return y if b is None else y + b


def embed_id(ids, w, ignore_label=None):
    ignored = ids == ignore_label
    return np.where(np.expand_dims(ignored, -1), 0, w[np.where(ignored, 0, ids)])


def rectified_linear(x, w, b=None):
    return np.maximum(linear(x, w, b), 0)


def bilinear(e1, e2, w, V1=None, V2=None, b=None):
    e1, e2 = e1.reshape(len(e1), w.shape[0]), e2.reshape(len(e2), w.shape[1])
    y = np.einsum('nj,nk,jkl->nl', e1, e2, w)
    return y if b is None else y + e1 @ V1 + e2 @ V2 + b


def shift(x, ksize=3, dilate=1):
    kh, kw = (ksize, ksize) if isinstance(ksize, int) else ksize
    dy, dx = (dilate, dilate) if isinstance(dilate, int) else dilate
    places = [(i, j) for i in range(kh) for j in range(kw)]
    places[kh * kw // 2], places[-1] = places[-1], places[kh * kw // 2]
    size, (h, w) = x.shape[1] // (kh * kw), x.shape[2:]
    y = x.copy()
    for n, (i, j) in enumerate(places):
        i, j = (i - kh // 2) * dy, (j - kw // 2) * dx
        moved = np.zeros_like(x[:, :size])
        for row in range(max(0, i), min(h, h + i)):
            for column in range(max(0, j), min(w, w + j)):
                moved[:, :, row, column] = x[:, n * size : (n + 1) * size, row - i, column - j]
        y[:, n * size : (n + 1) * size] = moved
    return y


def conv_2d(x, w, b=None, *args, cudnn_fast=False, **kw):
    return conv(x, w, b, *args, **kw)


def dilated(x, w, b=None, stride=1, pad=0, dilate=1, cover_all=False):
    return conv(x, w, b, stride, pad, cover_all, dilate)


def depthwise(x, w, b=None, stride=1, pad=0):
    channels = x.shape[1]
    w = w.swapaxes(0, 1).reshape(channels * len(w), 1, *w.shape[2:])
    return conv(x, w, b, stride, pad, groups=channels)


def local(x, w, b=None, stride=1):
    sy, sx = (stride, stride) if isinstance(stride, int) else stride
    outs, oh, ow, _, kh, kw = w.shape
    y = np.zeros((len(x), outs, oh, ow))
    for i, j in np.ndindex(oh, ow):
        seen = x[:, :, i * sy : i * sy + kh, j * sx : j * sx + kw]
        y[:, :, i, j] = np.einsum('ncij,ocij->no', seen, w[:, i, j])
    return y if b is None else y + b


def deformable(x, offset, w, b=None, stride=1, pad=0):
    (sy, sx), (ph, pw) = (v if isinstance(v, tuple) else (v, v) for v in (stride, pad))
    kh, kw = w.shape[2:]
    around = np.pad(x, ((0, 0), (0, 0), (9, 9), (9, 9)))
    y = np.zeros((len(x), len(w), *offset.shape[2:]))
    for n, i, j in np.ndindex(len(x), *offset.shape[2:]):
        for k, (r, s) in enumerate(np.ndindex(kh, kw)):
            row = i * sy - ph + r + offset[n, kh * kw + k, i, j] + 9
            column = j * sx - pw + s + offset[n, k, i, j] + 9
            p, q = row - int(row), column - int(column)
            part = around[n, :, int(row) : int(row) + 2, int(column) : int(column) + 2]
            y[n, :, i, j] += w[:, :, r, s] @ (np.array([1 - p, p]) @ part @ np.array([1 - q, q]))
    return y if b is None else y + b[:, None, None]


_AROUND = {'lo': -1.8, 'hi': 1.8, 'avoid': (-1, 0, 1)}
_IDS = c([[0, 2], [1, 2]], 'int32')

CASES = [
    Case('deformable_convolution_2d_sampler', ref=deformable, tol=8, gtol=8,
         cls='connection.deformable_convolution_2d_sampler.DeformableConvolution2DSampler',
         calls=[call(f(2, 2, 3, 4), f(2, 8, 2, 3, **_AROUND), f(3, 2, 2, 2), f(3)),
                call(f(1, 1, 4, 3), f(1, 4, 3, 1, **_AROUND), f(2, 1, 1, 2), None, (2, 3), (1, 0)),
                call(f(0, 1, 2, 2), f(0, 2, 2, 2), f(1, 1, 1, 1))],
         attributes=[{'stride': (1, 1), 'pad': (0, 0)}, {'stride': (2, 3), 'pad': (1, 0)}],
         big=call(f(2, 8, 16, 12), f(2, 18, 14, 10), f(5, 8, 3, 3), f(5)),
         bad=[(call(f(1, 2, 3, 3), f(1, 8, 2, 2), f(3, 1, 2, 2)), InvalidType, 'shape'),
              (call(f(1, 2, 3, 3), f(2, 8, 2, 2), f(3, 2, 2, 2)), InvalidType, 'shape'),
              (call(f(1, 2, 3, 3), f(1, 9, 2, 2), f(3, 2, 2, 2)), InvalidType, '2 . kh . kw'),
              (call(f(1, 2, 3, 3), f(1, 8, 3, 2), f(3, 2, 2, 2)), InvalidType, 'output size'),
              (call(f(1, 2, 3, 3), f(1, 8, 2, 2), f(3, 2, 2, 2), f(2)), InvalidType, 'shape'),
              (call(f(2, 3, 3), f(1, 8, 2, 2), f(3, 2, 2, 2)), InvalidType, 'ndim'),
              (call(f(1, 2, 3, 3), own('float16', 1, 8, 2, 2), f(3, 2, 2, 2)), InvalidType,
               'dtype', 'numpy'),
              (call(f(1, 1, 0, 3), f(1, 8, 1, 2), f(1, 1, 2, 2), pad=(1, 0)), ValueError,
               'nothing to sample'),
              (call(f(1, 2, 3, 3), f(1, 8, 2, 2), f(3, 2, 2, 2), stride=0), ValueError, 'stride')]),
    Case('linear', ref=linear, cls='connection.linear.LinearFunction',
         calls=[call(f(3, 4), f(2, 4), f(2)), call(f(3, 4), f(2, 4)), call(f(0, 4), f(2, 4), f(2)),
                call(f(3, 0), f(2, 0), f(2))],
         bad=[(call(f(3, 4), f(2, 3)), InvalidType, 'shape'),
              (call(f(3, 4), f(2, 4), f(3)), InvalidType, 'shape'),
              (call(f(3, 4), f(2, 4), f(2, 1)), InvalidType, 'ndim'),
              (call(f(4), f(2, 4)), InvalidType, 'ndim'), (call(f(), f(2, 4)), InvalidType, 'ndim'),
              (call(f(3, 4), f()), InvalidType, 'ndim'), (call(f(3, 4), f(4)), InvalidType, 'ndim'),
              (call(f(3, 4), f(2, 4), f()), InvalidType, 'b.ndim'),
              (call(f(3, 4), f(2, 4), own('float16', 2)), InvalidType, 'dtype', 'numpy'),
              (call(f(3, 4), f(2, 4), n_batch_axes=0), ValueError, 'n_batch_axes')]),
    Case('linear', ref=linear, cls='connection.linear.LinearFunction', direct=False,
         big=call(f(48, 8, 8), f(32, 64), f(32)),
         calls=[call(f(3, 2, 2), f(2, 4), f(2)), call(f(0, 2, 2), f(2, 4), f(2))]),
    Case('linear', ref=linear, cls='array.reshape.Reshape', direct=False,
         calls=[call(f(3, 2, 4), f(5, 4), f(5), n_batch_axes=2),
                call(f(3, 0, 2, 2), f(5, 4), n_batch_axes=2)]),
    Case('rectified_linear', ref=rectified_linear, fn=_rectified_linear,
         cls='connection.linear.RectifiedLinear',
         calls=[call(f(3, 4), f(2, 4), f(2)), call(f(3, 4), f(2, 4)), call(f(0, 4), f(2, 4), f(2))],
         bad=[(call(f(3, 4), f(2, 3)), InvalidType, 'shape')]),
    Case('embed_id', ref=embed_id, cls='connection.embed_id.EmbedIDFunction',
         calls=[call(_IDS, f(3, 4)), call(_IDS, f(3, 4), 2), call(_IDS, f(3, 4), ignore_label=-1),
                call(c([-1, 0], 'int64'), f(3, 4)), call(c([3, -5, 0], 'int8'), f(4, 2), -5),
                call(own('int32', 0), f(3, 4))],
         attributes=[{'ignore_label': None}, {'ignore_label': 2}],
         big=call(own('int32', 5000, lo=0, hi=2), f(3, 4)),
         bad=[(call(c([3], 'int32'), f(3, 4)), IndexError, '^embed_id: x has 3, W has 3 rows'),
              (call(_IDS, f(0, 4)), IndexError, '^embed_id: x has an index, W has 0 rows'),
              (call(own('uint8', 3), f(3, 4)), InvalidType, 'kind'),
              (call(own('int32'), f(3, 4)), InvalidType, 'ndim'),
              (call(_IDS, f(3)), InvalidType, 'ndim')]),
    Case('bilinear', ref=bilinear, cls='connection.bilinear.BilinearFunction', tol=8, gtol=4,
         calls=[call(f(2, 3), f(2, 4), f(3, 4, 5)), call(f(2, 3, 2), f(2, 2, 2), f(6, 4, 5)),
                call(f(0, 3), f(0, 4), f(3, 4, 5))],
         bad=[(call(f(2, 3), f(3, 4), f(3, 4, 5)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 4), f(3, 3, 5)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 4), f(4, 4, 5)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 4), f(3, 4)), InvalidType, 'ndim'),
              (call(f(2), f(2, 4), f(1, 4, 5)), InvalidType, 'ndim'),
              (call(f(2, 3), f(2, 4), own('float16', 3, 4, 5)), InvalidType, 'dtype', 'numpy'),
              (call(f(2, 3), f(2, 4), f(3, 4, 5), b=f(5)), ValueError, 'V1'),
              (call(f(2, 3), f(2, 4), f(3, 4, 5), f(3, 5), f(4, 5)), ValueError, 'b')]),
    Case('bilinear', ref=bilinear, cls='connection.bilinear.BilinearFunction', tol=8, gtol=4,
         calls=[call(f(2, 3), f(2, 4), f(3, 4, 5), f(3, 5), f(4, 5), f(5)),
                call(f(2, 3), f(2, 4), f(3, 4, 5), V1=f(3, 5), V2=f(4, 5), b=f(5))],
         bad=[(call(f(2, 3), f(2, 4), f(3, 4, 5), f(3, 4), f(4, 5), f(5)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 4), f(3, 4, 5), f(3, 5), f(4, 4), f(5)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 4), f(3, 4, 5), f(3, 5), f(4, 5), f(4)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 4), f(3, 4, 5), f(3, 5), f(4, 5), f(5, 1)), InvalidType,
               'ndim')]),
    Case('shift', ref=shift, cls='connection.shift.Shift',
         calls=[call(f(2, 20, 4, 5)), call(f(2, 7, 4, 5), (1, 3), (2, 1)),
                call(f(1, 15, 6, 5), [3, 5], dilate=2), call(f(2, 3, 2, 2), ksize=1),
                call(f(1, 9, 2, 1)), call(f(0, 9, 2, 2))],
         attributes=[{'kh': 3, 'kw': 3, 'dy': 1, 'dx': 1}, {'kh': 1, 'kw': 3, 'dy': 2, 'dx': 1}],
         big=call(f(2, 90, 20, 20)),
         bad=[(call(f(1, 5, 3, 3)), InvalidType, 'shape'), (call(f(1, 9, 3)), InvalidType, 'ndim'),
              (call(f()), InvalidType, 'x.ndim == 4'),
              (call(f(1, 9, 3, 3), 2), ValueError, 'kh is 2'),
              (call(f(1, 9, 3, 3), (3, 0)), ValueError, 'kw is 0'),
              (call(f(1, 9, 3, 3), dilate=0), ValueError, 'dilate'),
              (call(f(1, 9, 3, 3), (3, 3, 3)), TypeError, 'ksize'),
              (call(f(1, 9, 3, 3), 3, (1, 1.0)), TypeError, 'dilate')]),
    Case('convolution_2d', ref=conv_2d, cls='connection.convolution_2d.Convolution2DFunction',
         tol=8, gtol=4,
         calls=[call(f(2, 2, 4, 3), f(3, 2, 2, 2), f(3)), call(f(1, 2, 3, 4), f(3, 2, 1, 2)),
                call(f(1, 2, 5, 4), f(1, 2, 2, 2), f(1), (2, 1), (1, 0), True),
                call(f(1, 4, 3, 3), f(2, 2, 2, 2), None, groups=2, pad=1, stride=2),
                call(f(1, 1, 5, 5), f(2, 1, 2, 2), f(2), dilate=(2, 3)),
                call(f(1, 1, 3, 3), f(1, 1, 2, 2), cudnn_fast=True),
                call(f(0, 2, 3, 3), f(3, 2, 2, 2), f(3)), call(f(2, 2, 3, 3), f(0, 2, 2, 2), f(0))],
         attributes=[{'sy': 1, 'sx': 1, 'ph': 0, 'pw': 0, 'cover_all': False, 'dy': 1, 'dx': 1,
                      'groups': 1, 'cudnn_fast': False}, {},
                     {'sy': 2, 'sx': 1, 'ph': 1, 'pw': 0, 'cover_all': True}, {'groups': 2},
                     {'dy': 2, 'dx': 3}, {'cudnn_fast': True}],
         big=call(f(8, 6, 20, 20), f(12, 6, 3, 3), f(12)),
         bad=[(call(f(1, 2, 3, 3), f(3, 1, 2, 2)), InvalidType, r'shape\[1\]'),
              (call(f(1, 2, 3, 3), f(3, 2, 2, 2), f(2)), InvalidType, 'b.shape'),
              (call(f(1, 2, 3, 3), f(3, 2, 2, 2), f(3, 1)), InvalidType, 'b.ndim'),
              (call(f(1, 2, 3, 3), f(3, 2, 2, 2), own('int32', 3)), InvalidType, 'b.dtype'),
              (call(f(2, 3, 3), f(3, 2, 2)), InvalidType, 'x.ndim'),
              (call(f(1, 2, 3, 3), f(3, 2, 2)), InvalidType, 'W.ndim'),
              (call(f(1, 2, 3, 3), own('int32', 3, 2, 2, 2)), InvalidType, 'W.dtype'),
              (call(f(1, 2, 3, 3), f(3, 2, 4, 2)), ValueError, r'w.shape\[2\] is 4'),
              (call(f(1, 2, 3, 3), f(3, 1, 2, 2), groups=2), ValueError, 'groups is 2'),
              (call(f(1, 2, 3, 3), f(3, 2, 2, 2), None, 0), ValueError, 'stride'),
              (call(f(1, 2, 3, 3), f(3, 2, 2, 2), None, (1, 1, 1)), ValueError, 'stride'),
              (call(f(1, 2, 3, 3), f(3, 2, 2, 2), None, None), TypeError, 'stride'),
              (call(f(1, 2, 3, 3), f(3, 2, 2, 2), None, 1, -1), ValueError, 'pad'),
              (call(f(1, 2, 3, 3), f(3, 2, 2, 2), dilate=(1, 0)), ValueError, 'dilate'),
              (call(f(1, 2, 3, 3), f(3, 2, 2, 2), deterministic=True), ValueError, 'cudnn_det'),
              (call(f(1, 2, 3, 3), f(3, 2, 2, 2), use_cudnn=True), TypeError, 'use_cudnn')]),
    Case('convolution_nd', ref=conv, cls='connection.convolution_nd.ConvolutionND', tol=8, gtol=4,
         calls=[call(f(2, 2, 4), f(3, 2, 2), f(3), (2,), 1, True),
                call(f(1, 2, 3, 4), f(3, 2, 1, 2)),
                call(f(1, 2, 2, 2, 3), f(2, 1, 1, 2, 2), f(2), 1, (0, 1, 0), False, (1, 1, 2), 2),
                call(f(1, 1, 2, 1, 2, 2), f(2, 1, 2, 1, 1, 2)), call(f(0, 2, 3), f(3, 2, 2))],
         attributes=[{'ndim': 1, 'stride': (2,), 'pad': (1,), 'cover_all': True, 'dilate': (1,),
                      'groups': 1}, {'ndim': 2, 'stride': (1, 1), 'pad': (0, 0)},
                     {'ndim': 3, 'pad': (0, 1, 0), 'dilate': (1, 1, 2), 'groups': 2}],
         big=call(f(8, 6, 400), f(12, 6, 3), f(12)),
         bad=[(call(f(1, 2, 3), f(3, 1, 2)), InvalidType, r'shape\[1\]'),
              (call(f(1, 2, 3), f(3, 2, 2), f(2)), InvalidType, 'b.shape'),
              (call(f(1, 2, 3), f(3, 2, 2, 2)), InvalidType, 'W.ndim'),
              (call(f(1, 2, 3), f(3, 2, 4)), ValueError, r'w.shape\[2\] is 4'),
              (call(f(1, 2, 3), f(3, 2, 2), None, (1, 1)), ValueError, 'stride'),
              (call(f(1, 2, 3), f(3, 2, 2), dilate=0), ValueError, 'dilate')]),
    Case('convolution_1d', ref=conv, cls='connection.convolution_nd.ConvolutionND', tol=8, gtol=4,
         calls=[call(f(2, 2, 5), f(3, 2, 2), f(3), 2, (1,), True, 2),
                call(f(2, 2, 4), f(2, 1, 2), groups=2)],
         attributes={'ndim': 1, 'stride': (2,), 'pad': (1,), 'cover_all': True, 'dilate': (2,),
                     'groups': 1}, big=call(f(8, 6, 400), f(12, 6, 3), f(12)),
         bad=[(call(f(1, 2, 3, 3), f(3, 2, 2, 2)), ValueError, 'convolution_1d: x.shape')]),
    Case('convolution_3d', ref=conv, cls='connection.convolution_nd.ConvolutionND', tol=8, gtol=4,
         calls=[call(f(1, 2, 2, 3, 2), f(1, 2, 2, 2, 1), f(1), 1, (0, 0, 1), True, (1, 2, 1)),
                call(f(1, 2, 2, 2, 2), f(2, 1, 2, 1, 2), groups=2, stride=(1, 2, 1))],
         attributes={'ndim': 3, 'stride': (1, 1, 1), 'pad': (0, 0, 1), 'cover_all': True,
                     'dilate': (1, 2, 1), 'groups': 1},
         big=call(f(8, 3, 8, 8, 8), f(6, 3, 2, 2, 2), f(6)),
         bad=[(call(f(1, 2, 3, 3), f(3, 2, 2, 2)), ValueError, 'convolution_3d: x.shape')]),
    Case('deconvolution_2d', ref=conv_transpose,
         cls='connection.deconvolution_2d.Deconvolution2DFunction', tol=8, gtol=4,
         calls=[call(f(2, 2, 3, 2), f(2, 3, 2, 2), f(3)),
                call(f(1, 2, 2, 3), f(2, 1, 2, 2), f(1), (2, 1), (1, 0), (3, 4)),
                call(f(1, 1, 2, 2), f(1, 1, 3, 2), None, 3, 0, (5, 3)),
                call(f(1, 4, 2, 2), f(4, 2, 2, 2), f(4), groups=2, pad=1, stride=2),
                call(f(1, 1, 3, 3), f(1, 2, 2, 2), f(2), dilate=(2, 3)),
                call(f(0, 2, 3, 3), f(2, 3, 2, 2), f(3)), call(f(2, 2, 3, 3), f(2, 0, 2, 2), f(0))],
         attributes=[{'sy': 1, 'sx': 1, 'ph': 0, 'pw': 0, 'outh': 4, 'outw': 3, 'dy': 1, 'dx': 1,
                      'groups': 1}, {'sy': 2, 'sx': 1, 'ph': 1, 'pw': 0, 'outh': 3, 'outw': 4},
                     {'outh': 5, 'outw': 3}, {'groups': 2, 'outh': 2, 'outw': 2},
                     {'dy': 2, 'dx': 3}],
         big=call(f(8, 6, 20, 20), f(6, 12, 3, 3), f(12)),
         bad=[(call(f(1, 2, 3, 3), f(1, 2, 2, 2)), InvalidType, r'shape\[1\]'),
              (call(f(1, 2, 3, 3), f(2, 3, 2, 2), f(2)), InvalidType, 'b.shape'),
              (call(f(1, 2, 3, 3), f(2, 3, 2, 2), f(3, 1)), InvalidType, 'b.ndim'),
              (call(f(1, 2, 3, 3), f(2, 3, 2, 2), own('int32', 3)), InvalidType, 'b.dtype'),
              (call(f(2, 3, 3), f(2, 3, 2)), InvalidType, 'x.ndim'),
              (call(f(1, 2, 3, 3), f(2, 3, 2)), InvalidType, 'W.ndim'),
              (call(f(1, 2, 3, 3), f(2, 3, 2, 2), None, 2, 0, (8, 6)), InvalidType,
               r'x.shape\[2\]'),
              (call(f(1, 2, 3, 3), f(2, 3, 2, 2), None, 2, 0, (6, 4)), InvalidType,
               r'x.shape\[3\]'),
              (call(f(1, 2, 3, 3), f(2, 3, 2, 2), None, 1, 0, (4,)), ValueError, 'outsize'),
              (call(f(1, 2, 1, 3), f(2, 3, 2, 2), None, 1, 1), ValueError, 'pad is 1'),
              (call(f(1, 3, 3, 3), f(3, 1, 2, 2), groups=2), ValueError, 'groups is 2'),
              (call(f(1, 2, 3, 3), f(2, 3, 2, 2), None, 0), ValueError, 'stride'),
              (call(f(1, 2, 3, 3), f(2, 3, 2, 2), dilate=(1, 0)), ValueError, 'dilate'),
              (call(f(1, 2, 3, 3), f(2, 3, 2, 2), deterministic=True), ValueError, 'cudnn_det'),
              (call(f(1, 2, 3, 3), f(2, 3, 2, 2), use_cudnn=True), TypeError, 'use_cudnn')]),
    Case('deconvolution_nd', ref=conv_transpose, cls='connection.deconvolution_nd.DeconvolutionND',
         tol=8, gtol=4,
         calls=[call(f(2, 2, 3), f(2, 3, 2), f(3), 2, 1),
                call(f(1, 2, 3), f(2, 2, 2), None, 3, 0, (7,)),
                call(f(1, 2, 2, 3), f(2, 3, 1, 2), f(3), (1, 2), 0, (2, 7)),
                call(f(1, 2, 1, 2, 2), f(2, 1, 1, 2, 2), f(2), 1, (0, 1, 0), None, (1, 1, 2), 2),
                call(f(0, 2, 3), f(2, 3, 2))],
         attributes=[{'ndim': 1, 'stride': (2,), 'pad': (1,), 'outs': (4,), 'dilate': (1,),
                      'groups': 1, 'cover_all': False}, {'outs': (7,), 'cover_all': True},
                     {'ndim': 2, 'stride': (1, 2), 'outs': (2, 7), 'cover_all': False},
                     {'ndim': 3, 'pad': (0, 1, 0), 'dilate': (1, 1, 2), 'groups': 2}],
         big=call(f(8, 6, 400), f(6, 12, 3), f(12)),
         bad=[(call(f(1, 2, 3), f(1, 3, 2)), InvalidType, r'shape\[1\]'),
              (call(f(1, 2, 3), f(2, 3, 2), f(2)), InvalidType, 'b.shape'),
              (call(f(1, 2, 3), f(2, 3, 2, 2)), InvalidType, 'W.ndim'),
              (call(f(1, 2, 3), f(2, 3, 2), None, 2, 0, (8,)), InvalidType, r'x.shape\[2\]'),
              (call(f(1, 2, 3), f(2, 3, 2), None, 2, 0, (8, 8)), ValueError, 'outsize'),
              (call(f(1, 2, 3), f(2, 3, 2), None, (1, 1)), ValueError, 'stride')]),
    Case('deconvolution_1d', ref=conv_transpose, cls='connection.deconvolution_nd.DeconvolutionND',
         tol=8, gtol=4,
         calls=[call(f(2, 2, 3), f(2, 3, 2), f(3), 2, (1,), None, 2),
                call(f(2, 2, 2), f(2, 1, 2), groups=2, outsize=(3,))],
         attributes={'ndim': 1, 'stride': (2,), 'pad': (1,), 'outs': (5,), 'dilate': (2,)},
         big=call(f(8, 6, 400), f(6, 12, 3), f(12)),
         bad=[(call(f(1, 2, 3, 3), f(2, 3, 2, 2)), ValueError, 'deconvolution_1d: x.shape')]),
    Case('deconvolution_3d', ref=conv_transpose, cls='connection.deconvolution_nd.DeconvolutionND',
         tol=8, gtol=4,
         calls=[call(f(1, 2, 1, 2, 2), f(2, 1, 2, 2, 1), f(1), 1, (0, 1, 0), None, (1, 2, 1)),
                call(f(1, 2, 1, 2, 2), f(2, 1, 2, 1, 2), groups=2, stride=(1, 2, 1),
                     outsize=(2, 4, 3))],
         attributes={'ndim': 3, 'stride': (1, 1, 1), 'pad': (0, 1, 0), 'outs': (2, 2, 2),
                     'dilate': (1, 2, 1)},
         big=call(f(8, 3, 8, 8, 8), f(3, 6, 2, 2, 2), f(6)),
         bad=[(call(f(1, 2, 3, 3), f(2, 3, 2, 2)), ValueError, 'deconvolution_3d: x.shape')]),
    Case('dilated_convolution_2d', ref=dilated, tol=8, gtol=4,
         cls='connection.convolution_2d.Convolution2DFunction',
         calls=[call(f(1, 2, 5, 4), f(2, 2, 2, 2), f(2), 1, (1, 0), (3, 2)),
                call(f(1, 1, 4, 4), f(2, 1, 2, 2), stride=2, cover_all=True)],
         attributes={'sy': 1, 'sx': 1, 'ph': 1, 'pw': 0, 'dy': 3, 'dx': 2},
         big=call(f(8, 6, 20, 20), f(12, 6, 3, 3), f(12), dilate=2),
         bad=[(call(f(1, 2, 3, 3), f(3, 1, 2, 2)), InvalidType, r'shape\[1\]'),
              (call(f(1, 2, 3, 3), f(3, 2, 2, 2), dilate=3), ValueError, 'dilate 3')]),
    Case('depthwise_convolution_2d', ref=depthwise, tol=8, gtol=4, direct=False,
         cls='connection.convolution_2d.Convolution2DFunction',
         calls=[call(f(1, 2, 4, 3), f(2, 2, 2, 2), f(4)),
                call(f(2, 3, 3, 3), f(1, 3, 2, 2), None, (2, 1), 1),
                call(f(0, 2, 3, 3), f(1, 2, 2, 2))],
         attributes={'groups': 2}, big=call(f(8, 6, 20, 20), f(2, 6, 3, 3), f(12)),
         bad=[(call(f(1, 2, 3, 3), f(2, 3, 2, 2)), InvalidType, r'shape\[1\]'),
              (call(f(1, 2, 3, 3), f(2, 2, 2, 2), f(2)), InvalidType, 'b.shape'),
              (call(f(1, 2, 3, 3), f(2, 2, 2)), ValueError, 'W.shape')]),
    Case('local_convolution_2d', ref=local, tol=8, gtol=4,
         cls='connection.local_convolution_2d.LocalConvolution2DFunction',
         calls=[call(f(2, 2, 3, 4), f(2, 2, 2, 2, 2, 3), f(2, 2, 2)),
                call(f(1, 2, 3, 5), f(1, 1, 2, 2, 2, 2), None, (1, 3)),
                call(f(1, 1, 4, 4), f(2, 2, 1, 1, 2, 2), stride=2),
                call(f(0, 2, 2, 2), f(3, 1, 2, 2, 2, 1), f(3, 1, 2)),
                call(f(2, 2, 3, 3), f(2, 0, 2, 2, 2, 2))],
         attributes=[{'sy': 1, 'sx': 1}, {'sy': 1, 'sx': 3}],
         big=call(f(8, 6, 12, 12), f(4, 10, 10, 6, 3, 3), f(4, 10, 10)),
         bad=[(call(f(1, 2, 3, 3), f(2, 2, 2, 1, 2, 2)), InvalidType, r'shape\[1\]'),
              (call(f(1, 2, 3, 3), f(2, 3, 2, 2, 2, 2)), InvalidType, r'x.shape\[2\]'),
              (call(f(1, 2, 3, 3), f(2, 2, 3, 2, 2, 2)), InvalidType, r'x.shape\[3\]'),
              (call(f(1, 2, 3, 3), f(2, 2, 2, 2, 0, 2)), InvalidType, r'W.shape\[4\]'),
              (call(f(1, 2, 3, 3), f(2, 2, 2, 2, 2, 2), f(2, 2, 1)), InvalidType, 'b.shape'),
              (call(f(1, 2, 3, 3), f(2, 2, 2, 2, 2, 2), f(2)), InvalidType, 'b.ndim'),
              (call(f(1, 2, 3, 3), f(2, 2, 2, 2, 2, 2), own('float16', 2, 2, 2)), InvalidType,
               'b.dtype', 'numpy'),
              (call(f(1, 2, 3, 3), f(2, 2, 2, 2)), InvalidType, 'W.ndim'),
              (call(f(1, 2, 3, 3), f(2, 2, 2, 2, 2, 2), None, 0), ValueError, 'stride')]),
]  # fmt: skip
