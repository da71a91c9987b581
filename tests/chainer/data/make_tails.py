"""Evaluates distributions in their far tails, in 60 digits; writes tails.json here.

It needs mpmath, and SciPy for the first guess of a quantile:

    python tests/chainer/data/make_tails.py

`test_distributions_tails.py` reads the numbers. Parameters and points are exact in float32.
"""

import json
import math
import pathlib

import mpmath as mp
import numpy as np
from scipy import special

PATH = pathlib.Path(__file__).with_name('tails.json')
INF = math.inf
LEVELS = (1e-30, 1e-20, 1e-8, 1e-3, 0.25, 0.5, 0.75, 0.999, 0.99999994)
NEAR_1 = 0.99999994  # the largest float32 below 1

mp.mp.dps = 60


def exp(x):
    return mp.mpf(0) if x < -1e6 else mp.mpf(INF) if x > 1e6 else mp.exp(x)


def log(x):
    return mp.log(x) if x > 0 else mp.mpf(-INF)


def log1mexp(x):
    """``log(1 - exp(x))``."""
    return mp.log1p(-exp(x)) if x < -1 else log(-mp.expm1(x))


class Tails:
    """Logarithms of the density and of both probabilities; ``z`` gives the quantiles."""

    quantile = None

    def log_density(self, x, *params):
        raise NotImplementedError

    def below(self, x, *params):
        raise NotImplementedError

    def above(self, x, *params):
        raise NotImplementedError

    def log_below(self, x, *params):
        above = self.above(x, *params)
        return mp.log1p(-above) if above < 0.5 else log(self.below(x, *params))

    def log_above(self, x, *params):
        below = self.below(x, *params)
        return mp.log1p(-below) if below < 0.5 else log(self.above(x, *params))


class Symmetric(Tails):
    """A symmetric distribution, given its probability below a standardized number."""

    def log_density(self, x, loc, scale):
        return self.standard((x - loc) / scale) - mp.log(scale)

    def below(self, x, loc, scale):
        return self.standard_below((x - loc) / scale)

    def above(self, x, loc, scale):
        return self.standard_below((loc - x) / scale)

    def quantile(self, p, loc, scale):
        return loc + scale * self.standard_quantile(p)


class Normal(Symmetric):
    def standard(self, z):
        return -z * z / 2 - mp.log(2 * mp.pi) / 2

    def standard_below(self, z):
        return mp.erfc(-z / mp.sqrt(2)) / 2

    def standard_quantile(self, p):
        with mp.workdps(120):
            return -mp.sqrt(2) * mp.erfinv(1 - 2 * p)


class LogNormal(Tails):
    normal = Normal()

    def log_density(self, x, mu, sigma):
        return self.normal.log_density(mp.log(x), mu, sigma) - mp.log(x)

    def below(self, x, mu, sigma):
        return self.normal.below(mp.log(x), mu, sigma)

    def above(self, x, mu, sigma):
        return self.normal.above(mp.log(x), mu, sigma)

    def quantile(self, p, mu, sigma):
        return mp.exp(self.normal.quantile(p, mu, sigma))


class Laplace(Symmetric):
    def standard(self, z):
        return -abs(z) - mp.log(2)

    def standard_below(self, z):
        return exp(z) / 2 if z < 0 else 1 - exp(-z) / 2

    def log_below(self, x, loc, scale):
        z = (x - loc) / scale
        return z - mp.log(2) if z < 0 else mp.log1p(-exp(-z) / 2)

    def log_above(self, x, loc, scale):
        return self.log_below(-x, -loc, scale)

    def standard_quantile(self, p):
        return log(2 * p) if p < 0.5 else -log(2 * (1 - p))


class Cauchy(Symmetric):
    def standard(self, z):
        return -mp.log(1 + z * z) - mp.log(mp.pi)

    def standard_below(self, z):
        return mp.atan2(1, -z) / mp.pi

    def standard_quantile(self, p):
        return -mp.cospi(p) / mp.sinpi(p)


class Gumbel(Symmetric):
    def standard(self, z):
        return -z - exp(-z)

    def log_below(self, x, loc, scale):
        return -exp((loc - x) / scale)

    def log_above(self, x, loc, scale):
        z = (x - loc) / scale
        return -z if z > 1e6 else log1mexp(-exp(-z))

    def standard_quantile(self, p):
        return -log(-log(p))


class Falling(Tails):
    """A distribution given by the logarithm of its upper probability."""

    def log_below(self, x, *params):
        return log1mexp(self.log_above(x, *params))


class Exponential(Falling):
    def log_density(self, x, lam):
        return mp.log(lam) - lam * x

    def log_above(self, x, lam):
        return -lam * x

    def quantile(self, p, lam):
        return -mp.log1p(-p) / lam


class Pareto(Falling):
    def log_density(self, x, scale, alpha):
        return mp.log(alpha / scale) - (alpha + 1) * mp.log(x / scale)

    def log_above(self, x, scale, alpha):
        return -alpha * mp.log(x / scale)

    def quantile(self, p, scale, alpha):
        return scale * mp.exp(-mp.log1p(-p) / alpha)


class Geometric(Falling):
    def log_density(self, x, p):
        return (x - 1) * mp.log1p(-p) + mp.log(p)

    def log_above(self, x, p):
        return x * mp.log1p(-p)

    def quantile(self, level, p):
        return mp.ceil(mp.log1p(-level) / mp.log1p(-p))


class Uniform(Tails):
    def log_density(self, x, low, high):
        return -mp.log(high - low)

    def below(self, x, low, high):
        return (x - low) / (high - low)

    def above(self, x, low, high):
        return (high - x) / (high - low)

    def quantile(self, p, low, high):
        return low + p * (high - low)


def solve(p, x, tails, params):
    """The quantile of ``p``, by Newton's method on the logarithms of point and probability."""
    for _ in range(60):
        below = p < 0.5
        found = tails.log_below(x, *params) if below else tails.log_above(x, *params)
        wanted = mp.log(p) if below else mp.log1p(-p)
        # Accurate for 1 - x where that is small.
        rest = 1 - x if isinstance(tails, Beta) and x > 0.5 else x
        slope = exp(tails.log_density(x, *params) - found) * rest
        step = (found - wanted) / slope * (1 if below else -1)
        x = x * exp(-step) if rest == x else 1 - rest * exp(step)
        if abs(step) < mp.mpf(10) ** -35:
            return x
    raise ArithmeticError(f'no quantile for {p} of {type(tails).__name__}{params}')


class Gamma(Tails):
    def log_density(self, x, k, theta):
        return (k - 1) * mp.log(x / theta) - x / theta - mp.loggamma(k) - mp.log(theta)

    def below(self, x, k, theta):
        return mp.gammainc(k, 0, x / theta, regularized=True)

    def above(self, x, k, theta):
        return mp.gammainc(k, x / theta, mp.inf, regularized=True)

    def quantile(self, p, k, theta):
        guess = float(special.gammaincinv(float(k), float(p)))
        if guess < 1e-290:
            guess = mp.exp((mp.log(p) + mp.loggamma(k + 1)) / k)
        return solve(p, mp.mpf(guess) * theta, self, (k, theta))


class Chisquare(Gamma):
    def log_density(self, x, k):
        return super().log_density(x, k / 2, mp.mpf(2))

    def below(self, x, k):
        return super().below(x, k / 2, mp.mpf(2))

    def above(self, x, k):
        return super().above(x, k / 2, mp.mpf(2))

    def quantile(self, p, k):
        return Gamma().quantile(p, k / 2, mp.mpf(2))


class Poisson(Tails):
    def log_density(self, x, lam):
        return x * mp.log(lam) - lam - mp.loggamma(x + 1)

    def below(self, x, lam):
        return Gamma().above(lam, x + 1, mp.mpf(1))

    def above(self, x, lam):
        return Gamma().below(lam, x + 1, mp.mpf(1))


class Beta(Tails):
    def log_density(self, x, a, b):
        return (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - mp.log(mp.beta(a, b))

    def below(self, x, a, b):
        return mp.betainc(a, b, 0, x, regularized=True)

    def above(self, x, a, b):
        return mp.betainc(b, a, 0, 1 - x, regularized=True)

    def quantile(self, p, a, b):
        with mp.workdps(200):
            guess = mp.mpf(float(special.betaincinv(float(a), float(b), float(p))))
            log_beta = mp.log(mp.beta(a, b))
            if guess < 1e-290:
                guess = mp.exp((mp.log(p * a) + log_beta) / a)
            if guess == 1:
                guess = 1 - mp.exp((mp.log((1 - p) * b) + log_beta) / b)
            return solve(p, guess, self, (a, b))


class Bernoulli(Tails):
    def log_density(self, x, p):
        return log(p if x == 1 else 1 - p)

    def below(self, x, p):
        return mp.mpf(1) if x == 1 else 1 - p

    def above(self, x, p):
        return mp.mpf(0) if x == 1 else p


class BernoulliOfLogit(Bernoulli):
    def log_density(self, x, logit):
        return -mp.log1p(exp(-logit if x == 1 else logit))

    def below(self, x, logit):
        return super().below(x, 1 / (1 + exp(-logit)))

    def above(self, x, logit):
        return super().above(x, 1 / (1 + exp(-logit)))

    def log_below(self, x, logit):
        return mp.mpf(0) if x == 1 else -mp.log1p(exp(logit))

    def log_above(self, x, logit):
        return mp.mpf(-INF) if x == 1 else -mp.log1p(exp(-logit))


_HUGE = [-1e30, -1e10, -100, -1, -1e-5, 0, 1e-5, 1, 100, 1e10, 1e30]
_SMALL_BETA = [1e-30, 1e-8, 0.01, 0.5, 0.999, NEAR_1]
ROWS = [
    (Normal, {'loc': 0, 'scale': 1}, [-1e18, -1e4, -39, -13, -3, 0, 3, 13, 39, 1e4, 1e18]),
    (Normal, {'loc': -2, 'scale': 0.5}, [-30, -12, -2, 7, 30]),
    (Laplace, {'loc': 0, 'scale': 1}, [-1e30, -1000, -20, -1e-5, 0, 1e-5, 20, 1000, 1e30]),
    (Laplace, {'loc': 3, 'scale': 0.25}, [-40, -1, 3, 10, 40]),
    (Gumbel, {'loc': 0, 'scale': 1}, [-1e30, -1000, -80, -4, -1, 0, 1, 20, 1000, 1e30]),
    (Gumbel, {'loc': 3, 'scale': 0.25}, [-1, 3, 10, 40]),
    (Cauchy, {'loc': 0, 'scale': 1}, _HUGE),
    (Cauchy, {'loc': 5, 'scale': 3}, _HUGE),
    (Uniform, {'low': -1, 'high': 3}, [-NEAR_1, -0.5, 2.5, 2.9999998]),
    (Uniform, {'low': 0, 'high': 1}, [1e-30, 1e-8, NEAR_1]),
    (LogNormal, {'mu': 0, 'sigma': 1}, [1e-30, 1e-10, 1e-4, 0.1, 1, 10, 1e4, 1e10, 1e30]),
    (LogNormal, {'mu': 1, 'sigma': 0.125}, [0.01, 0.1, 1, 10, 1e4]),
    (Exponential, {'lam': 1}, [1e-30, 1e-8, 1, 50, 1000, 1e30]),
    (Exponential, {'lam': 0.125}, [1e-30, 1, 100, 1e4]),
    (Pareto, {'scale': 1, 'alpha': 3}, [1.0000001, 1.001, 2, 1e4, 1e10, 1e30]),
    (Pareto, {'scale': 2, 'alpha': 0.125}, [2.0000002, 3, 1e10, 1e30]),
    (Pareto, {'scale': 0.3, 'alpha': 100}, [0.30000004, 0.5, 10, 1e10]),
    (Gamma, {'k': 1, 'theta': 1}, [1e-30, 1e-8, 1, 50, 100, 1000, 1e5]),
    (Gamma, {'k': 0.125, 'theta': 2}, [1e-30, 1e-8, 1, 50, 1000, 1e5]),
    (Gamma, {'k': 5, 'theta': 0.5}, [1e-30, 1e-8, 0.01, 1, 50, 1000]),
    (Gamma, {'k': 50, 'theta': 2}, [1e-5, 0.1, 10, 100, 300, 1e4]),
    (Gamma, {'k': 1e4, 'theta': 1}, [100, 7000, 9000, 1e4, 11000, 13000, 1e5]),
    (Chisquare, {'k': 1}, [1e-30, 1e-8, 1, 50, 1000, 1e5]),
    (Chisquare, {'k': 10}, [1e-30, 1e-8, 0.01, 1, 100, 1000]),
    (Chisquare, {'k': 300}, [1, 50, 300, 500, 2000]),
    (Beta, {'a': 0.1, 'b': 1}, _SMALL_BETA),
    (Beta, {'a': 1, 'b': 0.1}, _SMALL_BETA),
    (Beta, {'a': 5, 'b': 2}, _SMALL_BETA),
    (Beta, {'a': 0.5, 'b': 0.5}, _SMALL_BETA),
    (Beta, {'a': 50, 'b': 100}, [1e-30, 1e-8, 0.01, 0.3, 0.9, 0.999, NEAR_1]),
    (Beta, {'a': 3000, 'b': 3000}, [0.01, 0.4, 0.5, 0.6, 0.99]),
    (Beta, {'a': 200, 'b': 0.5}, [1e-3, 0.5, 0.99, NEAR_1]),
    *((Bernoulli, {'p': p}, [0, 1]) for p in (1e-30, 1e-8, NEAR_1)),
    *((BernoulliOfLogit, {'logit': p}, [0, 1]) for p in (-1000, -100, -20, 20, 100, 1000)),
    (Geometric, {'p': 0.5}, [1, 2, 30, 100, 1000, 1e8]),
    (Geometric, {'p': 1e-8}, [1, 2, 1e4, 1e8, 1e10, 1e12]),
    (Geometric, {'p': NEAR_1}, [1, 2, 3, 10, 100]),
    (Poisson, {'lam': 1}, [0, 1, 10, 30, 1000]),
    (Poisson, {'lam': 1e-8}, [0, 1, 2, 5, 10]),
    (Poisson, {'lam': 50}, [0, 1, 50, 100, 300, 1000]),
    (Poisson, {'lam': 1e4}, [0, 100, 7000, 9000, 1e4, 11000, 13000, 1e5]),
]
DISCRETE = (Bernoulli, Geometric, Poisson)


def row(cls, params, points):
    tails = cls()
    values = [mp.mpf(float(np.float32(v))) for v in params.values()]
    xs = [mp.mpf(float(np.float32(x))) for x in points]
    found = {
        'log_prob': [tails.log_density(x, *values) for x in xs],
        'log_cdf': [tails.log_below(x, *values) for x in xs],
        'log_survival_function': [tails.log_above(x, *values) for x in xs],
    }
    if not isinstance(tails, DISCRETE):
        log_p = found['log_prob']
        found |= {
            'slope': [mp.diff(lambda x: tails.log_density(x, *values), x, h=h(x)) for x in xs],
            'rate_below': rates(log_p, found['log_cdf']),
            'rate_above': rates(log_p, found['log_survival_function']),
        }
    if tails.quantile is not None:
        levels = [mp.mpf(float(np.float32(p))) for p in LEVELS]
        found['icdf'] = [tails.quantile(p, *values) for p in levels]
    numbers = {name: [float(v) for v in column] for name, column in found.items()}
    return {
        'cls': cls.__name__.removesuffix('OfLogit'),
        'params': {name: float(v) for name, v in zip(params, values, strict=True)},
        'points': [float(x) for x in xs],
        **numbers,
    }


def rates(log_density, log_probability):
    """The derivative of the logarithm of a probability; none where that is -inf."""
    pairs = zip(log_density, log_probability, strict=True)
    return [exp(p - q) if q > -INF else mp.mpf(INF) for p, q in pairs]


def h(x):
    return abs(x) * mp.mpf(10) ** -25 or mp.mpf(10) ** -25


if __name__ == '__main__':
    rows = [json.dumps(row(*given)) for given in ROWS]
    PATH.write_text('[\n' + ',\n'.join(rows) + '\n]\n')
