"""One row per distribution, with its peer in SciPy. Chainer 7.8.1 reads this module, too."""

import dataclasses
import typing as tp

import chainer.distributions as D
import numpy as np
from scipy import stats


@dataclasses.dataclass
class Case:
    """A distribution, its parameters and the points to evaluate.

    peer: SciPy's distribution, made from parameters in float64. bad: a value outside the domain, by
    parameter name. outside: points of probability 0. lacks: attributes without a formula.
    reparameterized: the parameters in which samples are differentiable. other: the parameters of
    another such distribution, for divergences, if these are known. cdf_once: probabilities have no
    second derivatives in parameters.
    """

    cls: str
    params: dict
    peer: tp.Callable
    points: list
    bad: dict
    outside: tuple = ()
    lacks: tuple = ()
    reparameterized: tuple = ()
    other: dict | None = None
    discrete: bool = False
    support: str = 'real'
    event_ndim: int = 0
    cdf_once: bool = False
    id: str = ''

    def __str__(self):
        return self.id or self.cls


NO_CDF = ('cdf', 'log_cdf', 'survival_function', 'log_survival_function', 'icdf', 'median')
LOC_SCALE = {
    'params': {'loc': [0.3, -1.5, 2.0], 'scale': [0.5, 1.0, 3.0]},
    'points': [[-2.0, -1.4, 9.0], [0.4, 1.0, 2.1], [1.0, 0.0, -30.0]],
    'bad': {'loc': np.inf, 'scale': -1.0},
    'reparameterized': ('loc', 'scale'),
    'other': {'loc': [0.1, -1.0, 1.0], 'scale': [0.7, 2.0, 2.5]},
}
POSITIVE_POINTS = [[0.1, 0.5, 2.0], [1.5, 0.2, 7.0]]

SCALARS = [
    Case('Normal', peer=lambda loc, scale: stats.norm(loc, scale), **LOC_SCALE),
    Case(
        'Normal',
        {'loc': [0.3, -1.5, 2.0], 'log_scale': [-0.5, 0.0, 1.0]},
        peer=lambda loc, log_scale: stats.norm(loc, np.exp(log_scale)),
        points=LOC_SCALE['points'],
        bad={'loc': np.nan, 'log_scale': np.inf},
        reparameterized=('loc', 'log_scale'),
        other={'loc': [0.1, -1.0, 1.0], 'log_scale': [0.7, 0.2, -1.5]},
        id='Normal of log_scale',
    ),
    Case('Laplace', peer=lambda loc, scale: stats.laplace(loc, scale), **LOC_SCALE),
    Case('Gumbel', peer=lambda loc, scale: stats.gumbel_r(loc, scale), **LOC_SCALE),
    Case('Cauchy', peer=lambda loc, scale: stats.cauchy(loc, scale), **LOC_SCALE | {'other': None}),
    Case(
        'Uniform',
        {'low': [-1.0, 0.0, 2.0], 'high': [1.0, 0.5, 5.0]},
        peer=lambda low, high: stats.uniform(low, high - low),
        points=[[-0.5, 0.1, 2.5], [0.9, 0.4, 3.0]],
        outside=(-2.0, 6.0),
        bad={'low': 9.0, 'high': np.nan},
        reparameterized=('low', 'high'),
        other={'low': [-1.5, -0.5, 1.0], 'high': [1.5, 0.75, 6.0]},
        support='[low, high]',
    ),
    Case(
        'Uniform',
        {'loc': [-1.0, 0.0, 2.0], 'scale': [1.0, 0.5, 5.0]},
        peer=lambda loc, scale: stats.uniform(loc, scale),
        points=[[-0.5, 0.1, 2.5], [-0.1, 0.4, 3.0]],
        outside=(-2.0, 8.0),
        bad={'loc': -np.inf, 'scale': -0.5},
        reparameterized=('loc', 'scale'),
        other={'loc': [-1.5, -0.5, 1.0], 'scale': [2.0, 3.0, 9.0]},
        support='[low, high]',
        id='Uniform of loc',
    ),
    Case(
        'LogNormal',
        {'mu': [0.3, -1.5, 1.0], 'sigma': [0.5, 1.0, 0.8]},
        peer=lambda mu, sigma: stats.lognorm(s=sigma, scale=np.exp(mu)),
        points=POSITIVE_POINTS,
        outside=(-1.0, 0.0),
        bad={'mu': np.nan, 'sigma': -0.5},
        reparameterized=('mu', 'sigma'),
        other={'mu': [0.1, -1.0, 1.2], 'sigma': [0.7, 1.5, 0.6]},
        support='positive',
    ),
    Case(
        'Exponential',
        {'lam': [0.3, 1.0, 4.0]},
        peer=lambda lam: stats.expon(scale=1 / lam),
        points=POSITIVE_POINTS,
        outside=(-0.5,),
        bad={'lam': 0.0},
        reparameterized=('lam',),
        other={'lam': [0.5, 2.0, 3.0]},
        support='positive',
    ),
    Case(
        'Pareto',
        {'scale': [0.5, 1.0, 2.0], 'alpha': [5.0, 3.5, 8.0]},
        peer=lambda scale, alpha: stats.pareto(alpha, scale=scale),
        points=[[0.6, 1.1, 2.1], [5.0, 2.0, 3.0]],
        outside=(0.4, -1.0),
        bad={'scale': 0.0, 'alpha': -1.0},
        reparameterized=('scale', 'alpha'),
        other={'scale': [0.4, 0.9, 1.5], 'alpha': [4.0, 6.0, 2.0]},
        support='[scale, inf]',
    ),
    Case(
        'Gamma',
        {'k': [0.5, 1.0, 4.0], 'theta': [2.0, 0.5, 1.0]},
        peer=lambda k, theta: stats.gamma(k, scale=theta),
        points=POSITIVE_POINTS,
        outside=(-0.5,),
        cdf_once=True,
        bad={'k': 0.0, 'theta': -1.0},
        reparameterized=('theta',),
        other={'k': [1.5, 2.0, 3.0], 'theta': [1.0, 0.75, 2.0]},
        support='positive',
    ),
    Case(
        'Chisquare',
        {'k': [1.0, 2.0, 5.0]},
        peer=lambda k: stats.chi2(k),
        points=POSITIVE_POINTS,
        outside=(-0.5,),
        cdf_once=True,
        bad={'k': -2.0},
        support='positive',
    ),
    Case(
        'Beta',
        {'a': [0.5, 1.0, 4.0], 'b': [2.0, 0.5, 3.0]},
        peer=lambda a, b: stats.beta(a, b),
        points=[[0.1, 0.5, 0.9], [0.7, 0.2, 0.3]],
        outside=(-0.5, 1.5),
        lacks=('mode',),
        cdf_once=True,
        bad={'a': 0.0, 'b': np.nan},
        other={'a': [1.5, 2.0, 3.0], 'b': [1.0, 0.75, 2.0]},
        support='[0, 1]',
    ),
    Case(
        'Bernoulli',
        {'p': [0.2, 0.5, 0.9]},
        peer=lambda p: stats.bernoulli(p),
        points=[[0, 1, 1], [1, 0, 0]],
        bad={'p': 1.5},
        other={'p': [0.3, 0.1, 0.6]},
        discrete=True,
        support='{0, 1}',
    ),
    Case(
        'Bernoulli',
        {'logit': [-2.0, 0.25, 3.0]},
        peer=lambda logit: stats.bernoulli(1 / (1 + np.exp(-logit))),
        points=[[0, 1, 1], [1, 0, 0]],
        bad={'logit': np.nan},
        other={'logit': [1.0, -0.5, 2.0]},
        discrete=True,
        support='{0, 1}',
        id='Bernoulli of logit',
    ),
    Case(
        'Geometric',
        {'p': [0.2, 0.5, 0.9]},
        peer=lambda p: stats.geom(p),
        points=[[1, 2, 3], [8, 1, 1]],
        outside=(0, -3),
        bad={'p': 0.0},
        other={'p': [0.3, 0.1, 0.6]},
        discrete=True,
        support='positive integer',
    ),
    Case(
        'Poisson',
        {'lam': [0.2, 1.5, 9.0]},
        peer=lambda lam: stats.poisson(lam),
        points=[[0, 2, 3], [1, 0, 15]],
        outside=(-1,),
        lacks=('entropy',),
        bad={'lam': -1.0},
        other={'lam': [0.3, 1.0, 6.0]},
        discrete=True,
        support='non negative integer',
    ),
]


class Rows:
    """SciPy distributions that take no batch: one per row, with the batch axis first."""

    def __init__(self, make, *params):
        self.rows = [make(*row) for row in zip(*params, strict=True)]

    def __getattr__(self, name):
        if name == 'rows' or not hasattr(self.rows[0], name):
            raise AttributeError(name)

        def call(*points):
            rows = [
                np.asarray(getattr(row, name)(*(x[..., i, :] for x in points)))
                for i, row in enumerate(self.rows)
            ]
            return np.stack(rows, axis=-1 if points else 0)

        return call


class Categories:
    """A categorical distribution by its definition; points are indices or one-hot rows."""

    def __init__(self, p, one_hot):
        self.p, self.one_hot = p, one_hot

    def logpmf(self, x):
        if self.one_hot:
            return np.log((x * self.p).sum(-1))
        return np.log(np.take_along_axis(self.p, x.T, axis=-1).T)

    def entropy(self):
        return stats.entropy(self.p, axis=-1)

    def mean(self):
        return self.p

    def var(self):
        return self.p * (1 - self.p)


P = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]
OTHER_P = [[0.1, 0.6, 0.3], [0.25, 0.25, 0.5]]
CORNERS = np.eye(3)
VECTORS = [
    Case(
        'Dirichlet',
        {'alpha': [[0.5, 1.0, 3.0], [2.0, 2.5, 0.7]]},
        peer=lambda alpha: Rows(lambda a: _Dirichlet(a), alpha),
        points=[[[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]], [[0.6, 0.3, 0.1], [0.3, 0.3, 0.4]]],
        lacks=(*NO_CDF, 'mode'),
        bad={'alpha': 0.0},
        other={'alpha': [[1.5, 2.0, 1.0], [1.0, 0.5, 0.7]]},
        support='[0, 1]',
        event_ndim=1,
    ),
    Case(
        'MultivariateNormal',
        {
            'loc': [[1.0, 2.0], [-1.0, 0.5]],
            'scale_tril': [[[1.0, 0.0], [0.5, 2.0]], [[2.0, 0.0], [-1.0, 0.5]]],
        },
        peer=lambda loc, scale_tril: Rows(
            lambda m, t: _MultivariateNormal(m, t @ t.T), loc, scale_tril
        ),
        points=[[[0.0, 2.0], [-1.0, 1.0]], [[1.5, 2.5], [3.0, 0.0]]],
        lacks=NO_CDF,
        bad={'loc': np.nan, 'scale_tril': 0.0},
        reparameterized=('loc', 'scale_tril'),
        other={
            'loc': [[1.5, 1.0], [-1.0, 0.0]],
            'scale_tril': [[[1.5, 0.0], [0.5, 1.0]], [[1.0, 0.0], [0.5, 0.75]]],
        },
        event_ndim=1,
    ),
    Case(
        'OneHotCategorical',
        {'p': P},
        peer=lambda p: Categories(p, one_hot=True),
        points=[CORNERS[[0, 2]].tolist(), CORNERS[[1, 0]].tolist()],
        lacks=(*NO_CDF, 'mode', 'support'),
        bad={'p': -0.25},
        other={'p': OTHER_P},
        discrete=True,
        event_ndim=1,
    ),
    Case(
        'Categorical',
        {'p': P},
        peer=lambda p: Categories(p, one_hot=False),
        points=[[0, 2], [1, 0], [2, 2]],
        lacks=(*NO_CDF, 'mean', 'variance', 'stddev', 'support'),
        bad={'p': np.nan},
        other={'p': OTHER_P},
        discrete=True,
    ),
    Case(
        'Categorical',
        {'logit': [[1.0, 2.0, -0.5], [0.0, 0.0, 3.0]]},
        peer=lambda logit: Categories(np.exp(logit) / np.exp(logit).sum(-1, keepdims=True), False),
        points=[[0, 2], [1, 0], [2, 2]],
        lacks=(*NO_CDF, 'mean', 'variance', 'stddev', 'support'),
        bad={'logit': np.nan},
        other={'logit': OTHER_P},
        discrete=True,
        id='Categorical of logit',
    ),
]
CASES = SCALARS + VECTORS


class _Dirichlet:
    def __init__(self, alpha):
        self.d = stats.dirichlet(alpha)
        self.entropy, self.mean, self.var = self.d.entropy, self.d.mean, self.d.var

    def logpdf(self, x):
        return np.apply_along_axis(self.d.logpdf, -1, x)


class _MultivariateNormal:
    def __init__(self, mean, cov):
        self.d, self.cov = stats.multivariate_normal(mean, cov), cov
        self.entropy, self.logpdf, self.mean = self.d.entropy, self.d.logpdf, lambda: mean

    def var(self):
        return np.diagonal(self.cov)


def params_of(case, make, dtype='float64', **changed):
    return {name: make(value, dtype) for name, value in {**case.params, **changed}.items()}


def dist_of(case, make, dtype='float64', **changed):
    return getattr(D, case.cls)(**params_of(case, make, dtype, **changed))


def peer_of(case):
    return case.peer(**{name: np.array(value) for name, value in case.params.items()})


def points_of(case, make, dtype):
    return make(case.points, None if case.cls == 'Categorical' else dtype)
