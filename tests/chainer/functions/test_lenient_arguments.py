"""Argument forms that v7 accepted: NumPy integers, arrays, raw arrays, numbers."""

import math

import chainer
import chainer.functions as F
import numpy as np
import pytest
from chainer import Variable

IMAGE = np.arange(2 * 18 * 16, dtype='float32').reshape(2, 18, 4, 4) / 100
X = IMAGE[0, :, :3, 0]
ROIS = np.array([[0, 0, 3, 3], [1, 0, 2, 2]], 'float32')

# A call with unusual arguments, and the same with plain ones.
CALLS = {
    'moveaxis of arrays': (
        lambda x: F.moveaxis(x, np.array([0, 1]), np.array([1, 0])),
        lambda x: F.moveaxis(x, (0, 1), (1, 0)),
    ),
    'moveaxis of NumPy integers': (
        lambda x: F.moveaxis(x, (np.int64(0),), 1),
        lambda x: F.moveaxis(x, 0, 1),
    ),
    'normalize by NumPy integers': (
        lambda x: F.normalize(x, axis=(np.int64(0), 1)),
        lambda x: F.normalize(x, axis=(0, 1)),
    ),
    'normalize by an array': (
        lambda x: F.normalize(x, axis=np.array(0)),
        lambda x: F.normalize(x, axis=0),
    ),
    'tensordot by NumPy integers': (
        lambda x: F.tensordot(x, x, (np.int64(1), 1)),
        lambda x: F.tensordot(x, x, (1, 1)),
    ),
    'clip by arrays': (
        lambda x: F.clip(x, np.array(0.5), np.array(1)),
        lambda x: F.clip(x, 0.5, 1.0),
    ),
    'huber_loss': (
        lambda x: F.huber_loss(x, x * 2, np.array(0.5)),
        lambda x: F.huber_loss(x, x * 2, 0.5),
    ),
    'pad_sequence of integers': (
        lambda x: F.pad_sequence([F.cast(x, 'int32')], 20, np.float32(2)),
        lambda x: F.pad_sequence([F.cast(x, 'int32')], 20, 2),
    ),
}
IMAGE_CALLS = {
    'resize_images to floats': (
        lambda x: F.resize_images(x, (6.0, 2)),
        lambda x: F.resize_images(x, (6, 2)),
    ),
    'shift by NumPy integers': (
        lambda x: F.shift(x, np.int64(3), np.array([1, 2])),
        lambda x: F.shift(x, 3, (1, 2)),
    ),
    'roi to a NumPy integer': (
        lambda x: F.roi_max_align_2d(x, x.xp.asarray(ROIS), places(x), np.int64(2), 1.0),
        lambda x: F.roi_max_align_2d(x, x.xp.asarray(ROIS), places(x), (2, 2), 1.0),
    ),
}


def places(x):
    return x.xp.asarray(np.array([0, 1], 'int32'))


def assert_same(odd, plain, x):
    y, expected = odd(x), plain(x)
    assert (y.dtype, y.shape) == (expected.dtype, expected.shape)
    assert y.array.tolist() == expected.array.tolist()


@pytest.mark.parametrize('name', CALLS)
def test_forms_of_arguments(make, name):
    assert_same(*CALLS[name], Variable(make(X)))


@pytest.mark.parametrize('name', IMAGE_CALLS)
def test_forms_of_arguments_of_images(make, name):
    assert_same(*IMAGE_CALLS[name], Variable(make(IMAGE)))


def test_sizes_of_images_are_whole_numbers(make):
    for shape in ((6.5, 2), ('6', 2)):
        with pytest.raises(TypeError):
            F.resize_images(make(IMAGE), shape)


@pytest.mark.parametrize('function', [F.ceil, F.floor, F.fix, F.sign])
def test_rounding_of_numpy_scalars(function):
    y = function(np.float32(1.5))
    assert (y.shape, y.dtype) == ((), np.float32)
    assert float(y.array) in (1, 2)


@pytest.mark.parametrize(
    ('x', 'dtype'), [(-0.5, 'float64'), (-2, 'int64'), ([-1.0, -3.0], 'float64')]
)
def test_sign_of_numbers(x, dtype):
    y = F.sign(x)
    assert y.dtype == dtype
    assert set(y.array.ravel().tolist()) == {-1}


def test_no_label_is_ignored(make):
    x, t = make(X[:, :3]), make(np.array([0, 1, 2] * 6, 'int32'))
    for options in ({}, {'normalize': False}, {'reduce': 'no'}):
        y = F.softmax_cross_entropy(x, t, ignore_label=None, **options)
        expected = F.softmax_cross_entropy(x, t, **options)
        assert y.array.tolist() == expected.array.tolist()


COMPOSED = {
    'gaussian_kl_divergence': (F.gaussian_kl_divergence, 2),
    'bernoulli_nll': (F.bernoulli_nll, 2),
    'gaussian_nll': (F.gaussian_nll, 3),
    'bias': (F.bias, 2),
    'scale': (F.scale, 2),
}


@pytest.mark.parametrize('name', COMPOSED)
def test_bare_arrays_take_the_dtype_of_the_variable(make, name):
    """In functions composed of operators, raw arrays take the dtype of the variable."""
    function, n = COMPOSED[name]
    bare = [make(np.full((2, 3), 0.25 * (i + 1))) for i in range(n - 1)]
    last = np.full(3, 0.5, 'float32') if name in ('bias', 'scale') else np.full((2, 3), 0.5, 'f')
    v = Variable(make(last))
    y = function(*bare, v)
    assert y.dtype == np.float32
    F.sum(y).backward()
    assert v.grad.dtype == np.float32
    wide = function(*bare, make(last.astype('float64')))
    np.testing.assert_allclose(y.array.tolist(), wide.array.tolist(), rtol=1e-6)


def test_numbers_in_likelihoods(make):
    mean, ln_var = (Variable(make(np.full(2, v, 'float32'))) for v in (1, 0))
    y = F.gaussian_nll(3.0, mean, ln_var)
    assert float(y.array) == pytest.approx(2 * (0.5 * math.log(2 * math.pi) + 2))
    assert float(F.bernoulli_nll(1, ln_var).array) == pytest.approx(2 * math.log(2))


def test_transpose_sequence_of_two_dtypes(make):
    xs = [Variable(make(np.ones(shape, dtype))) for shape, dtype in ((3, 'f'), (2, 'd'))]
    ys = F.transpose_sequence(xs)
    assert [y.dtype for y in ys] == [np.float32] * 3
    F.sum(F.concat(ys, 0)).backward()
    assert [x.grad.dtype for x in xs] == ['float32', 'float64']


@pytest.mark.parametrize('groups', [1, 2])
@pytest.mark.parametrize('transposed', [False, True])
def test_convolutions_over_no_axes_are_products(make, transposed, groups):
    x = np.arange(8, dtype='float64').reshape(2, 4)
    w = np.arange(24 / groups).reshape((4, 6 // groups) if transposed else (6, 4 // groups))
    xs = [Variable(make(v)) for v in (x, w, np.ones(6))]
    function = F.deconvolution_nd if transposed else F.convolution_nd
    y = function(*xs, groups=groups)
    parts = zip(np.split(x, groups, 1), np.split(w, groups), strict=True)
    expected = np.hstack([a @ (b if transposed else b.T) for a, b in parts]) + 1
    assert y.array.tolist() == expected.tolist()
    gradients = chainer.grad([F.sum(y * y)], xs, enable_double_backprop=True)
    assert gradients[0].shape == x.shape
    second = chainer.grad([F.sum(gradients[2])], [xs[0]])[0]
    assert second.array.tolist() == (2 * chainer.grad([F.sum(y)], [xs[0]])[0].array).tolist()
    assert gradients[2].array.tolist() == (2 * expected.sum(0)).tolist()


def test_nothing_is_identical_to_nothing():
    """None equals None, as in the states of an optimizer without a step."""
    assert F.identity(*[]) == ()
    assert F.transpose_sequence([]) == ()
