"""Rows of chainer.functions.array."""

import numpy as np
from functions.cases._table import NUMBERS, Case, call, f

CASES = [
    Case('get_item', ref=lambda x, slices: x[slices], dtypes=(*NUMBERS, 'bool'),
         cls='array.get_item.GetItem', attributes={'slices': (1,)}, keeps='x0',  # a view
         calls=[call(f(3, 4), 1), call(f(3, 4), (slice(None, None, -2), None, 2)),
                call(f(3, 4), ...), call(f(0, 4), slice(1)), call(f(3, 4), np.array([2, 0, 2])),
                call(f(3, 4), np.eye(3, 4, dtype=bool))],
         bad=[(call(f(3, 4), 3), IndexError, '')]),
]  # fmt: skip
