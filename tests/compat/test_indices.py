"""Indices that v7 accepted."""

import chainer
import numpy as np
import pytest
from chainer import functions as F
from chainer.utils.type_check import InvalidType

A = np.arange(12, dtype='f').reshape(4, 3)


@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
@pytest.mark.parametrize('on_device', [False, True])
@pytest.mark.parametrize(
    ('mask', 'rest', 'shape'),
    [((0,), (), (0, 3)), ((0, 3), (), (0,)), ((4, 0), (), (0,)), ((0,), ([1],), (0,))],
)
def test_a_mask_without_elements_picks_nothing(device, on_device, mask, rest, shape):
    device = chainer.get_device(device)
    x = chainer.Variable(device.send(A))
    index = np.zeros(mask, bool)
    index = device.send(index) if on_device else index
    for slices in [(index, *rest), *([index] if not rest else [])]:
        y = F.get_item(x, slices)
        assert y.shape == shape
        assert x[slices].shape == shape
        np.testing.assert_array_equal(
            chainer.get_device('@numpy').send(F.scatter_add(x, slices, y).array), A
        )
        F.sum(y).backward()
        np.testing.assert_array_equal(chainer.get_device('@numpy').send(x.grad), 0)
    with pytest.raises(IndexError):
        F.get_item(x, np.zeros((3,), bool))


@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_no_operands_where_v7_took_none(device):
    """Missing operands are accepted where v7 did, as in a learned optimizer's first step."""
    x = chainer.Variable(chainer.get_device(device).send(A))
    np.testing.assert_array_equal(chainer.get_device('@numpy').send((sum([]) + x).array), A)
    (whole,) = F.split_axis(x, [], 0)
    assert whole.shape == (4, 3)
    assert F.split_axis(x, (), 0, force_tuple=False).shape == (4, 3)
    assert F.sum(x, axis=()).shape == (4, 3)
    assert F.tile(x, ()).shape == (4, 3)
    assert F.transpose(F.sum(x), ()).shape == ()
    assert chainer.grad([F.sum(x)], []) == []
    chainer.optimizers.Adam().setup(chainer.Chain()).update()
    for f in (F.concat, F.stack, F.vstack, F.hstack, F.dstack, F.pad_sequence):
        with pytest.raises(InvalidType):
            f([])
