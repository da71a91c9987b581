"""Sums of float16 and bfloat16 are computed in float32, results and gradients."""

import chainerx as chx
import ml_dtypes
import numpy as np
import pytest
from cases._harness import to_numpy
from cases._table import np_dtype, seeded

LA = chx.linalg
SIZE = 96

# Intermediate values may exceed float16: squares of these, sums of squares, shares of 1.
INPUTS = {
    'plain': lambda rng, n: rng.normal(size=n),
    'large': lambda rng, n: rng.normal(200, 50, n),
    'large of both signs': lambda rng, n: rng.normal(0, 300, n),
    'tiny': lambda rng, n: rng.uniform(7.5e-5, 1.25e-4, n) * rng.choice([-1, 1], n),
    'tiny and alike': lambda rng, n: np.linspace(7.5e-5, 1.25e-4, n),
    'subnormal': lambda rng, n: rng.integers(-9, 9, n) * 2.0**-24,
    'many': lambda rng, n: rng.normal(size=700 * n),
}


def rows(function, **kw):
    return lambda x: function(x.reshape(4, -1), **kw)


def columns(function, **kw):
    return lambda x: function(x.reshape(-1, 4), **kw)


def masked(function):
    return lambda x: function(x, where=chx.arange(x.size) % 3 != 0)


def images(function):
    return lambda x: function(x.reshape(2, 4, -1))


def parameters(x, n):
    """Scales and offsets."""
    return x[:n] * 0 + 3, x[:n] * 0 + 1


def labels(*shape):
    return chx.arange(np.prod(shape)).reshape(shape) % 2


REDUCTIONS = ['sum', 'mean', 'var', 'std', 'max', 'min', 'ptp', 'logsumexp', 'prod', 'average']
OTHERS = ['nansum', 'nanmean', 'nanvar', 'nanstd', 'median']
ROUTINES = {
    **{name: getattr(chx, name) for name in REDUCTIONS + OTHERS},
    **{f'{name}, columns': columns(getattr(chx, name), axis=0) for name in REDUCTIONS},
    **{f'{name} of some': masked(getattr(chx, name)) for name in ('mean', 'var', 'std')},
    'var of a sample': lambda x: chx.var(x, ddof=1),
    'std of a sample': lambda x: chx.std(x, ddof=1),
    'quantile': lambda x: chx.quantile(x, 0.3),
    'weighted average': lambda x: chx.average(x, weights=chx.arange(1, x.size + 1) % 5),
    'cov': rows(chx.cov),
    'corrcoef': rows(chx.corrcoef),
    'cumprod': rows(chx.cumprod, axis=1),
    'logaddexp': lambda x: chx.logaddexp(x, x[::-1]),
    'dot': lambda x: chx.dot(x / 8, x[::-1] / 8),
    **{
        f'norm {order}': lambda x, order=order: LA.norm(x, order)
        for order in (None, 0, 1, 2, 3, 0.5, -1, -2, np.inf, -np.inf)
    },
    **{
        f'vector_norm {order}': columns(LA.vector_norm, axis=0, ord=order)
        for order in (1, 2, 3, np.inf)
    },
    **{
        f'matrix_norm {order}': rows(LA.matrix_norm, ord=order)
        for order in ('fro', 'nuc', 1, -1, 2, -2, np.inf, -np.inf)
    },
    **{
        f'{name}, {layout.__name__}': layout(getattr(chx, name), axis=axis)
        for name in ('softmax', 'log_softmax', 'cumsum')
        for layout, axis in ((rows, 1), (columns, 0))
    },
    'softmax_cross_entropy': rows(lambda x: chx.softmax_cross_entropy(x, labels(4))),
    'sigmoid_cross_entropy': lambda x: chx.sigmoid_cross_entropy(x, labels(x.size)),
    'hinge': rows(lambda x: chx.hinge(x, labels(4))),
    'accuracy': rows(lambda x: chx.accuracy(x, labels(4))),
    'huber_loss': lambda x: chx.huber_loss(x, x[::-1], 1.0),
    'squared_error': lambda x: chx.squared_error(x / 8, x[::-1] / 8),
    'absolute_error': lambda x: chx.absolute_error(x, x[::-1]),
    'gaussian_kl_divergence': lambda x: chx.gaussian_kl_divergence(x / 8, x[::-1] / 256),
    'layer_norm': rows(lambda x: chx.layer_norm(x, *parameters(x[0], x.shape[1]))),
    'rms_norm': rows(chx.rms_norm),
    'group_norm': images(lambda x: chx.group_norm(x, 2, *parameters(x[0, :, 0], 4))),
    'instance_norm': images(chx.instance_norm),
    'batch_norm': columns(
        lambda x: chx.batch_norm(x, *parameters(x[0], 4), chx.zeros(4), chx.ones(4))
    ),
    'local_response_normalization': images(chx.local_response_normalization),
    'average_pool': images(lambda x: chx.average_pool(x, 3, 2, 1)),
    'global_average_pool': images(chx.global_average_pool),
}


def results_of(function, x, dtype):
    """The result and the gradient, whose scale is near 1, in float64."""
    x = chx.array(x).astype(dtype).require_grad()
    y = function(x)
    assert y.dtype == dtype
    if not y.is_backprop_required():
        return [to_numpy(y).astype('float64')]
    weights = np.resize([1.0, -0.5, 0.25], y.shape)
    y.grad = chx.array(weights).astype(dtype)
    y.backward()
    return [to_numpy(v).astype('float64') for v in (y.as_grad_stopped(), x.grad)]


@pytest.mark.parametrize('name', ['var', 'std', 'nanvar', 'nanstd'])
def test_large_gradients_of_spreads(name):
    """Twice the gradient exceeds float16; the shares do not."""
    x = chx.array(np.arange(64) / 64, 'float16').require_grad()
    y = getattr(chx, name)(x)
    y.grad = chx.full_like(y, 4e4)
    y.backward()
    values = to_numpy(x.as_grad_stopped()).astype('float64')
    expected = (values - values.mean()) / 32 * 4e4
    if name.endswith('std'):
        expected /= 2 * values.std()
    np.testing.assert_allclose(to_numpy(x.grad), expected, rtol=2e-3, atol=0.5)


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16'])
@pytest.mark.parametrize('name', ROUTINES)
def test_as_near_as_in_float64(name, dtype):
    limits = ml_dtypes.finfo(dtype)
    eps, least = float(limits.eps), float(limits.smallest_subnormal)
    for inputs, draw in INPUTS.items():
        x = draw(seeded(name, inputs), SIZE).astype(np_dtype(dtype))
        found = results_of(ROUTINES[name], x, dtype)
        expected = results_of(ROUTINES[name], x, 'float64')
        for what, y, e in zip(('y', 'gx')[: len(found)], found, expected, strict=True):
            # Beyond the range of the dtype an infinity is right, and near its end either is.
            large = np.abs(e) > 0.99 * float(limits.max)
            np.testing.assert_equal(np.isfinite(y)[~large], np.isfinite(e)[~large], inputs)
            near = ~large & np.isfinite(e)
            # Shares of 1 that are kept for backward have an absolute error relative to 1.
            scale = np.abs(e[near]).max(initial=1 if name.startswith('softmax,') else 0)
            np.testing.assert_allclose(
                y[near],
                e[near],
                rtol=0,
                atol=4 * eps * scale + least,
                err_msg=f'{what} of {inputs}',
            )
