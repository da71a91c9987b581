"""Rows of chainer.functions.attention."""

from functions.cases._table import Case, InvalidType, b, c, call, f, i, own

from cases.attention.attention import attention
from cases.attention.rotary import rotary_embedding

_X = f(2, 3, 4)

CASES = [
    Case('rotary_embedding', ref=rotary_embedding, tol=8, gtol=4,
         cls='attention.rotary_embedding.RotaryEmbedding',
         calls=[call(_X), call(_X, base=50.0, interleaved=True, offset=3),
                call(_X, c([5, 0, 7], 'int32')), call(_X, c([[4], [9]], 'int64'), 100.0, True),
                call(f(4), c(3, 'int8')), call(f(0, 3, 2)), call(f(2, 3, 0))],
         attributes=[{'base': 10000.0, 'interleaved': False, 'offset': 0},
                     {'base': 50.0, 'interleaved': True, 'offset': 3}],
         bad=[(call(f(4)), InvalidType, 'ndim'), (call(f(3, 5)), InvalidType, '% 2'),
              (call(_X, i(2)), InvalidType, 'positions.shape'),
              (call(_X, i(1, 2, 3)), InvalidType, 'positions.ndim'),
              (call(f(1, 4), i(3)), InvalidType, 'positions.shape'),
              (call(_X, own('float32', 3)), InvalidType, 'positions.dtype'),
              (call(_X, own('bool', 3)), InvalidType, 'positions.dtype'),
              (call(_X, base=0.0), ValueError, 'base is 0')]),
    Case('scaled_dot_product_attention', ref=attention, tol=16, gtol=16,
         cls='attention.scaled_dot_product_attention.ScaledDotProductAttention',
         calls=[call(_X, _X, _X), call(_X, f(2, 5, 4), f(2, 5, 1), f(3, 5), scale=0.25),
                call(_X, f(2, 4), f(2, 1), b(3, 2), 0.0, True),
                call(f(4, 2, 3), f(2, 5, 3), f(2, 5, 2), enable_gqa=True)],
         attributes=[{'dropout_p': 0.0, 'is_causal': False, 'scale': None, 'enable_gqa': False},
                     {'scale': 0.25}, {'is_causal': True}, {'enable_gqa': True}],
         bad=[(call(f(4), _X, _X), InvalidType, 'query.ndim'),
              (call(_X, f(2, 3, 5), _X), InvalidType, 'key.shape'),
              (call(_X, _X, f(2, 5, 4)), InvalidType, 'value.shape'),
              (call(_X, _X, own('float64', 2, 3, 4)) , InvalidType, 'dtype', 'numpy'),
              (call(_X, _X, _X, i(3, 3)), InvalidType, 'attn_mask'),
              (call(f(3, 4), f(3, 4), f(3, 4), enable_gqa=True), InvalidType, 'ndim'),
              (call(_X, _X, _X, f(3, 2)), ValueError, 'attn_mask.shape'),
              (call(_X, f(3, 3, 4), f(3, 3, 4)), ValueError, 'key.shape'),
              (call(_X, _X, _X, None, 1.0), ValueError, 'dropout_p is 1.0')]),
]  # fmt: skip
