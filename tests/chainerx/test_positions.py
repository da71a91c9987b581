"""gradient of samples at given positions, which lists and arrays of NumPy tell on the host only."""

import chainerx as chx
import numpy as np
import pytest

POSITIONS = [0.0, 1.0, 1.5, 4.0]


@pytest.mark.parametrize('edge_order', [1, 2])
@pytest.mark.parametrize('positions', [POSITIONS, np.array(POSITIONS)])
def test_gradient(positions, edge_order):
    x = np.random.default_rng(0).standard_normal((3, 4))
    y = chx.gradient(chx.array(x), positions, axis=1, edge_order=edge_order)
    expected = np.gradient(x, positions, axis=1, edge_order=edge_order)
    np.testing.assert_allclose(chx.to_numpy(y), expected, 1e-12)


def test_too_few():
    with pytest.raises(chx.DimensionError, match='2'):
        chx.gradient(chx.ones(3), [0.0, 1.0])
