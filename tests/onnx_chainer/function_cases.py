"""One row per function: what is called, with which arrays, from which opset on it can be said."""

import dataclasses
import typing as tp

import chainer
import chainer.functions as F
import numpy as np
from chainer import links as L
from chainer.functions.connection.linear import _rectified_linear

RNG = np.random.default_rng(0)


def x(*shape):
    """Normal numbers."""
    return RNG.standard_normal(shape).astype(np.float32)


def positive(*shape):
    """From 0.5 to 1.5."""
    return (RNG.random(shape) + 0.5).astype(np.float32)


def unit(*shape):
    """From -0.9 to 0.9."""
    return (RNG.random(shape) * 1.8 - 0.9).astype(np.float32)


def ints(values):
    return np.array(values, np.int32)


@dataclasses.dataclass
class Case:
    name: str
    function: tp.Any
    inputs: tuple
    since: int = 7
    tolerance: float = 1e-5
    until: int = 99  # the last version that onnxruntime computes
    has_gradient: bool = True  # False where Chainer takes computed numbers for constants

    def __str__(self):
        return self.name


def unary(name, make=x, since=7, **kwargs):
    return Case(name, lambda v: getattr(F, name)(v, **kwargs), (make(2, 3),), since)


def pooled_with_indices(v, **kwargs):
    y, indices = F.max_pooling_2d(v, **kwargs, return_indices=True)
    return y, F.cast(indices, np.float32)


def upsampled(v, **kwargs):
    y, indices = F.max_pooling_2d(v, **kwargs, return_indices=True)
    return F.upsampling_2d(y * 2, indices, **kwargs, outsize=v.shape[2:])


UPSAMPLINGS = [
    {'ksize': 2, 'cover_all': False},
    {'ksize': 2, 'stride': 3, 'cover_all': False},
    {'ksize': 3, 'stride': 2, 'pad': 1},
    {'ksize': (3, 2), 'stride': (2, 1), 'pad': 1, 'cover_all': False},
]
CASES = [
    # activation
    *(unary(name) for name in ('relu', 'sigmoid', 'tanh', 'elu', 'leaky_relu', 'hard_sigmoid')),
    *(unary(name) for name in ('clipped_relu', 'crelu', 'softplus', 'selu', 'relu6')),
    *(unary(name) for name in ('softmax', 'log_softmax', 'silu', 'mish')),
    unary('gelu', since=9),
    Case('gelu of tanh', lambda v: F.gelu(v, approximate='tanh'), (x(2, 3),)),
    Case('elu of alpha', lambda v: F.elu(v, 0.3), (x(2, 3),)),
    Case('leaky_relu of slope', lambda v: F.leaky_relu(v, 0.4), (x(2, 3),)),
    Case('clipped_relu of z', lambda v: F.clipped_relu(v, 0.7), (x(2, 3),)),
    Case('crelu of axis', lambda v: F.crelu(v, axis=-1), (x(2, 3),)),
    Case('softplus of beta', lambda v: F.softplus(v, 2.5), (x(2, 3),)),
    Case('softmax of axis 0', lambda v: F.softmax(v, axis=0), (x(2, 3, 4),)),
    Case('softmax of axis 1', lambda v: F.softmax(v, axis=1), (x(2, 3, 4),)),
    Case('softmax of axis -1', lambda v: F.softmax(v, axis=-1), (x(2, 3, 4),)),
    Case('log_softmax of axis 1', lambda v: F.log_softmax(v, axis=1), (x(2, 3, 4, 2),)),
    Case('prelu', F.prelu, (x(2, 3, 4), x(3))),
    Case('prelu of a scalar', F.prelu, (x(2, 3, 4), x())),
    Case('prelu of all axes', F.prelu, (x(2, 3, 4), x(3, 4))),
    Case('swish', F.swish, (x(2, 3, 4), x(3))),
    Case('maxout', lambda v: F.maxout(v, 2), (x(2, 6),)),
    Case('rrelu', lambda v: F.rrelu(v), (x(2, 3),)),
    # array
    Case('cast', lambda v: F.cast(v, np.int32), (x(2, 3) * 5,)),
    Case('cast to float64', lambda v: F.cast(v, np.float64), (x(2, 3),)),
    Case('concat', lambda *vs: F.concat(vs), (x(2, 3), x(2, 1))),
    Case('concat of axis 0', lambda *vs: F.concat(vs, axis=0), (x(2, 3), x(1, 3))),
    Case('concat of axis -1', lambda *vs: F.concat(vs, axis=-1), (x(2, 3), x(2, 3))),
    Case(
        'copy to other kinds of arrays',
        lambda v: F.exp(F.copy(F.sin(F.copy(F.cos(v), 'native:0')) * 2, '@numpy')),
        (x(2, 3),),
    ),
    Case('copy', lambda v: F.copy(v, -1), (x(2, 3),)),
    Case('depth2space', lambda v: F.depth2space(v, 2), (x(2, 8, 2, 3),)),
    Case('space2depth', lambda v: F.space2depth(v, 2), (x(2, 2, 4, 6),)),
    Case('reshape', lambda v: F.reshape(v, (2, -1)), (x(2, 3, 4),)),
    Case('reshape to other rows', lambda v: F.reshape(v, (3, 8)), (x(2, 3, 4),)),
    Case('reshape to a scalar', lambda v: F.reshape(v, ()), (x(1, 1),)),
    Case('flatten', F.flatten, (x(2, 3, 4),)),
    Case('squeeze', F.squeeze, (x(2, 1, 3, 1),)),
    Case('squeeze of an axis', lambda v: F.squeeze(v, -1), (x(2, 1, 3, 1),)),
    Case('squeeze of axes', lambda v: F.squeeze(v, (1, 3)), (x(2, 1, 3, 1),)),
    Case('expand_dims', lambda v: F.expand_dims(v, 1), (x(2, 3),)),
    Case('expand_dims at the end', lambda v: F.expand_dims(v, -1), (x(2, 3),)),
    Case('tile', lambda v: F.tile(v, (2, 1, 3)), (x(2, 3),)),
    Case('tile of a number', lambda v: F.tile(v, 2), (x(2, 3),)),
    Case('where', lambda a, b: F.where(np.array([True, False, True]), a, b), (x(2, 3),) * 2, 9),
    Case('split_axis', lambda v: F.split_axis(v, 2, 1), (x(2, 4),)),
    Case('split_axis at', lambda v: F.split_axis(v, [1, 3], -1), (x(2, 4),)),
    Case('split_axis in one', lambda v: F.split_axis(v, 1, 1), (x(2, 4),)),
    Case('pad', lambda v: F.pad(v, 1, 'constant'), (x(2, 3),)),
    Case(
        'pad of values',
        lambda v: F.pad(v, ((1, 2), (0, 3)), 'constant', constant_values=-1),
        (x(2, 3),),
    ),
    Case('pad by reflection', lambda v: F.pad(v, ((0, 0), (1, 2)), 'reflect'), (x(2, 3),)),
    Case('pad by the edge', lambda v: F.pad(v, 1, 'edge'), (x(2, 3),)),
    *(
        Case(f'pad {i}', lambda v, kw=kw: F.pad(v, ((1, 2), (4, 3)), **kw), (x(2, 3),))
        for i, kw in enumerate(
            [
                {'mode': 'constant', 'constant_values': ((1, 2), (3, 4))},
                {'mode': 'symmetric'},
                {'mode': 'wrap'},
                {'mode': 'reflect'},
                {'mode': 'reflect', 'reflect_type': 'odd'},
                {'mode': 'linear_ramp'},
                {'mode': 'linear_ramp', 'end_values': ((1, 2), (3, 4))},
                {'mode': 'mean', 'stat_length': 2},
                {'mode': 'maximum'},
                {'mode': 'minimum', 'stat_length': ((1, 2), (2, 1))},
            ]
        )
    ),
    *(
        Case(
            f'pad by the median {length}',
            lambda v, n=length: F.pad(v, 1, 'median', stat_length=n),
            (x(4, 5),),
            11,
        )
        for length in (None, 3)
    ),
    Case('transpose', F.transpose, (x(2, 3, 4),)),
    Case('transpose of axes', lambda v: F.transpose(v, (1, 0, -1)), (x(2, 3, 4),)),
    Case('swapaxes', lambda v: F.swapaxes(v, 0, -1), (x(2, 3, 4),)),
    Case('moveaxis', lambda v: F.moveaxis(v, (0, 1), (2, 0)), (x(2, 3, 4),)),
    Case('rollaxis', lambda v: F.rollaxis(v, 2, 1), (x(2, 3, 4),)),
    Case('rollaxis to the front', lambda v: F.rollaxis(v, 2), (x(2, 3, 4),)),
    Case('stack', lambda *vs: F.stack(vs, 1), (x(2, 3),) * 2),
    Case('stack at the end', lambda *vs: F.stack(vs, -1), (x(2, 3),) * 2),
    *(
        Case(
            f'{name} of {n} axes',
            lambda *vs, name=name: getattr(F, name)(vs),
            (x(*shape), x(*shape)),
        )
        for name in ('hstack', 'vstack', 'dstack')
        for n, shape in enumerate([(), (3,), (2, 3), (2, 3, 4)])
    ),
    Case('separate', lambda v: F.separate(v, 1), (x(2, 3),)),
    Case('separate of one', lambda v: F.separate(v, 0), (x(1, 3),)),
    Case('transpose_sequence', lambda *vs: F.transpose_sequence(vs), (x(3, 2), x(2, 2), x(1, 2))),
    Case('transpose_sequence of equals', lambda *vs: F.transpose_sequence(vs), (x(3, 2), x(3, 2))),
    Case('repeat', lambda v: F.repeat(v, 2, 1), (x(2, 3),)),
    Case('repeat of each', lambda v: F.repeat(v, (1, 0, 2), 1), (x(2, 3),)),
    Case('repeat of all', lambda v: F.repeat(v, 2), (x(2, 3),)),
    Case('permutate', lambda v: F.permutate(v, np.array([2, 0, 1]), 1), (x(2, 3),)),
    Case('permutate back', lambda v: F.permutate(v, np.array([2, 0, 1]), 1, inv=True), (x(2, 3),)),
    Case('broadcast_to', lambda v: F.broadcast_to(v, (2, 3)), (x(3),), 8),
    Case('broadcast', lambda *vs: F.broadcast(*vs), (x(2, 1), x(3)), 8),
    Case('flip', lambda v: F.flip(v, 1), (x(2, 3),)),
    Case('fliplr', F.fliplr, (x(2, 3),)),
    Case('flipud', F.flipud, (x(2, 3),)),
    Case('pad_sequence', lambda *vs: F.pad_sequence(vs, 4, -1), (x(3, 2), x(1, 2))),
    Case('resize_images', lambda v: F.resize_images(v, (5, 7)), (x(1, 2, 3, 4),)),
    Case(
        'resize_images of half pixels',
        lambda v: F.resize_images(v, (5, 7), align_corners=False),
        (x(1, 2, 3, 4),),
    ),
    Case(
        'resize_images to the nearest',
        lambda v: F.resize_images(v, (6, 8), mode='nearest'),
        (x(1, 2, 3, 4),),
    ),
    Case(
        'resize_images to fewer',
        lambda v: F.resize_images(v, (2, 3), mode='nearest'),
        (x(1, 2, 5, 7),),
    ),
    *(
        Case(f'get_item {i}', lambda v, index=index: v[index], (x(3, 4, 5),), since)
        for i, (index, since) in enumerate(
            [
                (0, 7),
                (-1, 7),
                ((slice(None), 1), 7),
                (slice(1, 3), 7),
                ((Ellipsis, 2), 7),
                ((None, slice(None), 0), 7),
                ((0, None, slice(1, 3), None), 7),
                (slice(None, None, 2), 10),
                (slice(None, None, -1), 10),
                ((1, slice(3, 0, -2)), 10),
                ([2, 0], 7),
                ((slice(None), [1, -1]), 7),
                ((slice(None), [[0, 1], [2, 3]]), 7),
                ((0, [1, 2]), 11),
                (([0, 1], [1, 2]), 11),
                (([0, 1], slice(None), [1, 2]), 11),
                ((slice(1, 3), [0, 1], [1, 2]), 11),
                ((None, [0, 1], slice(1, 3), 2), 11),
                ((Ellipsis, [1, 2], None), 7),
                ((1, 2, 3), 7),
                ((slice(None), np.array([True, False, True, True])), 7),
            ]
        )
    ),
    Case('select_item', lambda v, t: F.select_item(v, t), (x(3, 4), ints([2, 0, 3])), 9),
    # connection
    *(
        Case(
            f'convolution_2d {i}',
            lambda *vs, kw=kw: F.convolution_2d(*vs, **kw),
            (x(2, 4, 7, 8), x(6, 4 // kw.get('groups', 1), 3, 2), x(6)),
        )
        for i, kw in enumerate(
            [
                {},
                {'stride': 2},
                {'pad': (1, 0), 'stride': (2, 1)},
                {'dilate': (1, 2)},
                {'groups': 2},
                {'stride': 3, 'cover_all': True},
            ]
        )
    ),
    Case('convolution_2d without bias', F.convolution_2d, (x(2, 3, 5, 5), x(4, 3, 3, 3))),
    Case('convolution_1d', F.convolution_1d, (x(2, 3, 7), x(4, 3, 3), x(4))),
    Case('convolution_3d', F.convolution_3d, (x(2, 3, 4, 5, 6), x(4, 3, 2, 2, 2), x(4))),
    *(
        Case(
            f'deconvolution_2d {i}',
            lambda *vs, kw=kw: F.deconvolution_2d(*vs, **kw),
            (x(2, 4, 4, 5), x(4, 6 // kw.get('groups', 1), 3, 2), x(6)),
        )
        for i, kw in enumerate(
            [
                {},
                {'stride': 2},
                {'stride': 2, 'pad': 1},
                {'stride': 2, 'outsize': (10, 11)},
                {'groups': 2},
                {'dilate': 2},
            ]
        )
    ),
    Case('deconvolution_1d', F.deconvolution_1d, (x(2, 3, 7), x(3, 4, 3), x(4))),
    Case('embed_id', F.embed_id, (ints([[0, 2], [1, 1]]), x(3, 4))),
    Case(
        'embed_id that ignores',
        lambda i, w: F.embed_id(i, w, ignore_label=-1),
        (ints([[0, -1], [1, 1]]), x(3, 4)),
        9,
    ),
    Case('linear', F.linear, (x(2, 3), x(4, 3), x(4))),
    Case('linear without bias', F.linear, (x(2, 3), x(4, 3))),
    Case('rectified_linear', _rectified_linear, (x(2, 3), x(4, 3), x(4))),
    Case('rms_norm', F.rms_norm, (x(2, 6), x(6))),
    Case('rms_norm of axes', lambda v: F.rms_norm(v, eps=0.1), (x(2, 3, 4),)),
    Case('linear of images', F.linear, (x(2, 3, 2, 2), x(4, 12), x(4))),
    Case(
        'linear of sequences',
        lambda *vs: F.linear(*vs, n_batch_axes=2),
        (x(2, 5, 3), x(4, 3), x(4)),
    ),
    Case('bilinear', F.bilinear, (x(2, 3), x(2, 4), x(3, 4, 5))),
    Case('bilinear of all', F.bilinear, (x(2, 3), x(2, 4), x(3, 4, 5), x(3, 5), x(4, 5), x(5))),
    # loss
    *(
        Case(
            f'softmax_cross_entropy {i}',
            lambda v, t, kw=kw: F.softmax_cross_entropy(v, t, **kw),
            (x(4, 3), ints([0, 2, 1, -1])),
            9,
        )
        for i, kw in enumerate(
            [
                {},
                {'normalize': False},
                {'reduce': 'no'},
                {'class_weight': np.array([0.5, 1, 2], 'f')},
                {'label_smoothing': 0.2},
                {'label_smoothing': 0.2, 'class_weight': np.array([0.5, 1, 2], 'f')},
            ]
        )
    ),
    *(
        Case(
            f'softmax_cross_entropy of probabilities {i}',
            lambda v, t, kw=kw: F.softmax_cross_entropy(v, t, **kw),
            (x(4, 3), np.array([[0, 1, 0], [0.5, 0.3, 0.2], [0.1, 0, 0.9], [1, 0, 0]], 'f')),
            since,
        )
        for i, (kw, since) in enumerate(
            [
                ({}, 7),
                ({'reduce': 'no', 'label_smoothing': 0.3}, 7),
                ({'soft_target_loss': 'kl-divergence'}, 9),
            ]
        )
    ),
    Case(
        'softmax_cross_entropy of images',
        F.softmax_cross_entropy,
        (x(2, 3, 2, 2), ints([[[0, 1], [2, 2]], [[0, 0], [1, -1]]])),
        9,
    ),
    Case(
        'sigmoid_cross_entropy',
        F.sigmoid_cross_entropy,
        (x(2, 3), ints([[0, 1, -1], [1, 1, 0]])),
        9,
    ),
    Case(
        'sigmoid_cross_entropy of each',
        lambda v, t: F.sigmoid_cross_entropy(v, t, reduce='no'),
        (x(2, 3), ints([[0, 1, -1], [1, 1, 0]])),
        9,
    ),
    *(
        Case(name, getattr(F, name), (x(2, 3), x(2, 3)))
        for name in ('mean_squared_error', 'mean_absolute_error', 'squared_error', 'absolute_error')
    ),
    Case('huber_loss', lambda a, b: F.huber_loss(a, b, 0.5), (x(2, 3), x(2, 3))),
    Case('huber_loss of each', lambda a, b: F.huber_loss(a, b, 0.5, reduce='no'), (x(2, 3),) * 2),
    # math
    Case('arithmetic', lambda a, b: -(a + b) * (a - b) / b, (x(2, 3), positive(3))),
    Case('arithmetic with numbers', lambda a: 2 - (3 + a * 2 - 1) / 4 + 1 / a, (positive(2, 3),)),
    Case('powers', lambda a, b: a**b + a**3 + 2**a, (positive(2, 3), x(2, 3))),
    Case('add', lambda *vs: F.add(*vs), (x(2, 3), x(2, 3), x(2, 3))),
    Case('absolute', lambda a: abs(a), (x(2, 3),)),
    *(
        unary(name, make, since)
        for name, make, since in [
            ('exp', x, 7),
            ('log', positive, 7),
            ('sqrt', positive, 7),
            ('rsqrt', positive, 7),
            ('square', x, 7),
            ('sin', x, 7),
            ('cos', x, 7),
            ('tan', unit, 7),
            ('arcsin', unit, 7),
            ('arccos', unit, 7),
            ('arctan', x, 7),
            ('arctanh', unit, 9),
            ('cosh', x, 7),
            ('sinh', x, 7),
            ('erf', x, 9),
            ('erfc', x, 9),
            ('ndtr', x, 9),
            ('expm1', x, 9),
            ('log1p', positive, 9),
            ('log2', positive, 7),
            ('log10', positive, 7),
            ('identity', x, 7),
            *((name, x, 9) for name in ('lgamma', 'digamma', 'erfcx', 'log_ndtr')),
            ('ndtri', lambda *shape: unit(*shape) / 2 + np.float32(0.5), 9),
            ('erfinv', unit, 9),
            ('erfcinv', lambda *shape: unit(*shape) + 1, 9),
        ]
    ),
    Case('zeta', lambda q: F.zeta(2.5, q), (positive(2, 3),), 9),
    Case('zeta of exponents', lambda s, q: F.zeta(s, q), (positive(2, 1) + 1, positive(3)), 9),
    Case('polygamma', F.polygamma, (ints([0, 1, 2, 5]), x(2, 4)), 9),
    Case(
        'functions without a gradient',
        lambda a: F.floor(F.exp(a)) * F.ceil(a) + F.relu(F.fix(a * 3)) + F.floor(a * 4),
        (x(2, 3),),
    ),
    Case('sign', lambda a: F.sign(a) * 2, (x(2, 3),), 9),
    Case('sign alone', F.sign, (x(2, 3),), 9),
    Case('floor division', lambda a, b: a // b + a // 2 + 3 // b, (x(2, 3), positive(2, 3))),
    Case('maximum', F.maximum, (x(2, 3), x(2, 3))),
    Case('minimum', F.minimum, (x(2, 3), x(2, 3))),
    Case('maximum of rows', F.maximum, (x(2, 3), x(3)), 8),
    Case('minimum of columns', F.minimum, (x(2, 1), x(2, 3)), 8),
    Case('clip', lambda v: F.clip(v, -0.5, 0.5), (x(2, 3),)),
    Case('fmod', F.fmod, (x(2, 3) * 5, positive(2, 3)), 10),
    Case('linear_interpolate', F.linear_interpolate, (unit(2, 3), x(2, 3), x(2, 3))),
    *(
        Case(f'{name} {i}', lambda v, name=name, kw=kw: getattr(F, name)(v, **kw), (x(2, 3, 4),))
        for name in ('sum', 'max', 'min', 'prod')
        for i, kw in enumerate([{}, {'axis': 1}, {'axis': (0, -1)}, {'axis': 0, 'keepdims': True}])
    ),
    Case('mean', F.mean, (x(2, 3),)),
    Case('average', lambda v: F.average(v, axis=1), (x(2, 3),)),
    Case('average of weights', lambda v, w: F.average(v, 1, w), (x(2, 3), positive(3)), 8),
    Case('logsumexp', F.logsumexp, (x(2, 3),)),
    Case('logsumexp of axis', lambda v: F.logsumexp(v, 1), (x(2, 3),)),
    Case('sum_to', lambda v: F.sum_to(v, (3, 1)), (x(2, 3, 4),)),
    Case('batch_l2_norm_squared', F.batch_l2_norm_squared, (x(2, 3, 4),)),
    Case('argmax', lambda v: F.argmax(v, 1), (x(2, 3),)),
    Case('argmax of all', lambda v: F.argmax(v), (x(2, 3),)),
    Case('argmin', lambda v: F.argmin(v, 0), (x(2, 3),)),
    Case('cumsum', lambda v: F.cumsum(v, 1), (x(2, 3, 4),)),
    Case('cumsum of all', lambda v: F.cumsum(v), (x(2, 3),)),
    Case('matmul', F.matmul, (x(2, 3), x(3, 4))),
    Case('matmul of transposes', lambda a, b: F.matmul(a, b, True, True), (x(3, 2), x(4, 3))),
    Case('matmul of batches', lambda a, b: F.matmul(a, b, transb=True), (x(5, 2, 3), x(5, 4, 3))),
    Case('matmul of vectors', F.matmul, (x(3), x(3))),
    Case('batch_matmul', F.batch_matmul, (x(5, 2, 3), x(5, 3, 4))),
    Case('batch_matmul of vectors', F.batch_matmul, (x(5, 2, 3), x(5, 3))),
    Case('einsum', lambda a, b: F.einsum('ij,kj->ik', a, b), (x(2, 3), x(4, 3)), 12),
    Case('tensordot', lambda a, b: F.tensordot(a, b, 1), (x(2, 3), x(3, 4))),
    Case(
        'tensordot of axes',
        lambda a, b: F.tensordot(a, b, ((0, 2), (1, 0))),
        (x(2, 3, 4), x(4, 2, 5)),
    ),
    Case('det', F.det, (x(3, 3),), 11),
    Case('batch_det', F.batch_det, (x(2, 3, 3),), 11),
    Case('bias', lambda a, b: F.bias(a, b), (x(2, 3), x(3)), 8),
    Case('scale', lambda a, b: F.scale(a, b), (x(2, 3), x(3)), 8),
    # normalization
    Case(
        'fixed_batch_normalization',
        F.fixed_batch_normalization,
        (x(2, 3, 4), x(3), x(3), x(3), positive(3)),
    ),
    Case(
        'fixed_batch_normalization of axes',
        lambda *vs: F.fixed_batch_normalization(*vs, axis=(0, 1)),
        (x(2, 3, 4), x(4), x(4), x(4), positive(4)),
    ),
    Case('batch_normalization', F.batch_normalization, (x(4, 3, 2), x(3), x(3))),
    Case(
        'group_normalization',
        lambda *vs: F.group_normalization(vs[0], 2, *vs[1:]),
        (x(2, 4, 3, 2), x(4), x(4)),
    ),
    Case('layer_normalization', F.layer_normalization, (x(2, 6), x(6), x(6))),
    Case('local_response_normalization', F.local_response_normalization, (x(2, 7, 3, 3),)),
    Case('normalize', F.normalize, (x(2, 5),)),
    Case('normalize of axes', lambda v: F.normalize(v, axis=(1, 2)), (x(2, 5, 3),)),
    # pooling
    *(
        Case(f'{name} {i}', lambda v, name=name, kw=kw: getattr(F, name)(v, **kw), (x(2, 3, 7, 8),))
        for name in ('max_pooling_2d', 'average_pooling_2d')
        for i, kw in enumerate(
            [
                {'ksize': 2},
                {'ksize': 3, 'stride': 2},
                {'ksize': (3, 2), 'stride': 1, 'pad': (1, 0)},
            ]
        )
    ),
    Case(
        'max_pooling_2d that covers',
        lambda v: F.max_pooling_2d(v, 3, 2, cover_all=True),
        (x(2, 3, 6, 8),),
    ),
    Case(
        'max_pooling_2d that covers not',
        lambda v: F.max_pooling_2d(v, 3, 2, cover_all=False),
        (x(2, 3, 6, 8),),
    ),
    Case(
        'max_pooling_2d of windows outside',
        # onnxruntime has the least number in place of -inf
        lambda v: F.relu(F.max_pooling_2d(v, 2, 3)),
        (x(2, 3, 5, 6),),
    ),
    Case('max_pooling_1d', lambda v: F.max_pooling_1d(v, 2), (x(2, 3, 7),)),
    Case('max_pooling_3d', lambda v: F.max_pooling_3d(v, 2), (x(2, 3, 4, 5, 6),)),
    Case('average_pooling_1d', lambda v: F.average_pooling_1d(v, 3, 2, 1), (x(2, 3, 7),)),
    Case(
        'average_pooling_nd without pads',
        lambda v: F.average_pooling_nd(v, 3, 2, 1, pad_value=None),
        (x(2, 3, 7, 7),),
    ),
    *(
        Case(
            f'unpooling_2d {i}',
            lambda v, kw=kw: F.unpooling_2d(v, **kw, cover_all=False),
            (x(2, 3, 3, 4),),
        )
        for i, kw in enumerate(
            [
                {'ksize': 3, 'stride': 2, 'pad': 1},
                {'ksize': 2, 'pad': 1},
                {'ksize': (3, 2), 'stride': (1, 2), 'pad': (1, 0), 'outsize': (3, 9)},
                {'ksize': 2, 'stride': 3},
                {'ksize': 2, 'outsize': (7, 9)},
            ]
        )
    ),
    Case(
        'unpooling_3d',
        lambda v: F.unpooling_3d(v, 3, 2, 1, cover_all=False),
        (x(2, 3, 3, 4, 2),),
    ),
    *(
        Case(
            f'max_pooling_2d with indices {i}',
            lambda v, kw=kw: pooled_with_indices(v, **kw),
            (x(2, 3, 5, 6),),
            8,
        )
        for i, kw in enumerate(UPSAMPLINGS)
    ),
    *(
        Case(f'upsampling_2d {i}', lambda v, kw=kw: upsampled(v, **kw), (x(2, 3, 5, 6),), since)
        for i, (kw, since) in enumerate(zip(UPSAMPLINGS, (11, 11, 16, 16), strict=True))
    ),
    Case('unpooling_2d', lambda v: F.unpooling_2d(v, 2, cover_all=False), (x(2, 3, 4, 5),)),
    Case('unpooling_2d that covers', lambda v: F.unpooling_2d(v, 2), (x(2, 3, 4, 5),)),
    Case(
        'roi_pooling_2d',
        lambda v, r: F.roi_pooling_2d(v, r, 2, 3, 0.5),
        (x(2, 3, 8, 8), np.array([[0, 2, 2, 8, 8], [1, 0, 2, 12, 14]], 'f')),
        until=21,
    ),
]


def n_step(name, n_layers, by_link):
    """A recurrent layer over sequences of several lengths, from its function or its link."""
    link = getattr(L, f'NStep{name}')(n_layers, 3, 4, 0.5)
    n_states = 2 if 'LSTM' in name else 1
    directions = 2 if name.startswith('Bi') else 1
    n = {'LSTM': 8, 'GRU': 6}.get(name.removeprefix('Bi'), 2)

    def flat(result):
        *states, ys = result
        return (*states, *ys)

    if by_link:
        return Case(
            f'NStep{name} {n_layers}',
            lambda *xs: flat(link(*[None] * n_states, list(xs))),
            (x(3, 3), x(2, 3), x(4, 3)),
        )
    ws = [[getattr(child, f'w{i}') for i in range(n)] for child in link]
    bs = [[getattr(child, f'b{i}') for i in range(n)] for child in link]
    kind = {'RNNTanh': 'rnn', 'RNNReLU': 'rnn'}.get(
        name.removeprefix('Bi'), name.removeprefix('Bi')
    )
    function = getattr(F, f'n_step_{"bi" if directions == 2 else ""}{kind.lower()}')
    kwargs = {'activation': name[-4:].lower()} if kind == 'rnn' else {}
    states = tuple(x(n_layers * directions, 3, 4) for _ in range(n_states))

    def call(*args):
        return flat(
            function(n_layers, 0.5, *args[:n_states], ws, bs, list(args[n_states:]), **kwargs)
        )

    return Case(f'{function.__name__} {n_layers} {kwargs}', call, (*states, x(3, 3), x(2, 3)))


CASES += [
    n_step(name, n_layers, by_link)
    for name in ('LSTM', 'BiLSTM', 'GRU', 'BiGRU', 'RNNTanh', 'BiRNNTanh', 'RNNReLU', 'BiRNNReLU')
    for n_layers, by_link in ((1, False), (2, True))
]
REGIONS = np.array([[1, 0, 5, 6], [0, 2, 7, 7]], 'f')
IMAGE_OF_REGIONS = ints([0, 1])
CASES += [
    # attention
    *(
        Case(
            f'scaled_dot_product_attention {i}',
            lambda *vs, kw=kw: F.scaled_dot_product_attention(*vs, **kw),
            inputs,
            since,
        )
        for i, (inputs, since, kw) in enumerate(
            [
                ((x(2, 3, 4, 5), x(2, 3, 6, 5), x(2, 3, 6, 2)), 7, {}),
                ((x(4, 5), x(4, 5), x(4, 5)), 9, {'is_causal': True, 'scale': 0.3}),
                ((x(2, 4, 5), x(2, 6, 5), x(2, 6, 5), x(4, 6)), 9, {}),
                (
                    (
                        x(2, 4, 5),
                        x(2, 3, 5),
                        x(2, 3, 5),
                        np.array([[1, 0, 1]] * 3 + [[0] * 3], bool),
                    ),
                    9,
                    {'is_causal': False},
                ),
                ((x(2, 4, 3, 5), x(2, 2, 3, 5), x(2, 2, 3, 5)), 7, {'enable_gqa': True}),
            ]
        )
    ),
    Case('rotary_embedding', F.rotary_embedding, (x(2, 3, 4, 6),)),
    Case(
        'rotary_embedding of pairs',
        lambda v: F.rotary_embedding(v, interleaved=True, offset=2, base=100.0),
        (x(2, 3, 4, 6),),
    ),
    Case('rotary_embedding at', F.rotary_embedding, (x(2, 3, 4, 6), ints([3, 0, 1, 9]))),
    # places
    Case('diagonal', F.diagonal, (x(3, 4),)),
    Case('diagonal of axes', lambda v: F.diagonal(v, 1, 2, -3), (x(3, 4, 5, 2),)),
    Case('as_strided', lambda v: F.as_strided(v, (3, 3), (1, 2), 1), (x(3, 4),)),
    Case('im2col', lambda v: F.im2col(v, (3, 2), 2, 1), (x(2, 3, 5, 6),)),
    Case('im2col that covers', lambda v: F.im2col(v, 2, 2, cover_all=True), (x(2, 3, 5, 5),)),
    Case('scatter_add', lambda a, b: F.scatter_add(a, [0, 2, 0], b), (x(3, 4), x(3, 4)), 16),
    Case(
        'scatter_add of slices',
        lambda a, b: F.scatter_add(a, (slice(None), slice(1, 3)), b),
        (x(3, 4), x(3, 2)),
        16,
    ),
    Case(
        'spatial_transformer_grid', lambda t: F.spatial_transformer_grid(t, (3, 4)), (x(2, 2, 3),)
    ),
    Case(
        'spatial_transformer_sampler',
        F.spatial_transformer_sampler,
        (x(2, 3, 4, 5), unit(2, 2, 3, 3) * 1.5),
        11,
    ),
    Case('shift', lambda v: F.shift(v, 3), (x(2, 11, 4, 5),)),
    Case(
        'roi_average_align_2d',
        lambda v, r, i: F.roi_average_align_2d(v, r, i, (2, 3), 0.5, 2),
        (x(2, 3, 8, 8), REGIONS, IMAGE_OF_REGIONS),
        10,
        until=21,
    ),
    Case(
        'roi_average_align_2d of all pixels',
        lambda v, r, i: F.roi_average_align_2d(v, r, i, 2, 1.0),
        (x(2, 3, 8, 8), REGIONS, IMAGE_OF_REGIONS),
        10,
        until=21,
    ),
    Case('fft', lambda a, b: F.fft((a, b)), (x(2, 6), x(2, 6))),
    Case('ifft', lambda a, b: F.ifft((a, b)), (x(5), x(5))),
    # loss
    *(
        Case(
            f'{name} {reduce}',
            lambda *vs, n=name, r=reduce: getattr(F, n)(*vs, reduce=r),
            inputs,
            since,
        )
        for reduce in ('mean', 'no')
        for name, inputs, since in (
            ('contrastive', (x(3, 4), x(3, 4), ints([1, 0, 1])), 9),
            ('triplet', (x(3, 4), x(3, 4), x(3, 4)), 7),
            ('hinge', (x(3, 4), ints([1, 0, 3])), 9),
        )
    ),
    Case('hinge of squares', lambda a, t: F.hinge(a, t, norm='L2'), (x(3, 4), ints([1, 0, 3])), 9),
    Case('accuracy', F.accuracy, (x(4, 3), ints([0, 1, 2, 0]))),
    Case(
        'accuracy that ignores',
        lambda y, t: F.accuracy(y, t, ignore_label=1),
        (x(4, 3), ints([0, 1, 2, 0])),
        9,
    ),
    Case('binary_accuracy', F.binary_accuracy, (x(4, 3), ints([[0, 1, -1]] * 4)), 7),
    Case('slstm', F.slstm, (x(2, 3), x(2, 3), x(2, 12), x(2, 12))),
    Case('tree_lstm', F.tree_lstm, (x(2, 3), x(2, 3), x(2, 15))),
    Case(
        'arctan2',
        F.arctan2,
        (np.array([1, -1, 1, -1, 0, 0, 2, -2], 'f'), np.array([1, 1, -1, -1, 1, -1, 0, 0], 'f')),
        9,
    ),
    Case('lstm', F.lstm, (x(2, 3), x(2, 12))),
    Case('lstm of fewer', F.lstm, (x(3, 3), x(2, 12))),
    # evaluation
    Case('r2_score', F.r2_score, (x(4, 3), x(4, 3)), 9),
    Case('r2_score of each', lambda a, b: F.r2_score(a, b, None, 'raw_values'), (x(4, 3),) * 2, 9),
    *(
        Case(f'{name} {kind}', lambda *vs, n=name, r=kind: getattr(F, n)(*vs, reduce=r), inputs)
        for kind in ('half_squared_sum', 'no')
        for name, inputs in (('decov', (x(4, 3),)), ('cross_covariance', (x(4, 3), x(4, 2))))
    ),
    Case(
        'classification_summary',
        lambda y, t: F.classification_summary(y, t, 3, 2.0),
        (x(9, 3), ints([0, 1, 2, 0, 1, 2, 0, -1, 1])),
        9,
    ),
    Case(
        'classification_summary of images',
        lambda y, t: F.classification_summary(y, t, 2, ignore_label=1),
        (x(2, 3, 4), ints([[0, 1, 2, 0], [1, 0, 0, 2]])),
        9,
    ),
    Case(
        'local_convolution_2d',
        lambda *vs: F.local_convolution_2d(*vs, stride=(1, 2)),
        (x(2, 3, 5, 6), x(4, 4, 2, 3, 2, 3), x(4, 4, 2)),
    ),
    Case(
        'local_convolution_2d without bias',
        F.local_convolution_2d,
        (x(2, 3, 4, 4), x(4, 3, 3, 3, 2, 2)),
    ),
    Case(
        'deformable_convolution_2d_sampler',
        lambda *vs: F.deformable_convolution_2d_sampler(*vs, stride=(2, 1), pad=(1, 0)),
        (x(2, 3, 7, 6), x(2, 12, 4, 5), x(4, 3, 3, 2), x(4)),
        11,
        until=21,
    ),
]


def sparse_product(data, dense, flip, **kwargs):
    # Two elements are at one place.
    matrix = chainer.utils.CooMatrix(data.array, ints([0, 1, 2, 1]), ints([2, 3, 0, 3]), (3, 4))
    return (
        F.sparse_matmul(dense, matrix, **kwargs)
        if flip
        else F.sparse_matmul(matrix, dense, **kwargs)
    )


SOME_REGIONS = np.array(
    [
        *([1, 0, 5, 6], [0, 2, 7, 7], [-3, -2, 4, 20]),
        *([10, 10, 12, 12], [2.5, 3.5, 4.5, 4.6], [3, 3, 3, 3]),
    ],
    'f',
)
DRAWN = np.array([[0, 1, 2, 3], [0, 4, 5, 0], [0, 2, 2, 1], [0, 3, 1, 5]])


def viterbi(cost, *xs):
    score, labels = F.argmax_crf1d(cost, xs)
    return (score, *map(chainer.Variable, labels))


CASES += [
    # chains of labels
    *(
        Case(
            f'connectionist_temporal_classification {reduce} {dtype}',
            lambda x, t, n, m, r=reduce: F.connectionist_temporal_classification(x, t, 0, n, m, r),
            (
                x(6, 3, 5).astype(dtype),
                ints([[1, 2, 2], [3, 4, 1], [2, 2, 0]]),
                ints([6, 4, 6]),
                ints([3, 0, 2]),
            ),
            11,
        )
        for reduce, dtype in (('mean', 'f'), ('no', 'd'))
    ),
    Case(
        'connectionist_temporal_classification of all',
        lambda x, t: F.connectionist_temporal_classification(x, t, 4),
        (x(6, 3, 5), ints([[1, 2], [3, 3], [2, 0]])),
        11,
    ),
    Case(
        'crf1d of falling lengths',
        lambda cost, *rest: F.crf1d(cost, rest[:3], rest[3:]),
        (x(4, 4), x(3, 4), x(2, 4), x(1, 4), ints([0, 1, 3]), ints([2, 1]), ints([3])),
        11,
    ),
    Case(
        'crf1d of equal lengths',
        lambda cost, *rest: F.crf1d(cost, rest[:2], rest[2:], 'no'),
        (x(4, 4), x(3, 4), x(3, 4), ints([0, 1, 3]), ints([2, 1, 1])),
        11,
    ),
    Case(
        'argmax_crf1d', lambda cost, *xs: F.argmax_crf1d(cost, xs)[0], (x(4, 4), x(3, 4), x(2, 4))
    ),
    Case(
        'argmax_crf1d with labels',
        viterbi,
        (x(4, 4), x(5, 4), x(3, 4), x(3, 4), x(2, 4), x(2, 4)),
        11,
    ),
    # sampled losses
    *(
        Case(
            f'black_out {reduce}',
            lambda *vs, r=reduce: F.black_out(*vs, r),
            (x(4, 3), ints([0, 5, 2, 1]), x(6, 3), ints([[1, 2], [3, 4], [0, 5], [2, 2]])),
            9,
        )
        for reduce in ('mean', 'no')
    ),
    *(
        Case(
            f'negative_sampling {reduce}',
            lambda *vs, r=reduce: F.negative_sampling(*vs, lambda shape: DRAWN.copy(), 3, r),
            (x(4, 3), ints([0, -1, 2, 1]), x(6, 3)),
            9,
        )
        for reduce in ('sum', 'no')
    ),
    Case(
        'BinaryHierarchicalSoftmax',
        L.BinaryHierarchicalSoftmax(3, ((0, 1), ((2, 3), 4))),
        (x(5, 3), ints([0, 3, 4, 2, 1])),
    ),
    *(
        Case(
            f'discriminative_margin_based_clustering_loss {norm}',
            lambda v, t, n=norm: F.discriminative_margin_based_clustering_loss(
                v, t, 0.5, 1.5, 3, n, 1.0, 2.0, 0.5
            ),
            (x(2, 3, 2, 3), ints([[[0, 1, 2], [3, 1, 1]], [[1, 2, 2], [3, 0, 3]]])),
            9,
        )
        for norm in (1, 2)
    ),
    # regions, some of which are outside of the image or smaller than a pixel
    *(
        Case(
            f'{name} {i}',
            lambda *vs, n=name, rest=rest: getattr(F, n)(*vs, *rest),
            (x(2, 3, 8, 9), SOME_REGIONS, ints([0, 1, 0, 1, 0, 1])),
            11,
        )
        for i, (name, *rest) in enumerate(
            [
                ('roi_average_pooling_2d', (2, 3), 0.5),
                ('roi_average_pooling_2d', 4, 2.0),
                ('roi_max_pooling_2d', (3, 2), 1.0),
                ('roi_max_pooling_2d', 7, 0.25),
                ('roi_max_align_2d', (2, 3), 0.5),
                ('roi_max_align_2d', (2, 3), 1.0, (2, 3)),
                ('roi_average_align_2d', (2, 3), 0.7, (2, 3)),
                ('roi_average_align_2d', 3, 0.7, (None, 2)),
            ]
        )
    ),
    # loops, and sparse matrices
    *(
        Case(f'cumprod {axis}', lambda v, axis=axis: F.cumprod(v, axis), (x(2, 3, 4),), 8)
        for axis in (0, 1, -1, None)
    ),
    Case('inv', F.inv, (x(5, 5),), 9),
    Case('inv of a permutation', F.inv, (np.eye(4, dtype='f')[[2, 0, 3, 1]],), 9),
    Case('batch_inv', F.batch_inv, (x(3, 4, 4),), 9),
    Case('cholesky', lambda a: F.cholesky(a @ a.T + np.eye(5, dtype='f')), (x(5, 5),), 9),
    *(
        Case(
            f'sparse_matmul {i}',
            lambda data, dense, kw=kw, flip=flip: sparse_product(data, dense, flip, **kw),
            (x(4), x(*shape)),
            16,
        )
        for i, (shape, flip, kw) in enumerate(
            [
                ((4, 2), False, {}),
                ((2, 3), False, {'transa': True, 'transb': True}),
                ((2, 3), True, {}),
            ]
        )
    ),
    Case(
        'sparse_matmul of batches',
        lambda data, dense: F.sparse_matmul(
            chainer.utils.CooMatrix(
                data.array, ints([[0, 2], [1, -1]]), ints([[3, 0], [0, -1]]), (3, 4)
            ),
            dense,
        ),
        (x(2, 2), x(2, 4, 3)),
        16,
    ),
    Case(
        'fixed_decorrelated_batch_normalization',
        lambda *vs: F.fixed_decorrelated_batch_normalization(*vs, groups=2),
        (x(2, 6, 4, 5), x(2, 3), x(2, 3, 3)),
    ),
    *(
        Case(
            f'batch_renormalization {i}',
            lambda *vs, mean=mean, variance=variance: F.batch_renormalization(
                *vs, 1.5, 0.5, running_mean=mean, running_var=variance
            ),
            (x(5, 3, 4), x(*mean.shape), x(*mean.shape)),
            has_gradient=False,
        )
        for i, (mean, variance) in enumerate([(x(3), positive(3)), (x(3, 4), positive(3, 4))])
    ),
    # compositions of other functions
    Case('average_pooling_3d', lambda v: F.average_pooling_3d(v, 2), (x(1, 2, 4, 5, 6),)),
    Case('bernoulli_nll', F.bernoulli_nll, (unit(2, 3), x(2, 3))),
    Case('convolution_nd', F.convolution_nd, (x(1, 2, 6), x(3, 2, 2))),
    Case('deconvolution_3d', F.deconvolution_3d, (x(1, 2, 3, 3, 3), x(2, 3, 2, 2, 2))),
    Case('deconvolution_nd', F.deconvolution_nd, (x(1, 2, 6), x(2, 3, 2))),
    Case('depthwise_convolution_2d', F.depthwise_convolution_2d, (x(1, 2, 5, 5), x(3, 2, 2, 2))),
    Case(
        'dilated_convolution_2d',
        lambda *vs: F.dilated_convolution_2d(*vs, dilate=2),
        (x(1, 2, 7, 7), x(3, 2, 2, 2)),
    ),
    *(
        Case(
            f'{name} of three classes',
            lambda y, t, n=name: getattr(F, n)(y, t, 3),
            (x(9, 3), ints([0, 1, 2, 0, 1, 2, 0, -1, 1])),
            9,
        )
        for name in ('precision', 'recall', 'f1_score')
    ),
    Case(
        'fixed_batch_renormalization',
        F.fixed_batch_renormalization,
        (x(5, 3), x(3), x(3), x(3), positive(3)),
    ),
    Case('gaussian_kl_divergence', F.gaussian_kl_divergence, (x(2, 3), x(2, 3)), 9),
    Case('gaussian_nll', F.gaussian_nll, (x(2, 3), x(2, 3), x(2, 3))),
    Case('max_pooling_nd', lambda v: F.max_pooling_nd(v, 2), (x(1, 2, 7),)),
    Case(
        'spatial_pyramid_pooling_2d',
        lambda v: F.spatial_pyramid_pooling_2d(v, 3, 'max'),
        (x(2, 2, 9, 9),),
    ),
    Case('squared_difference', F.squared_difference, (x(2, 3), x(2, 3))),
    Case('unpooling_1d', lambda v: F.unpooling_1d(v, 2), (x(1, 2, 4),)),
    Case('unpooling_nd', lambda v: F.unpooling_nd(v, 3, 2, 1), (x(1, 2, 4),)),
]
