"""gradient with sample positions in a NumPy array, which is not copied to a device implicitly."""

import chainerx as chx
import numpy as np
import pytest


@pytest.mark.parametrize('edge_order', [1, 2])
def test_gradient(edge_order):
    x = np.random.default_rng(0).standard_normal((3, 4))
    positions = np.array([0.0, 1.0, 1.5, 4.0])
    y = chx.gradient(chx.array(x), positions, axis=1, edge_order=edge_order)
    expected = np.gradient(x, positions, axis=1, edge_order=edge_order)
    np.testing.assert_allclose(chx.to_numpy(y), expected, 1e-12)
