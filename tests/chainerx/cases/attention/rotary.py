"""Rotary position embedding."""

import numpy as np
from cases._table import FLOATS, Case, c, call, f, i, own

NAN, INF = float('nan'), float('inf')


def rotary_embedding(x, positions=None, base=10000.0, interleaved=False, offset=0):
    """The reference, as a product of complex numbers."""
    n = x.shape[-1] // 2
    positions = np.arange(x.shape[-2]) if positions is None else positions
    frequency = float(base) ** (-np.arange(n) / max(n, 1))
    turn = np.exp(1j * (positions + float(offset))[..., None] * frequency)
    if interleaved:
        z = (x[..., ::2] + 1j * x[..., 1::2]) * turn
        return np.stack([z.real, z.imag], -1).reshape(x.shape)
    z = (x[..., :n] + 1j * x[..., n:]) * turn
    return np.concatenate([z.real, z.imag], -1)


_X = f(2, 3, 4)

CASES = [
    Case(
        'rotary_embedding',
        rotary_embedding,
        calls=[
            call(_X),
            call(f(5, 6), interleaved=True),
            call(f(2, 2, 3, 2), None, 10.0),
            call(_X, c([5, 0, 70000], 'int64')),
            call(_X, c([[4], [9]], 'int32'), base=500.0, interleaved=True),
            call(_X, c(7, 'uint8')),
            call(f(4), c(-3, 'int8')),
            call(f(3, 2), c([0, 255, 1], 'uint8'), offset=2**40),
            call(_X, offset=-2),
            call(f(3, 34), offset=3),
            call(f(3, 34), None, 100.0, True, 3),
            call(f(0, 3, 4)),
            call(f(3, 0, 4)),
            call(f(2, 3, 0)),
            call(f(2, 0, 4), i(2, 0)),
        ],
        sig='x, positions=None, base=10000.0, interleaved=False, offset=0',
        dtypes=FLOATS,
        out='first',
        tol=8,
        gtol=4,
        big=call(f(30, 301, 34)),
        errors=[
            (call(f(4)), 'DimensionError', '^rotary_embedding: x.ndim is 1, expected at least 2'),
            (call(f(), i()), 'DimensionError', 'x.ndim is 0, expected at least 1'),
            (call(f(3, 5)), 'DimensionError', r'x.shape\[-1\] is 5, expected an even number'),
            (call(_X, i(2)), 'DimensionError', r'positions.shape is \(2,\).*to \(2, 3\)'),
            (call(_X, i(1, 2, 3)), 'DimensionError', r'positions.shape is \(1, 2, 3\)'),
            (call(_X, i(3, 3)), 'DimensionError', r'positions.shape is \(3, 3\)'),
            (call(_X, own('float32', 3)), 'DtypeError', 'positions has dtype float32'),
            (call(_X, own('bool', 3)), 'DtypeError', 'positions has dtype bool'),
            (call(_X, base=0.0), 'ValueError', 'base is 0'),
            (call(_X, base=NAN), 'ValueError', 'base is nan'),
            (call(_X, base=INF), 'ValueError', 'base is inf'),
            (call(_X, offset=1.5), 'TypeError', 'offset'),
            (call(_X, 3), 'TypeError', 'positions'),
        ],
    ),
]
