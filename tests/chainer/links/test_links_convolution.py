"""Convolution links interpret their arguments, and compute what their functions do."""

from __future__ import annotations

import pathlib

import chainer
import numpy as np
import pytest
from chainer import functions as F
from chainer import links as L
from chainer import serializers
from chainer.initializers import HeNormal, LeCunNormal
from chainer.link_hooks import SpectralNormalization
from chainer.utils.type_check import InvalidType
from data import make_v7_snapshots as v7
from devices import DEVICES, to_numpy

DATA = pathlib.Path(__file__).parents[1] / 'data'


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


def random(*shape):
    return np.random.RandomState(sum(shape)).uniform(-1, 1, shape).astype('f')


# Name: link, given its input channels; shape of x; shapes of W and b; equivalent function.
CASES = {
    'Convolution1D': (
        lambda c: L.Convolution1D(c, 5, 2, 2, (1,), cover_all=True, dilate=2),
        (2, 3, 7),
        (5, 3, 2),
        (5,),
        lambda x, w, b: F.convolution_1d(x, w, b, 2, 1, True, 2),
    ),
    'Convolution2D': (
        lambda c: L.Convolution2D(c, 4, (2, 3), (1, 2), 1, dilate=(2, 1), groups=2),
        (2, 6, 5, 7),
        (4, 3, 2, 3),
        (4,),
        lambda x, w, b: F.convolution_2d(x, w, b, (1, 2), 1, dilate=(2, 1), groups=2),
    ),
    'Convolution3D': (
        lambda c: L.Convolution3D(c, 4, 2, (1, 2, 1), groups=2),
        (2, 2, 3, 4, 3),
        (4, 1, 2, 2, 2),
        (4,),
        lambda x, w, b: F.convolution_3d(x, w, b, (1, 2, 1), groups=2),
    ),
    'ConvolutionND': (
        lambda c: L.ConvolutionND(2, c, 4, (2, 3), 2, (0, 1), cover_all=True),
        (2, 3, 5, 7),
        (4, 3, 2, 3),
        (4,),
        lambda x, w, b: F.convolution_nd(x, w, b, 2, (0, 1), True),
    ),
    'Deconvolution1D': (
        lambda c: L.Deconvolution1D(c, 5, 2, 2, 1, outsize=(12,)),
        (2, 3, 7),
        (3, 5, 2),
        (5,),
        lambda x, w, b: F.deconvolution_1d(x, w, b, 2, 1, (12,)),
    ),
    'Deconvolution2D': (
        lambda c: L.Deconvolution2D(c, 4, (2, 3), (1, 2), 1, dilate=(2, 1), groups=2),
        (2, 6, 5, 7),
        (6, 2, 2, 3),
        (4,),
        lambda x, w, b: F.deconvolution_2d(x, w, b, (1, 2), 1, dilate=(2, 1), groups=2),
    ),
    'Deconvolution2D of a size': (
        lambda c: L.Deconvolution2D(c, 4, 3, 2, outsize=(12, 15)),
        (2, 3, 5, 7),
        (3, 4, 3, 3),
        (4,),
        lambda x, w, b: F.deconvolution_2d(x, w, b, 2, outsize=(12, 15)),
    ),
    'Deconvolution3D': (
        lambda c: L.Deconvolution3D(c, 4, 2, (1, 2, 1), groups=2),
        (2, 2, 3, 4, 3),
        (2, 2, 2, 2, 2),
        (4,),
        lambda x, w, b: F.deconvolution_3d(x, w, b, (1, 2, 1), groups=2),
    ),
    'DeconvolutionND': (
        lambda c: L.DeconvolutionND(2, c, 4, (2, 3), 2, (0, 1), outsize=(10, 14)),
        (2, 3, 5, 7),
        (3, 4, 2, 3),
        (4,),
        lambda x, w, b: F.deconvolution_nd(x, w, b, 2, (0, 1), (10, 14)),
    ),
    'DepthwiseConvolution2D': (
        lambda c: L.DepthwiseConvolution2D(c, 4, (2, 3), (1, 2), 1),
        (2, 3, 5, 7),
        (4, 3, 2, 3),
        (12,),
        lambda x, w, b: F.depthwise_convolution_2d(x, w, b, (1, 2), 1),
    ),
    'DilatedConvolution2D': (
        lambda c: L.DilatedConvolution2D(c, 4, (2, 3), (1, 2), 1, (2, 1)),
        (2, 3, 5, 7),
        (4, 3, 2, 3),
        (4,),
        lambda x, w, b: F.dilated_convolution_2d(x, w, b, (1, 2), 1, (2, 1)),
    ),
    'LocalConvolution2D': (
        lambda c: L.LocalConvolution2D(c, 4, (5, 7), (2, 3), (1, 2)),
        (2, 3, 5, 7),
        (4, 4, 3, 3, 2, 3),
        (4, 4, 3),
        lambda x, w, b: F.local_convolution_2d(x, w, b, (1, 2)),
    ),
}
each = pytest.mark.parametrize('name', CASES)


@pytest.mark.parametrize('lazy', [False, True])
@each
def test_is_its_function(name, lazy, device):
    make, x_shape, w_shape, b_shape, function = CASES[name]
    x = random(*x_shape)
    link = make(None if lazy else x_shape[1])
    assert link.W.is_initialized == (not lazy)
    link.to_device(device)
    y = link(device.send(x))
    assert link.W.shape == w_shape
    assert link.b.shape == b_shape
    assert {p.device for p in link.params()} == {device}
    w, b = to_numpy(link.W.array), random(*b_shape)
    link.b.array[...] = device.send(b)
    y = link(device.send(x))
    assert y.device == device
    np.testing.assert_array_equal(to_numpy(y.array), function(x, w, b).array)
    link.cleargrads()
    y.grad = device.send(gy := random(*y.shape))
    y.backward()
    parameters = [chainer.Variable(v) for v in (w, b)]
    expected = function(x, *parameters)
    expected.grad = gy
    expected.backward()
    for p, e in zip((link.W, link.b), parameters, strict=True):
        np.testing.assert_array_equal(to_numpy(p.grad), e.grad)


@each
def test_lazy_links_draw_the_same_weights(name):
    make, x_shape, *_ = CASES[name]
    np.random.seed(1)
    eager = make(x_shape[1])
    np.random.seed(1)
    lazy = make(None)
    lazy(random(*x_shape))
    np.testing.assert_array_equal(lazy.W.array, eager.W.array)
    scale = HeNormal if name.startswith('Depthwise') else LeCunNormal
    assert isinstance(eager.W.initializer, scale)
    np.testing.assert_array_equal(eager.b.array, np.zeros(eager.b.shape))


def test_draws_the_same_weights_as_v7():
    with np.load(DATA / v7.DRAWN) as theirs:
        for path, p in v7.drawn().namedparams():
            expected = theirs[path[1:]]
            assert p.dtype == expected.dtype, path
            np.testing.assert_array_equal(p.array, expected, path)


def test_loads_files_of_v7(device):
    link = v7.clear(v7.drawn()).to_device(device)
    serializers.load_npz(DATA / v7.DRAWN, link)
    expected = v7.values(v7.drawn())
    for path, value in v7.values(link).items():
        np.testing.assert_array_equal(to_numpy(value), expected[path], path)


@each
def test_errors_leave_a_lazy_link_unchanged(name, device):
    make, x_shape, *_ = CASES[name]
    link = make(None).to_device(device)
    for shape in ((), (6,), (2, 6), (*x_shape, 2)):
        with pytest.raises(InvalidType, match=r'x\.ndim'):
            link(device.send(random(*shape)))
        assert not link.W.is_initialized
    link(device.send(random(*x_shape)))


@pytest.mark.parametrize('lazy', [False, True])
def test_no_channels(lazy, device):
    link = L.Convolution2D(None if lazy else 0, 5, 3, initial_bias=2).to_device(device)
    y = link(device.send(random(2, 0, 4, 3)))
    np.testing.assert_array_equal(to_numpy(y.array), np.full((2, 5, 2, 1), 2, 'f'))
    assert link.W.shape == (5, 0, 3, 3)


SHORT = {
    'Convolution2D': lambda *a, **k: L.Convolution2D(*a, **k),
    'ConvolutionND': lambda *a, **k: L.ConvolutionND(2, *a, **k),
    'Deconvolution2D': lambda *a, **k: L.Deconvolution2D(*a, **k),
    'DeconvolutionND': lambda *a, **k: L.DeconvolutionND(2, *a, **k),
    'DilatedConvolution2D': lambda *a, **k: L.DilatedConvolution2D(*a, **k),
}


@pytest.mark.parametrize('name', SHORT)
def test_channels_may_be_left_out(name):
    make = SHORT[name]
    for link in (make(5, 3), make(None, 5, 3), make(out_channels=5, ksize=3, in_channels=None)):
        assert not link.W.is_initialized
        assert link.out_channels == 5
        link(random(1, 2, 4, 4))
        ins_outs = (2, 5) if name.startswith('Deconv') else (5, 2)
        assert link.W.shape == (*ins_outs, 3, 3)


@pytest.mark.parametrize('name', ['DepthwiseConvolution2D', 'LocalConvolution2D', *SHORT])
def test_options_of_all(name):
    make = SHORT.get(name) or getattr(L, name)
    sizes = (2, 5, 4, 3) if name == 'LocalConvolution2D' else (2, 5, 3)
    link = make(*sizes, nobias=True)
    assert link.b is None
    assert list(dict(link.namedparams())) == ['/W']
    link(random(1, 2, 4, 4))
    link = make(*sizes, initialW=2, initial_bias=3)
    np.testing.assert_array_equal(link.W.array, np.full(link.W.shape, 2))
    np.testing.assert_array_equal(link.b.array, np.full(link.b.shape, 3))
    w = random(*link.W.shape).astype('d')
    np.testing.assert_array_equal(make(*sizes, initialW=w).W.array, w.astype('f'))
    with chainer.using_config('dtype', np.float16):
        assert {p.dtype for p in make(*sizes).params()} == {np.dtype('e')}
    with chainer.using_config('dtype', chainer.mixed16):
        assert {p.dtype for p in make(*sizes).params()} == {np.dtype('e')}
    with pytest.raises(TypeError, match='nonsense'):
        make(*sizes, nonsense=1)


def test_attributes():
    link = L.Convolution2D(3, 5, (2, 7), 2, (1, 0), dilate=3)
    found = [getattr(link, name) for name in ('ksize', 'stride', 'pad', 'dilate', 'groups')]
    assert found == [(2, 7), (2, 2), (1, 0), (3, 3), 1]
    assert (link.in_channels, link.out_channels, link.cudnn_fast) == (3, 5, False)
    link = L.ConvolutionND(2, 3, 5, 2, 2, (1, 0), dilate=3)
    found = [getattr(link, name) for name in ('ksize', 'stride', 'pad', 'dilate', 'cover_all')]
    assert found == [(2, 2), 2, (1, 0), (3, 3), False]
    link = L.Deconvolution2D(3, 5, 2, 2, (1, 0), dilate=3)
    found = [getattr(link, name) for name in ('ksize', 'stride', 'pad', 'dilate', 'outsize')]
    assert found == [2, (2, 2), (1, 0), (3, 3), (None, None)]
    link = L.DeconvolutionND(2, 3, 5, 2, 2, (1, 0))
    assert (link.ksize, link.stride, link.pad, link.outsize) == ((2, 2), 2, (1, 0), None)
    link = L.DepthwiseConvolution2D(3, 5, 2)
    assert (link.ksize, link.stride, link.pad, link.channel_multiplier) == (2, (1, 1), (0, 0), 5)
    link = L.LocalConvolution2D(3, 5, 4, 2)
    assert (link.ksize, link.stride, link.out_channels, link.nobias) == (2, (1, 1), 5, False)


def test_str():
    assert str(L.Convolution2D(5, 3, nobias=True)) == (
        'Convolution2D(in_channels=None, out_channels=5, ksize=3, stride=(1, 1), pad=(0, 0), '
        'nobias=True, dilate=(1, 1), groups=1)'
    )
    assert str(L.Deconvolution2D(5, 3)) == 'Deconvolution2D()'


@pytest.mark.parametrize('cls', [L.Convolution2D, L.ConvolutionND])
def test_from_params(cls):
    w, b, x = random(4, 3, 2, 3), random(4), random(2, 6, 5, 5)
    link = cls.from_params(w, b, 2, (1, 0), groups=2, dilate=(2, 1))
    expected = F.convolution_nd(x, w, b, 2, (1, 0), dilate=(2, 1), groups=2)
    np.testing.assert_array_equal(link(x).array, expected.array)
    assert link.W.array is not w
    assert cls.from_params(w, nobias=True).b is None
    np.testing.assert_array_equal(cls.from_params(w).b.array, np.zeros(4))
    link = cls.from_params(chainer.Variable(w), chainer.Variable(b))
    np.testing.assert_array_equal(link.W.array, w)
    np.testing.assert_array_equal(link.b.array, b)
    with pytest.raises(ValueError, match='does not match the size of `b`'):
        cls.from_params(w, b[:2])
    with pytest.raises(TypeError, match='nonsense'):
        cls.from_params(w, b, nonsense=3)


@pytest.mark.parametrize(('cls', 'ndim'), [(L.Convolution1D, 1), (L.Convolution3D, 3)])
def test_from_params_of_fixed_ndim(cls, ndim):
    w = random(4, 3, *[2] * ndim)
    link = cls.from_params(w, stride=2)
    assert type(link) is cls
    x = random(2, 3, *[4] * ndim)
    np.testing.assert_array_equal(link(x).array, F.convolution_nd(x, w, stride=2).array)


@pytest.mark.parametrize(
    ('make', 'error', 'text'),
    [
        (lambda: L.Convolution2D(4, 6, 3, groups=3), ValueError, 'in_channels, 4'),
        (lambda: L.Convolution2D(6, 4, 3, groups=3), ValueError, 'out_channels, 4'),
        (lambda: L.ConvolutionND(2, 4, 6, 3, groups=3), ValueError, 'in_channels, 4'),
        (lambda: L.Deconvolution2D(4, 6, 3, groups=3), ValueError, 'in_channels, 4'),
        (lambda: L.DeconvolutionND(2, 6, 4, 3, groups=3), ValueError, 'out_channels, 4'),
        (lambda: L.Convolution2D(4, 6, 3, groups=0), ValueError, 'groups is 0'),
        (lambda: L.DeconvolutionND(2, 4, 6, 3, groups=-2), ValueError, 'groups is -2'),
        (lambda: L.Convolution2D(3, 5, (1, 2, 3)), ValueError, 'ksize'),
        (lambda: L.Convolution2D(3, 5, 2, stride=(1, 2, 3)), ValueError, 'stride'),
        (lambda: L.Convolution2D(3, 5, 2, pad=None), TypeError, 'pad'),
        (lambda: L.Convolution2D(3, 5, 2, deterministic=True), ValueError, 'cudnn_deterministic'),
        (lambda: L.Deconvolution2D(3, 5, 2, deterministic=1), ValueError, 'cudnn_deterministic'),
        (lambda: L.MLPConvolution2D(3, (5, 6), 2, wscale=1), ValueError, 'wscale'),
        (lambda: L.MLPConvolution2D(3, (5, 6), 2, nonsense=1), TypeError, 'nonsense'),
        (lambda: L.MLPConvolution2D(3, (), 2), ValueError, 'out_channels is empty'),
        (lambda: L.Convolution1D(3, 5), TypeError, 'ksize'),
        (lambda: L.DepthwiseConvolution2D(3, 5), TypeError, 'ksize'),
        (lambda: L.LocalConvolution2D(3, 5, 6), TypeError, 'ksize'),
        (lambda: L.LocalConvolution2D(3, 5, 3, 5), ValueError, 'ksize is'),
        (lambda: L.Convolution2D(3, 5, 2)(random(1, 4, 6, 7)), InvalidType, r'x.shape\[1\]'),
        (lambda: L.Convolution2D(5, 3)(random(1, 4, 2, 7)), ValueError, r'x.shape\[2\] is 2'),
        (lambda: L.Convolution2D(5, 3)(random(4, 5, 7)), InvalidType, 'x.ndim'),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize('lazy', [False, True])
def test_mlp_convolution(lazy, device):
    x = random(2, 3, 5, 6)
    args = ((4, 5, 2), 2) if lazy else (3, (4, 5, 2), 2)
    link = L.MLPConvolution2D(*args, stride=2, pad=1, activation=F.tanh).to_device(device)
    y = link(device.send(x))
    assert [c.W.shape for c in link] == [(4, 3, 2, 2), (5, 4, 1, 1), (2, 5, 1, 1)]
    expected = F.convolution_2d(x, to_numpy(link[0].W.array), None, 2, 1)
    for layer in link[1:]:
        expected = F.convolution_2d(F.tanh(expected), to_numpy(layer.W.array))
    np.testing.assert_allclose(to_numpy(y.array), expected.array, rtol=1e-5, atol=1e-6)
    assert y.creator.label == 'Convolution2DFunction'
    assert L.MLPConvolution2D(3, (4, 5), 2).activation is F.relu
    link = L.MLPConvolution2D(3, (4, 5), 2, conv_init=1, bias_init=2)
    assert {float(p.array.max()) for _, p in link.namedparams()} == {1, 2}


def test_inception(device):
    x = random(2, 3, 5, 6)
    link = L.Inception(None, 4, 5, 6, 7, 8, 9, bias_init=1).to_device(device)
    y = link(device.send(x))
    w = {path[1:-2]: to_numpy(p.array) for path, p in link.namedparams() if path.endswith('W')}
    one = np.ones(9, 'f')

    def conv(name, x, pad=0):
        return F.convolution_2d(x, w[name], one[: len(w[name])], pad=pad)

    parts = [
        conv('conv1', x),
        conv('conv3', F.relu(conv('proj3', x)), 1),
        conv('conv5', F.relu(conv('proj5', x)), 2),
        conv('projp', F.max_pooling_2d(x, 3, 1, 1)),
    ]
    assert [p.shape[1] for p in parts] == [4, 6, 8, 9]
    expected = F.relu(F.concat(parts)).array
    np.testing.assert_allclose(to_numpy(y.array), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ('args', 'pool'),
    [
        ((3, 4, 5, 6, 7, 8, 'avg', 9), lambda x: F.average_pooling_2d(x, 3, 1, 1)),
        ((3, 4, 5, 6, 7, 8, 'max', 9), lambda x: F.max_pooling_2d(x, 3, 1, 1, False)),
        ((3, 0, 5, 6, 7, 8, 'max', None, 2), lambda x: F.max_pooling_2d(x, 3, 2, 1, False)),
        ((None, 0, 5, 6, 7, 8, 'avg', 9, 2), lambda x: F.average_pooling_2d(x, 3, 2, 1)),
    ],
)
def test_inception_bn(args, pool, device):
    x = random(2, 3, 6, 8)
    stride = args[8] if len(args) > 8 else 1
    link = L.InceptionBN(*args).to_device(device)
    y = link(device.send(x))
    w = {path[1:-2]: to_numpy(p.array) for path, p in link.namedparams() if path.endswith('W')}

    def conv(name, x, stride=1):
        y = F.convolution_2d(x, w[name], stride=stride, pad=w[name].shape[2] // 2)
        return F.relu(F.batch_normalization(y, *np.array([[1], [0]], 'f').repeat(len(w[name]), 1)))

    parts = [
        conv('conv3', conv('proj3', x), stride),
        conv('conv33b', conv('conv33a', conv('proj33', x)), stride),
        conv('poolp', pool(x)) if args[7] else pool(x),
    ]
    if args[1]:
        parts.insert(0, conv('conv1', x))
    expected = F.concat(parts).array
    np.testing.assert_allclose(to_numpy(y.array), expected, rtol=1e-4, atol=1e-4)


def test_errors_of_inception_bn():
    with pytest.raises(NotImplementedError, match="'mean'"):
        L.InceptionBN(3, 4, 5, 6, 7, 8, 'mean', 9)
    for options in ({'proj_pool': None}, {'proj_pool': 9, 'stride': 2}):
        with pytest.raises(ValueError, match='out1 is 4'):
            L.InceptionBN(3, 4, 5, 6, 7, 8, 'max', **options)
    link = L.InceptionBN(3, 4, 5, 6, 7, 8, 'max', 9, conv_init=1, dtype=np.float16)
    assert (link.conv3n.gamma.dtype, link.conv3.W.dtype) == (np.float16, np.float32)


@pytest.mark.parametrize(
    'name', ['Convolution2D', 'ConvolutionND', 'Deconvolution2D', 'Convolution1D']
)
def test_spectral_normalization(name, device):
    make, x_shape, *_ = CASES[name]
    link = make(None)
    link.add_hook(SpectralNormalization(n_power_iteration=50))
    link.to_device(device)
    x = device.send(random(*x_shape))
    w = []

    class Look(chainer.LinkHook):
        name = 'Look'

        def forward_preprocess(self, args):
            w.append(to_numpy(args.link.W.array))

    link.add_hook(Look())
    link(x)
    before = to_numpy(link.W.array)
    axis = 1 if name.startswith('Deconv') else 0
    matrix = np.moveaxis(w[-1], axis, 0).reshape(w[-1].shape[axis], -1)
    np.testing.assert_allclose(np.linalg.svd(matrix, compute_uv=False)[0], 1, rtol=1e-4)
    assert not np.allclose(before, w[-1])
    link.cleargrads()
    F.sum(link(x) ** 2).backward()
    assert np.abs(to_numpy(link.W.grad)).max() > 0
