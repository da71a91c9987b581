"""Rows of chainer.links.normalization."""

import numpy as np
from functions.cases.normalization import (
    batch_normalization,
    decorrelated,
    fixed_batch_normalization,
    fixed_decorrelated,
    group_normalization,
    layer_normalization,
    rms_norm,
)
from links.cases._table import InvalidType, L, Row, call, f, own

_CHANNELS = ((call(f(4, 2)), InvalidType, r'gamma\.shape'),
             (call(own('int32', 4, 3)), InvalidType, r'x\.dtype'))  # fmt: skip


def fixed(p, x):
    return fixed_batch_normalization(x, p['gamma'], p['beta'], p['avg_mean'], p['avg_var'])


ROWS = [
    Row('BatchNormalization', lambda: L.BatchNormalization(3), call(f(4, 3)),
        lambda p, x: batch_normalization(x, p['gamma'], p['beta']), tol=32, gtol=32,
        bad=_CHANNELS),
    Row('BatchNormalization_test', lambda: L.BatchNormalization(3), call(f(2, 3, 2)), fixed,
        train=False),
    Row('BatchNormalization_axis', lambda: L.BatchNormalization(axis=(0, 1)), call(f(3, 2, 2)),
        lambda p, x: batch_normalization(x, p['gamma'], p['beta'], axis=(0, 1)), tol=32, gtol=32),
    Row('BatchNormalization_bare', lambda: L.BatchNormalization(3, use_gamma=False, use_beta=False),
        call(f(4, 3)), lambda p, x: batch_normalization(x, np.ones(3), np.zeros(3)),
        tol=32, gtol=32),
    Row('BatchRenormalization', lambda: L.BatchRenormalization(3), call(f(4, 3)),
        lambda p, x: batch_normalization(x, p['gamma'], p['beta']), tol=32, gtol=32,
        bad=_CHANNELS),
    Row('BatchRenormalization_test', lambda: L.BatchRenormalization(3), call(f(4, 3)), fixed,
        train=False),
    Row('DecorrelatedBatchNormalization', lambda: L.DecorrelatedBatchNormalization(4, 2),
        call(f(6, 4)), lambda p, x: decorrelated(x, groups=2), tol=64, gtol=64,
        bad=((call(f(6, 6)), (InvalidType, ValueError), 'x'),
             (call(own('int32', 6, 4)), InvalidType, r'x\.dtype'))),
    Row('DecorrelatedBatchNormalization_test', lambda: L.DecorrelatedBatchNormalization(4, 2),
        call(f(6, 4)), lambda p, x: fixed_decorrelated(x, p['avg_mean'], p['avg_projection'], 2),
        train=False),
    Row('GroupNormalization', lambda: L.GroupNormalization(2, 4), call(f(2, 4, 2)),
        lambda p, x: group_normalization(x, 2, p['gamma'], p['beta']), tol=32, gtol=32,
        bad=((call(f(2, 6, 2)), InvalidType, r'gamma\.shape'),)),
    Row('LayerNormalization', lambda: L.LayerNormalization(4), call(f(2, 4)),
        lambda p, x: layer_normalization(x, p['gamma'], p['beta'], 1e-6), tol=32, gtol=32,
        bad=((call(f(2, 3)), InvalidType, r'gamma\.shape'),)),
    Row('RMSNorm', lambda: L.RMSNorm(4), call(f(2, 3, 4)),
        lambda p, x: rms_norm(x, p['gamma']), tol=32, gtol=32,
        bad=((call(f(2, 3)), InvalidType, r'gamma\.shape'),
             (call(own('int32', 2, 4)), InvalidType, r'x\.dtype'))),
    Row('RMSNorm_lazy', lambda: L.RMSNorm(eps=0.5), call(f(4)),
        lambda p, x: rms_norm(x, p['gamma'], 0.5)),
]  # fmt: skip
