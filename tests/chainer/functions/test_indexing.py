"""Indices, and where arrays are split."""

import chainer
import chainer.functions as F
import numpy as np
import pytest
from chainer import Variable
from chainer.utils.type_check import InvalidType


@pytest.fixture
def x(make):
    return Variable(make(np.arange(20, dtype='float32').reshape(4, 5)))


def picked(y):
    return np.array(y.array.tolist(), y.dtype)


TUPLES = {
    'ranges': [range(4), [0, 1, 2, 0]],
    'lists': [[0, 1], [1, 2]],
    'tuples': [(0, 1), (1, 2)],
    'arrays': [np.arange(2), np.arange(1, 3)],
    'array and int': [np.arange(3), 2],
    'one list': [[0, 1]],
    'NumPy integers': [np.int32(1), np.int64(2)],
    'one NumPy integer': [np.int8(1)],
    'slice': [slice(1, 3), 2],
    'None': [None, 1],
}


@pytest.mark.parametrize('indices', TUPLES.values(), ids=TUPLES)
def test_a_list_is_a_tuple_of_indices_unless_all_are_ints(x, indices):
    expected = np.arange(20, dtype='float32').reshape(4, 5)[tuple(map(_known, indices))]
    for y in (F.get_item(x, indices), x[indices]):
        assert y.shape == expected.shape
        np.testing.assert_array_equal(picked(y), expected)
    x.cleargrad()
    b = x[indices] * 2
    F.sum(F.scatter_add(x, indices, b) * 3).backward()
    gx = np.full((4, 5), 3.0)
    np.add.at(gx, tuple(map(_known, indices)), 6)
    np.testing.assert_array_equal(picked(Variable(x.grad)), gx)


def _known(index):
    return list(index) if isinstance(index, range) else index


def test_a_list_of_ints_is_one_index(x):
    assert x[[0, 2]].shape == (2, 5)
    assert x[[True, False, True, True]].shape == (3, 5)
    assert x[[]].shape == (0, 5)


def test_a_range_in_a_tuple_is_one_index(x):
    assert picked(x[range(3), 2]).tolist() == [2, 7, 12]


def test_debug_mode_reports_bad_indices(x):
    with chainer.using_config('debug', True):
        for function in (
            lambda: x[..., ...],
            lambda: F.get_item(x, [..., 0, ...]),
            lambda: F.scatter_add(x, (..., ...), x),
        ):
            with pytest.raises(ValueError, match='Ellipsis'):
                function()
        with pytest.raises(ValueError, match='sorted'):
            F.split_axis(x, [3, 1], 0)
        assert len(F.split_axis(x, [1, 1, 3], 0)) == 4
    assert [y.shape[0] for y in F.split_axis(x, [3, 1], 0)] == [3, 0, 3]


@pytest.mark.parametrize('slices', [(0, 1, 1), [0, slice(None), 2], (0, None, 1, 1)])
def test_scatter_add_counts_indices(x, slices):
    with pytest.raises(InvalidType, match='ndim'):
        F.scatter_add(x, slices, x[0, 0])


def test_scatter_add_counts_indices_of_axes(x):
    """New axes and an ellipsis do not count as indices of axes."""
    y = F.scatter_add(x, (None, 0, ..., 1, None), x[:1, :1] * 0 + 7)
    assert (y.array != x.array).sum() == 1
    assert y.array[0, 1] == x.array[0, 1] + 7


def test_scatter_add_converts_its_values(make):
    a = Variable(make(np.zeros(3, 'float32')))
    b = Variable(make(np.array([1, 2], 'float64')))
    y = F.scatter_add(a, [0, 0], b)
    assert (y.dtype, picked(y).tolist()) == (np.float32, [3, 0, 0])
    F.sum(y * y).backward()
    assert (b.grad.dtype, picked(Variable(b.grad)).tolist()) == (np.float64, [6, 6])
    assert F.scatter_add(a, 1, make(np.array(2, 'int32'))).array.tolist() == [0, 2, 0]
    with pytest.raises(InvalidType, match='dtype'):
        F.scatter_add(make(np.zeros(3, 'int32')), 1, make(np.array(2.5, 'float32')))


@pytest.mark.parametrize(
    ('where', 'lengths'),
    [
        (np.array(2), [2, 2]),
        (np.int64(4), [1] * 4),
        (range(1, 3), [1, 1, 2]),
        (np.arange(2), [0, 1, 3]),
    ],
)
def test_split_axis_takes_any_integers(x, where, lengths):
    assert [y.shape[0] for y in F.split_axis(x, where, 0)] == lengths


@pytest.mark.parametrize('where', [[1.0, 2.0], np.array([1.0]), np.zeros((1, 1), int), 'a', None])
def test_split_axis_refuses_non_integers(x, where):
    with pytest.raises(TypeError):
        F.split_axis(x, where, 0)


@pytest.mark.parametrize(('shape', 'expected'), [((0,), (0, 5)), ((0, 5), (0,)), ((4, 0), (0,))])
def test_an_empty_mask_picks_nothing(x, shape, expected):
    """A mask axis of length 0 fits any axis, as in NumPy."""
    y = x[np.zeros(shape, bool)]
    assert y.shape == expected
    F.sum(y).backward()
    assert not picked(Variable(x.grad)).any()
