"""Converters: arrays of minibatches, and copies that overlap computation."""

import copy
import pickle
import sys

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
    for other in ((1,), 1, {'b': 1}):
        with pytest.raises(ValueError, match="example 1 has no 'a'"):
            dataset.concat_examples([{'a': 1}, other])
    with pytest.raises(ValueError, match='example 1 is not'):
        dataset.concat_examples([(1, 2), {'a': 1}])
    with pytest.raises(ValueError, match="padding has no 'b'"):
        dataset.concat_examples([{'a': 1, 'b': 2}], padding={'a': 0})
    with pytest.raises(ValueError, match='1 values of padding for tuples of 2'):
        dataset.concat_examples([(np.arange(2), 1)], padding=(0,))
    with pytest.raises(ValueError, match=r'\[1, 2\] dimensions'):
        dataset.concat_examples([np.arange(2), np.zeros((1, 2))], padding=0)


@dataset.converter()
def as_it_is(batch, device):
    return batch


def test_converters_are_pickled_by_name():
    for converter in (dataset.concat_examples, as_it_is):
        module = sys.modules.setdefault(converter.__module__, sys.modules[__name__])
        assert getattr(module, converter.__name__) is converter
        assert pickle.loads(pickle.dumps(converter)) is converter
        assert copy.deepcopy(converter) is converter
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(dataset.converter()(lambda batch, device: batch))


def test_the_columns_that_libraries_make_themselves():
    join, pad = dataset.convert._concat_arrays, dataset.convert._concat_arrays_with_padding
    np.testing.assert_array_equal(join([np.ones(2), np.zeros(2)], None), [[1, 1], [0, 0]])
    np.testing.assert_array_equal(pad([np.ones(2, 'i'), np.ones(1, 'i')], -1), [[1, 1], [1, -1]])
