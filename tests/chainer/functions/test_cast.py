"""`cast` to the dtype that the array already has."""

import chainer
import chainer.functions as F
import numpy as np
import pytest
from chainer import Variable
from devices import assert_equal

A = np.arange(6, dtype='f').reshape(2, 3)


@pytest.mark.parametrize('dtype', ['float32', 'int32'])
def test_same_dtype(make, dtype):
    x = Variable(make(A.astype(dtype)))
    y = F.cast(x, dtype)
    assert y is not x
    assert y.creator.label == 'Cast'
    assert y.creator.type == dtype
    assert y.creator.inputs == (x.node,)
    assert (y.rank, y.dtype, y.shape) == (1, x.dtype, x.shape)
    assert type(y.array) is type(x.array)
    assert_equal(y, A)
    with chainer.no_backprop_mode():
        assert F.cast(x, dtype) is x


def test_gradients_flow_on(make):
    x = Variable(make(A))
    (g,) = chainer.grad([F.sum(F.cast(x, 'f') ** 3)], [x], enable_double_backprop=True)
    assert_equal(g, 3 * A**2)
    (gg,) = chainer.grad([F.sum(g)], [x])
    assert_equal(gg, 6 * A)
    # With integers in between, gradients do not flow.
    y = F.cast(F.cast(F.cast(x, 'i'), 'i'), 'f')
    F.sum(y).backward()
    assert x.grad is None


def test_no_memory_of_its_own():
    x = Variable(A.copy())
    assert np.shares_memory(F.cast(x, 'f').array, x.array)
