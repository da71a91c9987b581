"""Graphs, overlaps and equal indices in x.at[...], put() and others, beyond the table."""

import chainerx as chx
import numpy as np
import pytest
from cases._arrays import check, filled, leaf, same
from chainerx import func


def test_gradient_of_values_that_are_overwritten_is_zero():
    x, v = leaf([1, 2, 3]), leaf([4, 5, 6])
    x.at[[0, 2, 0]].set(v).backward()
    check(x.grad, [0, 1, 0])
    check(v.grad, [0, 1, 1])


def test_gradients_of_products_with_zeros():
    x, v = leaf([2, 3]), leaf([0, 5, 7, 0, 0])
    y = x.at[[0, 0, 1, 1, 1]].multiply(v)
    same(y, np.zeros(2, 'float32'))
    y.backward()
    check(x.grad, [0, 0])
    check(v.grad, [10, 0, 0, 0, 0])


def test_second_derivatives_of_products_with_zeros():
    """By two values of an element: the product of all others and the original element."""
    values = np.array([0, 5, 7, 0, 0, 3, 0, 0, 0], 'float64')
    index = np.array([0, 0, 2, 2, 2, 1, 3, 3, 3])
    x = np.array([2.0, 3.0, 4.0, 5.0])

    def f(v):
        return chx.sum(chx.array(x).at[chx.array(index)].multiply(v))

    expected = np.zeros((9, 9))
    for i, k in np.argwhere((index[:, None] == index) & ~np.eye(9, dtype=bool)):
        others = (index == index[i]) & ~np.isin(np.arange(9), [i, k])
        expected[i, k] = x[index[i]] * values[others].prod()
    np.testing.assert_array_equal(chx.to_numpy(func.hessian(f)(chx.array(values))), expected)
    # The third derivatives, at three zeros.
    third = func.jacfwd(func.hessian(f))(chx.array(values))
    assert third[6, 7, 8].item() == 5
    assert third[6, 6, 8].item() == 0


@pytest.mark.parametrize('method', ['min', 'max'])
def test_equal_extremes_share_the_gradient(method):
    x, v = leaf([4, 1]), leaf([4, 4, 1])
    getattr(x.at[[0, 0, 1]], method)(v).backward()
    check(x.grad, [1 / 3, 0.5])
    check(v.grad, [1 / 3, 1 / 3, 0.5])


def test_nan_is_an_extreme_and_has_the_gradient():
    x, v = leaf([np.nan, 1, 2]), leaf([5, np.nan])
    y = x.at[[0, 1]].min(v)
    same(y, np.array([np.nan, np.nan, 2], 'float32'))
    y.backward()
    check(x.grad, [1, 0, 1])
    check(v.grad, [0, 1])


def test_errors_begin_with_the_operation():
    x = chx.ones(3)
    for values in ('a', None, object()):
        with pytest.raises(TypeError, match=r'^index_set: values must be'):
            x.at[0].set(values)
    with pytest.raises(TypeError, match=r'^index_multiply: values must be'):
        x.at[0].divide('a')
    with pytest.raises(IndexError, match=r'^getitem: an index is'):
        x.at['a']


def test_array_stays_as_it_is():
    x, n = filled(3, 2)
    y = x.at[0].set(7)
    same(x, n)
    same(y, np.array([[7, 7], [2, 3], [4, 5]], 'float32'))
    assert x.at[...].get().data_ptr != x.data_ptr


def test_index_that_is_written_to_before_backward():
    x, i = leaf([1, 2, 3]), chx.array([0, 2])
    y = x.at[i].add(leaf([1, 1]))
    i[0] = 1
    with pytest.raises(chx.GradientError, match='index_add'):
        y.backward()


def test_values_that_are_the_array_itself():
    x, n = filled(4)
    chx.add_at(x, [3, 2, 1, 0], x)
    same(x, n + n[::-1])
    chx.put(x, [1, 2, 3], x)
    same(x, (n + n[::-1])[[0, 0, 1, 2]])
    x, n = filled(4)
    x.flat[1:] = x
    same(x, n[[0, 0, 1, 2]])


@pytest.mark.parametrize(
    'write',
    [
        lambda x: chx.put(x, [0], 1),
        lambda x: chx.place(x, x == 1, 1),
        lambda x: chx.putmask(x, x == 1, 1),
        lambda x: chx.fill_diagonal(x, 1),
        lambda x: chx.add_at(x, [0], 1),
        lambda x: chx.put_along_axis(x, chx.zeros((2, 1), 'int64'), 1),
        lambda x: x.flat.__setitem__(0, 1),
        lambda x: x.flat.__setitem__(slice(None), 1),
        lambda x: setattr(x, 'flat', 1),
    ],
)
def test_writes_in_place_keep_to_the_rules_of_graphs(write):
    x, _ = filled(2, 2)
    y = x.copy().require_grad()
    with pytest.raises(chx.ChainerxError, match='graph'):
        write(y)
    with pytest.raises(chx.ChainerxError, match=r'read-only|share memory'):
        write(chx.broadcast_to(chx.zeros(()), (2, 2)))
    # The array that backward needs was overwritten.
    w = leaf([[1, 2], [3, 4]])
    z = w * x
    write(x)
    with pytest.raises(chx.GradientError):
        z.backward()


@pytest.mark.parametrize(
    'write',
    [
        lambda x, v: x.__setitem__(..., v),
        lambda x, v: x.__setitem__([0, 1], v),
        lambda x, v: x.__setitem__(chx.array([True, True]), v),
        lambda x, v: chx.put(x, [0, 1], v),
        lambda x, v: chx.place(x, x == x, v),
        lambda x, v: chx.add_at(x, [0, 1], v),
        lambda x, v: setattr(x, 'flat', v),
    ],
)
def test_writes_of_lists_of_arrays_do_not_lose_their_graphs(write):
    w, x = leaf([1, 2]), chx.zeros(2)
    with pytest.raises(chx.ChainerxError, match='requires backprop'):
        write(x, [w[0], w[1]])
    same(x, [0, 0])
    write(x, [w[0].as_grad_stopped(), 2.0])
    same(x, [1, 2])


def test_lists_of_arrays_are_values_with_gradients():
    w = leaf([1, 2])
    y = chx.zeros(3).at[[0, 2]].add([w[0], 3 * w[1]])
    y.sum().backward()
    same(w.grad, [1, 3])


def test_writes_go_through_views():
    x, n = filled(3, 4)
    chx.put(x.T, [1, 5], [70, 80])
    n.T[0, 1] = 70
    n.T[1, 2] = 80
    same(x, n)
    chx.fill_diagonal(x[:, ::-1], -1)
    np.fill_diagonal(n[:, ::-1], -1)
    same(x, n)
    x.T.flat = [1, 2, 3]
    n.T.flat = [1, 2, 3]
    same(x, n)


def test_flat_is_iterated_in_c_order():
    x, n = filled(2, 3)
    assert [float(y) for y in x.T.flat] == n.T.ravel().tolist()
    assert len(x.flat) == 6
    same(x.T.flat.copy(), n.T.ravel())
    assert x.flat.base is x
    y = leaf([[1, 2], [3, 4]])
    y.flat[2].backward()
    check(y.grad, [[0, 0], [1, 0]])


def test_sums_in_16_bits_are_not_lost():
    x = chx.zeros(1, 'float16')
    chx.add_at(x, chx.zeros(4096, 'int64'), chx.ones(4096, 'float16'))
    assert float(x[0]) == 4096


@pytest.mark.parametrize('threads', [1, 2, 4])
def test_same_bits_for_any_number_of_threads(threads):
    rng = np.random.default_rng(0)
    i = rng.integers(0, 50, 20_000)
    v = rng.normal(size=(20_000, 40)).astype('float32')
    expected = np.zeros((50, 40), 'float32')
    np.add.at(expected, i, v)
    chx.set_num_threads(threads)
    same(chx.zeros((50, 40)).at[chx.array(i)].add(chx.array(v)), expected)
