"""Properties of connectionist_temporal_classification and crf1d beyond the table."""

import itertools

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Variable
from devices import to_numpy
from functions.cases import _sequence_loss


def test_long_sequences_do_not_leave_the_range_of_floats(make):
    """Long sequences stay in range: probabilities like exp(-10000), sums over many paths."""
    rs = np.random.RandomState(0)
    x = rs.randn(300, 2, 5) * 20
    t = rs.randint(1, 5, (2, 40))
    expected = None
    for dtype, rtol in (('float64', 1e-12), ('float32', 2e-5)):
        v = Variable(make(x, dtype))
        y = F.connectionist_temporal_classification(v, make(t, 'int32'), 0, reduce='no')
        y.grad = make([1, 1], dtype)
        y.backward()
        loss, grad = to_numpy(y.array), to_numpy(v.grad)
        expected = expected or (loss, grad)
        assert (loss > 3000).all()
        np.testing.assert_allclose(loss, expected[0], rtol)
        np.testing.assert_allclose(grad, expected[1], atol=1e-4)
        np.testing.assert_allclose(grad.sum(2), 0, atol=1e-4)


def test_steps_and_labels_beyond_the_lengths_do_not_count(make):
    rs = np.random.RandomState(1)
    x = rs.randn(6, 2, 4)
    t = np.array([[1, 2, 99], [3, -5, 99]])
    v = Variable(make(x, 'float64'))
    lengths = make([4, 6], 'int32'), make([2, 1], 'int32')
    y = F.connectionist_temporal_classification(v, make(t, 'int32'), 0, *lengths, reduce='no')
    alone = [
        F.connectionist_temporal_classification(
            make(x[:n, [i]], 'float64'), make(t[[i], :m], 'int32'), 0
        )
        for i, (n, m) in enumerate([(4, 2), (6, 1)])
    ]
    np.testing.assert_allclose(to_numpy(y.array), [float(a.array) for a in alone], 1e-12)
    F.sum(y).backward()
    assert (to_numpy(v.grad)[4:, 0] == 0).all()
    assert (to_numpy(v.grad)[:4, 0] != 0).all()


def test_an_impossible_label_costs_infinity(make):
    """An impossible label has infinite cost, minus the logarithm of 0."""
    x = np.zeros((3, 2, 3))
    x[:, 0, 1] = -np.inf
    t = make([[1], [1]], 'int32')
    y = F.connectionist_temporal_classification(make(x, 'float32'), t, 0, reduce='no')
    assert to_numpy(y.array)[0] == np.inf
    assert np.isfinite(to_numpy(y.array)[1])
    x[0, 0, 0] = np.nan
    y = F.connectionist_temporal_classification(make(x, 'float32'), t, 0, reduce='no')
    assert np.isnan(to_numpy(y.array)[0])


def test_the_third_derivative_says_that_it_is_missing():
    x = Variable(chainerx.array(np.random.RandomState(2).randn(3, 1, 2)))
    y = F.connectionist_temporal_classification(x, chainerx.array([[1]], 'int32'), 0)
    for _ in range(2):
        (g,) = chainer.grad([y], [x], enable_double_backprop=True)
        y = F.sum(g * g * g)
    with pytest.raises(chainerx.GradientError, match='third derivative'):
        chainer.grad([y], [x])


@pytest.mark.parametrize('lengths', [(3, 3, 2, 1), (2, 2), (1,)])
def test_argmax_crf1d_finds_the_best_labels(lengths, make):
    rs = np.random.RandomState(3)
    cost = rs.randn(3, 3)
    xs = [rs.randn(sum(n > t for n in lengths), 3) for t in range(max(lengths))]
    arrays = [make(x, 'float64') for x in xs]
    score, path = F.argmax_crf1d(make(cost, 'float64'), arrays)
    assert isinstance(score, Variable)
    assert all(type(p) is type(arrays[0]) and p.dtype == 'int32' for p in path)
    found = _sequence_loss.sequences([to_numpy(p) for p in path])
    for i, x in enumerate(_sequence_loss.sequences(xs)):
        ways = list(itertools.product(range(3), repeat=len(x)))
        best = max(ways, key=lambda way, x=x: _sequence_loss.score(cost, x, way))
        assert tuple(found[i]) == best
        np.testing.assert_allclose(
            to_numpy(score.array)[i], _sequence_loss.score(cost, x, best), 1e-12
        )


def test_crf_costs_may_have_a_dtype_of_their_own(make):
    """Costs may have another dtype than the scores, as in a gradient check."""
    rs = np.random.RandomState(5)
    values = [rs.randn(3, 3), rs.randn(2, 3), rs.randn(1, 3)]
    labels = [make([0, 2], 'int32'), make([1], 'int32')]
    for wide, narrow in (('float64', 'float32'), ('float32', 'float64')):
        cost = Variable(make(values[0], wide))
        xs = [Variable(make(x, narrow)) for x in values[1:]]
        loss = F.crf1d(cost, xs, labels)
        score, _ = F.argmax_crf1d(cost, xs)
        assert loss.dtype == score.dtype == np.float64
        expected = F.crf1d(values[0], values[1:], [np.array([0, 2]), np.array([1])])
        np.testing.assert_allclose(to_numpy(loss.array), expected.array, 1e-6)
        (loss + F.sum(score)).backward()
        assert [v.grad.dtype for v in (cost, *xs)] == [wide, narrow, narrow]
    xs = [make(values[1], 'float32'), make(values[2], 'float64')]
    if isinstance(xs[0], chainerx.ndarray):  # which are promoted
        assert F.crf1d(make(values[0], 'float32'), xs, labels).dtype == np.float64
        return
    with pytest.raises(chainer.utils.type_check.InvalidType, match='in_types'):
        F.crf1d(make(values[0], 'float32'), xs, labels)
