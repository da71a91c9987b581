"""pad() beyond the rows of the table: functions as modes, widths by axes, random widths."""

import chainerx as chx
import numpy as np
import pytest
from cases._arrays import filled, leaf, same
from hypothesis import given
from hypothesis import strategies as st


@given(
    st.integers(1, 6),
    st.integers(0, 20),
    st.integers(0, 20),
    st.sampled_from(['edge', 'reflect', 'symmetric', 'wrap']),
    st.sampled_from(['even', 'odd']),
)
def test_any_widths(n, before, after, mode, reflect_type):
    values = np.arange(1, n + 1) ** 2
    options = {'reflect_type': reflect_type} if mode in ('reflect', 'symmetric') else {}
    x = chx.array(values).reshape(1, n)[:, ::-1]
    expected = np.pad(values[None, ::-1], ((0, 1), (before, after)), mode, **options)
    same(chx.pad(x, ((0, 1), (before, after)), mode, **options), expected)


def test_function_as_mode():
    calls = []

    def count(vector, widths, axis, kwargs):
        calls.append((vector.shape, widths, axis, kwargs))
        vector[: widths[0]] = axis + 10
        vector[-1:] = -vector[widths[0]]

    x, n = filled(2, 3)
    y = chx.pad(x, ((1, 1), (2, 1)), count)
    assert calls[0] == ((4,), (1, 1), 0, {})
    assert len(calls) == 6 + 4
    expected = np.pad(n, ((1, 1), (2, 1)))
    expected[0] = 10
    expected[-1] = -expected[1]
    expected[:, :2] = 11
    expected[:, -1] = -expected[:, 2]
    same(y, expected)


def test_function_as_mode_has_no_gradient():
    with pytest.raises(chx.ChainerxError, match='as_grad_stopped'):
        chx.pad(leaf([1, 2]), 1, lambda *args: None)


def test_error_of_the_function():
    def fail(*args):
        raise RuntimeError('no')

    with pytest.raises(RuntimeError, match='no'):
        chx.pad(chx.zeros(3), 1, fail)


def test_widths_by_axis():
    x, n = filled(2, 3)
    same(chx.pad(x, {-1: (1, 2)}), np.pad(n, ((0, 0), (1, 2))))
    same(chx.pad(x, {0: 1, 1: 2}, 'edge'), np.pad(n, ((1, 1), (2, 2)), 'edge'))


def test_modes_that_a_dtype_has_not():
    x = chx.array([True, False])
    for mode, options in (('linear_ramp', {}), ('reflect', {'reflect_type': 'odd'})):
        with pytest.raises(chx.DtypeError, match='bool'):
            chx.pad(x, 1, mode, **options)
    same(chx.pad(x, 1, 'empty'), np.array([False, True, False, False]))


@pytest.mark.parametrize('n', [4, 5])
def test_median_of_nan_is_nan(n):
    values = np.arange(2.0 * n).reshape(2, n)
    values[0, 1] = np.nan
    x = leaf(chx.array(values))
    y = chx.pad(x, ((0, 0), (1, 0)), 'median')
    same(y.as_grad_stopped(), np.pad(values, ((0, 0), (1, 0)), 'median'))
    y[1].sum().backward()
    assert chx.to_numpy(x.grad)[1].sum() == n + 1


def test_a_key_clears_the_dict_of_widths():
    class Axis:
        def __init__(self, widths, value):
            self.widths = widths
            self.value = value

        def __index__(self):
            self.widths.clear()
            return self.value

    widths = {}
    widths[Axis(widths, 1)] = (1, 1)
    widths[Axis(widths, 0)] = (0, 2)
    assert chx.pad(chx.ones((2, 3)), widths).shape == (4, 5)
    widths[Axis(widths, 2**70)] = (1, 1)
    with pytest.raises(chx.DimensionError, match='does not fit'):
        chx.pad(chx.ones((2, 3)), widths)
