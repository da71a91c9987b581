"""Properties of sparse_matmul beyond the table."""

import chainer.functions as F
import numpy as np
import pytest
from chainer import Variable
from chainer.utils import CooMatrix, to_coo


def coo(row, col, shape, data=None):
    data = np.ones(np.shape(row), 'f') if data is None else np.array(data, 'f')
    return CooMatrix(data, np.array(row, 'i'), np.array(col, 'i'), shape)


@pytest.mark.parametrize(('row', 'col', 'name'), [([0, 5], [0, 1], 'row'), ([0, 1], [0, 7], 'col')])
def test_indices_out_of_range(row, col, name):
    with pytest.raises(ValueError, match=f'sparse_matmul: {name} has indices from .* has 2 of'):
        F.sparse_matmul(coo(row, col, (2, 2)), np.ones((2, 2), 'f'))


def test_padding_of_rows_or_columns_alone():
    with pytest.raises(ValueError, match='padded at the same places'):
        F.sparse_matmul(coo([0], [-1], (2, 2)), np.ones((2, 2), 'f'))


def test_one_of_a_batch_does_not_reach_into_the_next():
    a = coo([[0], [0]], [[2], [0]], (2, 2))
    with pytest.raises(ValueError, match='col has indices from 0 to 2'):
        F.sparse_matmul(a, np.ones((2, 2, 2), 'f'))


def test_errors_of_non_sparse_matrices():
    dense = np.ones((2, 2), 'f')
    sparse = to_coo(dense)
    for a, b in ((dense, dense), (sparse, sparse)):
        with pytest.raises(ValueError, match='expected one CooMatrix'):
            F.sparse_matmul(a, b)


def test_padding_meets_no_number():
    a = coo([[0, -1]], [[0, -1]], (1, 2), [[2, 3]])
    y = F.sparse_matmul(a, np.array([[[1], [np.inf]]], 'f'))
    assert y.array.tolist() == [[[2.0]]]


def test_empty():
    a = coo(np.zeros(0, 'i'), np.zeros(0, 'i'), (2, 3))
    assert F.sparse_matmul(a, np.ones((3, 4), 'f')).array.tolist() == [[0] * 4] * 2
    assert F.sparse_matmul(a, np.ones((3, 0), 'f')).shape == (2, 0)
    batch = to_coo(np.zeros((2, 3, 2), 'f'))
    assert F.sparse_matmul(batch, np.ones((2, 2, 0), 'f')).shape == (2, 3, 0)


def test_gradient_of_padded_data():
    dense = np.arange(8, dtype='f').reshape(2, 2, 2)
    a = to_coo(np.array([[[1, 2], [0, 3]], [[0, 0], [4, 0]]], 'f'), requires_grad=True)
    x = Variable(dense)
    F.sum(F.sparse_matmul(a, x) ** 2).backward()
    product = a.to_dense() @ dense
    full = 2 * product @ dense.swapaxes(1, 2)
    rows, cols = np.maximum(a.row, 0), np.maximum(a.col, 0)
    expected = np.where(a.row >= 0, full[np.arange(2)[:, None], rows, cols], 0)
    np.testing.assert_allclose(a.data.grad, expected, rtol=1e-6)
    np.testing.assert_allclose(x.grad, 2 * a.to_dense().swapaxes(1, 2) @ product, rtol=1e-6)
