"""Functions of labels: checks of debug mode, attributes of creators, counts beyond float16."""

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Variable

on_each_kind = pytest.mark.parametrize('make', [np.array, chainerx.array], ids=['numpy', 'native'])


def as_numpy(x):
    return chainerx.to_numpy(x) if isinstance(x, chainerx.ndarray) else x


def scores(make, *shape):
    return Variable(make(np.random.default_rng(0).standard_normal(shape).astype('float32')))


def labels(make, *values):
    return Variable(make(np.array(values, 'int32')))


@on_each_kind
@pytest.mark.parametrize(
    ('function', 'good', 'bad'),
    [
        (lambda x, t: F.embed_id(t, x), (0, 2), (0, -1)),
        (lambda x, t: F.embed_id(t, x), (0, 2), (0, 3)),
        (lambda x, t: F.embed_id(t, x, ignore_label=-1), (0, -1), (0, -2)),
        (lambda x, t: F.softmax_cross_entropy(x, t), (0, 3, -1), (0, 4, 0)),
        (lambda x, t: F.softmax_cross_entropy(x, t, ignore_label=9), (0, 9, 3), (0, -1, 0)),
        (lambda x, t: F.select_item(x, t), (0, 3, 0), (0, -1, 0)),
        (lambda x, t: F.permutate(x, t), (0, 2, 1), (0, 0, 1)),
    ],
)
def test_debug_mode_checks_labels(make, function, good, bad):
    x = scores(make, 3, 4)
    with chainer.using_config('debug', True):
        function(x, labels(make, *good))
        with pytest.raises(ValueError, match=r'has|no permutation'):
            function(x, labels(make, *bad))


@on_each_kind
def test_softmax_is_kept_with_the_loss(make):
    x, t = scores(make, 3, 4), labels(make, 0, 1, -1)
    loss = F.softmax_cross_entropy(x, t)
    assert type(loss.creator.y) is type(x.array)
    np.testing.assert_array_equal(as_numpy(loss.creator.y), as_numpy(F.softmax(x).array))
    assert F.softmax_cross_entropy(x, t, cache_score=False).creator.y is None


@on_each_kind
def test_a_distribution_gets_no_gradient(make):
    x = scores(make, 3, 4)
    t = F.softmax(scores(make, 3, 4))
    F.softmax_cross_entropy(x, t).backward(retain_grad=True)
    assert x.grad is not None
    assert t.grad is None


@on_each_kind
def test_more_labels_than_float16_counts(make):
    n = 100_000
    x = Variable(make(np.zeros((n, 2), 'float16')))
    loss = F.softmax_cross_entropy(x, Variable(make(np.zeros(n, 'int32'))))
    assert loss.dtype == np.float16
    np.testing.assert_allclose(as_numpy(loss.array), np.log(2), rtol=1e-3)
    y = Variable(make(np.zeros(n, 'float16')))
    loss = F.sigmoid_cross_entropy(y, Variable(make(np.ones(n, 'int32'))))
    np.testing.assert_allclose(as_numpy(loss.array), np.log(2), rtol=1e-3)


def test_options_are_checked_by_the_class_too():
    from chainer.functions.loss.softmax_cross_entropy import SoftmaxCrossEntropy

    with pytest.raises(ValueError, match='reduce'):
        SoftmaxCrossEntropy(reduce='sum')
    with pytest.raises(ValueError, match='soft_target_loss'):
        SoftmaxCrossEntropy(soft_target_loss='x')


@on_each_kind
@pytest.mark.parametrize('weighted', [False, True])
def test_scores_that_do_not_count_reach_no_gradient(make, weighted):
    x = np.array([[0, 1, 2], [np.nan, 0, 1], [np.inf, 0, 1]], 'float32')
    weight = make(np.ones(3, 'float32')) if weighted else None
    x = Variable(make(x))
    t = labels(make, 1, -1, -1)
    loss = F.softmax_cross_entropy(x, t, class_weight=weight, label_smoothing=0.1)
    loss.backward()
    gradient = as_numpy(x.grad)
    assert np.isfinite(gradient[0]).all()
    assert gradient[0].any()
    assert not gradient[1:].any()


@on_each_kind
def test_smoothing_of_no_classes(make):
    x = Variable(make(np.zeros((3, 0), 'float32')))
    wanted = make(np.zeros((3, 0), 'float32'))
    loss = F.softmax_cross_entropy(x, wanted, label_smoothing=0.1, reduce='no')
    np.testing.assert_array_equal(as_numpy(loss.array), np.zeros(3))


@on_each_kind
@pytest.mark.parametrize('reduce', ['mean', 'no'])
@pytest.mark.parametrize('shape', [(1, 3, 4, 5), (1, 4, 3), (1, 3, 1, 5), (2, 3, 4)])
def test_labels_of_pixels_are_those_of_rows(make, reduce, shape):
    """Losses of pixels equal losses of rows; for one image the transposed scores are a view."""

    def as_rows(array):
        return np.moveaxis(as_numpy(array), 1, -1).reshape(-1, shape[1]).copy()

    x = scores(make, *shape)
    rows = Variable(make(as_rows(x.array)))
    t = np.random.default_rng(1).integers(-1, shape[1], shape[:1] + shape[2:])
    loss = F.softmax_cross_entropy(x, make(t), reduce=reduce)
    expected = F.softmax_cross_entropy(rows, make(t.ravel()), reduce=reduce)
    F.sum(loss).backward()
    F.sum(expected).backward()
    np.testing.assert_allclose(as_numpy(loss.array).ravel(), as_numpy(expected.array).ravel(), 1e-6)
    np.testing.assert_allclose(as_rows(x.grad), as_numpy(rows.grad), 1e-6)
