"""The devices that tests of variables, links and optimizers run on, one per kind of array."""

import chainer
import numpy as np
from chainer.backends import cuda

DEVICES = ['@numpy', 'native:0', *(['@cupy:0'] if cuda.available else [])]


def maker(device):
    """A function like `numpy.array` that makes arrays of a device."""
    device = chainer.get_device(device)
    return lambda values, dtype=None: device.send(np.array(values, dtype))


def to_numpy(x):
    """An array or Variable of any kind on the host."""
    return chainer.backend.CpuDevice().send(chainer.as_array(x))


def assert_equal(x, expected):
    assert x is not None
    np.testing.assert_array_equal(to_numpy(x), expected)
