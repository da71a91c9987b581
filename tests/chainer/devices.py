"""The devices that tests of Chainer run on, one per kind of array; `--device` names others."""

import chainer
import numpy as np
from chainer.backends import cuda

DEVICES = ['@numpy', 'native:0', *(['@cupy:0'] if cuda.available else [])]


def choose(names):
    """Runs tests on these devices of chainerx alone; before the tests are imported."""
    if names:
        DEVICES[:] = names


def ours():
    """The name of the chainerx device under test."""
    return next(name for name in DEVICES if not name.startswith('@'))


def has_fallback():
    """Whether functions of the user's, which are written for NumPy or CuPy, run on `ours()`."""
    return cuda.available or not ours().startswith('cuda')


def kinds():
    """The kinds of arrays under test: numpy, native (arrays of `ours()`), cupy."""
    names = {'@numpy': 'numpy', '@cupy:0': 'cupy'}
    return tuple(dict.fromkeys(names.get(name, 'native') for name in DEVICES))


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
