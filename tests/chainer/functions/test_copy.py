"""chainer.functions.copy: between kinds of arrays, with gradients."""

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Variable


@pytest.mark.parametrize(
    ('make', 'dst', 'expected'),
    [
        (np.array, 'native:0', chainerx.ndarray),
        (chainerx.array, '@numpy', np.ndarray),
        (chainerx.array, -1, np.ndarray),
        (chainerx.array, chainer.cuda.DummyDevice, np.ndarray),
        (np.array, -1, np.ndarray),
        (chainerx.array, 'native:0', chainerx.ndarray),
    ],
)
def test_values_and_gradients_cross(make, dst, expected):
    x = Variable(make(np.array([1.0, 2.0, 3.0], 'float32')))
    h = x * x
    y = F.copy(h, dst)
    assert type(y.array) is expected
    assert y.creator.label == 'Copy'
    assert y.creator.inputs[0] == h.node
    loss = F.sum(y * y)
    loss.backward()
    assert type(x.grad) is type(x.array)
    values = chainerx.to_numpy(x.grad) if make is chainerx.array else x.grad
    np.testing.assert_allclose(values, [4, 32, 108])


def test_no_gpu():
    if chainer.backends.cuda.available:
        pytest.skip('there is one')
    with pytest.raises(RuntimeError):
        F.copy(Variable(np.ones(3)), 0)
