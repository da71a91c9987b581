"""Rows of chainer.functions.attention."""

from functions.cases._table import Case, InvalidType, c, call, f, i, own

from cases.rotary import rotary_embedding

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
]  # fmt: skip
