"""Parameters at the ends of their ranges: draws end, and are of their distributions."""

import chainerx as chx
import numpy as np
import pytest
import scipy.stats


@pytest.fixture
def rng():
    return chx.random.Generator(3)


@pytest.mark.parametrize('p', [0.5, 0.3, 0.999, 1e-6])
@pytest.mark.parametrize('bits', [40, 52, 62])
def test_binomial_of_many(rng, bits, p):
    """Differences of probabilities that are as large as n would cancel."""
    n = 2**bits
    x = chx.to_numpy(rng.binomial(n, p, size=100_000)).astype(np.longdouble)
    z = (x - np.longdouble(n) * p) / np.sqrt(np.longdouble(n) * p * (1 - np.longdouble(p)))
    z = z.astype(float)
    assert scipy.stats.kstest(z, 'norm').pvalue > 1e-4
    assert abs(z).max() < 6
    assert abs(z.std() - 1) < 0.01
