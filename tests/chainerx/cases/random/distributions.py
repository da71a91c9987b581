"""Distributions of chainerx.random: one `Draw` each, compared with SciPy."""

import dataclasses
import typing as tp

import numpy as np
import pytest
import scipy.stats as st
from cases._table import Case

N = 50_021


@dataclasses.dataclass(frozen=True)
class Draw:
    """A function of chainerx.random, and one or more sets of numbers for its parameters."""

    name: str
    args: tuple  # a tuple of numbers or several
    of: tp.Callable  # makes a frozen distribution of SciPy from these
    bad: tuple = ()  # (arguments, the error message)
    discrete: bool = False

    @property
    def function(self):
        return f'random.{self.name}'


DRAWS = [
    Draw('normal', ((0.0, 1.0), (-3, 0.5)), st.norm, (((0, -1), 'scale'), ((np.nan, 1), 'loc'))),
    Draw(
        'uniform',
        ((0.0, 1.0), (-2.0, 5.0)),
        lambda low, high: st.uniform(low, high - low),
        (((0, np.inf), 'high'),),
    ),
    Draw('laplace', ((0.0, 1.0), (2.0, 3.0)), st.laplace, (((0, -1), 'scale'),)),
    Draw('logistic', ((0.0, 1.0), (2.0, 3.0)), st.logistic, (((0, -1), 'scale'),)),
    Draw('gumbel', ((0.0, 1.0), (2.0, 3.0)), st.gumbel_r, (((np.inf, 1), 'loc'),)),
    Draw('cauchy', ((0.0, 1.0), (2.0, 3.0)), st.cauchy, (((0, -1), 'scale'),)),
    Draw(
        'lognormal',
        ((0.0, 1.0), (1.0, 0.25)),
        lambda mean, sigma: st.lognorm(sigma, scale=np.exp(mean)),
        (((0, -1), 'sigma'),),
    ),
    Draw('exponential', ((1.0,), (3.0,)), lambda scale: st.expon(scale=scale), (((-1,), 'scale'),)),
    Draw('weibull', ((1.0,), (1.5,)), st.weibull_min, (((0,), 'a'),)),
    Draw('pareto', ((1.0,), (3.5,)), st.lomax, (((0,), 'a'),)),
    Draw('power', ((0.5,), (3.5,)), st.powerlaw, (((-1,), 'a'),)),
    Draw('rayleigh', ((1.0,), (3.5,)), lambda s: st.rayleigh(scale=s), (((-1,), 'scale'),)),
    Draw(
        'triangular',
        ((0.0, 0.5, 1.0), (-1.0, 3.0, 3.0), (2.0, 2.0, 9.0)),
        lambda a, c, b: st.triang((c - a) / (b - a), a, b - a),
        (((0, 2, 1), 'right - mode'), ((0, -1, 1), 'mode - left'), ((1, 1, 1), 'right - left')),
    ),
    Draw('standard_gamma', ((0.2,), (1.0,), (2.5,), (1e5,)), st.gamma, (((0,), 'shape'),)),
    Draw(
        'gamma',
        ((0.2, 2.0), (30.0, 0.5)),
        lambda shape, scale: st.gamma(shape, scale=scale),
        (((-1, 1), 'shape'), ((1, -1), 'scale')),
    ),
    Draw('beta', ((0.5, 0.5), (0.1, 3.0), (40.0, 2.0)), st.beta, (((0, 1), 'a'), ((1, 0), 'b'))),
    Draw('chisquare', ((1.0,), (7.5,)), st.chi2, (((0,), 'df'),)),
    Draw('f', ((1.0, 3.0), (20.0, 7.5)), st.f, (((0, 1), 'dfnum'), ((1, 0), 'dfden'))),
    Draw('standard_t', ((1.0,), (7.5,)), st.t, (((0,), 'df'),)),
    Draw(
        'noncentral_chisquare',
        ((3.0, 0.0), (0.5, 2.0), (7.5, 40.0), (1.0, 1e4)),
        lambda df, nonc: st.ncx2(df, nonc) if nonc else st.chi2(df),
        (((0, 1), 'df'), ((1, -1), 'nonc')),
    ),
    Draw(
        'noncentral_f',
        ((3.0, 20.0, 2.0), (1.5, 7.0, 0.0)),
        lambda n, d, nonc: st.ncf(n, d, nonc) if nonc else st.f(n, d),
        (((0, 1, 1), 'dfnum'), ((1, 0, 1), 'dfden'), ((1, 1, np.inf), 'nonc')),
    ),
    Draw(
        'wald',
        ((1.0, 1.0), (3.0, 0.1), (0.2, 500.0), (1e3, 1e-2)),
        lambda mean, scale: st.invgauss(mean / scale, scale=scale),
        (((0, 1), 'mean'), ((1, np.nan), 'scale')),
    ),
    Draw(
        'truncated_normal',
        (
            (-1.0, 2.0, 0.0, 1.0),
            (3.0, 4.0, 1.0, 0.5),
            (8.0, np.inf, 0.0, 1.0),
            (-np.inf, -45.0, 0.0, 1.0),
            (-np.inf, np.inf, 2.0, 3.0),
            (300.0, 300.5, 0.0, 1.0),
        ),
        lambda low, high, loc, s: st.truncnorm((low - loc) / s, (high - loc) / s, loc, s),
        (((1, 1), 'high - low'), ((0, 1, 0, 0), 'scale'), ((np.nan, 1), 'low')),
    ),
    Draw('vonmises', ((0.0, 0.5), (1.0, 4.0), (-2.0, 1e7)), lambda m, k: st.vonmises(k, m)),
    Draw(
        'poisson',
        ((0.3,), (9.9,), (10.0,), (50.0,), (5000.0,)),
        st.poisson,
        (((-1,), 'lam'),),
        True,
    ),
    Draw(
        'binomial',
        ((5, 0.3), (40, 0.95), (60, 0.5), (10**6, 0.2), (7, 0.0), (7, 1.0)),
        st.binom,
        (((-1, 0.5), 'n'), ((1, 1.5), 'p')),
        True,
    ),
    Draw(
        'negative_binomial',
        ((1.0, 0.5), (3.5, 0.2)),
        st.nbinom,
        (((0, 0.5), 'n'), ((1, 0), 'p')),
        True,
    ),
    Draw('geometric', ((0.2,), (0.9,), (1.0,)), st.geom, (((0,), 'p'), ((2,), 'p')), True),
    Draw('zipf', ((1.6,), (2.0,), (4.5,), (70.0,)), st.zipf, (((1,), 'a'), ((np.inf,), 'a')), True),
    Draw(
        'logseries',
        ((0.3,), (0.9,), (0.999,)),
        st.logser,
        (((1,), 'p'), ((-0.1,), 'p')),
        True,
    ),
    Draw(
        'hypergeometric',
        (
            (5, 3, 4),
            (20, 50, 30),
            (50, 20, 30),
            (50, 20, 60),
            (3, 1000, 900),
            (10**6, 2 * 10**6, 10**5),
            (7, 0, 3),
            (0, 7, 3),
            (40, 40, 80),
        ),
        lambda good, bad, n: st.hypergeom(good + bad, good, n),
        (
            ((-1, 1, 0), 'ngood'),
            ((1, 2e9, 0), 'nbad'),
            ((1, 1, -1), 'nsample'),
            ((3, 3, 7), 'ngood \\+ nbad - nsample'),
        ),
        True,
    ),
    Draw('bernoulli', ((0.2,), (0.0,), (1.0,)), st.bernoulli, (((1.5,), 'p'),), True),
]


def fits(x, distribution, discrete):
    """Whether the numbers fit a distribution: a p value above 1e-4."""
    x = np.sort(np.asarray(x, 'f8').ravel())
    if not discrete:
        return st.kstest(x, distribution.cdf).pvalue > 1e-4
    # Bins of at least 30 expected counts.
    low, high = distribution.ppf([0.002, 0.998])
    edges = np.unique(
        np.linspace(low - 0.5, high + 0.5, int(min(high - low + 2, 60))).round() + 0.5
    )
    cumulative = np.concatenate([[0], distribution.cdf(edges), [1]])
    expected = np.diff(cumulative) * len(x)
    counts = np.diff(np.concatenate([[0], np.searchsorted(x, edges, side='right'), [len(x)]]))
    if (counts[expected == 0] != 0).any():
        return False
    counts, expected = counts[expected > 30], expected[expected > 30]
    if len(counts) < 2:
        return True
    return st.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 1e-4


def _values(xp, x):
    return xp.to_numpy(x)


def _checks(draw):
    def check(xp, device):
        function = getattr(xp.random, draw.name)

        def run(*args, seed=5, **kw):
            xp.random.seed(seed)
            return function(*args, device=device, **kw)

        try:
            for args in draw.args:
                x = run(*args, size=N)
                assert fits(_values(xp, x), draw.of(*args), draw.discrete), args
                _check_array_parameters(xp, device, draw, run, args)
            _check_shapes(xp, draw, run, draw.args[0])
            _check_dtypes(xp, draw, run, draw.args[0])
            _check_threads(xp, run, draw.args[0])
        finally:
            xp.random.seed()

    return check


def _check_array_parameters(xp, device, draw, run, args):
    """Parameters given as arrays, in any layout, draw the same numbers as scalars."""
    expected = _values(xp, run(*args, size=(3, 4, 50)))

    def same(x):
        assert x.dtype == expected.dtype, args
        np.testing.assert_allclose(_values(xp, x), expected, rtol=1e-14, err_msg=str(args))

    full = [xp.full((3, 4, 50), a, 'float64', device=device) for a in args]
    same(run(*full))
    same(run(*[xp.full((50, 4, 3), a, 'float64', device=device).T for a in args]))
    same(run(*[xp.full((1, 4, 1), a, 'float64', device=device) for a in args], size=(3, 4, 50)))
    same(run(full[0][::-1, :, ::-1], *args[1:]))


def _check_shapes(xp, draw, run, args):
    assert run(*args).shape == ()
    assert run(*args, size=7).shape == (7,)
    assert run(*args, size=()).shape == ()
    assert run(*args, size=(2, 0, 3)).shape == (2, 0, 3)
    assert (_values(xp, run(*args, size=100))[:9] == _values(xp, run(*args, size=9))).all()
    assert (
        _values(xp, run(*args, size=(5, 20))).ravel() == _values(xp, run(*args, size=100))
    ).all()


def _check_dtypes(xp, draw, run, args):
    default = 'bool' if draw.name == 'bernoulli' else 'int64' if draw.discrete else 'float64'
    assert run(*args, size=5).dtype == default
    wide = _values(xp, run(*args, size=2000)).astype('f8')
    for dtype, tolerance in [('float16', 2e-3), ('bfloat16', 1e-2), ('float32', 3e-6)]:
        x = run(*args, size=2000, dtype=dtype)
        assert x.dtype.name == dtype
        if draw.name in ('normal', 'uniform', 'standard_gamma', 'gamma'):
            continue  # it draws floats of at most 32 bits as float32
        with np.errstate(over='ignore'):
            rounded = wide.astype(x.dtype).astype('f8')
        np.testing.assert_allclose(_values(xp, x).astype('f8'), rounded, rtol=tolerance)
    if draw.discrete:
        assert run(*args, size=5, dtype='int16').dtype == 'int16'


def _check_threads(xp, run, args):
    results = []
    for threads in (1, 2, 4, 16):
        xp.set_num_threads(threads)
        results.append(_values(xp, run(*args, size=100_003)))
    for other in results[1:]:
        assert results[0].tobytes() == other.tobytes()


def _by_number(name, of):
    """Functions without parameters equal others with the default parameters."""

    def check(xp, device):
        xp.random.seed(5)
        x = getattr(xp.random, name)(size=(100, 300), device=device)
        assert x.shape == (100, 300)
        assert x.dtype == 'float64'
        assert fits(_values(xp, x), of, False)
        y = getattr(xp.random, name)(3, 'float32', device)
        assert (y.shape, y.dtype) == ((3,), 'float32')

    return Case(f'random.{name}', check=check)


def _listed(name, of):
    def check(xp, device):
        xp.random.seed(5)
        function = getattr(xp.random, name)
        x = function(100, 300, dtype='float32', device=device)
        assert (x.shape, x.dtype) == ((100, 300), 'float32')
        assert fits(_values(xp, x), of, False)
        assert function().shape == ()
        assert function(0, 2).shape == (0, 2)

    return Case(f'random.{name}', check=check)


def _check_dirichlet(xp, device):
    xp.random.seed(5)
    alpha = np.array([[0.02, 1.0, 3.0], [2.0, 2.0, 60.0]])
    x = xp.random.dirichlet(xp.array(alpha, device=device), (20_000, 2))
    values = _values(xp, x)
    np.testing.assert_allclose(values.sum(-1), 1)
    for row in range(2):
        for i in range(3):
            rest = alpha[row].sum() - alpha[row, i]
            if alpha[row, i] > 0.1:
                assert fits(values[:, row, i], st.beta(alpha[row, i], rest), False)
    tiny = xp.random.dirichlet(xp.full(3, 1e-5, 'float32', device=device), 1000)
    assert tiny.dtype == 'float32'
    corners = _values(xp, tiny).round()
    assert (corners.sum(1) == 1).all()
    assert st.chisquare(corners.sum(0)).pvalue > 1e-4


def _check_multivariate_normal(xp, device):
    xp.random.seed(5)
    mean = xp.array([1.0, -2.0], device=device)
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    x = _values(xp, xp.random.multivariate_normal(mean, xp.array(cov, device=device), N))
    for direction in ([1, 0], [0, 1], [3, -1]):
        along = x @ direction
        s = np.sqrt(direction @ cov @ direction)
        assert fits(along, st.norm(np.dot([1, -2], direction), s), False)
    batch = xp.array(np.stack([cov, 4 * cov]), device=device)
    y = _values(xp, xp.random.multivariate_normal(mean, batch, (N, 2)))
    assert y.shape == (N, 2, 2)
    assert fits(y[:, 1] @ [1, 0], st.norm(1, np.sqrt(8)), False)
    assert xp.random.multivariate_normal(mean, xp.array(cov, device=device)).shape == (2,)


def _check_categorical(xp, device):
    xp.random.seed(5)
    p = np.array([[1.0, 0.0, 3.0, 6.0], [0.0, 0.0, 0.2, 0.0]])
    weights = xp.array(p, device=device)
    x = _values(xp, xp.random.categorical(weights, (N, 2)))
    counts = np.bincount(x[:, 0], minlength=4)
    assert counts[1] == 0
    assert st.chisquare(counts[[0, 2, 3]], N * np.array([0.1, 0.3, 0.6])).pvalue > 1e-4
    assert (x[:, 1] == 2).all()
    assert xp.random.categorical(weights).shape == (2,)
    assert xp.random.categorical(weights[0]).shape == ()
    assert xp.random.categorical(weights, (0, 2), dtype='int32').dtype == 'int32'
    strided = xp.array(p.repeat(2, axis=1), device=device)[:, ::2]
    xp.random.seed(5)
    assert (_values(xp, xp.random.categorical(strided, (N, 2))) == x).all()


def _check_multinomial(xp, device):
    xp.random.seed(5)
    p = xp.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]], device=device)
    x = _values(xp, xp.random.multinomial(xp.array([10, 200], device=device), p, (20_000, 2)))
    assert (x.sum(-1) == [10, 200]).all()
    assert (x[:, 1, 2] == 0).all()
    for i, q in enumerate([0.1, 0.2, 0.7]):
        assert fits(x[:, 0, i], st.binom(10, q), True)
    assert xp.random.multinomial(3, p[0]).shape == (3,)
    assert xp.random.multinomial(3, p[0], (0, 4)).shape == (0, 4, 3)
    assert (_values(xp, xp.random.multinomial(0, p)) == 0).all()


def _check_multivariate_hypergeometric(xp, device):
    xp.random.seed(5)
    draw = xp.random.multivariate_hypergeometric
    colors = xp.array([6, 30, 0, 15], device=device)
    x = _values(xp, draw(colors, 20, 20_000))
    assert (x.sum(-1) == 20).all()
    for i, n in enumerate([6, 30, 0, 15]):
        assert fits(x[:, i], st.hypergeom(51, n, 20), True)
    assert _values(xp, draw(colors, 51)).tolist() == [6, 30, 0, 15]
    assert draw(colors, 0, (2, 3), 'int32').shape == (2, 3, 4)
    assert draw(colors[:0], 0, 2).shape == (2, 0)
    assert draw(colors[:1], 3).tolist() == [3]
    for bad, n, error, text in (
        (colors, 52, ValueError, 'the sum of colors - nsample'),
        (colors, -1, ValueError, 'nsample'),
        (colors - 7, 1, ValueError, 'colors'),
        (colors[None], 1, xp.DimensionError, 'one dimension'),
        (colors * 1.0, 1, xp.DtypeError, 'integer'),
    ):
        with pytest.raises(error, match=text):
            draw(bad, n).tolist()


def _check_permuted(xp, device):
    xp.random.seed(5)
    n = np.arange(5 * 400).reshape(5, 400)
    x = xp.array(n, device=device)
    for array, axis in ((x, 1), (x.T, 0), (x[:, ::-1], -1)):
        y = xp.random.permuted(array, axis)
        rows = _values(xp, y if axis else y.T)
        assert (np.sort(rows) == n).all()
        assert len({tuple(row % 400) for row in rows}) == 5  # each row has its own order
    y = _values(xp, xp.random.permuted(x))
    assert y.shape == (5, 400)
    assert (np.sort(y.ravel()) == n.ravel()).all()
    assert len(set(y[0] // 400)) == 5
    assert xp.random.permuted(xp.array(3, device=device)).tolist() == 3
    assert xp.random.permuted(x[:, :0], 1).shape == (5, 0)
    z = xp.ones((2, 3), device=device).require_grad()
    w = xp.random.permuted(z, axis=1)
    (w * w).sum().backward()
    assert z.grad.tolist() == [[2, 2, 2]] * 2
    with pytest.raises(xp.DimensionError, match='2'):
        xp.random.permuted(x, axis=2)


def _check_bytes(xp, device):
    xp.random.seed(5)
    x = xp.random.bytes(100_000)
    assert type(x) is bytes
    assert st.chisquare(np.bincount(np.frombuffer(x, 'u1'), minlength=256)).pvalue > 1e-4
    xp.random.seed(5)
    assert xp.random.bytes(100_000) == x
    assert xp.random.bytes(0) == b''
    with pytest.raises(xp.DimensionError):
        xp.random.bytes(-1)


def _check_choice(xp, device):
    xp.random.seed(5)
    a = xp.array([[10, 11], [20, 21], [30, 31]], device=device)
    x = _values(xp, xp.random.choice(a, 3000))
    assert (x[:, 1] == x[:, 0] + 1).all()
    assert st.chisquare(np.unique(x[:, 0], return_counts=True)[1]).pvalue > 1e-4
    assert xp.random.choice(a).shape == (2,)
    assert xp.random.choice(a, (4, 5), axis=1).shape == (3, 4, 5)
    assert sorted(xp.random.choice(7, 7, replace=False, device=device).tolist()) == list(range(7))
    p = xp.array([0.0, 5.0, 1.0, 4.0], device=device)
    x = _values(xp, xp.random.choice(4, 3000, p=p))
    assert st.chisquare(np.bincount(x)[1:], [1500, 300, 1200]).pvalue > 1e-4
    pairs = np.array([xp.random.choice(4, 2, False, p).tolist() for _ in range(2000)])
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert st.chisquare(np.bincount(pairs[:, 0])[1:], [1000, 200, 800]).pvalue > 1e-4
    after = np.bincount(pairs[pairs[:, 0] == 1, 1], minlength=4)[2:]
    assert st.chisquare(after, after.sum() * np.array([0.2, 0.8])).pvalue > 1e-4
    assert xp.random.choice(0, 0).shape == (0,)


def _check_shuffle(xp, device):
    xp.random.seed(5)
    x = xp.arange(1000, device=device)
    xp.random.shuffle(x)
    values = _values(xp, x)
    assert (np.sort(values) == np.arange(1000)).all()
    assert (values != np.arange(1000)).mean() > 0.99
    y = xp.arange(12, device=device).reshape(3, 4)
    xp.random.shuffle(y[:, ::-1], axis=1)
    values = _values(xp, y)
    assert (np.sort(values[0]) == np.arange(4)).all()
    assert (values[1:] - values[:-1] == 4).all()


def _check_default_rng(xp, device):
    rng = xp.random.default_rng(7)
    assert xp.random.default_rng(rng) is rng
    xp.random.seed(7)
    x = xp.random.normal(size=20, device=device)
    assert (_values(xp, rng.normal(size=20, device=device)) == _values(xp, x)).all()


CASES = [Case(d.function, check=_checks(d)) for d in DRAWS]
CASES += [
    _by_number('random', st.uniform),
    _by_number('random_sample', st.uniform),
    _by_number('standard_normal', st.norm),
    _by_number('standard_cauchy', st.cauchy),
    _by_number('standard_exponential', st.expon),
    _listed('rand', st.uniform),
    _listed('randn', st.norm),
    Case('random.dirichlet', check=_check_dirichlet),
    Case('random.multivariate_normal', check=_check_multivariate_normal),
    Case('random.categorical', check=_check_categorical),
    Case('random.multinomial', check=_check_multinomial),
    Case('random.multivariate_hypergeometric', check=_check_multivariate_hypergeometric),
    Case('random.bytes', check=_check_bytes),
    Case('random.permuted', check=_check_permuted),
    Case('random.choice', check=_check_choice),
    Case('random.shuffle', check=_check_shuffle),
    Case('random.default_rng', check=_check_default_rng),
]
