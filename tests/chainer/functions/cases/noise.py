"""Rows of chainer.functions.noise, with their random numbers given."""

from functions.cases._table import Case, call, f

CASES = [
    Case('dropout', ref=lambda x, ratio=0.5, mask=None: x * mask, params=(1,), keeps='x1',
         calls=[call(f(3, 4), mask=f(3, 4)), call(f(3, 4), 0.25, mask=f(4)), call(f(), mask=f())],
         cls='noise.dropout.Dropout',
         attributes=[{'dropout_ratio': 0.5, 'return_mask': False}, {'dropout_ratio': 0.25}],
         bad=[(call(f(3), 1.0), ValueError, 'ratio is 1.0'),
              (call(f(3), -0.1), ValueError, 'ratio'),
              (call(f(3), train=False), ValueError, 'train'),
              (call(f(3), mask=f(2)), ValueError, 'shape')]),
]  # fmt: skip
