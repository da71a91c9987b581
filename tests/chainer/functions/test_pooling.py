"""Properties of poolings beyond the table."""

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Variable
from chainer.functions.pooling.average_pooling_2d import AveragePooling2D
from chainer.functions.pooling.max_pooling_nd import MaxPoolingND
from chainer.functions.pooling.unpooling_2d import Unpooling2D
from functions.cases.pooling import _align

on_each_kind = pytest.mark.parametrize('make', [np.array, chainerx.array], ids=['numpy', 'native'])
X = np.random.default_rng(0).permutation(2 * 3 * 7 * 8).reshape(2, 3, 7, 8).astype('float32')


def as_numpy(x):
    return chainerx.to_numpy(x) if isinstance(x, chainerx.ndarray) else x


@on_each_kind
def test_indices(make):
    x = Variable(make(X))
    y, indices = F.max_pooling_2d(x, 3, 2, 1, return_indices=True)
    assert type(indices) is type(x.array)
    assert (indices.shape, indices.dtype) == (y.shape, np.int64)
    assert isinstance(y.creator, MaxPoolingND)
    assert y.creator.return_indices
    np.testing.assert_array_equal(as_numpy(y.creator.indexes), as_numpy(indices))
    # Indices within the windows: values written there are found there again.
    back = F.upsampling_2d(y, indices, 3, 2, 1, X.shape[2:])
    kept = as_numpy(back.array)
    assert set(kept[kept != 0] % 1) == {0}
    np.testing.assert_array_equal(
        as_numpy(F.max_pooling_2d(x, 3, 2, 1).creator.indexes), as_numpy(indices)
    )


@on_each_kind
def test_indices_without_a_graph(make):
    with chainer.no_backprop_mode():
        y, indices = F.max_pooling_2d(make(X), 2, return_indices=True)
    assert y.creator is None
    assert indices.dtype == np.int64
    f = MaxPoolingND(2, 2)
    f.apply((make(X),))
    np.testing.assert_array_equal(as_numpy(f.indexes), as_numpy(indices))


def test_first_of_equal_elements_gets_the_gradient():
    x = Variable(np.zeros((1, 1, 3, 3), 'f'))
    y = F.max_pooling_2d(x, 2, 1)
    y.grad = np.ones_like(y.array)
    y.backward()
    assert x.grad[0, 0].tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 0]]


def test_windows_of_padding():
    """Windows of padding have the maximum -inf, as in v7, and the mean 0, where v7 gives NaN."""
    x = np.ones((1, 1, 4), 'f')
    assert as_numpy(F.max_pooling_1d(x, 1, None, 1).array)[0, 0, [0, -1]].tolist() == [-np.inf] * 2
    for pad_value in (0, None):
        y = F.average_pooling_1d(x, 1, None, 1, pad_value).array
        assert y[0, 0].tolist() == [0, 1, 1, 1, 1, 0]


def test_narrow_images_in_pyramids():
    x = np.arange(1, 15, dtype='f').reshape(1, 1, 14, 1)
    assert F.spatial_pyramid_pooling_2d(x, 2, 'max').array.ravel().tolist() == [14, 7, 14]
    y = F.spatial_pyramid_pooling_2d(x, 3, 'max').array.ravel()
    assert y.shape == (15,)
    assert np.isinf(y).sum() == 8


@pytest.mark.parametrize(
    ('cls', 'args', 'function'),
    [
        (MaxPoolingND, (2, 3, 2, 1), lambda x: F.max_pooling_2d(x, 3, 2, 1)),
        (
            AveragePooling2D,
            ((3, 2), None, (1, 0), False),
            lambda x: F.average_pooling_2d(x, (3, 2), None, (1, 0)),
        ),
        (Unpooling2D, (2, None, 0, (14, 16)), lambda x: F.unpooling_2d(x, 2, outsize=(14, 16))),
        (Unpooling2D, (3, 2, 1), lambda x: F.unpooling_2d(x, 3, 2, 1)),
    ],
)
def test_objects_agree_with_functions(cls, args, function):
    (y,) = cls(*args).apply((X,))
    np.testing.assert_array_equal(y.array, function(X).array)


def test_averages_that_cover_all():
    """Averages with cover_all, the class's default, which the function can't request."""
    f = AveragePooling2D(2)
    (y,) = f.apply((X,))
    assert y.shape == (2, 3, 4, 4)
    np.testing.assert_allclose(y.array[:, :, 3], X[:, :, 6].reshape(2, 3, 4, 2).sum(-1) / 4)


def test_constructors_refuse():
    with pytest.raises(ValueError, match='at least one spatial'):
        MaxPoolingND(0, 3)
    with pytest.raises(ValueError, match=r'ksize is \(3,\), expected 2'):
        MaxPoolingND(2, (3,))
    with pytest.raises(ValueError, match=r'outsize is \(3,\)'):
        Unpooling2D(2, outsize=(3,))
    with pytest.raises(TypeError, match=r'stride is 1.5'):
        AveragePooling2D(2, 1.5)


ALIGN = {True: F.roi_average_align_2d, False: F.roi_max_align_2d}


@pytest.mark.parametrize('average', [True, False])
def test_aligned_regions_that_reach_far_out(average):
    """Only sampling points inside the image are read, and all are counted."""
    x = X[:1, :2, :5, :6]
    regions = np.array([[-60, -40, 60, 40], [-90, 2, 4, 5], [3, -50, 5, 4], [40, 0, 99, 5]], 'f')
    of = np.zeros(len(regions), 'i')
    for outsize, ratio in ((1, None), (2, None), ((3, 2), 40)):
        expected = _align(average)(x, regions, of, outsize, 1.0, ratio)
        found = ALIGN[average](x, regions, of, outsize, 1.0, ratio).array
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize('average', [True, False])
def test_aligned_regions_of_any_size(average):
    x = Variable(X[:1, :1])
    for far in (1e9, 1e30):
        regions = np.array([[-far, -far, far, far], [far, 0, far, 4]], 'f')
        y = ALIGN[average](x, regions, np.zeros(2, 'i'), 2, 1.0)
        assert y.shape == (2, 1, 2, 2)
        assert np.isfinite(y.array[0]).all() or not average
        y.grad = np.ones_like(y.array)
        y.backward()
        assert np.isfinite(x.grad).all()


@pytest.mark.parametrize('f', ['roi_max_align_2d', 'roi_average_align_2d', 'roi_max_pooling_2d'])
def test_scaled_regions_are_finite(f):
    region, of = np.full((1, 4), 3e38, 'f'), np.zeros(1, 'i')
    with pytest.raises(ValueError, match='spatial_scale is 1e\\+300'):
        getattr(F, f)(X, region, of, 2, 1e300)


@pytest.mark.parametrize('f', ['roi_max_align_2d', 'roi_average_align_2d', 'roi_max_pooling_2d'])
def test_no_regions_give_a_gradient_of_zeros(f):
    x = Variable(X)
    y = getattr(F, f)(x, np.zeros((0, 4), 'f'), np.zeros(0, 'i'), 2, 1.0)
    assert y.shape == (0, 3, 2, 2)
    F.sum(y).backward()
    np.testing.assert_array_equal(x.grad, np.zeros_like(X))


@on_each_kind
@pytest.mark.parametrize(
    ('unpool', 'names'),
    [
        (lambda x: F.unpooling_2d(x, 2, cover_all=False), ('outh', 'outw')),
        (lambda x: F.upsampling_2d(x, np.zeros(X.shape, np.int32), 2), ('outh', 'outw')),
        (lambda x: F.unpooling_nd(x, 2), ('outs',)),
        (lambda x: Unpooling2D(2).apply((x,))[0], ('outh', 'outw')),
    ],
)
def test_functions_know_their_output_size(make, unpool, names):
    """Functions expose the size of their output, which graph exporters read."""
    y = unpool(Variable(make(X)))
    sizes = [getattr(y.creator, name) for name in names]
    assert tuple(np.ravel(sizes)) == y.shape[2:]
    y.grad = y.array
    y.backward()
