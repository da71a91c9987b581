"""Rows of chainer.functions.array."""

import chainer
import numpy as np
from functions.cases._table import NUMBERS, Case, InvalidType, b, c, call, f, i, own

from cases.conv.connection import per_axis, windows

EVERY = (*NUMBERS, 'bool')


def permutate(x, indices, axis=0, inv=False):
    return np.take(x, np.argsort(indices) if inv else indices, axis)


def depth2space(x, r):
    n, c, h, w = x.shape
    y = np.empty((n, c // r**2, h * r, w * r))
    for k, part in enumerate(np.split(x, r * r, 1)):
        y[:, :, k // r :: r, k % r :: r] = part
    return y


def space2depth(x, r):
    return np.concatenate([x[:, :, i::r, j::r] for i in range(r) for j in range(r)], 1)


def im2col(x, ksize, stride=1, pad=0, cover_all=False, dilate=1):
    like_w = np.empty((1, x.shape[1], *per_axis(ksize, 2)))
    view = windows(x, like_w, stride, pad, cover_all, dilate)[:, 0]
    columns = view.transpose(0, 1, 4, 5, 2, 3)
    return columns.reshape(len(x), like_w.size, *columns.shape[4:])


def spatial_transformer_grid(theta, output_shape):
    ys, xs = np.meshgrid(*(np.linspace(-1, 1, n) for n in output_shape), indexing='ij')
    return np.einsum('nij,jhw->nihw', theta, np.stack([xs, ys, np.ones_like(xs)]))


def resize_images(x, output_shape, mode='bilinear', align_corners=True):
    for axis, m in zip((2, 3), output_shape, strict=True):
        n = x.shape[axis]
        if mode == 'nearest':
            x = x.take(np.arange(m) * n // m, axis)
            continue
        at = np.linspace(0, n - 1, m) if align_corners else (np.arange(m) + 0.5) * n / m - 0.5
        rows = [np.interp(at, np.arange(n), row) for row in np.moveaxis(x, axis, -1).reshape(-1, n)]
        shape = np.moveaxis(x, axis, -1).shape[:-1]
        x = np.moveaxis(np.reshape(rows, (*shape, m)), -1, axis)
    return x


def spatial_transformer_sampler(x, grid):
    n, channels, h, w = x.shape
    y = np.zeros((n, channels, *grid.shape[2:]))
    around = np.pad(x, ((0, 0), (0, 0), (3, 3), (3, 3)))
    for k in np.ndindex(n, *grid.shape[2:]):
        u, v = grid[(k[0], slice(None), *k[1:])]
        column, row = (u + 1) * (w - 1) / 2 + 3, (v + 1) * (h - 1) / 2 + 3
        i, j = int(row), int(column)
        part = around[k[0], :, i : i + 2, j : j + 2]
        p, q = row - i, column - j
        y[(k[0], slice(None), *k[1:])] = np.array([1 - p, p]) @ part @ np.array([1 - q, q])
    return y


def pad_sequence(xs, length=None, padding=0):
    length = length or max(map(len, xs))
    y = np.full((len(xs), length, *xs[0].shape[1:]), padding, xs[0].dtype)
    for row, x in zip(y, xs, strict=True):
        row[: len(x)] = x
    return y


def scatter_add(a, slices, b):
    y = a.copy()
    np.add.at(y, slices, b)
    return y


def transpose_sequence(xs):
    return tuple(np.stack([x[t] for x in xs if t < len(x)]) for t in range(len(xs[0])))


def joined(name, cls, ref, good, bad, **kw):
    """A function of a list of arrays."""
    return Case(name, ref=ref, dtypes=EVERY, refuses=False, cls=f'array.{name}.{cls}',
                calls=[call([f(*shape) for shape in shapes]) for shapes in good],
                bad=[*[(call([f(*shape) for shape in shapes]), InvalidType, '') for shapes in bad],
                     (call([f(2, 3), own('float16', 2, 3)]), InvalidType, 'dtype', 'numpy'),
                     (call([]), InvalidType, 'size'), (call(f(2, 3)), TypeError, 'xs')],
                **kw)  # fmt: skip


def view(name, cls, ref, calls, bad=(), **kw):
    """A function whose result shares the memory of its input."""
    return Case(name, ref=ref, dtypes=EVERY, refuses=False, cls=f'array.{name}.{cls}', calls=calls,
                bad=list(bad), **kw)  # fmt: skip


def _as_strided(x, shape, strides, storage_offset=0):
    places = np.zeros(shape, int) + storage_offset
    for axis, (n, step) in enumerate(zip(shape, strides)):  # noqa: B905
        places += (np.arange(n) * step).reshape(-1, *[1] * (len(shape) - axis - 1))
    return x.ravel()[places]


CASES = [
    Case('as_strided', ref=_as_strided, cls='array.as_strided.AsStrided', layouts=False,
         dtypes=NUMBERS, refuses=False,
         attributes={'shape': (2, 2), 'strides': (4, 1), 'storage_offset': None},
         calls=[call(f(3, 4), (2, 2), (4, 1)), call(f(3, 4), (3, 3), (-1, 1), 2),
                call(f(12), (4, 5), (1, 1)), call(f(4), [], [], 2)],
         big=call(f(48, 64), (32, 16), (64, 1)),
         bad=[(call(f(3, 4), (3, 5), (4, 1)), ValueError, '0 to 12'),
              (call(f(3), (2, 2), (1,)), ValueError, 'strides')]),
    Case('im2col', ref=im2col, cls='array.im2col.Im2Col',
         calls=[call(f(2, 2, 3, 4), 2), call(f(1, 2, 3, 4), (2, 3), (1, 2), (1, 0), True, (2, 1)),
                call(f(1, 1, 5, 6), ksize=2, stride=3, pad=1, cover_all=True),
                call(f(1, 1, 3, 3), [3, 1], dilate=(1, 2)), call(f(0, 2, 3, 3), 2)],
         attributes=[{'kh': 2, 'kw': 2, 'sy': 1, 'sx': 1, 'ph': 0, 'pw': 0, 'dy': 1, 'dx': 1,
                      'cover_all': False},
                     {'kh': 2, 'kw': 3, 'sy': 1, 'sx': 2, 'ph': 1, 'pw': 0, 'dy': 2, 'dx': 1,
                      'cover_all': True}], big=call(f(2, 8, 20, 20), 3, pad=1),
         bad=[(call(f(2, 3, 3), 2), InvalidType, 'ndim'),
              (call(f(1, 2, 3, 3), 4), ValueError, 'fits'),
              (call(f(1, 2, 3, 3), 0), ValueError, 'ksize'),
              (call(f(1, 2, 3, 3), 2, 0), ValueError, 'stride'),
              (call(f(1, 2, 3, 3), 2, 1, -1), ValueError, 'pad'),
              (call(f(1, 2, 3, 3), 2, dilate=(0, 1)), ValueError, 'dilate'),
              (call(f(1, 2, 3, 3), (2, 2, 2)), ValueError, 'ksize'),
              (call(f(1, 2, 3, 3), None), TypeError, 'ksize')]),
    Case('reshape', ref=lambda x, shape: x.reshape(shape), dtypes=EVERY, refuses=False,
         calls=[call(f(3, 4), (2, -1)), call(f(3, 4), (12,)), call(f(3, 4), [1, 3, 4, 1]),
                call(f(0, 3), (3, -1)), call(f(1), ())],
         cls='array.reshape.Reshape', big=call(f(48, 64), (64, 48)),
         attributes=[{'shape': (2, -1)}, {'shape': (12,)}, {'shape': (1, 3, 4, 1)}],
         bad=[(call(f(3, 4), (5, -1)), InvalidType, 'known_size'),
              (call(f(3, 4), (3, 5)), InvalidType, 'prod'),
              (call(f(3, 4), (-1, -1)), ValueError, '')]),
    Case('transpose', ref=np.transpose, dtypes=EVERY, refuses=False,
         cls='array.transpose.Transpose',
         calls=[call(f(3, 4)), call(f(2, 3, 4), (2, 0, 1)), call(f(2, 3, 4), axes=(-1, 0, 1)),
                call(f()), call(f(0, 2))],
         attributes=[{'axes': None}, {'axes': (2, 0, 1)}],
         bad=[(call(f(3, 4), (0, 0)), ValueError, ''), (call(f(3, 4), (0,)), ValueError, '')]),
    Case('cast', ref=lambda x, typ: x, out='float64', dtypes=('float16', 'float32'), refuses=False,
         calls=[call(f(3, 4), 'float64'), call(f(), np.float64)], cls='array.cast.Cast',
         direct=False, attributes={'type': np.dtype('float64')},
         bad=[(call(f(3), 'zz'), TypeError, 'zz')]),
    Case('cast', ref=lambda x, typ: x, out='float16', dtypes=('int32', 'bool'), refuses=False,
         calls=[call(f(3, 4), chainer.mixed16)], cls='array.cast.Cast', order=0),
    Case('broadcast', ref=lambda *xs: tuple(np.broadcast_arrays(*xs)), dtypes=EVERY, refuses=False,
         calls=[call(f(3, 4), f(4)), call(f(3, 1), f(4), f()), call(f(2, 3), f(2, 3)),
                call(f(0, 1), f(3))],
         cls='array.broadcast.Broadcast',
         bad=[(call(f(3), f(2)), InvalidType, 'shape'), (call(), InvalidType, 'size')]),
    Case('broadcast_to', ref=np.broadcast_to, dtypes=EVERY, refuses=False,
         calls=[call(f(3, 1), (3, 4)), call(f(4), [2, 3, 4]), call(f(), (0,))],
         cls='array.broadcast.BroadcastTo', big=call(f(3000, 1), (3000, 4)),
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
              (call([f(3, 4), own('float16', 3, 4)]), InvalidType, 'dtype', 'numpy'),
              (call([], 0), InvalidType, 'size'), (call(f(3, 4)), TypeError, 'xs'),
              (call([f(3, 4)], 1.0), TypeError, 'axis')]),
    Case('copy', fn=lambda x: chainer.functions.copy(x, x.device), ref=lambda x: x, dtypes=EVERY,
         refuses=False, inputs=[f(3, 4)], elastic=True, cls='array.copy.Copy', direct=False),
    view('expand_dims', 'ExpandDims', np.expand_dims,
         [call(f(3, 4), 0), call(f(3, 4), -1), call(f(3, 4), axis=1), call(f(), -1)],
         [(call(f(3), 2), InvalidType, 'ndim'), (call(f(3), -3), InvalidType, 'ndim')],
         attributes=[{'axis': 0}, {'axis': -1}]),
    Case('flatten', ref=np.ravel, dtypes=EVERY, refuses=False, cls='array.reshape.Reshape',
         calls=[call(f(3, 4)), call(f()), call(f(0, 2))], direct=False,
         attributes={'shape': (12,)}),
    view('flip', 'Flip', np.flip,
         [call(f(3, 4), 0), call(f(3, 4), -1), call(f(2, 3, 4), axis=1), call(f(0), 0)],
         [(call(f(3), 1), InvalidType, 'ndim'), (call(f(3), -2), InvalidType, 'ndim'),
          (call(f(), 0), InvalidType, 'ndim'), (call(f(3), 0.0), TypeError, 'axis')],
         attributes={'axis': 0}),
    view('fliplr', 'FlipLR', np.fliplr, [call(f(3, 4)), call(f(2, 3, 4))],
         [(call(f(3)), InvalidType, 'ndim')]),
    view('flipud', 'FlipUD', np.flipud, [call(f(3, 4)), call(f(3))],
         [(call(f()), InvalidType, 'ndim')]),
    Case('depth2space', ref=depth2space, cls='array.depth2space.Depth2Space', attributes={'r': 2},
         calls=[call(f(2, 8, 3, 2), 2), call(f(1, 9, 1, 2), r=3), call(f(2, 3, 2, 2), 1),
                call(f(0, 4, 2, 2), 2)],
         big=call(f(2, 64, 16, 16), 2),
         bad=[(call(f(2, 7, 3, 3), 2), InvalidType, 'shape'),
              (call(f(2, 4, 3), 2), InvalidType, 'ndim'),
              (call(f(2, 4, 3, 3), 0), ValueError, 'r is 0'),
              (call(f(2, 4, 3, 3), 2.0), TypeError, 'r is 2.0')]),
    Case('space2depth', ref=space2depth, cls='array.space2depth.Space2Depth', attributes={'r': 2},
         calls=[call(f(2, 3, 4, 6), 2), call(f(1, 1, 3, 6), r=3), call(f(2, 3, 2, 2), 1),
                call(f(0, 3, 2, 2), 2)],
         big=call(f(2, 16, 32, 32), 2),
         bad=[(call(f(2, 3, 4, 5), 2), InvalidType, 'shape'),
              (call(f(2, 3, 5, 4), 2), InvalidType, 'shape'),
              (call(f(2, 4, 4), 2), InvalidType, 'ndim'),
              (call(f(2, 4, 4, 4), -2), ValueError, 'r is -2')]),
    Case('spatial_transformer_grid', ref=spatial_transformer_grid, tol=2,
         cls='array.spatial_transformer_grid.SpatialTransformerGrid',
         attributes={'output_shape': (4, 5)},
         calls=[call(f(2, 2, 3), (4, 5)), call(f(1, 2, 3), [1, 3]), call(f(2, 2, 3), (0, 3)),
                call(f(0, 2, 3), (2, 2))],
         big=call(f(50, 2, 3), (40, 40)),
         bad=[(call(f(2, 3, 3), (4, 5)), InvalidType, 'shape'),
              (call(f(2, 2, 2), (4, 5)), InvalidType, 'shape'),
              (call(f(2, 3), (4, 5)), InvalidType, 'ndim'),
              (call(f(2, 2, 3), (4, 5, 6)), ValueError, 'output_shape'),
              (call(f(2, 2, 3), (4, 5), use_cudnn=False), ValueError, 'use_cudnn'),
              (call(f(2, 2, 3), (4, 5), foo=1), TypeError, 'foo')]),
    Case('resize_images', ref=resize_images, cls='array.resize_images.ResizeImages', tol=4, gtol=4,
         attributes={'out_H': 3, 'out_W': 4, 'mode': 'bilinear', 'align_corners': True},
         big=call(f(4, 8, 16, 12), (30, 20)),
         calls=[call(f(2, 2, 6, 7), (3, 4)), call(f(2, 2, 3, 4), (7, 5), align_corners=False),
                call(f(2, 2, 3, 4), (7, 2), mode='nearest'), call(f(1, 1, 3, 2), [1, 1]),
                call(f(1, 1, 3, 2), [1, 1], align_corners=False), call(f(0, 2, 3, 2), (2, 2))],
         bad=[(call(f(2, 4, 4), (2, 2)), InvalidType, 'ndim'),
              (call(f(1, 1, 4, 4), (2, 2), mode='cubic'), ValueError, 'cubic'),
              (call(f(1, 1, 4, 4), (0, 2)), ValueError, 'output_shape'),
              (call(f(1, 1, 4, 4), 2), TypeError, 'output_shape'),
              (call(f(1, 1, 4, 4), (2, 1.5)), TypeError, 'output_shape'),
              (call(f(1, 1, 0, 4), (2, 1)), ValueError, 'resize')]),
    Case('spatial_transformer_sampler', ref=spatial_transformer_sampler, tol=8, gtol=8,
         cls='array.spatial_transformer_sampler.SpatialTransformerSampler',
         calls=[call(f(2, 2, 3, 3), f(2, 2, 2, 4, lo=-1.7, hi=1.7, avoid=(-1, 0, 1))),
                call(f(1, 1, 1, 3), f(1, 2, 2, 1, lo=-1.7, hi=1.7, avoid=(-1, 0, 1))),
                call(f(0, 1, 1, 3), f(0, 2, 2, 1)), call(f(2, 1, 2, 3), f(2, 2, 0, 1))],
         big=call(f(4, 8, 16, 12), f(4, 2, 30, 20)),
         bad=[(call(f(1, 1, 3, 3), f(1, 1, 2, 2)), InvalidType, 'shape'),
              (call(f(1, 1, 3, 3), f(2, 2, 2, 2)), InvalidType, 'shape'),
              (call(f(1, 1, 3, 3), f(2, 2, 2)), InvalidType, 'ndim'),
              (call(f(1, 1, 3, 3), own('float16', 1, 2, 2, 2)), InvalidType, 'dtype', 'numpy'),
              (call(f(1, 1, 0, 3), f(1, 2, 2, 2)), ValueError, 'sample'),
              (call(f(1, 1, 3, 3), f(1, 2, 2, 2), use_cudnn=False), ValueError, 'use_cudnn'),
              (call(f(1, 1, 3, 3), f(1, 2, 2, 2), foo=1), TypeError, 'foo')]),
    joined('hstack', 'Hstack', np.hstack,
           [[(3, 4), (3, 2)], [(3,), (2,)], [(), ()], [(2, 3, 4), (2, 0, 4)]],
           [[(2, 3), (3, 3)], [(2, 3), (2,)]], big=call([f(48, 64), f(48, 32)])),
    joined('vstack', 'Vstack', np.vstack,
           [[(4, 3), (2, 3)], [(3,), (3,)], [(), ()], [(2, 3, 4), (0, 3, 4)]],
           [[(2, 3), (2, 2)], [(3,), (2,)], [(2, 3), (3,)]], big=call([f(64, 48), f(32, 48)])),
    joined('dstack', 'Dstack', np.dstack,
           [[(2, 3, 4), (2, 3, 1)], [(2, 3), (2, 3)], [(3,), (3,)], [(), ()]],
           [[(2, 3, 4), (2, 2, 4)], [(2, 3), (2,)]], big=call([f(48, 64), f(48, 64)])),
    joined('stack', 'Stack', np.stack, [[(3, 4), (3, 4)], [(), ()], [(0, 2)]],
           [[(2, 3), (3,)], [(2, 3), (3, 2)]], big=call([f(48, 64), f(48, 64)]),
           attributes={'axis': 0}),
    Case('stack', ref=lambda xs, axis: np.stack(xs, axis), cls='array.stack.Stack',
         calls=[call([f(3, 4), f(3, 4)], 1), call([f(3, 4), f(3, 4)], axis=-1)], refuses=False,
         attributes=[{'axis': 1}, {'axis': -1}],
         bad=[(call([f(3), f(3)], 2), InvalidType, 'ndim'),
              (call([f(3), f(3)], -3), InvalidType, 'ndim')]),
    view('separate', 'Separate', lambda x, axis=0: tuple(np.moveaxis(x, axis, 0)),
         [call(f(3, 4)), call(f(3, 4), 1), call(f(3, 1, 2), axis=-2), call(f(3))],
         [(call(f(3, 4), 2), InvalidType, 'ndim'), (call(f()), InvalidType, 'ndim')],
         attributes=[{'axis': 0}, {'axis': 1}]),
    view('split_axis', 'SplitAxis',
         lambda x, parts, axis, force_tuple=True: tuple(np.split(x, parts, axis)),
         [call(f(3, 4), 2, 1), call(f(3, 4), [1, 3], 1), call(f(3, 4), (0, 2), -2),
          call(f(3, 4), np.array([1, 2]), axis=0), call(f(3, 4), 1, 0, force_tuple=False),
          call(f(3, 4), [], 0), call(f(3, 4), [-1], 1)],
         [(call(f(3, 4), 3, 1), InvalidType, 'sections'),
          (call(f(3, 4), 2, 2), InvalidType, 'ndim'),
          (call(f(3, 4), [5], 1), InvalidType, 'max_index'), (call(f(3), 0, 0), ValueError, '0'),
          (call(f(3), 1.0, 0), TypeError, '1.0')],
         attributes=[{'indices': None, 'sections': 2, 'axis': 1},
                     {'indices': (1, 3), 'sections': None}]),
    view('squeeze', 'Squeeze', np.squeeze,
         [call(f(1, 3, 1)), call(f(1, 3, 1), 0), call(f(1, 3, 1), axis=(0, -1)), call(f(2, 3), ())],
         [(call(f(1, 3), 1), ValueError, ''), (call(f(1, 3), 2), InvalidType, 'ndim'),
          (call(f(1, 3), -3), InvalidType, 'ndim'), (call(f(1, 3), 0.0), TypeError, 'axis'),
          (call(f(1, 3), (0, 0)), ValueError, '')],
         attributes=[{'axis': None}, {'axis': (0,)}], big=call(f(1, 300, 1))),
    view('swapaxes', 'Swapaxes', np.swapaxes,
         [call(f(2, 3, 4), 0, 2), call(f(2, 3, 4), -1, axis2=0), call(f(2, 3), 1, 1)],
         [(call(f(2, 3), 0, 2), ValueError, ''), (call(f(2, 3), -3, 0), ValueError, '')],
         attributes={'axis1': 0, 'axis2': 2}),
    view('moveaxis', 'Moveaxis', np.moveaxis,
         [call(f(2, 3, 4), 0, 2), call(f(2, 3, 4), (0, 1), (2, 0)), call(f(2, 3, 4), [-1], [0])],
         [(call(f(2, 3), 2, 0), InvalidType, 'ndim'), (call(f(2, 3), 0, -3), InvalidType, 'ndim'),
          (call(f(2, 3), (0, 0), (0, 1)), ValueError, ''),
          (call(f(2, 3), (0, 1), 1), ValueError, ''),
          (call(f(2, 3), 0, 1.0), TypeError, 'destination')],
         attributes={'source': (0,), 'destination': (2,)}),
    view('rollaxis', 'Rollaxis', np.rollaxis,
         [call(f(2, 3, 4), 2), call(f(2, 3, 4), 1, 3), call(f(2, 3, 4), -1, start=1)],
         [(call(f(2, 3), 2), InvalidType, 'ndim'), (call(f(2, 3), 0, 3), InvalidType, 'ndim'),
          (call(f(2, 3), 1.0), TypeError, 'axis')],
         attributes=[{'axis': 2, 'start': 0}, {'axis': 1, 'start': 3}]),
    Case('tile', ref=np.tile, dtypes=EVERY, refuses=False, cls='array.tile.Tile',
         calls=[call(f(3, 4), 2), call(f(3, 4), (2, 1)), call(f(3), (2, 1, 3)), call(f(3), 0),
                call(f(2, 2, 2), (3,)), call(f(), 3)],
         attributes=[{'reps': (2,)}, {'reps': (2, 1)}],
         bad=[(call(f(3), [2]), TypeError, 'reps'), (call(f(3), (1, -1)), ValueError, '-1')]),
    Case('repeat', ref=np.repeat, dtypes=EVERY, refuses=False, cls='array.repeat.Repeat',
         calls=[call(f(3, 4), 2), call(f(3, 4), 2, axis=1), call(f(3, 4), (1, 2, 0), axis=0),
                call(f(3, 4), 0, -1), call(f(), 2)],
         attributes=[{'repeats': (2,), 'axis': None}, {'axis': 1}, {'repeats': (1, 2, 0)}],
         bad=[(call(f(3), [2]), TypeError, 'repeats'), (call(f(3), -1), ValueError, '-1'),
              (call(f(3), (1, 2), axis=0), ValueError, ''), (call(f(3), 2, axis=1), ValueError, ''),
              (call(f(3), 2, axis=1.0), TypeError, 'axis')]),
    Case('where', ref=np.where, dtypes=EVERY, refuses=False, cls='array.where.Where', params=(0,),
         calls=[call(b(3, 4), f(3, 4), f(3, 4)), call(b(4), f(3, 4), f(3, 1)),
                call(b(2, 3), f(), f(3))],
         bad=[(call(own('int32', 3), f(3), f(3)), InvalidType, 'condition'),
              (call(1, f(3), f(3)), InvalidType, 'condition'),
              (call([1, 0, 2], f(3), f(3)), InvalidType, 'condition'),
              (call(b(3), f(3), f(2)), InvalidType, 'shape'),
              (call(b(2), f(3), f(3)), InvalidType, 'condition'),
              (call(b(3), f(3), own('float16', 3)), InvalidType, 'dtype', 'numpy')]),
    view('diagonal', 'Diagonal', np.diagonal,
         [call(f(3, 4)), call(f(4, 3), 1), call(f(2, 3, 4), -1, 1, 2), call(f(3, 4), offset=5),
          call(f(2, 3, 4), axis1=-1, axis2=0), call(f(3, 4), -3), call(f(0, 2))],
         [(call(f(3)), InvalidType, 'ndim'), (call(f(2, 3), 0, 0, 2), InvalidType, 'ndim'),
          (call(f(2, 3), 0, 1, 1), ValueError, '')],
         attributes=[{'offset': 0, 'axis1': 0, 'axis2': 1}, {'offset': 1}]),
    Case('select_item', ref=lambda x, t: np.take_along_axis(x, t[:, None], 1)[:, 0], refuses=False,
         dtypes=EVERY, calls=[call(f(3, 4), i(3)), call(f(3, 4), c([-1, 3, 0], 'int8'))],
         cls='array.select_item.SelectItem',
         bad=[(call(f(3, 4), own('float32', 3)), InvalidType, 'kind'),
              (call(f(3, 4), i(2)), InvalidType, 'shape'), (call(f(3), i(3)), InvalidType, 'ndim'),
              (call(f(2, 3), c([0, 3], 'int32')), IndexError,
               '^select_item: t has 3, x has 3 columns')]),
    Case('permutate', ref=permutate, params=(1,), dtypes=EVERY, refuses=False, direct=False,
         calls=[call(f(3, 4), c([2, 0, 1], 'int32')), call(f(3, 4), c([2, 0, 1, 3], 'int64'), 1),
                call(f(3, 4), c([2, 0, 1], 'int32'), inv=True),
                call(f(4, 3), c([2, 0, 1], 'int32'), axis=-1, inv=True)],
         cls='array.permutate.Permutate', attributes=[{'axis': 0, 'inv': False}, {'axis': 1}],
         big=call(f(300, 4), c(np.arange(300)[::-1], 'int64')),
         bad=[(call(f(3), c([0, 3, 1], 'int32')), IndexError,
               '^permutate: indices has 3, the axis of x has length 3'),
              (call(f(3), own('float32', 3)), ValueError, 'float32'),
              (call(f(3), i(3, 1)), ValueError, 'axes'),
              (call(f(3), i(3), axis=1), InvalidType, 'ndim')]),
    Case('scatter_add', ref=scatter_add, dtypes=NUMBERS, refuses=False, direct=False,
         calls=[call(f(3, 4), 1, f(4)), call(f(3, 4), (slice(None), -1), f(3)),
                call(f(3, 4), np.array([0, 2, 0]), f(3, 4)), call(f(3, 4), [0, 0], f(2, 4)),
                call(f(3, 4), (slice(None, None, -2), np.array([1, 1])), f(2, 2)),
                call(f(2, 3), (Ellipsis, None, 1), f(2, 1)),
                call(f(3, 2), np.array([-1, 0]), f(2, 2)),
                call(f(2, 2), np.array([[True, False], [True, True]]), f(3)),
                call(f(4), np.array([[1, 1], [0, 1]]), f(2, 2)), call(f(), (), f()),
                call(f(2, 3), np.zeros(0, 'int64'), f(0, 3)), call(f(0, 3), slice(None), f(0, 3))],
         cls='array.scatter_add.ScatterAdd', attributes=[{'slices': (1,)}],
         big=call(f(300, 40), 1, f(40)),
         bad=[(call(f(3, 4), 0, f(3)), ValueError, 'shape'), (call(f(3), 3, f()), IndexError, '3'),
              (call(f(3), np.array([0, 3]), f(2)), IndexError,
               'slices has 3, the axis of a has length 3'),
              (call(f(3, 2), np.array([0, 1]), f(2)), ValueError,
               r'a\[slices\] has shape \(2, 2\)'),
              (call(f(), np.array([0]), f(1)), InvalidType, 'ndim'),
              (call(f(2, 2), (0, 1, 1), f()), InvalidType, 'ndim'),
              (call(i(3), 0, own('float16')), InvalidType, 'dtype')]),
    Case('pad', ref=np.pad, cls='array.pad.Pad',
         calls=[call(f(3, 4), 1, 'constant'), call(f(3, 4), (1, 2), mode='edge'),
                call(f(3, 4), ((1, 2), (0, 1)), 'constant', constant_values=2.0),
                call(f(3, 4), 2, 'constant', constant_values=((1, 2), (3, 4))),
                call(f(3, 4), 1, 'reflect'), call(f(3, 4), 1, 'symmetric'),
                call(f(3, 4), ((1, 2), (2, 1)), 'wrap')],
         attributes=[{'mode': 'constant', 'keywords': {}, 'pad_width': 1, 'pad_bw': (1, 1)}],
         bad=[(call(f(3), 1, 'modal'), ValueError, 'modal'),
              (call(f(3), -1, 'edge'), ValueError, ''),
              (call(f(3), (1, 2, 3), 'edge'), ValueError, ''),
              (call(f(3), 1, 'edge', constant_values=1), ValueError, 'constant_values')]),
    Case('pad_sequence', ref=pad_sequence, dtypes=EVERY, refuses=False,
         calls=[call([f(2), f(3)]), call([f(2, 2), f(3, 2), f(0, 2)], length=4, padding=1),
                call((f(3),))],
         cls='array.pad_sequence.PadSequence', big=call([f(300), f(200)]),
         attributes=[{'length': None, 'padding': 0}, {'length': 4, 'padding': 1}],
         bad=[(call([f(2, 2), f(3, 3)]), InvalidType, 'shape'),
              (call([f(2), f(3)], length=2), InvalidType, 'shape'), (call([]), InvalidType, 'size'),
              (call([f()]), InvalidType, 'ndim'),
              (call([f(2), own('float16', 2)]), InvalidType, 'dtype', 'numpy')]),
    Case('transpose_sequence', ref=transpose_sequence, dtypes=EVERY, refuses=False,
         calls=[call([f(3), f(2), f(1)]), call([f(3, 2), f(3, 2)]), call([f(2), f(0)])],
         cls='array.transpose_sequence.TransposeSequence', big=call([f(9, 300), f(7, 300)]),
         bad=[(call([f(2), f(3)]), InvalidType, 'shape'),
              (call([f(2), own('int32', 2)]), InvalidType, 'dtype')]),
    Case('get_item', ref=lambda x, slices: x[slices], dtypes=(*NUMBERS, 'bool'),
         cls='array.get_item.GetItem', attributes={'slices': (1,)},  # a view
         calls=[call(f(3, 4), 1), call(f(3, 4), (slice(None, None, -2), None, 2)),
                call(f(3, 4), ...), call(f(0, 4), slice(1)), call(f(3, 4), np.array([2, 0, 2])),
                call(f(3, 4), np.eye(3, 4, dtype=bool))],
         bad=[(call(f(3, 4), 3), IndexError, '')]),
]  # fmt: skip
