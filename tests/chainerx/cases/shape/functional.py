"""Routines that call functions of the user."""

import chainerx as chx
import numpy as np
from cases._table import ALL, FLOATS, Case, call, f

# The result for other dtypes depends on the function.
_OTHERS = tuple(d for d in ALL if d not in FLOATS)


def _pieces(x):
    return np.piecewise(x, [x < -0.5, x > 0.5], [lambda v: v * v, lambda v: v**3, 2.0])


def _pieces_of_ours(x):
    return chx.piecewise(x, [x < -0.5, x > 0.5], [lambda v: v * v, lambda v: v**3, 2.0])


CASES = [
    Case(
        'piecewise',
        _pieces,
        fn=_pieces_of_ours,
        calls=[call(f(2, 3, avoid=(-0.5, 0.5))), call(f(avoid=(-0.5, 0.5))), call(f(0))],
        dtypes=FLOATS,
        unchecked=_OTHERS,
    ),
    Case(
        'apply_along_axis',
        lambda x: np.apply_along_axis(lambda v: v * np.sum(v), 0, x),
        fn=lambda x: chx.apply_along_axis(lambda v: v * chx.sum(v), 0, x),
        calls=[call(f(2, 3)), call(f(3)), call(f(2, 1, 3))],
        dtypes=FLOATS,
        unchecked=_OTHERS,
    ),
    Case(
        'apply_over_axes',
        lambda x: np.apply_over_axes(np.sum, x * x, [0, -1]),
        fn=lambda x: chx.apply_over_axes(chx.sum, x * x, [0, -1]),
        calls=[call(f(2, 3)), call(f(2, 1, 3))],
        dtypes=FLOATS,
        unchecked=_OTHERS,
    ),
    Case(
        'asarray_chkfinite',
        np.asarray_chkfinite,
        fn=chx.asarray_chkfinite,
        calls=[call(f(2, 3)), call(f())],
        dtypes=FLOATS,
        unchecked=_OTHERS,
    ),
]
