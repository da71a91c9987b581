"""Losses and evaluation."""

import numpy as np
import scipy.special
from cases._promotion import SIGNED, UNSIGNED
from cases._table import BOOL, COMPLEX, FLOATS, INTS, Case, c, call, f, i

_pair = [f(2, 3, lo=0.5, hi=2), f(2, 3, lo=-2, hi=-0.5)]


def _huber(x1, x2, delta):
    a = np.abs(x1 - x2)
    return np.where(a <= delta, a * a / 2, delta * (a - delta / 2))


def _softmax_cross_entropy(x1, x2, label_smoothing=0.0):
    logp = scipy.special.log_softmax(x1, 1)
    hard = np.array([-logp[n, t] if t >= 0 else 0.0 for n, t in enumerate(x2)]).reshape(len(x2))
    even = np.where(x2 >= 0, -logp.mean(1), 0)
    return (1 - label_smoothing) * hard + label_smoothing * even


def _sigmoid_cross_entropy(x1, x2):
    return np.where(x2 == -1, 0, np.maximum(x1, 0) - x1 * x2 + np.log1p(np.exp(-np.abs(x1))))


def _hinge(x1, x2, norm=1.0):
    sign = np.ones_like(x1)
    sign[np.arange(len(x2)), x2] = -1
    return np.maximum(0, 1 + sign * x1) ** norm


def _accuracy(y, t, ignore_label=None):
    hit = y.argmax(1).reshape(t.shape) == t
    if ignore_label is None:
        return hit.mean()
    kept = t != ignore_label
    return np.float64(hit[kept].mean() if kept.any() else 0.0)


CASES = [
    Case(
        'absolute_error',
        lambda x1, x2: np.abs(x1 - x2),
        _pair,
        sig='x1, x2',
        dtypes=FLOATS,
        maybe=SIGNED + COMPLEX,
        unchecked=UNSIGNED,  # the difference wraps before its absolute value is taken
        out='abs',
        elastic=True,
    ),
    Case(
        'squared_error',
        lambda x1, x2: (x1 - x2) ** 2,
        _pair,
        sig='x1, x2',
        dtypes=FLOATS,
        maybe=INTS + COMPLEX,
        elastic=True,
        tol=4,
    ),
    Case(
        'gaussian_kl_divergence',
        lambda mean, ln_var: (mean**2 + np.exp(ln_var) - ln_var - 1) / 2,
        [f(2, 3), f(2, 3)],
        sig='mean, ln_var',
        dtypes=FLOATS,
        maybe=BOOL + INTS,
        out='float',
        elastic=True,
        tol=8,
    ),
    Case(
        'huber_loss',
        _huber,
        [*_pair, 2.3],
        [call(f(4), f(4, lo=4, hi=5), 0.5), call(f(), f(), delta=9.0), call(f(0), f(0), 1.0)],
        sig='x1, x2, delta',
        dtypes=FLOATS,
        maybe=INTS,
        tol=8,
        out='float',
    ),
    Case(
        'sigmoid_cross_entropy',
        _sigmoid_cross_entropy,
        [f(2, 3), i(2, 3, lo=-1, hi=1)],
        [call(f(0), i(0)), call(f(), i(hi=1)), call(f(4), i(4, lo=-1, hi=1, dtype='int32'))],
        sig='x1, x2',
        dtypes=FLOATS,
        maybe=INTS + BOOL,
        out='float',
        diff=(0,),
        tol=8,
    ),
    Case(
        'softmax_cross_entropy',
        _softmax_cross_entropy,
        [f(3, 4), i(3)],
        [
            call(f(3, 4), i(3, dtype='int32')),
            call(f(3, 2), c([0, -1, 1], 'int64')),
            call(f(1, 10), c([9], 'int64')),
            call(f(0, 4), i(0)),
            call(f(3, 4), c([0, -1, 3], 'int32'), label_smoothing=0.1),
            call(f(2, 40), i(2), 1),
            call(f(0, 4), i(0), 0.5),
        ],
        sig='x1, x2, label_smoothing=0.0',
        dtypes=FLOATS,
        maybe=INTS + BOOL,
        out='float',
        diff=(0,),
        tol=8,
        big=call(f(401, 300), i(401, hi=299), label_smoothing=0.2),
        errors=[
            (call(f(3, 4), i(3), 1.5), 'ValueError', '1.5'),
            (call(f(3, 4), i(3), np.nan), 'ValueError', 'nan'),
            (call(f(3, 4), i(3), -0.1), 'ValueError', '-0.1'),
            (call(f(3, 4), i(3), 'x'), 'TypeError', 'label_smoothing'),
            (call(f(3), i(3)), 'DimensionError'),
            (call(f(3, 4), i(2)), 'DimensionError', '3|2'),
            (call(f(3, 4), i(3, 4)), 'DimensionError'),
            (call(f(3, 4), f(3)), 'DtypeError'),
            (call(f(3, 4), c([0, 4, 1], 'int64')), 'IndexError', '4'),
        ],
    ),
    Case(
        'hinge',
        _hinge,
        [f(3, 4, lo=-0.9, hi=0.9), i(3)],
        [call(f(3, 4, lo=-0.9, hi=0.9), i(3), 2.0), call(f(3, 4, lo=-0.9, hi=0.9), i(3), norm=1.0)],
        sig='x1, x2, norm=1.0',
        dtypes=FLOATS,
        maybe=INTS + BOOL,
        out='float',
        diff=(0,),
        tol=8,
        errors=[(call(f(3, 4), f(3)), 'DtypeError'), (call(f(3, 4), i(2)), 'DimensionError')],
    ),
    Case(
        'accuracy',
        _accuracy,
        [f(4, 3, distinct=True), i(4, hi=2)],
        [
            call(f(4, 3, distinct=True), c([0, 1, -1, 2], 'int32'), ignore_label=-1),
            call(f(2, 3, distinct=True), c([1, 1], 'int64'), 1),
            call(f(4, 3, 1, 1, distinct=True), i(4, hi=2)),
            call(f(4, 3, 2, 1, distinct=True), i(4, 2, hi=2)),
            call(f(4, 3, distinct=True), i(4, 1, 1, hi=2)),
            call(f(1, 3, 1, distinct=True), i(1, hi=2)),
        ],
        sig='y, t, ignore_label=None',
        dtypes=FLOATS,
        maybe=INTS,
        order=0,
        layouts=False,
        errors=[
            (call(f(4, 3), f(4)), 'DtypeError'),
            (call(f(4, 3), i(3)), 'DimensionError'),
            (call(f(4, 3, 2), i(4)), 'DimensionError'),
            (call(f(1, 3), i()), 'DimensionError'),
        ],
    ),
]
