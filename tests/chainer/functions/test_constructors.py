"""Constructors of function classes take the names and positions of Chainer 7.8.1."""

import importlib
import inspect
import re

import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import FunctionNode, Variable
from chainer.functions.activation.clipped_relu import ClippedReLU
from devices import assert_equal, to_numpy

A = np.arange(24, dtype='f').reshape(2, 4, 3)

# Read from Chainer 7.8.1.
# ruff: noqa: E501
WITH_ARGUMENTS = """
activation.clipped_relu.ClippedReLU(z)
activation.crelu.CReLU(axis=1)
activation.elu.ELU(alpha=1.0)
activation.leaky_relu.LeakyReLU(slope=0.2)
activation.log_softmax.LogSoftmax(axis=1)
activation.rrelu.RReLU(lower=0.125, upper=0.3333333333333333, r=None)
activation.softmax.Softmax(axis=1)
activation.softplus.Softplus(beta=1.0)
array.broadcast.BroadcastTo(shape)
array.cast.Cast(typ)
array.concat.Concat(axis=1)
array.copy.Copy(in_device, out_device)
array.depth2space.Depth2Space(r)
array.diagonal.Diagonal(offset, axis1, axis2)
array.expand_dims.ExpandDims(axis)
array.flip.Flip(axis)
array.get_item.GetItem(slices)
array.im2col.Im2Col(ksize, stride, pad, cover_all, dilate)
array.moveaxis.Moveaxis(source, destination)
array.pad.Pad(pad_width, mode, **keywords)
array.pad_sequence.PadSequence(length, padding)
array.permutate.Permutate(indices, axis, inv)
array.repeat.Repeat(repeats, axis=None)
array.reshape.Reshape(shape)
array.rollaxis.Rollaxis(axis, start)
array.scatter_add.ScatterAdd(slices)
array.separate.Separate(axis)
array.space2depth.Space2Depth(r)
array.spatial_transformer_grid.SpatialTransformerGrid(output_shape)
array.split_axis.SplitAxis(indices_or_sections, axis)
array.squeeze.Squeeze(axis=None)
array.stack.Stack(axis)
array.swapaxes.Swapaxes(axis1, axis2)
array.tile.Tile(reps)
array.transpose.Transpose(axes=None)
array.transpose_sequence.TransposeSequence(length)
array.where.Where(condition)
connection.convolution_2d.Convolution2DFunction(stride=1, pad=0, cover_all=False, **kwargs)
connection.convolution_nd.ConvolutionND(ndim, stride=1, pad=0, cover_all=False, dilate=1, groups=1)
connection.deconvolution_2d.Deconvolution2DFunction(stride=1, pad=0, outsize=None, **kwargs)
connection.deconvolution_nd.DeconvolutionND(ndim, stride=1, pad=0, outsize=None, dilate=1, groups=1)
connection.embed_id.EmbedIDFunction(ignore_label=None)
connection.local_convolution_2d.LocalConvolution2DFunction(stride=1)
connection.shift.Shift(ksize=3, dilate=1)
evaluation.accuracy.Accuracy(ignore_label=None)
evaluation.classification_summary.ClassificationSummary(label_num, beta, ignore_label)
evaluation.r2_score.R2_score(sample_weight, multioutput)
loss.contrastive.Contrastive(margin, reduce='mean')
loss.cross_covariance.CrossCovariance(reduce='half_squared_sum')
loss.decov.DeCov(reduce='half_squared_sum')
loss.hinge.Hinge(norm='L1', reduce='mean')
loss.huber_loss.HuberLoss(delta, reduce='sum_along_second_axis')
loss.sigmoid_cross_entropy.SigmoidCrossEntropy(normalize=True, reduce='mean')
loss.softmax_cross_entropy.SoftmaxCrossEntropy(normalize=True, cache_score=True, class_weight=None, ignore_label=-1, reduce='mean', soft_target_loss='cross-entropy', label_smoothing=0.0)
loss.triplet.Triplet(margin, reduce='mean')
math.average.Mean(axis, keepdims)
math.basic_math.AddConstant(value)
math.basic_math.DivFromConstant(value)
math.basic_math.MulConstant(value)
math.basic_math.PowConstVar(value)
math.basic_math.PowVarConst(value)
math.basic_math.SubFromConstant(value)
math.clip.Clip(x_min, x_max)
math.cumprod.Cumprod(axis)
math.cumsum.Cumsum(axis=None)
math.einsum.EinSum(in_subs, out_sub)
math.logsumexp.LogSumExp(axis=None)
math.matmul.BatchMatMul(transa=False, transb=False)
math.matmul.MatMul(transa=False, transb=False, transc=False, dtype=None)
math.minmax.ArgMax(axis=None)
math.minmax.ArgMin(axis=None)
math.minmax.Max(axis=None, keepdims=False)
math.minmax.Min(axis=None, keepdims=False)
math.prod.Prod(axis=None, keepdims=False)
math.sum.Sum(axis=None, keepdims=False)
math.sum.SumTo(shape)
math.tensordot.TensorDot(axes=2, a_axes=None, b_axes=None, c_axes=None, dtype=None)
noise.dropout.Dropout(dropout_ratio, mask=None, return_mask=False)
noise.gaussian.Gaussian(eps=None)
noise.simplified_dropconnect.SimplifiedDropconnect(ratio, mask=None, use_batchwise_mask=True)
noise.zoneout.Zoneout(zoneout_ratio)
normalization.l2_normalization.NormalizeL2(eps=1e-05, axis=1)
util.forget.Forget(func)
"""
WITHOUT = """
activation.hard_sigmoid.HardSigmoid activation.prelu.PReLUFunction activation.relu.ReLU
activation.sigmoid.Sigmoid activation.swish.Swish activation.tanh.Tanh array.broadcast.Broadcast
array.dstack.Dstack array.fliplr.FlipLR array.flipud.FlipUD array.hstack.Hstack
array.select_item.SelectItem array.vstack.Vstack connection.bilinear.BilinearFunction
connection.linear.LinearFunction evaluation.binary_accuracy.BinaryAccuracy
loss.absolute_error.AbsoluteError loss.mean_absolute_error.MeanAbsoluteError
loss.mean_squared_error.MeanSquaredError loss.squared_error.SquaredError math.arctanh.Arctanh
math.basic_math.Absolute math.basic_math.Add math.basic_math.Div math.basic_math.Mul
math.basic_math.MultiAdd math.basic_math.Neg math.basic_math.PowVarVar math.basic_math.Sub
math.batch_l2_norm_squared.BatchL2NormSquared math.erf.Erf math.exponential.Exp
math.exponential.Log math.exponential.Log10 math.exponential.Log2 math.exponential_m1.Expm1
math.fmod.Fmod math.hyperbolic.Cosh math.hyperbolic.Sinh math.identity.Identity
math.linear_interpolate.LinearInterpolate math.logarithm_1p.Log1p math.maximum.Maximum
math.minimum.Minimum math.sqrt.Sqrt math.square.Square math.trigonometric.Arccos
math.trigonometric.Arcsin math.trigonometric.Arctan math.trigonometric.Arctan2
math.trigonometric.Cos math.trigonometric.Sin math.trigonometric.Tan rnn.lstm.LSTM rnn.slstm.SLSTM
rnn.tree_lstm.TreeLSTM
"""


def class_of(path):
    module, name = path.rsplit('.', 1)
    return getattr(importlib.import_module(f'chainer.functions.{module}'), name)


@pytest.mark.parametrize('line', WITH_ARGUMENTS.split('\n')[1:-1])
def test_signature(line):
    path, _, arguments = line.partition('(')
    cls = class_of(path)
    parameters = [
        p.replace(annotation=inspect.Parameter.empty)
        for p in inspect.signature(cls).parameters.values()
    ]
    assert str(inspect.Signature(parameters)) == f'({arguments}'
    required = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    if required:
        with pytest.raises(TypeError, match=rf'{cls.__name__}.* missing .*{required[0].name}'):
            cls()
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        with pytest.raises(TypeError, match='nonsense'):
            cls(*[None] * len(required), nonsense=1)
    with pytest.raises(TypeError):
        cls(*[None] * (len(parameters) + 1))


@pytest.mark.parametrize('path', WITHOUT.split())
def test_without_arguments(path):
    cls = class_of(path)
    assert not inspect.signature(cls).parameters
    cls()
    with pytest.raises(TypeError):
        cls(1)


LABELS = np.array([0, 1, 2, 0], 'i')
WEIGHTS = np.arange(324, dtype='f').reshape(9, 9, 2, 2)
LOCAL_WEIGHTS = np.arange(288, dtype='f').reshape(2, 2, 2, 9, 2, 2)
IMAGES = np.arange(180, dtype='f').reshape(1, 9, 5, 4)
THETA = np.ones((1, 2, 3), 'f')
ONE = np.ones((1, 4, 2, 2), 'f')
FOUR_BY_THREE = np.arange(12, dtype='f').reshape(4, 3)


def arguments(*args, **kwargs):
    return args, kwargs


# A class, its arguments, inputs, and the equivalent function.
SAME = [
    ('activation.clipped_relu.ClippedReLU', arguments(5.0), [A], lambda x: F.clipped_relu(x, 5.0)),
    (
        'activation.clipped_relu.ClippedReLU',
        arguments(z=5.0),
        [A],
        lambda x: F.clipped_relu(x, 5.0),
    ),
    (
        'array.broadcast.BroadcastTo',
        arguments(shape=(2, 2, 4, 3)),
        [A],
        lambda x: F.broadcast_to(x, (2, 2, 4, 3)),
    ),
    ('array.cast.Cast', arguments(typ=np.float64), [A], lambda x: F.cast(x, 'd')),
    ('array.depth2space.Depth2Space', arguments(r=2), [ONE], lambda x: F.depth2space(x, 2)),
    ('array.diagonal.Diagonal', arguments(1, 1, 2), [A], lambda x: F.diagonal(x, 1, 1, 2)),
    ('array.get_item.GetItem', arguments(1), [A], lambda x: x[1]),
    ('array.get_item.GetItem', arguments([0, 1]), [A], lambda x: x[[0, 1]]),
    ('array.get_item.GetItem', arguments(slices=(slice(None), 1)), [A], lambda x: x[:, 1]),
    ('array.moveaxis.Moveaxis', arguments(0, 1), [A], lambda x: F.moveaxis(x, 0, 1)),
    (
        'array.pad.Pad',
        arguments(1, 'constant', constant_values=3),
        [A],
        lambda x: F.pad(x, 1, 'constant', constant_values=3),
    ),
    ('array.pad.Pad', arguments(pad_width=1, mode='edge'), [A], lambda x: F.pad(x, 1, 'edge')),
    (
        'array.pad_sequence.PadSequence',
        arguments(5, -1),
        [A[0], A[1, :2]],
        lambda *xs: F.pad_sequence(xs, 5, -1),
    ),
    ('array.repeat.Repeat', arguments(2), [A], lambda x: F.repeat(x, 2)),
    (
        'array.repeat.Repeat',
        arguments(repeats=(1, 2), axis=0),
        [A],
        lambda x: F.repeat(x, (1, 2), 0),
    ),
    ('array.reshape.Reshape', arguments((4, -1)), [A], lambda x: F.reshape(x, (4, -1))),
    ('array.space2depth.Space2Depth', arguments(2), [ONE], lambda x: F.space2depth(x, 2)),
    (
        'array.spatial_transformer_grid.SpatialTransformerGrid',
        arguments((3, 2)),
        [THETA],
        lambda x: F.spatial_transformer_grid(x, (3, 2)),
    ),
    ('array.split_axis.SplitAxis', arguments(2, 1), [A], lambda x: F.split_axis(x, 2, 1)),
    (
        'array.split_axis.SplitAxis',
        arguments([1, 3], axis=1),
        [A],
        lambda x: F.split_axis(x, [1, 3], 1),
    ),
    (
        'array.split_axis.SplitAxis',
        arguments(indices_or_sections=np.array([1, 3]), axis=1),
        [A],
        lambda x: F.split_axis(x, [1, 3], 1),
    ),
    ('array.squeeze.Squeeze', arguments(0), [A[:1]], lambda x: F.squeeze(x, 0)),
    ('array.tile.Tile', arguments(2), [A], lambda x: F.tile(x, 2)),
    (
        'array.transpose_sequence.TransposeSequence',
        arguments(2),
        [A[0], A[1, :2]],
        lambda *xs: F.transpose_sequence(xs),
    ),
    ('array.where.Where', arguments(A > 3), [A, -A], lambda x, y: F.where(A > 3, x, y)),
    (
        'array.im2col.Im2Col',
        arguments(2, (1, 2), 1, True, dilate=1),
        [IMAGES],
        lambda x: F.im2col(x, 2, (1, 2), 1, True),
    ),
    (
        'connection.convolution_2d.Convolution2DFunction',
        arguments((1, 2), pad=1, groups=1, dilate=(2, 1), cudnn_fast=True),
        [IMAGES, WEIGHTS],
        lambda x, w: F.convolution_2d(x, w, None, (1, 2), 1, dilate=(2, 1), cudnn_fast=True),
    ),
    (
        'connection.convolution_nd.ConvolutionND',
        arguments(2, 2, (1, 0), True),
        [IMAGES, WEIGHTS],
        lambda x, w: F.convolution_nd(x, w, None, 2, (1, 0), True),
    ),
    (
        'connection.deconvolution_2d.Deconvolution2DFunction',
        arguments(2, 1, (None, 7)),
        [IMAGES, WEIGHTS],
        lambda x, w: F.deconvolution_2d(x, w, None, 2, 1, (8, 7)),
    ),
    (
        'connection.deconvolution_nd.DeconvolutionND',
        arguments(2, 2, 1, outsize=(8, 7)),
        [IMAGES, WEIGHTS],
        lambda x, w: F.deconvolution_nd(x, w, None, 2, 1, (8, 7)),
    ),
    (
        'connection.local_convolution_2d.LocalConvolution2DFunction',
        arguments(2),
        [IMAGES, LOCAL_WEIGHTS],
        lambda x, w: F.local_convolution_2d(x, w, stride=2),
    ),
    ('connection.shift.Shift', arguments(3, 1), [IMAGES], lambda x: F.shift(x, 3, 1)),
    ('connection.shift.Shift', arguments(dilate=(1, 2)), [IMAGES], lambda x: F.shift(x, 3, (1, 2))),
    (
        'evaluation.r2_score.R2_score',
        arguments(None, 'raw_values'),
        [A[0], A[1]],
        lambda x, y: F.r2_score(x, y, None, 'raw_values'),
    ),
    (
        'loss.huber_loss.HuberLoss',
        arguments(delta=2.0, reduce='no'),
        [A[0], A[1]],
        lambda x, y: F.huber_loss(x, y, 2.0, 'no'),
    ),
    (
        'math.average.Mean',
        arguments((0, 1), True),
        [A],
        lambda x: F.average(x, (0, 1), keepdims=True),
    ),
    ('math.basic_math.PowVarConst', arguments(value=2), [A], lambda x: x**2),
    ('math.clip.Clip', arguments(x_min=None, x_max=5), [A], lambda x: F.clip(x, None, 5)),
    ('math.cumprod.Cumprod', arguments(None), [A], F.cumprod),
    ('math.sum.SumTo', arguments((1, 4, 1)), [A], lambda x: F.sum_to(x, (1, 4, 1))),
    (
        'math.tensordot.TensorDot',
        arguments(axes=1),
        [A, A[0, :3]],
        lambda x, y: F.tensordot(x, y, 1),
    ),
    ('noise.zoneout.Zoneout', arguments(zoneout_ratio=0.0), [A, -A], lambda h, x: x),
    (
        'noise.dropout.Dropout',
        arguments(0.5, np.full_like(A, 2)),
        [A],
        lambda x: F.dropout(x, mask=np.full_like(A, 2)),
    ),
    ('normalization.l2_normalization.NormalizeL2', arguments(), [A], F.normalize),
    (
        'normalization.l2_normalization.NormalizeL2',
        arguments(1e-3, axis=(0, 2)),
        [A],
        lambda x: F.normalize(x, 1e-3, (0, 2)),
    ),
]


@pytest.mark.parametrize(
    ('path', 'given', 'inputs', 'function'), SAME, ids=lambda x: x if isinstance(x, str) else ''
)
def test_objects_agree_with_functions(path, given, inputs, function):
    args, kwargs = given
    f = class_of(path)(*args, **kwargs)
    xs = [Variable(x) for x in inputs]
    ys = f.apply(xs)
    expected = function(*xs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    assert len(ys) == len(expected)
    for y, e in zip(ys, expected, strict=True):
        assert y.dtype == e.dtype
        assert_equal(y, e.array)
        assert y.creator is f
    like = expected[0].creator
    for name in getattr(f, 'attributes', ()):
        if type(like) is type(f):
            np.testing.assert_array_equal(getattr(f, name), getattr(like, name), name)


@pytest.mark.parametrize(
    ('path', 'args', 'error'),
    [
        ('activation.clipped_relu.ClippedReLU', (5,), TypeError),
        ('activation.rrelu.RReLU', (0.5, 0.2), ValueError),
        ('array.pad.Pad', (1, 'nonsense'), ValueError),
        ('array.pad.Pad', ('constant', 1, 2), TypeError),
        ('array.repeat.Repeat', (-1,), ValueError),
        ('array.repeat.Repeat', (1.5,), TypeError),
        ('array.split_axis.SplitAxis', (0, 0), ValueError),
        ('array.split_axis.SplitAxis', ('x', 0), TypeError),
        ('connection.shift.Shift', (2,), ValueError),
        ('evaluation.r2_score.R2_score', (np.ones(2), 'raw_values'), NotImplementedError),
        ('math.clip.Clip', (None, None), ValueError),
        ('math.tensordot.TensorDot', (2, (0,)), TypeError),
        ('noise.dropout.Dropout', (1.0,), ValueError),
        ('noise.zoneout.Zoneout', (2.0,), ValueError),
    ],
)
def test_bad_arguments(path, args, error):
    with pytest.raises(error):
        class_of(path)(*args)


def test_subclasses_have_constructors_of_their_own():
    class Own(ClippedReLU):
        def __init__(self, factor):
            super().__init__(z=factor * 2)

    assert str(inspect.signature(Own)) == '(factor)'
    (y,) = Own(2.0).apply((A,))
    assert_equal(y, np.minimum(A, 4))
    assert str(inspect.signature(type('Plain', (ClippedReLU,), {}))) == '(z)'


OLD_STYLE = [
    ('array.spatial_transformer_grid.SpatialTransformerGrid', ((3, 2),), [THETA]),
    ('evaluation.binary_accuracy.BinaryAccuracy', (), [A[0], (A[0] > 3).astype('i')]),
    ('evaluation.classification_summary.ClassificationSummary', (3, 1.0, -1), [A[0], LABELS]),
    ('evaluation.r2_score.R2_score', (None, 'raw_values'), [A[0], A[1]]),
    ('loss.decov.DeCov', (), [A[0]]),
    ('loss.hinge.Hinge', ('L2',), [A[0], LABELS]),
    ('rnn.tree_lstm.TreeLSTM', (), [A[0], A[1], np.ones((4, 15), 'f')]),
]


@pytest.mark.parametrize(('path', 'args', 'inputs'), OLD_STYLE, ids=[row[0] for row in OLD_STYLE])
@pytest.mark.parametrize('module', [np, chainerx])
def test_objects_of_old_style_classes_are_called(path, args, inputs, module):
    inputs = [module.array(x) for x in inputs]
    f = class_of(path)(*args)
    assert isinstance(f, FunctionNode)
    y = f(*inputs)
    expected = class_of(path)(*args).apply(inputs)
    assert isinstance(y, tuple) == (len(expected) > 1)
    for a, b in zip(y if isinstance(y, tuple) else (y,), expected, strict=True):
        assert_equal(a, to_numpy(b))
    with pytest.raises(RuntimeError, match=r'Use apply\(\)'):
        ClippedReLU(1.0)(inputs[0])


def parameters_and_attributes():
    """(function, parameter, its default, that of the attribute), where the class has one."""
    for name, function in vars(F).items():
        if not inspect.isfunction(function):
            continue
        parameters = inspect.signature(function).parameters
        for called in sorted(set(re.findall(r'\b(\w+)\.call\(', inspect.getsource(function)))):
            cls = getattr(inspect.getmodule(function), called)
            for attribute, default in cls.attributes.items():
                parameter = parameters.get(cls.argument_names.get(attribute, attribute))
                if parameter is not None and default is not ...:
                    yield name, parameter.name, parameter.default, default


# The class updates the statistics by default, the function does not.
OTHER_IN_V7 = ('batch_renormalization', 'update_statistics')


def test_a_function_and_its_class_have_the_same_defaults():
    """Both are spelled out for readers and type checkers, so they must agree."""
    found = [f for f in parameters_and_attributes() if f[:2] != OTHER_IN_V7]
    assert len(found) > 40
    assert [f for f in found if f[2] is not inspect.Parameter.empty and f[2] != f[3]] == []
