"""Small arrays, and their expected values, for tests outside of the table."""

import chainerx as chx
import numpy as np

from ._harness import to_numpy, wide


def same(x, expected):
    assert isinstance(x, chx.ndarray)
    expected = np.asarray(expected)
    assert x.shape == expected.shape
    x = to_numpy(x)
    if 'bfloat16' in (x.dtype, expected.dtype):  # NumPy doesn't treat its nan as equal
        x, expected = wide(x), wide(expected)
    np.testing.assert_array_equal(x, expected)


def filled(*shape, dtype='float32'):
    n = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    return chx.array(n), n


def leaf(values, dtype='float32', backprop_id=None):
    x = chx.array(values, dtype)
    return x.require_grad(backprop_id) if backprop_id is not None else x.require_grad()


def check(x, values):
    np.testing.assert_allclose(to_numpy(x), values, rtol=1e-6)
