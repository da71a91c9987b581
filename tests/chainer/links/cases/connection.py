"""Rows of chainer.links.connection."""

import numpy as np
from functions.cases.connection import (
    bilinear,
    deformable,
    depthwise,
    dilated,
    embed_id,
    linear,
    local,
)
from functions.cases.normalization import batch_normalization
from links.cases._table import InvalidType, L, Row, c, call, f, own
from scipy.special import expit as sigmoid

from cases.conv.connection import conv, conv_transpose


def relu(x):
    return np.maximum(x, 0)


def layer(p, name, x, *args, **kw):
    """A convolution inside a link."""
    return conv(x, p[f'{name}/W'], p.get(f'{name}/b'), *args, **kw)


def spread(v, x, axis):
    return v.reshape((1,) * axis + v.shape + (1,) * (x.ndim - axis - v.ndim))


def highway(p, x):
    gate = sigmoid(linear(x, p['transform/W'], p['transform/b']))
    return relu(linear(x, p['plain/W'], p['plain/b'])) * gate + x * (1 - gate)


def windows(x):
    """The 3 x 3 windows around each pixel, with NaN outside the image."""
    around = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=np.nan)
    return np.lib.stride_tricks.sliding_window_view(around, (3, 3), (2, 3))


def inception(p, x):
    pool = np.nanmax(windows(x), (4, 5))
    parts = [
        layer(p, 'conv1', x),
        layer(p, 'conv3', relu(layer(p, 'proj3', x)), pad=1),
        layer(p, 'conv5', relu(layer(p, 'proj5', x)), pad=2),
        layer(p, 'projp', pool),
    ]
    return relu(np.concatenate(parts, 1))


def inception_bn(p, x):
    def normal(name, y):
        return relu(batch_normalization(y, p[f'{name}/gamma'], p[f'{name}/beta']))

    a = normal('proj3n', layer(p, 'proj3', x))
    b = normal('proj33n', layer(p, 'proj33', x))
    b = normal('conv33an', layer(p, 'conv33a', b, pad=1))
    pool = np.nansum(windows(x), (4, 5)) / 9
    parts = [
        normal('conv1n', layer(p, 'conv1', x)),
        normal('conv3n', layer(p, 'conv3', a, pad=1)),
        normal('conv33bn', layer(p, 'conv33b', b, pad=1)),
        normal('poolpn', layer(p, 'poolp', pool)),
    ]
    return np.concatenate(parts, 1)


def mlp(p, x):
    return layer(p, '1', relu(layer(p, '0', x)))


def deformed(p, x):
    offset = layer(p, 'offset_conv', x)
    return deformable(x, offset, p['deform_conv/W'], p['deform_conv/b'])


def of_convolution(name, make, x, *args, **kw):
    return Row(
        name,
        make,
        call(x),
        lambda p, x: conv(x, p['W'], p.get('b'), *args, **kw),
        bad=(
            (call(f(*x.shape[:1], x.shape[1] + 1, *x.shape[2:])), InvalidType, r'x\.shape\[1\]'),
            (call(own('int32', *x.shape)), InvalidType, r'x\.dtype'),
            (call(f(*x.shape[:-1])), (InvalidType, ValueError), 'x'),
        ),
    )


def of_deconvolution(name, make, x, *args, **kw):
    row = of_convolution(name, make, x)
    ref = lambda p, x: conv_transpose(x, p['W'], p.get('b'), *args, **kw)  # noqa: E731
    return Row(name, make, call(x), ref, bad=row.bad)


ROWS = [
    Row('Bias', lambda: L.Bias(1, (3,)), call(f(2, 3, 2)), lambda p, x: x + spread(p['b'], x, 1),
        bad=((call(f(2, 4)), InvalidType, 'In link: Bias'),
             (call(f(2, 3), f(3)), ValueError, 'takes 1 inputs, not 2'))),
    Row('Bilinear', lambda: L.Bilinear(2, 3, 2), call(f(2, 2), f(2, 3)),
        lambda p, x, y: bilinear(x, y, p['W'], p['V1'], p['V2'], p['b']),
        bad=((call(f(2, 2), f(2, 2)), InvalidType, r'W\.shape'),
             (call(f(2, 2), f(3, 3)), InvalidType, 'shape'))),
    Row('Bilinear_nobias', lambda: L.Bilinear(2, 3, 2, True), call(f(2, 2), f(2, 3)),
        lambda p, x, y: bilinear(x, y, p['W'])),
    of_convolution('Convolution1D', lambda: L.Convolution1D(2, 3, 2), f(2, 2, 4)),
    of_convolution('Convolution2D', lambda: L.Convolution2D(4, 2, (2, 3), 2, 1, groups=2),
                   f(1, 4, 3, 4), 2, 1, groups=2),
    of_convolution('Convolution2D_lazy', lambda: L.Convolution2D(None, 2, 2, nobias=True),
                   f(1, 2, 3, 2)),
    of_convolution('Convolution3D', lambda: L.Convolution3D(2, 2, 2), f(1, 2, 2, 3, 2)),
    of_convolution('ConvolutionND', lambda: L.ConvolutionND(2, 2, 2, (1, 2)), f(2, 2, 2, 3)),
    of_deconvolution('Deconvolution1D', lambda: L.Deconvolution1D(2, 3, 2), f(2, 2, 3)),
    of_deconvolution('Deconvolution2D', lambda: L.Deconvolution2D(4, 2, (2, 3), 2, 1, groups=2),
                     f(1, 4, 3, 3), 2, 1, groups=2),
    of_deconvolution('Deconvolution2D_lazy', lambda: L.Deconvolution2D(None, 2, 2, nobias=True),
                     f(1, 2, 3, 2)),
    of_deconvolution('Deconvolution3D', lambda: L.Deconvolution3D(2, 2, 2), f(1, 2, 2, 1, 2)),
    of_deconvolution('DeconvolutionND', lambda: L.DeconvolutionND(2, 2, 2, (1, 2)),
                     f(2, 2, 2, 3)),
    Row('DeformableConvolution2D', lambda: L.DeformableConvolution2D(2, 3, 2), call(f(1, 2, 3, 4)),
        deformed, tol=32,
        bad=((call(f(1, 3, 3, 4)), InvalidType, r'x\.shape\[1\]'),)),
    Row('DepthwiseConvolution2D', lambda: L.DepthwiseConvolution2D(2, 2, 2), call(f(1, 2, 3, 4)),
        lambda p, x: depthwise(x, p['W'], p['b']),
        bad=((call(f(1, 3, 3, 4)), InvalidType, r'x\.shape\[1\]'),)),
    Row('DilatedConvolution2D', lambda: L.DilatedConvolution2D(2, 2, 2, dilate=2),
        call(f(1, 2, 4, 4)), lambda p, x: dilated(x, p['W'], p['b'], dilate=2),
        bad=((call(f(1, 3, 4, 4)), InvalidType, r'x\.shape\[1\]'),)),
    Row('EmbedID', lambda: L.EmbedID(4, 3), call(c([[0, 2], [3, 0]], 'int32')),
        lambda p, x: embed_id(x, p['W']),
        bad=((call(c([0, 4], 'int32')), IndexError, 'x has 4, W has 4 rows'),
             (call(c([0, -5], 'int32')), IndexError, 'x has -5, W has 4 rows'),
             (call(f(2)), InvalidType, 'kind == i'))),
    Row('EmbedID_ignored', lambda: L.EmbedID(4, 3, ignore_label=-1), call(c([0, -1, 3], 'int64')),
        lambda p, x: embed_id(x, p['W'], -1)),
    Row('Highway', lambda: L.Highway(4), call(f(3, 4)), highway,
        bad=((call(f(3, 3)), InvalidType, 'W.shape'),)),
    Row('Inception', lambda: L.Inception(2, 1, 2, 3, 2, 1, 2), call(f(1, 2, 3, 4, distinct=True)),
        inception, tol=32, gtol=32,
        bad=((call(f(1, 3, 3, 4)), InvalidType, r'x\.shape\[1\]'),)),
    Row('InceptionBN', lambda: L.InceptionBN(2, 1, 2, 2, 1, 2, 'avg', 2), call(f(2, 2, 3, 4)),
        inception_bn, tol=64, gtol=256,
        bad=((call(f(2, 3, 3, 4)), InvalidType, r'x\.shape\[1\]'),
             (lambda: L.InceptionBN(2, 1, 2, 2, 1, 2, 'sum', 2), NotImplementedError, 'pooltype'))),
    Row('Linear', lambda: L.Linear(4, 3), call(f(2, 4)), lambda p, x: linear(x, p['W'], p['b']),
        bad=((call(f(2, 3)), InvalidType, r'W\.shape'), (call(f(4)), InvalidType, r'x\.ndim'),
             (call(own('int32', 2, 4)), InvalidType, r'x\.dtype'),
             (call(f(2, 4), 0), ValueError, 'n_batch_axes'))),
    Row('Linear_lazy', lambda: L.Linear(None, 3, nobias=True), call(f(2, 3, 2), n_batch_axes=2),
        lambda p, x, n_batch_axes: linear(x, p['W'], None, n_batch_axes)),
    Row('LocalConvolution2D', lambda: L.LocalConvolution2D(2, 2, (3, 4), 2), call(f(1, 2, 3, 4)),
        lambda p, x: local(x, p['W'], p['b']),
        bad=((call(f(1, 2, 3, 3)), InvalidType, r'x\.shape\[3\]'),)),
    Row('MLPConvolution2D', lambda: L.MLPConvolution2D(2, (3, 2), 2), call(f(1, 2, 3, 3)), mlp,
        bad=((call(f(1, 3, 3, 3)), InvalidType, r'x\.shape\[1\]'),)),
    Row('Parameter', lambda: L.Parameter(np.zeros((2, 3), L.Linear(1, 1).W.dtype)), call(),
        lambda p: p['W'], bad=((call(f(2), f(2)), TypeError, 'positional'),)),
    Row('Scale', lambda: L.Scale(1, (3,), True), call(f(2, 3, 2)),
        lambda p, x: x * spread(p['W'], x, 1) + spread(p['bias/b'], x, 1),
        bad=((call(f(2, 4, 2)), InvalidType, 'In link: Scale'),)),
    Row('Scale_given', lambda: L.Scale(0), call(f(2, 3), f(2)),
        lambda p, x, y: x * spread(y, x, 0)),
]  # fmt: skip
