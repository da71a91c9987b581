"""Sparse matrices: conversion from and to dense ones, order of elements, errors."""

from __future__ import annotations

import chainer
import chainerx
import numpy as np
import pytest
from chainer import utils

DENSE = np.array([[0, 1, 2], [3, 0, 0]], 'f')


@pytest.mark.parametrize('xp', [np, chainerx])
@pytest.mark.parametrize('dtype', ['f2', 'f4', 'f8'])
@pytest.mark.parametrize('batch', [False, True])
def test_round_trip(xp, dtype, batch):
    x = np.stack([DENSE, DENSE[:, ::-1] * 2, DENSE * 0]) if batch else DENSE
    x = xp.array(x.astype(dtype))
    sparse = utils.to_coo(x)
    assert isinstance(sparse, utils.CooMatrix)
    assert isinstance(sparse.data, chainer.Variable)
    assert not sparse.data.requires_grad
    assert sparse.data.dtype == dtype
    assert sparse.row.dtype == sparse.col.dtype == np.int32
    assert (sparse.shape, sparse.order) == ((2, 3), 'C')
    assert sparse.data.shape == sparse.row.shape == ((3, 3) if batch else (3,))
    dense = sparse.to_dense()
    assert isinstance(dense, xp.ndarray)
    assert dense.dtype == dtype
    np.testing.assert_array_equal(*chainer.backend.CpuDevice().send([dense, x]))


def test_elements():
    sparse = utils.to_coo(DENSE, ldnz=5, requires_grad=True)
    assert sparse.data.requires_grad
    np.testing.assert_array_equal(sparse.data.array, [1, 2, 3, 0, 0])
    np.testing.assert_array_equal(sparse.row, [0, 0, 1, -1, -1])
    np.testing.assert_array_equal(sparse.col, [1, 2, 0, -1, -1])
    assert utils.to_coo(DENSE, ldnz=2).data.shape == (3,)
    assert utils.to_coo(DENSE * 0).data.shape == (0,)


def test_values_at_one_index_add_up():
    x = utils.CooMatrix(np.array([1.0, 2.0]), np.array([0, 0]), np.array([1, 1]), (2, 2))
    np.testing.assert_array_equal(x.to_dense(), [[0, 3], [0, 0]])


@pytest.mark.parametrize('xp', [np, chainerx])
@pytest.mark.parametrize(
    ('row', 'col'),
    [([0, 1, -1], [0, -1, 1]), ([0, 1, -1], [0, 1, 2]), ([0, 1, 2], [-1, 1, 2])],
)
def test_rows_and_columns_are_padded_together(xp, row, col):
    row, col = xp.array(row), xp.array(col)
    with pytest.raises(ValueError, match='padded at the same places'):
        utils.get_order(row, col)
    with pytest.raises(ValueError, match='padded at the same places'):
        utils.CooMatrix(xp.ones(3, 'f'), row, col, (3, 3))


@pytest.mark.parametrize(
    ('row', 'col', 'order'),
    [
        ([0, 0, 1], [0, 1, 0], 'C'),
        ([0, 1, 0], [0, 0, 1], 'F'),
        ([0, 1, 0], [1, 0, 0], 'other'),
        ([0], [0], 'C'),
        ([], [], 'C'),
        ([0, 0, 1, -1], [0, 1, 0, -1], 'C'),
        ([0, 1, 0, -1], [0, 0, 1, -1], 'F'),
        ([[0, 0], [1, 0]], [[0, 1], [0, 1]], 'F'),
        ([[0, 0], [0, 1]], [[0, 1], [0, 0]], 'C'),
    ],
)
def test_order(row, col, order):
    row, col = np.array(row, 'i'), np.array(col, 'i')
    assert utils.get_order(row, col) == order
    assert utils.get_order(chainerx.array(row), chainerx.array(col)) == order
    assert utils.CooMatrix(np.zeros(row.shape), row, col, (3, 3)).order == order


@pytest.mark.parametrize(
    ('shapes', 'size', 'order', 'message'),
    [
        (((2,), (1,), (2,)), (2, 2), None, 'shape of data, row and col must be the same'),
        (((1, 1, 1),) * 3, (2, 2), None, 'ndim of data must be 1 or 2'),
        (((2,),) * 3, (2, 2, 2), None, 'length of shape must be 2'),
        (((2,),) * 3, (2, 2), 'X', "order must be 'C', 'F', 'other' or None"),
    ],
)
def test_errors(shapes, size, order, message):
    with pytest.raises(ValueError, match=message):
        utils.CooMatrix(*(np.zeros(s, 'i') for s in shapes), size, order=order)


@pytest.mark.parametrize('ndim', [1, 4])
def test_to_coo_of_a_wrong_number_of_dimensions(ndim):
    with pytest.raises(ValueError, match='ndim of x must be 2 or 3'):
        utils.to_coo(np.zeros((1,) * ndim))
