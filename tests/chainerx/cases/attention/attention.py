"""Attention. Longer and wider ones, for blocks and threads, are in test_attention.py."""

import numpy as np
from cases import _promotion as p
from cases._table import FLOATS, Case, b, c, call, f


def weights(scores, attn_mask, is_causal):
    """Softmax over the last axis; a fully masked row is zeros."""
    if attn_mask is not None:
        out = attn_mask.dtype == bool
        scores = np.where(attn_mask, scores, -np.inf) if out else scores + attn_mask
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    most = scores.max(-1, keepdims=True, initial=-np.inf)
    e = np.exp(scores - np.where(most == -np.inf, 0, most))
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


def attention(
    query, key, value, attn_mask=None, dropout_p=0, is_causal=False, scale=None, enable_gqa=False
):
    if enable_gqa:
        n = query.shape[-3] // key.shape[-3] if key.shape[-3] else 1
        key, value = np.repeat(key, n, -3), np.repeat(value, n, -3)
    width = query.shape[-1]
    scale = (1 / np.sqrt(width) if width else 1) if scale is None else scale
    return weights(scale * (query @ np.swapaxes(key, -1, -2)), attn_mask, is_causal) @ value


NAME = 'DimensionError'

CASES = [
    Case(
        'scaled_dot_product_attention',
        attention,
        sig='query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, dropout_key',
        dtypes=FLOATS,
        out=lambda *d: p.promote(*d[:3]),
        calls=[
            call(f(2, 3), f(3, 3), f(3, 2)),
            call(f(2, 2, 3), f(2, 2, 3), f(2, 2, 2), f(2, 2)),
            call(f(2, 3), f(3, 3), f(3, 2), b(2, 3)),
            call(f(2, 2), f(3, 2), f(3, 1), c([[1, 0, 1], [0, 0, 0]], 'bool')),
            call(f(1, 2, 2, 2), f(2, 1, 2, 2), f(2, 2, 1), is_causal=True),
            call(f(3, 2), f(2, 2), f(2, 2), f(1, 2), is_causal=True, scale=-0.5),
            call(f(4, 2, 2), f(2, 2, 2), f(2, 2, 1), f(4, 1, 1), enable_gqa=True),
            call(f(1, 2, 2, 2), f(2, 1, 3, 2), f(1, 1, 3, 2), b(3), enable_gqa=True),
            call(f(2, 0, 2), f(2, 3, 2), f(2, 3, 2)),
            call(f(2, 2, 2), f(2, 0, 2), f(2, 0, 2), f(2, 0)),
            call(f(0, 2, 2), f(0, 3, 2), f(0, 3, 2)),
            call(f(2, 0), f(3, 0), f(3, 2)),
            call(f(2, 3), f(3, 3), f(3, 0)),
            call(f(0, 2, 2), f(0, 2, 2), f(0, 2, 2), enable_gqa=True),
        ],
        big=call(f(2, 90, 40), f(2, 150, 40), f(2, 150, 33), is_causal=True),
        tol=16,
        gtol=16,
        huge=False,
        errors=[
            (call(f(3), f(2, 3), f(2, 3)), NAME, r'query.shape is \(3,\), expected at least 2'),
            (call(f(2, 3), f(2, 3), f(3)), NAME, r'value.shape is \(3,\)'),
            (
                call(f(2, 3), f(2, 3), f(2, 3), enable_gqa=True),
                NAME,
                r'query.shape is \(2, 3\), expected at least 3',
            ),
            (
                call(f(2, 3), f(2, 4), f(2, 3)),
                NAME,
                r'query.shape is \(2, 3\) and key.shape is \(2, 4\), expected the same width',
            ),
            (
                call(f(2, 3), f(4, 3), f(5, 3)),
                NAME,
                r'key.shape is \(4, 3\) and value.shape is \(5, 3\), expected the same length',
            ),
            (
                call(f(2, 2, 3), f(3, 2, 3), f(3, 2, 3)),
                NAME,
                r'key.shape is \(3, 2, 3\) and query.shape is \(2, 2, 3\), .* broadcast',
            ),
            (call(f(2, 2, 3), f(2, 2, 3), f(3, 2, 3)), NAME, r'value.shape is \(3, 2, 3\) and'),
            (
                call(f(3, 2, 2), f(2, 2, 2), f(2, 2, 2), enable_gqa=True),
                NAME,
                r'query.shape is \(3, 2, 2\) and key.shape is \(2, 2, 2\), .* multiple',
            ),
            (
                call(f(4, 2, 2), f(2, 2, 2), f(4, 2, 2), enable_gqa=True),
                NAME,
                r'key.shape is \(2, 2, 2\) and value.shape is \(4, 2, 2\), .* as many heads',
            ),
            (
                call(f(4, 2, 2), f(0, 2, 2), f(0, 2, 2), enable_gqa=True),
                NAME,
                r'key.shape is \(0, 2, 2\)',
            ),
            (
                call(f(2, 3), f(4, 3), f(4, 3), f(4, 2)),
                NAME,
                r'attn_mask.shape is \(4, 2\), .* broadcasts to \(2, 4\)',
            ),
            (call(f(2, 3), f(4, 3), f(4, 3), f(2, 2, 4)), NAME, r'attn_mask.shape is \(2, 2, 4\)'),
            (
                call(f(2, 3), f(4, 3), f(4, 3), c([[1, 0, 1, 0]], 'int64')),
                'DtypeError',
                'attn_mask has dtype int64, expected bool or a real float',
            ),
            (call(f(2, 3), f(4, 3), f(4, 3), dropout_p=1.0), 'ValueError', 'dropout_p is 1'),
            (call(f(2, 3), f(4, 3), f(4, 3), dropout_p=-0.5), 'ValueError', 'dropout_p is -0.5'),
            (call(f(2, 3), f(4, 3), f(4, 3), dropout_p=float('nan')), 'ValueError', 'dropout_p'),
            (call(f(2, 3), f(4, 3), f(4, 3), scale='x'), 'TypeError', 'scale'),
            (call(f(2, 3), f(4, 3), 'x'), 'TypeError', 'value'),
        ],
        sums='attention',
    ),
]
