"""NumPy's functions on chainerx arrays; SciPy and scikit-learn, which use the standard."""

import os
import subprocess
import sys

import chainerx as chx
import numpy as np
import pytest


@pytest.fixture
def x():
    return chx.array([[0.5, 1.5], [2.5, -3.5]])


@pytest.mark.parametrize(
    ('run', 'name'),
    [
        (lambda x: np.exp(x), 'exp'),
        (lambda x: np.add(x, 2), 'add'),
        (lambda x: np.float32(2) * x, None),
        (lambda x: np.true_divide(1.0, x), None),
        (lambda x: np.isfinite(x), 'isfinite'),
        (lambda x: np.concatenate([x, x]), None),
        (lambda x: np.sum(x, axis=1), None),
        (lambda x: np.where(x > 0, x, 0), None),
        (lambda x: np.linalg.inv(x), None),
        (lambda x: np.fft.fft(x), None),
        (lambda x: np.transpose(x), None),
    ],
)
def test_the_function_of_that_name(run, name, x):
    y = run(x)
    assert isinstance(y, chx.ndarray)
    np.testing.assert_allclose(chx.to_numpy(y), run(chx.to_numpy(x)), rtol=1e-6)


def test_gradients_pass(x):
    x.require_grad()
    np.exp(x).sum().backward()
    np.testing.assert_allclose(chx.to_numpy(x.grad), np.exp(chx.to_numpy(x)))


@pytest.mark.parametrize(
    ('run', 'text'),
    [
        (lambda x: np.hypot.reduce(x), 'hypot.reduce: chainerx has no routine'),
        (lambda x: np.char.upper(x), 'upper'),
        (lambda x: np.add(x, np.ones(2)), 'one operand is a numpy.ndarray'),
        (lambda x: np.ones((2, 2)) + x, 'one operand is a numpy.ndarray'),
        (lambda x: x + np.ones((2, 2)), 'one operand is a numpy.ndarray'),
        (lambda x: np.concatenate([x, np.ones((2, 2))]), 'one operand is a numpy.ndarray'),
        (lambda x: np.array_repr(x), 'array_repr: chainerx has no function'),
        (lambda x: np.add(x, x, casting='no'), 'casting'),
    ],
)
def test_unsupported_operations_are_type_errors(run, text, x):
    with pytest.raises(TypeError, match=text):
        run(x)


CHECK = """
import chainerx as chx, numpy as np
values = np.linspace(0.1, 2.0, 12).reshape(3, 4)

def check(run, here):
    with np.errstate(all='ignore'):
        expected, found = run(values), here(chx.array(values))
    assert isinstance(found, chx.ndarray), type(found)
    np.testing.assert_allclose(chx.to_numpy(found), expected, rtol=1e-6, atol=1e-12)
"""
SCIPY = """
    special.expit(x); special.erf(x); special.gammaln(x); special.logsumexp(x, axis=1)
    special.softmax(x, axis=1); special.log_softmax(x, axis=0); special.xlogy(x, x)
    special.betainc(x, x, x / 4); stats.zscore(x); stats.skew(x); stats.kurtosis(x, axis=1)
    stats.moment(x, 2); stats.entropy(x); stats.gmean(x); stats.hmean(x); stats.sem(x)
    stats.variation(x); stats.ttest_1samp(x, 0.5).statistic; stats.ttest_1samp(x, 0.5).pvalue
    stats.chisquare(x).statistic; stats.describe(x).variance; stats.boxcox_llf(0.5, x)
    signal.detrend(x); signal.hilbert(x); signal.convolve(x, x); cluster.vq.whiten(x)
    cluster.vq.vq(x, x[:2, :])[0]; cluster.hierarchy.linkage(x); spatial.distance.pdist(x)
    integrate.trapezoid(x); integrate.cumulative_trapezoid(x); integrate.cumulative_simpson(x)
    fft.fft(x); fft.rfft2(x); fft.dct(x); fft.fftshift(x); ndimage.gaussian_filter(x, 1.0)
    ndimage.uniform_filter(x, 3)
"""
SKLEARN = """
    preprocessing.MinMaxScaler().fit_transform(x); preprocessing.MaxAbsScaler().fit_transform(x)
    preprocessing.StandardScaler().fit_transform(x); preprocessing.Normalizer().fit_transform(x)
    preprocessing.PolynomialFeatures(2).fit_transform(x)
    preprocessing.Binarizer(threshold=1.0).fit_transform(x)
    decomposition.PCA(2, svd_solver='full').fit_transform(x)
    linear_model.Ridge(solver='svd').fit(x, x[:, 0]).predict(x)
    metrics.pairwise.cosine_similarity(x); metrics.pairwise.euclidean_distances(x)
"""


def run_child(code, **environment):
    done = subprocess.run(
        [sys.executable, '-c', code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.stdout.strip().endswith('done'), done.stderr[-2000:]


def expressions(text):
    return [e.strip() for line in text.split('\n') for e in line.split(';') if e.strip()]


def test_scipy():
    """SciPy works on chainerx arrays, in a subprocess, as it reads the variable at import."""
    code = CHECK + (
        'from scipy import cluster, fft, integrate, ndimage, signal, spatial, special, stats\n'
        'import scipy.cluster.hierarchy, scipy.cluster.vq, scipy.spatial.distance\n'
    )
    code += ''.join(f'check(lambda x: {e}, lambda x: {e})\n' for e in expressions(SCIPY))
    run_child(code + "print('done')", SCIPY_ARRAY_API='1')


def test_scikit_learn():
    pytest.importorskip('sklearn')
    code = CHECK + (
        'from sklearn import config_context, decomposition, linear_model, metrics, preprocessing\n'
        'def dispatched(run):\n'
        '    def call(x):\n'
        '        with config_context(array_api_dispatch=True):\n'
        '            return run(x)\n'
        '    return call\n'
    )
    code += ''.join(
        f'check(lambda x: {e}, dispatched(lambda x: {e}))\n' for e in expressions(SKLEARN)
    )
    run_child(code + "print('done')", SCIPY_ARRAY_API='1')
