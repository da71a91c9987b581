"""Rows of chainer.functions.util."""

from functions.cases._table import Case, call, f

# test_forget.py tests its derivatives; only first ones exist.
CASES = [
    Case('forget', ref=lambda g, *xs: g(*xs), order=0, refuses=False, direct=False,
         calls=[call(lambda x, z: x * z + x, f(3, 4), f(3, 4)), call(lambda x: (x * x, -x), f())],
         cls='util.forget.Forget', bad=[(call(1, f(3)), TypeError, 'func')]),
]  # fmt: skip
