"""Rows of attention; Chainer v7 has none of these."""

import functools

import numpy as np
import scipy.special
from links.cases._table import InvalidType, L, Row, call, f, own

from cases.attention.rotary import rotary_embedding

_SOME = np.array([[1, 0, 1], [1, 1, 0]], bool)
_ERF = scipy.special.erf


def _heads(rows, n_heads):
    return rows.reshape(*rows.shape[:2], n_heads, -1).swapaxes(1, 2)


def _scores(q, k, mask, causal):
    s = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
    if mask is not None:
        mask = mask[:, None] if mask.ndim == 3 else mask
        s = np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask
    return np.where(np.tri(*s.shape[2:], dtype=bool), s, -np.inf) if causal else s


def attention(
    v, query, key=None, value=None, mask=None, causal=False, *, heads, groups=None, rotary=None
):
    """The result of `MultiHeadAttention`; ``v`` has its parameters by path."""
    size, groups = query.shape[2], groups or heads
    key = query if key is None else key
    value = key if value is None else value
    kv = size // heads * groups
    if 'W_in' in v:
        ws = np.split(v['W_in'], [size, size + kv])
        bs = np.split(v.get('b_in', np.zeros(size + 2 * kv)), [size, size + kv])
    else:
        ws, bs = ([v[f'{c}_{n}'] for n in ('query', 'key', 'value')] for c in 'Wb')
    q, k, w = (
        _heads(x @ m.T + b, n)
        for x, m, b, n in zip((query, key, value), ws, bs, (heads, groups, groups), strict=True)
    )
    if rotary:
        q, k = rotary_embedding(q, base=rotary), rotary_embedding(k, base=rotary)
    k, w = (np.repeat(x, heads // groups, 1) for x in (k, w))
    y = scipy.special.softmax(_scores(q, k, mask, causal), -1) @ w
    return y.swapaxes(1, 2).reshape(query.shape) @ v['W_out'].T + v.get('b_out', 0)


def _norm(v, name, x, eps=1e-5):
    gamma = v[f'{name}/gamma']
    if f'{name}/beta' not in v:
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * gamma
    u = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)
    return u * gamma + v[f'{name}/beta']


def _below(v, path):
    return {k[len(path) + 1 :]: x for k, x in v.items() if k.startswith(f'{path}/')}


def layer(v, x, mask=None, causal=False, *, function, pre_norm=False, **kw):
    """The result of `TransformerEncoderLayer`."""

    def attend(x):
        return attention(_below(v, 'attention'), x, None, None, mask, causal, **kw)

    def forward(x):
        w = _below(v, 'feed_forward')
        return function(x @ w['W1'].T + w.get('b1', 0)) @ w['W2'].T + w.get('b2', 0)

    if pre_norm:
        x = x + attend(_norm(v, 'norm1', x))
        return x + forward(_norm(v, 'norm2', x))
    x = _norm(v, 'norm1', x + attend(x))
    return _norm(v, 'norm2', x + forward(x))


def encoder(v, x, *, layers, **kw):
    for i in range(layers):
        x = layer(_below(v, f'layers/{i}'), x, **kw)
    return _norm(v, 'norm', x) if 'norm/gamma' in v else x


def gelu(x):
    return x / 2 * (1 + _ERF(x / np.sqrt(2)))


def silu(x):
    return x * scipy.special.expit(x)


_X = f(2, 3, 4)
_part = functools.partial

ROWS = [
    Row('MultiHeadAttention', lambda: L.MultiHeadAttention(2, 4), call(_X),
        _part(attention, heads=2),
        bad=((call(f(2, 4)), InvalidType, 'query.ndim == 3'),
             (call(f(2, 3, 6)), InvalidType, r'query.shape\[2\] == 4'),
             (call(_X, f(2, 3, 6)), InvalidType, r'key.shape\[2\] == 4'),
             (call(_X, _X, f(2, 3, 2)), InvalidType, r'value.shape\[2\] == 4'),
             (call(_X, None, _X), ValueError, 'there is a value, but key is None'),
             (lambda: L.MultiHeadAttention(2, 4)([[1.0]]), TypeError, 'query is a list'),
             (call(_X, mask=True), TypeError, 'mask is a bool'),
             (call(_X, cache=()), TypeError, 'cache is a tuple, expected what make_cache'),
             (lambda: L.MultiHeadAttention(0, 4), ValueError, 'n_heads is 0'),
             (lambda: L.MultiHeadAttention(2.0, 4), TypeError, 'n_heads is 2.0'),
             (lambda: L.MultiHeadAttention(2, 4, n_kv_heads='1'), TypeError, "n_kv_heads is '1'"),
             (lambda: L.MultiHeadAttention(3, 4), ValueError, 'in_size is 4.*n_heads, 3'),
             (lambda: L.MultiHeadAttention(2, 0), ValueError, 'in_size is 0'),
             (lambda: L.MultiHeadAttention(4, 4, n_kv_heads=3), ValueError,
              'n_kv_heads is 3, expected a divisor of n_heads, 4'),
             (lambda: L.MultiHeadAttention(4, 4, n_kv_heads=0), ValueError, 'n_kv_heads is 0'),
             (lambda: L.MultiHeadAttention(4, 4, rotary=True), ValueError, '1 features'),
             (lambda: L.MultiHeadAttention(2, 4, dropout=1.0), ValueError, 'dropout is 1.0'))),
    Row('MultiHeadAttention_lazy', lambda: L.MultiHeadAttention(2, nobias=True), call(_X),
        _part(attention, heads=2)),
    Row('MultiHeadAttention_causal', lambda: L.MultiHeadAttention(2, 4, rotary=True),
        call(_X, causal=True), _part(attention, heads=2, rotary=10000.0)),
    Row('MultiHeadAttention_grouped',
        lambda: L.MultiHeadAttention(4, 8, n_kv_heads=2, rotary=True, rotary_base=20.0),
        call(f(2, 3, 8)), _part(attention, heads=4, groups=2, rotary=20.0)),
    Row('MultiHeadAttention_memory', lambda: L.MultiHeadAttention(2, 4, n_kv_heads=1),
        call(f(2, 2, 4), _X), _part(attention, heads=2, groups=1)),
    Row('MultiHeadAttention_three', lambda: L.MultiHeadAttention(2, 4),
        call(f(2, 2, 4), _X, _X, own('bool', 2, 3, data=_SOME)), _part(attention, heads=2)),
    Row('MultiHeadAttention_sizes', lambda: L.MultiHeadAttention(2, 4, 3, 5),
        call(f(2, 2, 4), f(2, 3, 3), f(2, 3, 5), f(2, 2, 3)), _part(attention, heads=2),
        bad=((call(_X), InvalidType, r'key.shape\[2\] == 3'),)),
    Row('TransformerEncoderLayer',
        lambda: L.TransformerEncoderLayer(4, 2, 5, dropout=0.0), call(_X),
        _part(layer, heads=2, function=lambda x: np.maximum(x, 0)), tol=16,
        bad=((call(f(2, 4)), InvalidType, 'x.ndim == 3'),
             (call(f(2, 3, 6)), InvalidType, r'query.shape\[2\] == 4'),
             (lambda: L.TransformerEncoderLayer(4, 2, activation='swish'), ValueError,
              "activation is 'swish', expected one of 'relu'"),
             (lambda: L.TransformerEncoderLayer(4, 2, norm='batch'), ValueError,
              "norm is 'batch', expected one of 'layer', 'rms'"),
             (lambda: L.TransformerEncoderLayer(4, 2, 0), ValueError, 'hidden_size is 0'),
             (lambda: L.TransformerEncoderLayer(4, 2, dropout=-0.5), ValueError,
              'dropout is -0.5'))),
    Row('TransformerEncoderLayer_pre',
        lambda: L.TransformerEncoderLayer(None, 2, None, 0.0, 'gelu', pre_norm=True),
        call(_X, own('bool', 2, 1, 1, 3, data=_SOME[:, None, None]), causal=True),
        _part(layer, heads=2, function=gelu, pre_norm=True), tol=16),
    Row('TransformerEncoder',
        lambda: L.TransformerEncoder(
            2, 8, 4, 6, 0.0, 'silu', pre_norm=True, norm='rms', n_kv_heads=2, nobias=True,
            rotary=True),
        call(f(2, 3, 8), causal=True),
        _part(encoder, layers=2, heads=4, groups=2, rotary=10000.0, function=silu, pre_norm=True),
        tol=64, gtol=64,
        bad=((call(f(2, 3, 8), None, False, []), ValueError,
              'cache has length 0, expected 2'),
             (lambda: L.TransformerEncoder(-1, 4, 2), ValueError, 'n_layers is -1'))),
    Row('TransformerEncoder_function',
        lambda: L.TransformerEncoder(1, 4, 1, 6, 0.0, lambda x: x * x), call(_X),
        _part(encoder, layers=1, heads=1, function=lambda x: x * x), tol=64),
]  # fmt: skip
