"""Modes of F.pad that v7 passed to NumPy, without a gradient."""

import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import gradient_check


@pytest.mark.parametrize('xp', [np, chainerx])
@pytest.mark.parametrize(
    ('mode', 'options'),
    [
        ('linear_ramp', {'end_values': 1.0}),
        ('maximum', {}),
        ('mean', {'stat_length': 2}),
        ('median', {'stat_length': ((1, 3), (2, 2))}),
        ('reflect', {'reflect_type': 'odd'}),
        ('constant', {'constant_values': np.array([1, 2])}),
    ],
)
def test_values_and_gradients(xp, mode, options):
    values = np.random.default_rng(0).permutation(12).reshape(3, 4).astype('f8')
    x = values if xp is np else chainerx.array(values)
    y = F.pad(x, 2, mode, **options)
    np.testing.assert_allclose(
        chainerx.to_numpy(y.array) if xp is chainerx else y.array,
        np.pad(values, 2, mode, **options),
    )
    gy = xp.ones(y.shape, 'f8')
    gradient_check.check_backward(lambda x: F.pad(x, 2, mode, **options), x, gy)
