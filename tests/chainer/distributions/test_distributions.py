"""Distributions of all kinds, driven by a table (`distribution_cases.py`)."""

import copy
import functools
import importlib.util
import pathlib
import warnings

import chainer
import chainer.distributions as D
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import gradient_check
from devices import maker, to_numpy
from distributions.distribution_cases import CASES, SCALARS, dist_of, params_of, peer_of, points_of
from scipy import stats

SCRIPT = pathlib.Path(__file__).parents[1] / 'data' / 'make_v7_distributions.py'
spec = importlib.util.spec_from_file_location('make_v7_distributions', SCRIPT)
v7 = importlib.util.module_from_spec(spec)
spec.loader.exec_module(v7)
V7 = np.load(v7.PATH)

DTYPES = ['float16', 'float32', 'float64']
TOLERANCES = {'float16': 2e-2, 'float32': 1e-4, 'float64': 1e-9}
FUNCTIONS = {
    'log_prob': ('logpdf', 'logpmf'),
    'prob': ('pdf', 'pmf'),
    'cdf': ('cdf', 'cdf'),
    'log_cdf': ('logcdf', 'logcdf'),
    'survival_function': ('sf', 'sf'),
    'log_survival_function': ('logsf', 'logsf'),
}
PROPERTIES = {
    'entropy': 'entropy',
    'mean': 'mean',
    'variance': 'var',
    'stddev': 'std',
    'median': 'median',
}
all_cases = pytest.mark.parametrize('case', CASES, ids=str)


def expected_of(peer, name, *points):
    if not hasattr(peer, name):
        root = {'pdf': 'logpdf', 'pmf': 'logpmf'}.get(name)
        assert root, name
        return np.exp(getattr(peer, root)(*points))
    return getattr(peer, name)(*points)


def test_every_distribution_has_a_row():
    assert {case.cls for case in CASES} == set(D.__all__) - {'Independent'}
    assert all(set(case.bad) == set(case.params) for case in CASES)


@pytest.mark.parametrize('dtype', DTYPES)
@all_cases
def test_values(case, make, dtype):
    dist, peer = dist_of(case, make, dtype), peer_of(case)
    points = points_of(case, make, dtype)
    # SciPy gets exactly these points and almost these parameters.
    tolerance = TOLERANCES[dtype]
    for name, names in FUNCTIONS.items():
        if name in case.lacks:
            continue
        actual = getattr(dist, name)(points)
        assert actual.dtype == dtype
        expected = expected_of(peer, names[case.discrete], to_numpy(points))
        if dtype == 'float16' and name.startswith('log'):
            expected = np.maximum(expected, -60)  # beyond it, float16 parameters are too coarse
            actual = F.maximum(actual, actual.xp.full_like(actual.array, -60))
        np.testing.assert_allclose(
            to_numpy(actual), expected, rtol=tolerance, atol=tolerance, err_msg=name
        )


@pytest.mark.parametrize('dtype', DTYPES)
@all_cases
def test_properties(case, make, dtype):
    dist, peer = dist_of(case, make, dtype), peer_of(case)
    for name, scipy_name in PROPERTIES.items():
        if name in case.lacks:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', RuntimeWarning)  # the Cauchy distribution's moments
            actual = getattr(dist, name)
        assert actual.dtype == dtype
        if scipy_name == 'std' and not hasattr(peer, 'std'):
            expected = np.sqrt(peer.var())
        else:
            expected = getattr(peer, scipy_name)()
        np.testing.assert_allclose(
            to_numpy(actual),
            expected,
            rtol=TOLERANCES[dtype],
            atol=TOLERANCES[dtype],
            err_msg=name,
        )


@pytest.mark.parametrize('case', [c for c in SCALARS if 'icdf' not in c.lacks], ids=str)
def test_icdf(case, make):
    levels = np.array([[0.0], [1e-6], [0.3], [0.5], [0.9], [1.0], [-0.1], [1.1], [np.nan]])
    levels = np.broadcast_to(levels, (len(levels), 3)).copy()
    actual = dist_of(case, make).icdf(make(levels))
    expected = peer_of(case).ppf(levels)
    if case.discrete:  # SciPy returns the number before the lowest one
        lowest = 1 if case.cls == 'Geometric' else 0
        expected = np.where(levels == 0, lowest, expected)
    finite = np.abs(expected) < 1e15  # infinite values may come out huge: tan has no pole in floats
    np.testing.assert_allclose(to_numpy(actual)[finite], expected[finite], rtol=1e-9, atol=1e-9)
    assert (np.abs(to_numpy(actual)[np.isinf(expected)]) > 1e15).all()
    np.testing.assert_array_equal(np.isnan(to_numpy(actual)), np.isnan(expected))


NUMBERS = np.array([0, 1, 2, 3, 7, 20, 21, 100, 999, 1000, 1100])


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize(
    'dist',
    [
        *(lambda x, lam=lam: D.Poisson(x * 0 + lam) for lam in (0, 0.01, 1, 18.5, 1000, 16000)),
        *(lambda x, p=p: D.Geometric(x * 0 + p) for p in (1e-3, 0.1, 0.5, 0.999, 1)),
        *(lambda x, p=p: D.Bernoulli(x * 0 + p) for p in (0, 0.25, 1)),
    ],
)
def test_icdf_is_the_smallest_number_that_reaches_it(dist, dtype, make):
    x = make(NUMBERS.astype(dtype))
    dist = dist(x)
    level = dist.cdf(x)
    quantile = dist.icdf(level)
    assert quantile.dtype == dtype
    with np.errstate(invalid='ignore'):
        before, at = (to_numpy(dist.cdf(x)) for x in (quantile - 1, quantile))
    level = to_numpy(level)
    inside = (level > 0) & (level < 1)
    np.testing.assert_array_equal(at[inside], level[inside])
    assert (before[inside] < level[inside]).all()


def test_quantiles_of_many_events():
    lam = np.array([1e5, 1e9, 1e15, 9e18])
    for level in (1e-300, 1e-9, 0.5, 1 - 1e-9):
        found = D.Poisson(lam).icdf(level).array
        assert found[0] == stats.poisson(lam[0]).ppf(level)
        cdf = D.Poisson(lam).cdf  # SciPy has no quantiles for the last points
        assert (cdf(found).array >= level).all()
        assert (cdf(found - lam * 2e-16 - 1).array <= level * (1 + 1e-6)).all()
    assert D.Poisson(lam).icdf(0.5).creator is None  # a step function has no derivative


@all_cases
def test_lacks(case, make):
    dist = dist_of(case, make)
    for name in case.lacks:
        with pytest.raises(NotImplementedError, match=f'{case.cls} has no '):
            dist.icdf(0.5) if name == 'icdf' else (
                getattr(dist, name)(0.5) if name in FUNCTIONS else getattr(dist, name)
            )


@pytest.mark.filterwarnings('ignore:The .* of a Cauchy')
@pytest.mark.parametrize('case', SCALARS, ids=str)
def test_numbers_as_parameters(case, make):
    """Distributions of batch shape () give the same as those of one element."""
    params = {name: values[:1] for name, values in case.params.items()}
    vector = dist_of(case, make, **params)
    scalar = dist_of(case, make, **{name: values[0] for name, values in params.items()})
    assert scalar.batch_shape == ()
    names = {*PROPERTIES, 'mode', 'covariance'} - {*case.lacks}
    found = {name: getattr(scalar, name) for name in names if _has(vector, name)}
    calls = {*FUNCTIONS, 'icdf'} - {*case.lacks}
    expected = {name: getattr(vector, name) for name in found}
    for name in calls:
        point = 0.4 if name == 'icdf' else case.points[0][0]
        found[name] = getattr(scalar, name)(make(point, 'float64'))
        expected[name] = getattr(vector, name)(make([point], 'float64'))
    for name, y in found.items():
        assert y.shape == (), name
        np.testing.assert_allclose(to_numpy(y), to_numpy(expected[name])[0], err_msg=name)
    assert scalar.sample().shape == ()


def _has(dist, name):
    try:
        getattr(dist, name)
    except NotImplementedError:
        return False
    return True


@pytest.mark.parametrize('case', [c for c in CASES if 'mode' not in c.lacks], ids=str)
def test_mode(case, make):
    if case.cls == 'Uniform':
        with pytest.raises(NotImplementedError, match='Uniform has no mode'):
            _ = dist_of(case, make).mode
        return
    dist = dist_of(case, make)
    mode = to_numpy(dist.mode)
    at = to_numpy(dist.log_prob(make(mode)))
    if case.cls == 'Categorical':
        np.testing.assert_array_equal(mode, to_numpy(dist.p).argmax(-1))
        return
    step = 1 if case.discrete else 1e-3
    for other in (mode - step, mode + step):
        if case.cls == 'Bernoulli' and (other.min() < 0 or other.max() > 1):
            other = other.clip(0, 1)
        assert (to_numpy(dist.log_prob(make(other))) <= at + 1e-14).all()


@all_cases
def test_what_v7_gave(case, make):
    """Values in float32 are v7's; so are seeded samples, except on chainerx devices."""
    actual = v7.values_of(case, send=make)
    expected = {
        key.partition('/')[2]: V7[key] for key in V7.files if key.partition('/')[0] == str(case)
    }
    assert set(expected) <= set(actual)
    assert len(expected) >= 4
    if dist_of(case, make).xp is chainerx:
        expected = {name: x for name, x in expected.items() if not name.startswith('sample')}
    for name, value in expected.items():
        assert actual[name].dtype == value.dtype, name
        np.testing.assert_allclose(
            to_numpy(actual[name]), value, rtol=3e-5, atol=3e-6, err_msg=name
        )


@all_cases
def test_shapes(case, make):
    dist = dist_of(case, make, 'float32')
    first = np.array(next(iter(case.params.values())))
    batch = first.shape[: 1 if len(CASES) - CASES.index(case) <= 5 else first.ndim]
    event = np.array(case.points).shape[1 + len(batch) :]
    assert (dist.batch_shape, dist.event_shape) == (batch, event)
    assert dist.xp is dist.sample().xp
    if 'support' in case.lacks:
        with pytest.raises(NotImplementedError, match='has no support'):
            _ = dist.support
    else:
        assert dist.support == case.support
    for shape in ((), (2,), (2, 0, 3), (4, 1)):
        assert dist.sample(shape).shape == shape + batch + event
        x = dist.sample(shape)
        assert dist.log_prob(x).shape == shape + batch
    assert dist.sample(2).shape == dist.sample_n(2).shape == (2, *batch, *event)
    assert dist.sample_n(0).shape == (0, *batch, *event)
    for bad in (-1, (2, -1)):
        with pytest.raises(ValueError, match=f'{case.cls}.* is .*-1'):
            dist.sample(bad)
    with pytest.raises(TypeError):
        dist.sample(1.5)
    assert repr(dist).startswith(f'<chainer.distributions.{type(dist).__module__[22:]}.{case.cls}')
    np.random.seed(3)
    first = dist.sample(2)
    np.random.seed(3)
    for other in (copy.copy(dist), copy.deepcopy(dist)):
        np.random.seed(3)
        np.testing.assert_array_equal(to_numpy(first), to_numpy(other.sample(2)))


@pytest.mark.parametrize('case', SCALARS, ids=str)
def test_scalars_and_broadcast(case, make):
    """Parameters may be 0-d, Python numbers beside arrays, or of shapes that broadcast."""
    one = {name: value[1] for name, value in case.params.items()}
    x = case.points[0][1]
    expected = to_numpy(dist_of(case, make, 'float32').log_prob(make(case.points[0], 'float32')))
    cls = getattr(D, case.cls)
    dist = cls(**{name: make(value, 'float32') for name, value in one.items()})
    assert dist.batch_shape == ()
    assert dist.sample().shape == ()
    np.testing.assert_allclose(to_numpy(dist.log_prob(x)), expected[1], rtol=1e-5)

    if make([1]).__class__ is np.ndarray:
        assert cls(**one).log_prob(x).dtype == 'float32'
        with chainer.using_config('dtype', np.float64):
            assert cls(**one).log_prob(x).dtype == 'float64'
    name, *others = one
    mixed = {name: make([[one[name]]] * 2, 'float32')} | {name: one[name] for name in others}
    dist = cls(**mixed)
    assert dist.batch_shape == (2, 1)
    for i, other in enumerate(others):
        mixed[other] = make([one[other]] * (3 if i == 0 else 1), 'float32')
    dist = cls(**mixed)
    assert dist.batch_shape == ((2, 3) if others else (2, 1))
    assert dist.sample(4).shape == (4, *dist.batch_shape)
    assert all(param.shape == dist.batch_shape for param in dist.params.values())
    np.testing.assert_allclose(
        to_numpy(dist.log_prob(x)), np.full(dist.batch_shape, expected[1]), rtol=1e-5
    )


@pytest.mark.parametrize('case', SCALARS, ids=str)
def test_a_bare_array_takes_the_dtype_of_the_parameters(case, make):
    dist = dist_of(case, make, 'float32')
    narrow, wide = (make(case.points[0], dtype) for dtype in ('float32', 'float64'))
    for name in ('log_prob', 'prob', 'cdf', 'survival_function'):
        try:
            expected = getattr(dist, name)(narrow)
        except NotImplementedError:
            continue
        found = getattr(dist, name)(wide)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(to_numpy(found), to_numpy(expected))


def spread(sample):
    """Means and standard deviations of many samples."""
    x = to_numpy(sample).astype('float64')
    return x.mean(0), x.std(0)


@pytest.mark.parametrize('case', [c for c in CASES if 'variance' not in c.lacks], ids=str)
def test_moments_of_samples(case, make):
    if case.cls == 'Cauchy':
        np.random.seed(0)
        x = to_numpy(dist_of(case, make).sample(20000))
        np.testing.assert_allclose(np.median(x, axis=0), case.params['loc'], atol=0.1)
        return
    np.random.seed(0)
    n, peer = 20000, peer_of(case)
    mean, std = spread(dist_of(case, make, 'float32').sample(n))
    expected = np.sqrt(peer.var())
    np.testing.assert_array_less(np.abs(mean - peer.mean()), 6 * expected / np.sqrt(n))
    np.testing.assert_allclose(std, expected, rtol=0.1)


@pytest.mark.parametrize('dtype', ['float16', 'float32'])
@all_cases
def test_samples_on_a_device(case, dtype):
    """Seeded samples do not depend on the number of threads; global generators stay."""
    make = maker('native:0')
    state = chainerx.random.get_state()
    found = []
    for threads in (1, 3):
        before = chainerx.get_num_threads()
        chainerx.set_num_threads(threads)
        try:
            np.random.seed(11)
            x = dist_of(case, make, dtype).sample(5000)
        finally:
            chainerx.set_num_threads(before)
        assert isinstance(x.array, chainerx.ndarray)
        assert x.array.device is chainerx.get_device('native:0')
        found.append(x.array.tobytes())
    assert found[0] == found[1]
    assert chainerx.random.get_state() == state
    assert x.dtype == ('int64' if case.cls in ('Bernoulli', 'Categorical') else dtype)


@pytest.mark.parametrize('case', [c for c in SCALARS if 'cdf' not in c.lacks], ids=str)
def test_samples_follow_the_distribution(case, make):
    np.random.seed(1)
    dist, peer = dist_of(case, make), peer_of(case)
    x = to_numpy(dist.sample(4000)).astype('float64')
    cdf = np.sort(peer.cdf(x), 0)
    steps = np.arange(1, 4001)[:, None] / 4000
    if case.discrete:
        # The fraction of samples at most k, compared with its probability.
        for k in range(4):
            share = (x <= k).mean(0)
            np.testing.assert_allclose(share, np.broadcast_to(peer.cdf(k), share.shape), atol=0.035)
        return
    assert np.abs(cdf - steps).max() < 1.95 / np.sqrt(4000)  # fails by chance once in a thousand


@pytest.mark.parametrize('case', [c for c in CASES if c.cls == 'Categorical'], ids=str)
def test_frequencies(case, make):
    np.random.seed(0)
    dist = dist_of(case, make)
    x = to_numpy(dist.sample(20000))
    frequencies = np.stack([(x == i).mean(0) for i in range(3)], axis=-1)
    np.testing.assert_allclose(frequencies, to_numpy(dist.p), atol=0.015)


@all_cases
def test_gradients(case, make):
    """All values have first and second gradients, in parameters and in points."""
    names = list(case.params)
    inputs = [make(value, 'float64') for value in case.params.values()]
    points = points_of(case, make, 'float64')
    if not case.discrete:
        inputs.append(points)
    has = [name for name in ('entropy', 'mean', 'variance') if name not in case.lacks]
    simplex = case.cls in ('Categorical', 'OneHotCategorical')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', RuntimeWarning)
        dist_of(case, make)

    def f(*arguments, cdf=True):
        dist = getattr(D, case.cls)(**dict(zip(names, arguments, strict=False)))
        x = arguments[-1] if not case.discrete else points
        values = [dist.log_prob(x), dist.prob(x)]
        if cdf and 'cdf' not in case.lacks and not case.discrete:
            values += [dist.cdf(x), dist.log_survival_function(x)]
        if case.cls != 'Cauchy':
            values += [getattr(dist, name) for name in has]
        if case.other is not None:
            other = dist_of(case, make, **case.other)
            values += [chainer.kl_divergence(dist, other), chainer.kl_divergence(other, dist)]
        # An infinite divergence has no gradient.
        finite = [np.isfinite(to_numpy(value)).all() for value in values]
        return tuple(
            value
            for value, good in zip(values, finite, strict=True)
            if value.requires_grad and good
        )

    random = np.random.RandomState(1)

    def slopes(f):
        outputs = f(*map(chainer.Variable, inputs))
        assert len(outputs) >= 2
        return [make(random.uniform(0.5, 1, y.shape)) for y in outputs]

    ggxs = [make(random.uniform(0.5, 1, x.shape)) for x in inputs]
    options = {'atol': 1e-4, 'rtol': 1e-4}
    gradient_check.check_backward(f, inputs, slopes(f), **options)
    if not simplex:  # log_p and a choice, which are tested themselves
        twice = functools.partial(f, cdf=not case.cdf_once)
        gradient_check.check_double_backward(twice, inputs, slopes(twice), ggxs, **options)


@all_cases
def test_gradients_of_samples(case, make):
    params = {name: chainer.Variable(x) for name, x in params_of(case, make).items()}
    sample = getattr(D, case.cls)(**params).sample(3)
    integers = case.cls in ('Bernoulli', 'Categorical')
    assert sample.dtype == ('int64' if integers else 'float64')
    assert sample.requires_grad == (not integers)
    if not case.reparameterized:
        assert sample.creator is None
        return
    F.sum(sample).backward()
    for name, x in params.items():
        assert (x.grad is not None) == (name in case.reparameterized), name

    names = list(case.reparameterized)

    def f(*inputs):
        np.random.seed(5)
        given = params_of(case, make) | dict(zip(names, inputs, strict=True))
        return getattr(D, case.cls)(**given).sample((2,))

    inputs = [make(case.params[name], 'float64') for name in names]
    gy = make(np.random.RandomState(1).uniform(0.5, 1, f(*inputs).shape))
    gradient_check.check_backward(f, inputs, gy, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize('case', [c for c in CASES if c.outside], ids=str)
def test_outside(case, make):
    """Outside the support the probability is 0, gradients are finite, and debug mode passes."""
    with chainer.using_config('debug', True):
        for value in case.outside:
            params = {n: chainer.Variable(x) for n, x in params_of(case, make).items()}
            dist = getattr(D, case.cls)(**params)
            x = chainer.Variable(make(np.full(3, value, 'float64')))
            y = dist.log_prob(x)
            assert (to_numpy(y) == -np.inf).all()
            F.sum(y).backward()
            for variable in (x, *params.values()):
                if variable.grad is not None:
                    assert np.isfinite(to_numpy(variable.grad)).all()
            assert (to_numpy(dist.prob(x)) == 0).all()
            if 'cdf' not in case.lacks:
                expected = peer_of(case).cdf(to_numpy(x))
                np.testing.assert_allclose(to_numpy(dist.cdf(x)), expected, atol=1e-15)
                survival = to_numpy(dist.survival_function(x))
                np.testing.assert_allclose(survival, 1 - expected, atol=1e-15)


@pytest.mark.parametrize('case', [c for c in CASES if c.outside and 'cdf' not in c.lacks], ids=str)
def test_logarithms_outside(case, make):
    dist = dist_of(case, make)
    for value in case.outside:
        x = make(np.full(3, value, 'float64'))
        below = peer_of(case).cdf(to_numpy(x))
        with np.errstate(divide='ignore'):
            expected = np.log(below), np.log(1 - below)
        for log_p, e in zip(
            (dist.log_cdf(x), dist.log_survival_function(x)), expected, strict=True
        ):
            np.testing.assert_allclose(to_numpy(log_p), e, atol=1e-15)


@pytest.mark.parametrize('case', [c for c in CASES if c.cls != 'Categorical'], ids=str)
def test_nan(case, make):
    dist = dist_of(case, make)
    shape = dist.batch_shape + dist.event_shape
    assert np.isnan(to_numpy(dist.log_prob(make(np.full(shape, np.nan))))).all()
    if 'cdf' not in case.lacks:
        assert np.isnan(to_numpy(dist.cdf(make(np.full(shape, np.nan))))).all()


@all_cases
def test_bad_parameters(case, make):
    for name, bad in case.bad.items():
        value = np.array(case.params[name], 'float64')
        value[-1, ...] = bad
        shown = {'log_scale': 'scale', 'logit': 'p' if case.cls == 'Categorical' else 'logit'}
        match = rf'{case.cls}: {shown.get(name, name)}\[\d\].* is .*, expected '
        if case.cls == 'Uniform' and name == 'low':
            match = r'Uniform: high\[2\] is 5.0, expected >= low, 9.0'
        dist = dist_of(case, make, **{name: value})
        for sample in (dist.sample, lambda dist=dist: dist.sample_n(0)):
            with pytest.raises(ValueError, match=match):
                sample()
        if name not in ('log_scale', 'logit'):  # debug mode reports its NaN and infinity first
            with chainer.using_config('debug', True), pytest.raises(ValueError, match=match):
                dist_of(case, make, **{name: value})


@pytest.mark.parametrize('case', SCALARS, ids=str)
def test_bad_arguments(case, make):
    cls = getattr(D, case.cls)
    name, *others = case.params
    with pytest.raises(TypeError, match=f'{case.cls}: the dtype of {name} is complex64, expected'):
        cls(**params_of(case, make) | {name: make([1, 2, 3], 'complex64')})
    for other in others:
        mixed = params_of(case, make) | {other: make(case.params[other], 'float16')}
        if isinstance(mixed[other], chainerx.ndarray):
            assert {p.dtype for p in cls(**mixed).params.values()} == {np.dtype('float64')}
        else:
            text = f'{case.cls}: the dtype of {other} is float16, expect'
            with pytest.raises(TypeError, match=text):
                cls(**mixed)
        with pytest.raises(ValueError, match=rf'{case.cls}.*\(3,\).*\(2,\)'):
            cls(**params_of(case, make) | {other: make([0.5, 0.5], 'float64')})
    with pytest.raises(TypeError):
        cls(**params_of(case, make), nonsense=1)


@pytest.mark.parametrize(
    ('call', 'error', 'match'),
    [
        (lambda: D.Normal(0.0), ValueError, 'Normal: neither given, expected either scale or log_'),
        (lambda: D.Normal(0.0, 1.0, log_scale=0.0), ValueError, 'scale and log_scale given'),
        (lambda: D.Bernoulli(), ValueError, 'Bernoulli: neither given, expected either p or logit'),
        (lambda: D.Bernoulli(0.5, 0.0), ValueError, 'Bernoulli: p and logit given'),
        (lambda: D.Categorical(), ValueError, 'Categorical: neither given'),
        (lambda: D.Categorical(0.5), ValueError, r'shape of p is \(\), expected ndim >= 1'),
        (lambda: D.Dirichlet(0.5), ValueError, r'shape of alpha is \(\), expected ndim >= 1'),
        (lambda: D.Uniform(), ValueError, 'Uniform: nothing given, expected low and high, or loc'),
        (lambda: D.Uniform(low=0.0, scale=1.0), ValueError, 'Uniform: low and scale given'),
        (lambda: D.MultivariateNormal(np.zeros(2)), ValueError, 'scale_tril is None'),
        (lambda: D.Normal(None, 1.0), TypeError, 'Normal: loc is NoneType, expected a Variable, a'),
        (lambda: D.Normal(0.0, [1.0]), TypeError, 'Normal: scale is list, expected a Variable, a'),
        (lambda: D.Dirichlet(np.zeros((2, 0))), ValueError, r'alpha is \(2, 0\), expected a last'),
        (
            lambda: D.Poisson(1e30).sample(),
            ValueError,
            r'Poisson: lam is 1e\+30, expected from 0 to',
        ),
        (
            lambda: D.Categorical(np.full((2, 2), 0.5)).log_prob(np.zeros(3, int)),
            ValueError,
            r'shape of x is \(3,\), .* batch, \(2,\)',
        ),
        (
            lambda: D.MultivariateNormal(np.zeros(2), scale_tril=np.eye(3)),
            ValueError,
            r'scale_tril is \(3, 3\).* loc, \(2,\)',
        ),
        (
            lambda: D.Categorical(np.array([0.5, 0.25])).sample(),
            ValueError,
            'Categorical: p is .*0.5.*0.25.*, expected numbers >= 0 whose sum is 1',
        ),
        (
            lambda: D.Categorical(np.array([0.5, 0.5])).log_prob(np.array([0, 2])),
            IndexError,
            'Categorical.log_prob: x has 2, expected integers from 0 to 1',
        ),
        (
            lambda: D.Categorical(np.array([0.5, 0.5])).log_prob(np.array([-1])),
            IndexError,
            'x has -1',
        ),
        (
            lambda: D.Categorical(np.array([0.5, 0.5])).log_prob(np.array([0.5])),
            IndexError,
            'x has 0.5',
        ),
    ],
)
def test_errors(call, error, match):
    with pytest.raises(error, match=match):
        call()


def test_two_kinds_of_arrays_do_not_mix():
    with pytest.raises(TypeError):
        D.Normal(np.zeros(2, 'f'), maker('native:0')([1, 1], 'float32')).sample()
