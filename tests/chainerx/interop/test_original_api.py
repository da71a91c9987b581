"""Features that programs for the original rely on, beyond the rows of the table."""

import chainerx as chx
import numpy as np
import pytest
from cases._arrays import leaf


@pytest.mark.parametrize(
    ('alias', 'name'),
    [
        ('abs', 'absolute'),
        ('acos', 'arccos'),
        ('acosh', 'arccosh'),
        ('amax', 'max'),
        ('amin', 'min'),
        ('around', 'round'),
        ('asin', 'arcsin'),
        ('asinh', 'arcsinh'),
        ('atan', 'arctan'),
        ('atan2', 'arctan2'),
        ('atanh', 'arctanh'),
        ('bitwise_invert', 'invert'),
        ('bitwise_left_shift', 'left_shift'),
        ('bitwise_not', 'invert'),
        ('bitwise_right_shift', 'right_shift'),
        ('deg2rad', 'radians'),
        ('mod', 'remainder'),
        ('pow', 'power'),
        ('rad2deg', 'degrees'),
        ('true_divide', 'divide'),
    ],
)
def test_aliases_are_the_same_object(alias, name):
    assert getattr(chx, alias) is getattr(chx, name)


@pytest.mark.parametrize('axis', [0, 1, 2, (0, 1), (0, 2), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize('function', [chx.softmax, chx.log_softmax])
def test_softmax_is_contiguous_along_any_axis(function, axis, device):
    x = chx.array(np.arange(24.0).reshape(2, 3, 4), device=device)
    for a in (x, x.transpose(2, 0, 1), x[::-1, :, ::2]):
        y = function(a, axis)
        assert y.is_contiguous
        assert y.strides == np.empty(a.shape).strides


def test_split_by_arrays_of_indices(device):
    x = chx.arange(12, device=device).reshape(2, 6)
    for split, n in ((chx.split, np.split), (chx.array_split, np.array_split)):
        for indices in (np.array([2, 3]), chx.array([2, 3]), np.array([2, 3], 'uint8')):
            parts = split(x, indices, 1)
            for y, e in zip(parts, n(chx.to_numpy(x), [2, 3], 1), strict=True):
                np.testing.assert_array_equal(chx.to_numpy(y), e)
        assert len(split(x, chx.array(3), 1)) == 3
    assert [y.shape for y in chx.hsplit(x, np.array([1]))] == [(2, 1), (2, 5)]
    for bad in (np.array([1.0]), np.array([[1]]), chx.array([0.5]), np.array(['a'])):
        with pytest.raises(TypeError, match='indices_or_sections'):
            chx.split(x, bad, 1)


def test_repeat_by_arrays_of_counts(device):
    x = chx.arange(3, device=device)
    for counts in (np.array([2, 0, 1]), chx.array([2, 0, 1])):
        np.testing.assert_array_equal(chx.to_numpy(chx.repeat(x, counts)), [0, 0, 2])
    assert chx.repeat(x, np.array(2)).shape == (6,)
    with pytest.raises(TypeError, match='repeats'):
        x.repeat(np.array([1.0, 2.0, 3.0]))


def test_meshgrid_of_nothing():
    assert chx.meshgrid() == ()
    with pytest.raises(ValueError, match='indexing'):
        chx.meshgrid(indexing='xyz')


def test_modes_take_keyword_arguments():
    context = chx.get_default_context()
    modes = ((chx.no_backprop_mode, False), (chx.force_backprop_mode, True))
    with chx.backprop_scope('a') as a:
        for (mode, expected), (opposite, _) in zip(modes, modes[::-1], strict=True):
            with opposite():
                with mode(context=context):
                    assert chx.is_backprop_required() is expected
                    assert chx.is_backprop_required(a) is expected
                for keywords in ({'backprop_id': a}, {'backprop_ids': [a]}, {'x': [a]}):
                    with mode(**keywords):
                        assert chx.is_backprop_required(backprop_id=a) is expected
                        assert chx.is_backprop_required(context=context) is not expected
                with mode(context=None, backprop_id=None):
                    assert chx.is_backprop_required(context=None) is expected
            for bad in ({'context': a}, {'backprop_id': context}, {'backprop_ids': a}):
                with pytest.raises(TypeError, match=next(iter(bad))):
                    mode(**bad)
            for args, both in (((a,), {'context': context}), ((), {'context': context, 'x': a})):
                with pytest.raises(TypeError, match='both x and context'):
                    mode(*args, **both)
        with pytest.raises(TypeError, match='backprop_ids'):
            chx.is_backprop_required(backprop_ids=[a])
        with pytest.raises(TypeError, match='both context and backprop_id'):
            chx.is_backprop_required(context=context, backprop_id=a)


def test_check_backward_takes_integers_without_a_gradient():
    x, i = leaf([1.0, 2.0]), chx.array([3, -1])
    gy = chx.array([0.5, -2.0], 'float32')

    def function(xs):
        return xs[0] * xs[0] * xs[1]

    for eps in (1e-3, [chx.full_like(x, 1e-3), chx.full_like(x, 1e-3)]):
        chx.check_backward(function, [x, i], gy, eps)
    chx.check_double_backward(function, [x, i], [gy.copy().require_grad()], [gy], 1e-3)
    assert x.grad is None
