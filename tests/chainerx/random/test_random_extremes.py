"""Parameters at the ends of their ranges: draws finish, and have the right distributions."""

import os
import subprocess
import sys
import textwrap

import chainerx as chx
import numpy as np
import pytest
import scipy.stats


@pytest.fixture
def rng():
    return chx.random.Generator(3)


def test_draws_end():
    """In a child process, since no signal stops a kernel that rejects all its candidates."""
    code = """
        import chainerx as chx

        rng = chx.random.Generator(3)
        assert rng.negative_binomial(1e-5, 1e-310, size=20).min().item() >= 0
        assert rng.negative_binomial(1e-300, 5e-324, size=20).tolist() == [0] * 20
        assert rng.negative_binomial(1e308, 1.0, size=20).tolist() == [0] * 20
        assert rng.negative_binomial(1e308, 1e-310, size=20).min().item() > 9e18
        for shape in (5e-324, 1e-310, 1e-300, 1e300):
            assert rng.gamma(shape, size=20).min().item() >= 0
    """
    subprocess.run(
        [sys.executable, '-c', textwrap.dedent(code)],
        env=os.environ | {'PYTHONPATH': os.pathsep.join(sys.path)},
        timeout=60,
        check=True,
    )


def test_counts_do_not_wrap_around(rng):
    assert rng.poisson(9.223372e18, size=20_000).min().item() > 9.2e18
    with pytest.raises(ValueError, match=r'poisson: lam is 9.22337203e'):
        rng.poisson(9.22337203e18)
    mean = rng.negative_binomial(1e300, 0.5, size=20_000)
    assert mean.min().item() > 9.2e18


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


@pytest.mark.parametrize('a', [5e-324, 1e-310, 1e-308, 1e-300, 1e308])
def test_shares_of_extreme_shapes_are_numbers(rng, a):
    x = chx.to_numpy(rng.beta(a, a, size=100))
    assert ((x >= 0) & (x <= 1)).all()
    y = chx.to_numpy(rng.dirichlet(chx.full(3, a, 'float64'), size=100))
    np.testing.assert_allclose(y.sum(-1), 1)
    assert not np.isnan(chx.to_numpy(rng.f(a, a, size=100))).any()


@pytest.mark.parametrize(
    ('low', 'high'),
    [(1e200, 1e201), (1e308, 1.7e308), (1e300, np.inf), (-np.inf, -1e160), (-1.7e308, -1e10)],
)
def test_truncated_normal_of_huge_bounds(rng, low, high):
    """All of the probability is next to the bound nearer to 0."""
    x = rng.truncated_normal(low, high, size=10)
    assert x.tolist() == [low if low > 0 else high] * 10


def test_a_range_of_uniform_numbers_is_finite(rng):
    low, high = -1.7e308, 1.7e308
    for a, b in ((low, high), (chx.array([low]), chx.array([high]))):
        with pytest.raises(ValueError, match=r'uniform: high - low.* is inf, expected a finite'):
            rng.uniform(a, b, size=3).tolist()


@pytest.mark.parametrize('seed', [0, 2**63, 2**64 - 1])
def test_seeds_of_numpy(seed):
    """numpy.random.SeedSequence makes unsigned ones."""
    assert chx.random.Generator(np.uint64(seed)).state == (seed, 0)


@pytest.mark.parametrize('seed', [-1, np.int64(-1), np.int8(-3), 2**64])
def test_seeds_out_of_range(seed):
    with pytest.raises(ValueError, match=r'seed is -?\d+, expected 0 to'):
        chx.random.Generator(seed)
