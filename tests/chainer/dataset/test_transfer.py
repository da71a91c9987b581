"""Converters that copy beside computation."""

import chainerx
import numpy as np
from chainer import dataset


def test_async_transfer_without_streams():
    convert = dataset.ConcatWithAsyncTransfer()
    batch = [(np.zeros(2, np.float32), 1), (np.ones(2, np.float32), 2)]
    x, t = convert(batch)
    assert (x.tolist(), t.tolist()) == ([[0, 0], [1, 1]], [1, 2])
    x, _ = convert(batch, 'native')
    assert isinstance(x, chainerx.ndarray)
    assert convert([{'a': np.zeros(2)}, {'a': np.ones(1)}], -1, padding=9)['a'][1, 1] == 9
