"""Converters: arrays of minibatches, and copies beside computation."""

import chainerx
import numpy as np
import pytest
from chainer import dataset


def test_async_transfer_without_streams():
    convert = dataset.ConcatWithAsyncTransfer()
    batch = [(np.zeros(2, np.float32), 1), (np.ones(2, np.float32), 2)]
    x, t = convert(batch)
    assert (x.tolist(), t.tolist()) == ([[0, 0], [1, 1]], [1, 2])
    x, _ = convert(batch, 'native')
    assert isinstance(x, chainerx.ndarray)
    assert convert([{'a': np.zeros(2)}, {'a': np.ones(1)}], -1, padding=9)['a'][1, 1] == 9


@pytest.mark.parametrize(
    ('batch', 'expected'),
    [
        ([1, 2], np.array([1, 2])),
        ([1, 2.5], np.array([1, 2.5])),
        ([True, False], np.array([True, False])),
        ([np.int8(1), np.int8(2)], np.array([1, 2], np.int8)),
        ([np.array(1.0), np.array(2.0)], np.array([1.0, 2.0])),
        ([np.zeros((0, 2)), np.zeros((0, 2))], np.zeros((2, 0, 2))),
        ([np.arange(2), np.arange(2.0)], np.array([[0.0, 1.0], [0.0, 1.0]])),
        ([np.arange(4)[::-2]] * 2, np.array([[3, 1], [3, 1]])),
    ],
)
def test_columns(batch, expected):
    found = dataset.concat_examples(batch)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    assert not any(np.shares_memory(found, x) for x in batch if isinstance(x, np.ndarray))


def test_examples_that_do_not_fit():
    for batch in ([1, np.arange(2)], [np.arange(2), np.arange(3)], [np.arange(2), np.array(1)]):
        with pytest.raises(ValueError, match='example 1 has'):
            dataset.concat_examples(batch)
    for padding in (None, 0):
        for other in (1, None, [1, 2]):
            with pytest.raises(TypeError, match='example 1 is not'):
                dataset.concat_examples([np.arange(2), other], padding=padding)
    with pytest.raises(ValueError, match=r'example 0 \(1\) has shape \(2,\), example 1 has \(3,\)'):
        dataset.concat_examples([(0, np.arange(2)), (0, np.arange(3))])
