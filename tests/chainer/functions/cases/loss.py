"""Rows of chainer.functions.loss."""

import numpy as np
from functions.cases._table import Case, InvalidType, call, f, own

_BAD = [
    (call(f(3), f(1)), InvalidType, 'shape'),
    (call(f(3), own('float16', 3)), InvalidType, 'dtype'),
]

CASES = [
    Case('squared_error', ref=lambda x, y: np.square(x - y), tol=4, keeps='x0 x1',
         calls=[call(f(3, 4), f(3, 4)), call(f(), f()), call(f(0), f(0))],
         cls='loss.squared_error.SquaredError', bad=_BAD),
    Case('squared_difference', ref=lambda x, y: np.square(x - y), tol=4, keeps='x0 x1',
         inputs=[f(3, 4), f(3, 4)], cls='loss.squared_error.SquaredError', bad=_BAD),
]  # fmt: skip
