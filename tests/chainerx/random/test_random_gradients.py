"""Gradients of random numbers: at fixed noise, and of expectations."""

import chainerx as chx
import numpy as np
import pytest
import scipy.special as sp

# Functions of locations and scales, and quantile functions: differentiable at fixed noise, any
# order.
EXACT = {
    'normal': (0.5, 2.0),
    'uniform': (0.5, 2.0),
    'laplace': (0.5, 2.0),
    'logistic': (0.5, 2.0),
    'gumbel': (0.5, 2.0),
    'cauchy': (0.5, 2.0),
    'lognormal': (0.5, 0.4),
    'exponential': (2.0,),
    'weibull': (1.5,),
    'pareto': (2.5,),
    'power': (1.5,),
    'rayleigh': (1.5,),
    'triangular': (-1.0, 0.5, 3.0),
}


def sample(name, args, shape=(), **kw):
    return getattr(chx.random.Generator(3), name)(*args, size=shape, **kw)


@pytest.mark.parametrize('name', EXACT)
def test_at_fixed_noise(name):
    parameters = [np.full((4, 1), p) + np.arange(4)[:, None] / 20 for p in EXACT[name]]
    weights = np.linspace(-1, 2, 20).reshape(4, 5)

    def arrays(values):
        return [chx.array(v) for v in values]

    def total(values):
        y = chx.to_numpy(sample(name, arrays(values), (4, 5)))
        return (weights * (y + y * y / 8)).sum(1)

    xs = [x.require_grad() for x in arrays(parameters)]
    y = sample(name, xs, (4, 5))
    first = chx.grad(
        [(chx.array(weights) * (y + y * y / 8)).sum()], xs, enable_double_backprop=True
    )
    for i, gx in enumerate(first):
        eps = np.zeros_like(parameters[i]) + 1e-6
        high = total([p + eps * (j == i) for j, p in enumerate(parameters)])
        low = total([p - eps * (j == i) for j, p in enumerate(parameters)])
        np.testing.assert_allclose(
            chx.to_numpy(gx)[:, 0], (high - low) / 2e-6, rtol=1e-5, atol=1e-6
        )
    # And the gradient of the gradient in the last parameter.
    second = chx.grad([first[-1].sum()], xs)
    eps = 1e-5

    def slope(values):
        zs = [x.require_grad() for x in arrays(values)]
        y = sample(name, zs, (4, 5))
        (g,) = chx.grad([(chx.array(weights) * (y + y * y / 8)).sum()], zs[-1:])
        return chx.to_numpy(g)[:, 0]

    for i, gx in enumerate(second):
        high = slope([p + eps * (j == i) for j, p in enumerate(parameters)])
        low = slope([p - eps * (j == i) for j, p in enumerate(parameters)])
        found = np.zeros(4) if gx is None else chx.to_numpy(gx)[:, 0]
        np.testing.assert_allclose(found, (high - low) / (2 * eps), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize('shape', [1e-3, 0.05, 0.5, 1.0, 3.0, 40.0, 1e4])
@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_gamma_keeps_its_probability(shape, dtype):
    """Compared with gammaincinv of a neighbouring shape and the same probability."""
    a = chx.full(2000, shape, dtype).require_grad()
    x = chx.random.Generator(3).standard_gamma(a)
    x.sum().backward()
    found = chx.to_numpy(a.grad).astype('f8')
    x, a64 = chx.to_numpy(x).astype('f8'), float(chx.to_numpy(a)[0])
    eps = a64 * 1e-4
    below = sp.gammainc(a64, x)
    inside = (x > 1e-30) & (below > 1e-200)
    is_low = below < 0.5
    high, low = (
        np.where(
            is_low,
            sp.gammaincinv(a64 + e, below),
            sp.gammainccinv(a64 + e, sp.gammaincc(a64, x)),
        )
        for e in (eps, -eps)
    )
    expected = (high - low) / (2 * eps)
    np.testing.assert_allclose(
        found[inside], expected[inside], rtol=2e-3 if dtype == 'float32' else 1e-4, atol=1e-7
    )
    assert np.isfinite(found).all()
    assert (found >= 0).all()


# E[h(x)] as a function of the parameters, and its gradient.
MOMENTS = {
    'gamma': ((2.5, 0.7), lambda x: x * x, lambda a, s: ((2 * a + 1) * s * s, 2 * a * (a + 1) * s)),
    'beta': (
        (0.4, 3.0),
        lambda x: x,
        lambda a, b: (b / (a + b) ** 2, -a / (a + b) ** 2),
    ),
    'chisquare': ((3.0,), lambda x: x, lambda k: (1.0,)),
    'f': ((5.0, 9.0), lambda x: x, lambda n, d: (0.0, -2 / (d - 2) ** 2)),
    'standard_t': ((9.0,), lambda x: x * x, lambda v: (-2 / (v - 2) ** 2,)),
}


@pytest.mark.parametrize('name', MOMENTS)
def test_of_moments(name):
    values, h, derivatives = MOMENTS[name]
    n = 200_000
    xs = [chx.full(n, v, 'float64').require_grad() for v in values]
    gradients = chx.grad([h(sample(name, xs, n)).sum()], xs)
    for g, expected in zip(gradients, derivatives(*values), strict=True):
        g = chx.to_numpy(g)
        assert abs(g.mean() - expected) < 5 * g.std() / np.sqrt(n), (name, g.mean(), expected)


def test_dirichlet_of_moments():
    alpha = np.array([0.3, 1.0, 4.0])
    n = 100_000
    a = chx.broadcast_to(chx.array(alpha), (n, 3)).copy().require_grad()
    x = chx.random.Generator(3).dirichlet(a)
    x[:, 0].sum().backward()
    g = chx.to_numpy(a.grad)
    total = alpha.sum()
    expected = np.where(np.arange(3) == 0, total - alpha[0], -alpha[0]) / total**2
    assert (abs(g.mean(0) - expected) < 5 * g.std(0) / np.sqrt(n)).all()


@pytest.mark.parametrize(
    'values',
    [
        (-1.0, 2.0, 0.3, 1.5),
        (3.0, 4.0, 0.0, 0.5),
        (-np.inf, -2.0, 1.0, 1.0),
        (9.0, np.inf, 1.0, 1.0),
    ],
)
def test_truncated_normal_at_fixed_noise(values):
    xs = [chx.full((50, 1), v, 'float64').require_grad() for v in values]
    gradients = chx.grad([sample('truncated_normal', xs, (50, 3)).sum()], xs)
    for i, g in enumerate(gradients):
        if np.isinf(values[i]):
            assert (chx.to_numpy(g) == 0).all()
            continue
        high, low = (
            chx.to_numpy(
                sample(
                    'truncated_normal',
                    [v + e * (j == i) for j, v in enumerate(values)],
                    (50, 3),
                )
            )
            for e in (1e-5, -1e-5)
        )
        np.testing.assert_allclose(
            chx.to_numpy(g)[:, 0], ((high - low) / 2e-5).sum(1), rtol=1e-5, atol=1e-7
        )


def test_multivariate_normal_at_fixed_noise():
    mean, cov = np.array([1.0, -2.0]), np.array([[2.0, 0.5], [0.5, 1.0]])

    def total(mean, cov):
        return chx.random.Generator(3).multivariate_normal(mean, cov, 7).sum()

    m, c = chx.array(mean).require_grad(), chx.array(cov).require_grad()
    total(m, c).backward()
    np.testing.assert_allclose(chx.to_numpy(m.grad), [7, 7])
    g = chx.to_numpy(c.grad)
    for d in (np.array([[1.0, 0], [0, 0]]), np.array([[0, 1.0], [1, 0]]), np.diag([0, 1.0])):
        high, low = (float(total(chx.array(mean), chx.array(cov + e * d))) for e in (1e-6, -1e-6))
        np.testing.assert_allclose((g * d).sum(), (high - low) / 2e-6, rtol=1e-6)


def test_what_has_no_gradient():
    kappa = chx.array([2.0]).require_grad()
    mu = chx.array([0.5]).require_grad()
    y = chx.random.Generator(3).vonmises(mu, kappa, 5)
    assert chx.to_numpy(chx.grad([y.sum()], [mu])[0]) == [5]
    with pytest.raises(chx.ChainerxError, match='kappa'):
        chx.grad([chx.random.Generator(3).vonmises(mu, kappa, 5).sum()], [kappa])
    a = chx.array([2.0]).require_grad()
    (g,) = chx.grad(
        [chx.random.Generator(3).standard_gamma(a).sum()], [a], enable_double_backprop=True
    )
    with pytest.raises(chx.ChainerxError, match='second gradient'):
        chx.grad([g.sum()], [a])
    for name in ('poisson', 'geometric', 'bernoulli'):
        p = chx.array([0.5], 'float32').require_grad()
        y = getattr(chx.random, name)(p, dtype='float32')
        assert not y.is_backprop_required()


def test_without_arrays_nothing_is_recorded():
    assert not chx.random.normal(1.0, 2.0, 3).is_backprop_required()
    x = chx.ones(3)
    assert not chx.random.gamma(x, x).is_backprop_required()


def test_choice_and_permutation_lead_back():
    x = chx.arange(6, dtype='float64').reshape(3, 2).require_grad()
    rng = chx.random.Generator(3)
    (rng.choice(x, 10).sum() + rng.permutation(x, 1).sum()).backward()
    assert float(x.grad.sum()) == 26


@pytest.mark.parametrize(
    ('name', 'args', 'refused'),
    [
        ('wald', (2.0, 3.0), {0: 'mean', 1: 'scale'}),
        ('noncentral_chisquare', (3.0, 2.0), {1: 'nonc'}),
        ('noncentral_f', (3.0, 8.0, 2.0), {2: 'nonc'}),
    ],
)
def test_parameters_without_a_gradient(name, args, refused):
    """They select among numbers, so they have none at fixed noise; the other parameters have."""
    for i, value in enumerate(args):
        values = list(args)
        values[i] = chx.full((400,), value, 'float64').require_grad()
        y = sample(name, values, (400,))
        if i in refused:
            with pytest.raises(chx.ChainerxError, match=f'{name}: {refused[i]}'):
                chx.grad([y.sum()], [values[i]])
        else:
            (g,) = chx.grad([y.sum()], [values[i]])
            assert g.shape == (400,)
            assert np.isfinite(chx.to_numpy(g)).all()


def test_mean_of_noncentral_numbers():
    """For a sum of squares, d E[x] / d df is 1."""
    df = chx.full((200_000,), 3.0, 'float64').require_grad()
    (g,) = chx.grad([sample('noncentral_chisquare', (df, 5.0), df.shape).sum()], [df])
    assert abs(chx.to_numpy(g).mean() - 1) < 0.01
