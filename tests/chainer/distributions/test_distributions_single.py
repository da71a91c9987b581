"""Properties of single distributions beyond the table; the helper for users' tests."""

import unittest

import chainer
import chainer.distributions as D
import chainer.functions as F
import chainer.testing
import numpy as np
import pytest
from chainer.distributions import utils
from chainer.testing import distribution_test
from devices import to_numpy
from distributions.distribution_cases import CASES, dist_of, points_of
from scipy import special, stats


def test_borders(make):
    """Points where the formula has 0 times infinity."""
    f = lambda *x: make(x, 'float64')  # noqa: E731
    for dist, x, expected in [
        (D.Beta(f(1), f(1)), 0, 0),
        (D.Beta(f(1), f(1)), 1, 0),
        (D.Gamma(f(1), f(2)), 0, -np.log(2)),
        (D.Geometric(f(1)), 1, 0),
        (D.Geometric(f(1)), 2, -np.inf),
        (D.Poisson(f(0)), 0, 0),
        (D.Poisson(f(0)), 1, -np.inf),
        (D.Bernoulli(f(0)), 0, 0),
        (D.Bernoulli(f(0)), 1, -np.inf),
        (D.Bernoulli(f(1)), 1, 0),
        (D.Bernoulli(f(1)), 0, -np.inf),
        (D.OneHotCategorical(f(0, 1)), [0, 1], 0),
        (D.OneHotCategorical(f(0, 1)), [1, 0], -np.inf),
        (D.Categorical(f(0, 1)), 0, -np.inf),
        (D.Dirichlet(f(1, 1)), [0, 1], 0),
    ]:
        actual = to_numpy(dist.log_prob(make(x)))
        np.testing.assert_allclose(actual, np.full(actual.shape, expected), atol=1e-12)
    for dist in (D.Bernoulli(f(0)), D.Bernoulli(f(1)), D.Geometric(f(1)), D.Categorical(f(0, 1))):
        assert to_numpy(dist.entropy).item() == 0
    half = D.Bernoulli(f(0.5))
    np.testing.assert_allclose(
        to_numpy(chainer.kl_divergence(D.Bernoulli(f(0)), half)), [np.log(2)]
    )
    assert to_numpy(chainer.kl_divergence(half, D.Bernoulli(f(0)))).item() == np.inf


@pytest.mark.parametrize(
    ('cls', 'value', 'x', 'log_prob'),
    [
        ('Bernoulli', [0, 1], [0, 1], [-1, 1]),
        ('Geometric', [1], [1], [1]),
        ('Poisson', [0], [0], [-1]),
        ('Categorical', [0, 1], [1], [0, 1]),
        ('OneHotCategorical', [0, 1], [0, 1], [0, 1]),
    ],
)
def test_gradients_at_borders(cls, value, x, log_prob, make):
    """Gradients at borders are finite, even those of zeros that nothing needs."""

    def gradient(function):
        parameter = chainer.Variable(make(value, 'float64'))
        F.sum(function(getattr(D, cls)(parameter))).backward()
        return to_numpy(parameter.grad)

    np.testing.assert_allclose(gradient(lambda dist: dist.log_prob(make(x))), log_prob)
    other = getattr(D, cls)(make(np.full(len(value), 0.5), 'float64'))
    assert np.isfinite(gradient(lambda dist: chainer.kl_divergence(dist, other))).all()
    if cls != 'Poisson':
        assert np.isfinite(gradient(lambda dist: dist.entropy)).all()


def test_certain_bernoulli_in_debug_mode(make):
    with chainer.using_config('debug', True):
        dist = D.Bernoulli(make([0, 1], 'float64'))
        np.testing.assert_array_equal(to_numpy(dist.log_prob(make([0, 1]))), [0, 0])
        np.testing.assert_array_equal(to_numpy(dist.sample()), [0, 1])


def test_more_trials_than_integers(make):
    """More trials than int64 holds must not give negative draws, as NumPy's would be."""
    np.random.seed(0)
    p = make([1e-30, 1e-18, 0.5], 'float64')
    x = to_numpy(D.Geometric(p).sample(20000))
    assert (x >= 1).all()
    np.testing.assert_allclose(x.mean(0) * to_numpy(p), 1, atol=0.05)


def test_batches_and_events_without_elements(make):
    for batch in ((0,), (2, 0)):
        rows = make(np.zeros((*batch, 3)))
        for dist in (D.Categorical(rows), D.OneHotCategorical(rows), D.Dirichlet(rows)):
            x = dist.sample(4)
            assert x.shape == (4, *batch, *dist.event_shape)
            assert dist.log_prob(x).shape == (4, *batch)
    for batch, d in (((0,), 2), ((3,), 0)):
        dist = D.MultivariateNormal(
            make(np.zeros((*batch, d))), scale_tril=make(np.zeros((*batch, d, d)))
        )
        assert dist.log_prob(dist.sample(4)).shape == (4, *batch)


def test_bernoulli_between(make):
    p, x = make([0.2], 'float64'), make([0.5], 'float64')
    expected = 0.5 * np.log(0.2) + 0.5 * np.log(0.8)
    np.testing.assert_allclose(to_numpy(D.Bernoulli(p).log_prob(x)), [expected])
    checked = D.Bernoulli(p, binary_check=True)
    assert to_numpy(checked.log_prob(x)).item() == -np.inf
    np.testing.assert_allclose(to_numpy(checked.log_prob(make([1], 'int32'))), [np.log(0.2)])


def test_cauchy_warns():
    dist = D.Cauchy(np.zeros(2), np.ones(2))
    for name in ('mean', 'variance', 'stddev'):
        with pytest.warns(RuntimeWarning, match='of a Cauchy distribution is undefined') as found:
            assert np.isnan(getattr(dist, name).array).all()
        assert found[0].filename == __file__


def test_pareto_without_mean(make):
    alpha = chainer.Variable(make([0.5, 1.5, 3.0], 'float64'))
    dist = D.Pareto(make([1.0, 1.0, 1.0], 'float64'), alpha)
    np.testing.assert_allclose(to_numpy(dist.mean), [np.inf, 3, 1.5])
    np.testing.assert_allclose(to_numpy(dist.variance), [np.inf, np.inf, 0.75])
    F.sum(dist.mean + dist.variance).backward()
    assert np.isfinite(to_numpy(alpha.grad)).all()


def test_log_tails_do_not_vanish(make):
    dist = D.Normal(make([0], 'float32'), make([1], 'float32'))
    x = make([30], 'float32')
    np.testing.assert_allclose(to_numpy(dist.log_survival_function(x)), [-454.3212], rtol=1e-5)
    np.testing.assert_allclose(to_numpy(dist.log_cdf(-x)), [-454.3212], rtol=1e-5)


def test_scale_0_is_a_point(make):
    dist = D.Normal(make([1, 2], 'float32'), make([0, 0], 'float32'))
    np.testing.assert_array_equal(to_numpy(dist.sample(3)), [[1, 2]] * 3)


def test_tiny_concentrations(make):
    """Concentrations that underflow in float64 give corners of the simplex, not NaN."""
    alpha = np.array([[1e-5, 1e-5, 1e-5], [2e-5, 1e-5, 1e-5]])
    np.random.seed(0)
    x = to_numpy(D.Dirichlet(make(alpha)).sample(3000))
    np.testing.assert_allclose(x.sum(-1), 1)
    np.testing.assert_allclose(x.mean(0), alpha / alpha.sum(-1, keepdims=True), atol=0.05)


def test_many_categories():
    """Draws equal those of numpy.random.choice, for any number of categories."""
    random = np.random.RandomState(0)
    for count in (1, 2, 3, 4, 5, 7, 8, 9, 100):
        p = random.dirichlet(np.ones(count), size=2)
        np.random.seed(count)
        x = D.Categorical(p).sample(50).array
        np.random.seed(count)
        expected = np.stack([np.random.choice(count, size=50, p=row) for row in p], axis=1)
        np.testing.assert_array_equal(x, expected)


def test_multivariate_normal(make):
    case = next(c for c in CASES if c.cls == 'MultivariateNormal')
    dist = dist_of(case, make)
    tril = np.array(case.params['scale_tril'])
    np.testing.assert_allclose(to_numpy(dist.covariance), tril @ tril.transpose(0, 2, 1))
    np.random.seed(0)
    x = to_numpy(dist.sample(20000))[:, 0]
    np.testing.assert_allclose(np.cov(x.T), (tril[0] @ tril[0].T), atol=0.15)
    # Elements above the diagonal are ignored, and one matrix may serve a batch.
    upper = dist_of(case, make, scale_tril=tril + np.triu(np.full((2, 2), 7.0), 1))
    points = points_of(case, make, 'float64')
    expected = to_numpy(dist.log_prob(points))
    np.testing.assert_array_equal(to_numpy(upper.log_prob(points)), expected)
    single = dist_of(case, make, scale_tril=tril[0])
    assert single.scale_tril.shape == (2, 2, 2)
    np.testing.assert_allclose(to_numpy(single.log_prob(points))[:, 0], expected[:, 0])


# Uses the helper for users' tests.


class NormalCase(chainer.testing.distribution_unittest):
    __test__ = False
    is_variable = True
    sample_shape = (2,)

    def setUp_configure(self):
        self.dist, self.scipy_dist = D.Normal, stats.norm
        self.test_targets = set(distribution_test.TARGETS)
        self.shape = (3,)
        loc, scale = np.float32([0.5, -1, 2]), np.float32([1, 2, 0.5])
        self.params = {'loc': loc, 'scale': scale}
        self.scipy_params = {'loc': loc, 'scale': scale}

    def sample_for_test(self):
        return np.random.RandomState(0).standard_normal((2, 3)).astype('f')


@pytest.mark.parametrize('target', [*distribution_test.TARGETS, 'dummy'])
def test_distribution_unittest(target):
    np.random.seed(0)
    result = unittest.TestResult()
    NormalCase('test_dummy' if target == 'dummy' else f'test_{target}_cpu').run(result)
    assert result.testsRun == 1
    assert result.errors + result.failures + result.skipped == []


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_entropy_of_any_parameters(dtype, make):
    """For large parameters, terms of their size cancel."""
    values = np.array([0.125, 0.5, 15.875, 16.125, 300, 1e6, 2.0**90])
    k = chainer.Variable(make(values, dtype))
    ones, one = k.xp.ones_like(k.array), make(1, dtype)
    # From mpmath, in 80 digits.
    expected = np.array(
        [
            -5.195512722830077,
            0.09060992991398835,
            2.779980621346053,
            2.7881291136700606,
            4.269717733085244,
            8.326693478853393,
            32.61056165840221,
        ]
    )
    rtol = 64 * np.finfo(dtype).eps
    for dist, known in (
        (D.Gamma(k, ones), expected),
        (D.Chisquare(2 * k), expected + np.log(2)),
        (D.Beta(k[:6], one), 1 - 1 / values[:6] - np.log(values[:6])),
        (D.Beta(k[5], k[5]), -6.528537766617507),
        (D.Dirichlet(k[1:3]), stats.dirichlet(values[1:3]).entropy()),
    ):
        entropy = dist.entropy
        np.testing.assert_allclose(to_numpy(entropy), known, rtol=rtol, atol=rtol)
        F.sum(entropy).backward()
    assert np.isfinite(to_numpy(k.grad)).all()


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_beta_of_large_parameters(dtype):
    """Large parameters do not lose digits, as differences of lgamma would."""
    a, b = np.array([1e8, 1e5, 3.0], dtype), np.array([0.5, 1e5, 1e6], dtype)
    found = utils.lbeta(chainer.Variable(a), chainer.Variable(b)).array
    expected = special.betaln(a.astype('d'), b.astype('d'))
    np.testing.assert_allclose(found, expected, rtol=1e-6 if dtype == 'float32' else 1e-8)
