"""Shapes whose size in bytes overflows 64 bits: an error, even if only the result is that large."""

import chainerx as chx
import numpy as np
import pytest

HUGE = 2**62
TOO_LARGE = (chx.DimensionError, MemoryError)


@pytest.fixture(params=['int8', 'uint8', 'bool'])
def many(request, device):
    """2^62 elements of a byte each, in one byte."""
    return chx.broadcast_to(chx.zeros((), request.param, device=device), (HUGE,))


def own(*shape):
    """One byte, seen as many."""
    return chx.broadcast_to(chx.ones((), 'int8'), shape)


@pytest.mark.parametrize(
    'function',
    [
        lambda x: x.astype('float32'),
        lambda x: x.astype('complex128'),
        lambda x: x.reshape(2**31, 2**31).T.astype('int16'),
        lambda x: chx.exp(x),
        lambda x: chx.sqrt(x.reshape(2**31, 1, 2**31)),
        lambda x: x * 1.5,
        lambda x: chx.array([1.5]) * x,
        lambda x: x.astype('int8', copy=False) + chx.ones(1, 'int64'),
        lambda x: chx.true_divide(x.astype('int8', copy=False), x.astype('int8', copy=False)),
        lambda x: chx.cumsum(x, 0),
        lambda x: chx.cumprod(x, 0),
        lambda x: chx.sum(x.reshape(HUGE, 1), axis=1),
        lambda x: chx.sum(x.reshape(HUGE, 1), axis=1, keepdims=True),
        lambda x: chx.mean(x.reshape(1, HUGE), axis=0),
        lambda x: chx.argmax(x.reshape(HUGE, 1), axis=1),
        lambda x: chx.softmax(x.reshape(1, HUGE), axis=0),
        lambda x: chx.where(x, 1.5, 2.5),
        lambda x: chx.relu(x),
        lambda x: chx.sigmoid(x),
        lambda x: chx.square(x.astype('int8', copy=False)).astype('float64'),
        lambda x: chx.full(x.shape, 1, 'float64'),
        lambda x: chx.concatenate([x, x]),
        lambda x: chx.stack([x, x, x, x]),
        lambda x: chx.repeat(x, 4),
        lambda x: chx.tile(x, 4),
        lambda x: chx.pad(x, 2**63 - 1, 'constant'),
        lambda x: chx.conv(x.reshape(1, 1, HUGE).astype('int8', copy=False), own(1, 1, 1)),
        lambda x: chx.conv(x.reshape(HUGE, 1, 1).astype('int8', copy=False), own(1, 1, 1)),
        lambda x: chx.conv(own(1, 1, 1), x.reshape(HUGE, 1, 1).astype('int8', copy=False)),
        lambda x: chx.conv(own(1, 1, 1), x.reshape(1, 1, HUGE).astype('int8', copy=False)),
        lambda x: chx.conv(own(1, 1, 9), own(1, 1, 9), dilate=2**40, pad=2**40),
        lambda x: chx.conv_transpose(own(1, 1, 2**23), own(1, 1, 1), stride=2**40),
        lambda x: chx.conv_transpose(own(1, 1, 2), own(1, 1, 2**23), dilate=2**40),
        lambda x: chx.conv_transpose(own(1, 1, 2, 2), own(1, 1, 1, 1), stride=2**40),
    ],
)
def test_wider_results(function, many):
    with pytest.raises(TOO_LARGE):
        function(many)


@pytest.mark.parametrize(
    'shape',
    [
        (0, HUGE, HUGE),
        (HUGE, 0, HUGE),
        (HUGE, HUGE, 0),
        (0, HUGE),
        (0, 2**31, 2**31, 2),
        (2**63 - 1, 0),
    ],
)
def test_large_dimensions_of_nothing(shape, device):
    empty = chx.zeros(0, 'float32', device=device)
    for make in (
        lambda: empty.reshape(shape),
        lambda: empty.reshape((*shape[:-1], 1, shape[-1])),
        lambda: chx.reshape(empty[None], shape),
        lambda: chx.zeros(shape, 'float32', device=device),
        lambda: chx.empty(shape, 'float64', device=device),
        lambda: chx.broadcast_to(chx.zeros((), 'float32', device=device), shape),
    ):
        with pytest.raises(chx.DimensionError, match=r'too large|reshape'):
            make()


def test_dimensions_of_nothing_that_are_large_but_can_be_addressed(device):
    x = chx.zeros(0, 'int8', device=device).reshape(0, 2**40)
    assert x.shape == (0, 2**40)
    assert x.strides == (2**40, 1)
    assert x.nbytes == 0
    assert x.astype('float32').shape == (0, 2**40)
    assert x.reshape(2**40, -1).shape == (2**40, 0)
    with pytest.raises(chx.DimensionError):
        x.reshape(2**62, -1, 2**62)
    with pytest.raises(chx.DimensionError):
        x.reshape(-1, 2**62, 4)


def ones(*shape):
    return chx.broadcast_to(chx.ones((), 'int8'), shape)


@pytest.mark.parametrize(
    'function',
    [
        lambda: chx.lexsort(ones(2**50)),
        lambda: chx.unique(ones(3, 2**50), axis=0),
        lambda: chx.unique(ones(2**50, 3), axis=1),
        lambda: chx.histogramdd(ones(3, 2**50)),
        lambda: ones(2**50).tolist(),
        lambda: ones(2**20, 2**20, 2**20).tolist(),
        lambda: ones(2**20, 2**40, 2).tolist(),
    ],
)
def test_more_parts_than_memory_holds(function):
    with pytest.raises(TOO_LARGE):
        function()


@pytest.mark.parametrize('make', [ones, lambda *shape: np.broadcast_to(np.int8(1), shape)])
def test_axes_of_many_numbers(make):
    """No lists are made of arrays with too many dimensions."""
    many = make(2**20, 2**20, 2**20)
    with pytest.raises(TypeError, match='s must be integers in at most one dimension, got 3'):
        chx.fft.fftn(chx.ones((4, 4)), s=many)
