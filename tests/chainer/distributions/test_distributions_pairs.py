"""Divergences of pairs, user-defined distributions, and batches as events."""

import chainer
import chainer.distributions as D
import numpy as np
import pytest
from devices import to_numpy
from distributions.distribution_cases import CASES, SCALARS, dist_of, peer_of, points_of


@pytest.mark.parametrize('case', [c for c in SCALARS if c.other], ids=str)
def test_kl_divergence_is_the_mean_of_the_ratio(case, make):
    dist, other = dist_of(case, make), dist_of(case, make, **case.other)
    p, q = peer_of(case), case.peer(**{n: np.array(x) for n, x in case.other.items()})
    if case.discrete:
        x = np.arange(0, 200)[:, None]
        weights = p.pmf(x)
        with np.errstate(invalid='ignore'):
            terms = np.where(weights > 0, p.logpmf(x) - q.logpmf(x), 0)
        expected = (weights * terms).sum(0)
        tolerance = 1e-6
    else:
        x = p.ppf(((np.arange(40000) + 0.5) / 40000)[:, None])
        expected = (p.logpdf(x) - q.logpdf(x)).mean(0)
        tolerance = 5e-3
    divergence = chainer.kl_divergence(dist, other)
    np.testing.assert_allclose(to_numpy(divergence), expected, rtol=tolerance, atol=1e-3)
    np.testing.assert_allclose(to_numpy(chainer.kl_divergence(dist, dist)), 0, atol=1e-12)
    if 'entropy' not in case.lacks:
        np.testing.assert_allclose(
            to_numpy(chainer.cross_entropy(dist, other)), to_numpy(dist.entropy + divergence)
        )


def test_kl_divergence_without_common_support(make):
    f = lambda x: make([x], 'float64')  # noqa: E731
    for narrow, wide in [
        (D.Uniform(low=f(0), high=f(1)), D.Uniform(low=f(-1), high=f(1))),
        (D.Pareto(f(2), f(1)), D.Pareto(f(1), f(1))),
    ]:
        assert np.isfinite(to_numpy(chainer.kl_divergence(narrow, wide))).all()
        assert to_numpy(chainer.kl_divergence(wide, narrow)).item() == np.inf


def test_register_kl():
    class Mine(D.Normal):
        pass

    mine, normal = Mine(0.0, 1.0), D.Normal(0.0, 1.0)
    with pytest.raises(KeyError, match='nothing is registered for Mine and Normal'):
        chainer.kl_divergence(mine, normal)

    @chainer.register_kl(Mine, D.Normal)
    def kl_mine_normal(dist1, dist2):
        return dist1.loc + 5

    try:
        assert chainer.kl_divergence(mine, normal).array == 5
        assert chainer.distribution.kl_divergence is chainer.kl_divergence
        np.testing.assert_allclose(
            chainer.cross_entropy(mine, normal).array, normal.entropy.array + 5
        )
    finally:
        del chainer.distribution._KLDIVERGENCE[Mine, D.Normal]


NEEDED = [
    *('batch_shape', 'covariance', 'entropy', 'event_shape', 'mean', 'median', 'mode', 'params'),
    *('stddev', 'support', 'variance', 'xp'),
]


class OnlyDensity(chainer.Distribution):
    def log_prob(self, x):
        return -chainer.as_variable(x)


def test_base_class():
    dist = OnlyDensity()
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(dist.prob(x).array, np.exp(-x))
    np.testing.assert_allclose(dist.perplexity(x).array, np.exp(x))
    for call in (
        lambda: dist.cdf(x),
        lambda: dist.log_cdf(x),
        lambda: dist.survival_function(x),
        lambda: dist.log_survival_function(x),
        lambda: dist.icdf(x),
        lambda: dist.sample(),
        lambda: dist.sample_n(1),
        *(lambda name=name: getattr(dist, name) for name in NEEDED),
    ):
        with pytest.raises(NotImplementedError, match='OnlyDensity has no '):
            call()


# Independent.


def batch_of_normals(make):
    loc = np.arange(6.0).reshape(2, 3)
    return D.Normal(make(loc), make(np.full((2, 3), 2.0)))


@pytest.mark.parametrize(('ndim', 'batch'), [(None, (2,)), (0, (2, 3)), (1, (2,)), (2, ())])
def test_independent(make, ndim, batch):
    inner = batch_of_normals(make)
    dist = D.Independent(inner, ndim)
    assert dist.reinterpreted_batch_ndims == 2 - len(batch)
    assert dist.distribution is inner
    event = (2, 3)[len(batch) :]
    assert (dist.batch_shape, dist.event_shape, dist.support) == (batch, event, 'real')
    assert dist.params.keys() == {'loc', 'scale'}
    assert dist.sample((5,)).shape == (5, 2, 3)
    x = make(np.random.RandomState(0).standard_normal((4, 2, 3)))
    axes = tuple(range(1 + len(batch), 3))
    for name in ('log_prob', 'log_cdf', 'log_survival_function'):
        expected = to_numpy(getattr(inner, name)(x)).sum(axes)
        np.testing.assert_allclose(to_numpy(getattr(dist, name)(x)), expected)
    for name in ('prob', 'cdf', 'survival_function', 'perplexity'):
        expected = to_numpy(getattr(inner, name)(x)).prod(axes)
        np.testing.assert_allclose(to_numpy(getattr(dist, name)(x)), expected)
    for name in ('mean', 'mode', 'median', 'variance', 'stddev'):
        np.testing.assert_array_equal(to_numpy(getattr(dist, name)), to_numpy(getattr(inner, name)))
    entropy = to_numpy(inner.entropy).sum(tuple(range(len(batch), 2)))
    np.testing.assert_allclose(to_numpy(dist.entropy), entropy)
    size = int(np.prod(event))
    expected = np.broadcast_to(4 * np.eye(size), (*batch, size, size))
    np.testing.assert_allclose(to_numpy(dist.covariance), expected)
    if ndim == 0:
        np.testing.assert_array_equal(to_numpy(dist.icdf(0.5)), to_numpy(inner.icdf(0.5)))
    else:
        with pytest.raises(RuntimeError, match=r'Independent.icdf: no inverse of the cdf of event'):
            dist.icdf(x)
    for shape in ((0, 3), (2, 0)):  # no batch, or no event
        empty = D.Independent(D.Normal(make(np.zeros(shape)), make(np.ones(shape))), ndim)
        size = int(np.prod(shape[len(batch) :]))
        assert empty.covariance.shape == (*shape[: len(batch)], size, size)
    size = int(np.prod(event))
    other = D.Independent(D.Normal(inner.loc + 2, inner.scale), ndim)
    np.testing.assert_allclose(
        to_numpy(chainer.kl_divergence(dist, other)), np.full(batch, 0.5 * size)
    )


def test_independent_of_vectors(make):
    case = next(c for c in CASES if c.cls == 'MultivariateNormal')
    inner = dist_of(case, make)
    dist = D.Independent(inner, 1)
    assert (dist.batch_shape, dist.event_shape) == ((), (2, 2))
    covariance = np.zeros((4, 4))
    covariance[:2, :2], covariance[2:, 2:] = to_numpy(inner.covariance)
    np.testing.assert_allclose(to_numpy(dist.covariance), covariance)
    points = points_of(case, make, 'float64')
    assert dist.log_prob(points).shape == (2,)


def test_independent_errors(make):
    inner = batch_of_normals(make)
    for bad in (3, -1):
        with pytest.raises(ValueError, match=rf'ndims is {bad}, expected 0 to 2.*\(2, 3\)'):
            D.Independent(inner, bad)
    with pytest.raises(
        ValueError, match=r'kl_divergence: event_shape is \(3,\) and \(2, 3\), expect'
    ):
        chainer.kl_divergence(D.Independent(inner, 1), D.Independent(inner, 2))


def test_kl_of_independents_broadcasts(make):
    mean = np.linspace(-1, 1, 12).reshape(4, 3).astype('float32')
    many = D.Independent(D.Normal(make(mean), make(np.full_like(mean, 0.5))), 1)
    expected = (mean**2 / 2 + 0.125 - np.log(0.5) - 0.5).sum(1)
    for shape in ((3,), (1, 3), (2, 1, 3)):
        zeros = np.zeros(shape, 'float32')
        one = D.Independent(D.Normal(make(zeros), make(zeros + 1)), 1)
        kl = chainer.kl_divergence(many, one)
        assert kl.shape == np.broadcast_shapes(shape, (4, 3))[:-1]
        np.testing.assert_allclose(
            to_numpy(kl.array), np.broadcast_to(expected, kl.shape), rtol=1e-5
        )
        assert chainer.kl_divergence(one, many).shape == kl.shape
    zeros = make(np.zeros((5, 3), 'float32'))
    other = D.Independent(D.Normal(zeros, zeros + 1), 1)
    with pytest.raises(ValueError, match=r'batch_shape is \(4,\) and \(5,\)'):
        chainer.kl_divergence(many, other)
