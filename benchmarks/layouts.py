"""Strided, transposed and mixed layouts, against NumPy."""

import chainerx
import numpy as np
from harness import main

N = 2000

# Statements for both libraries. x, y: (N, N); z: likewise, written to; c: bool; v: (N,); t: x as an
# image of 4 channels; f: the library.
STATEMENTS = {
    'x + y': 'x + y',
    'x.T + y.T': 'x.T + y.T',
    'x + y.T': 'x + y.T',
    'x.T + v': 'x.T + v',
    'x * 2, x[::2, ::3]': 'x[::2, ::3] * 2',
    'x + y, both [::2, ::3]': 'x[::2, ::3] + y[::2, ::3]',
    'x + y, both [::-1, ::-1]': 'x[::-1, ::-1] + y[::-1, ::-1]',
    'z += x.T': 'z += x.T',
    'exp(x.T)': 'f.exp(x.T)',
    'exp(x[::2, ::3])': 'f.exp(x[::2, ::3])',
    'sqrt(x[:, ::2])': 'f.sqrt(x[:, ::2])',
    'x > y': 'x > y',
    'x.T > y.T': 'x.T > y.T',
    'x > y.T': 'x > y.T',
    'x[::2, ::3] > 1': 'x[::2, ::3] > 1',
    'x.T.copy()': 'x.T.copy()',
    'x[::2, ::3].copy()': 'x[::2, ::3].copy()',
    'x[::-1].copy()': 'x[::-1].copy()',
    'z[...] = x.T': 'z[...] = x.T',
    'channels last': 't.transpose(0, 2, 1).copy()',
    'channels first': 't.transpose(0, 2, 1).copy().transpose(0, 2, 1).copy()',
    'x.astype(other)': 'x.astype(other)',
    'x.T.astype(other)': 'x.T.astype(other)',
    'x[::2, ::3].astype(other)': 'x[::2, ::3].astype(other)',
    'x.T.astype(int32)': 'x.T.astype("int32")',
    'where(c, x, y)': 'f.where(c, x, y)',
    'where(c.T, x.T, y.T)': 'f.where(c.T, x.T, y.T)',
    'where(c, x, y.T)': 'f.where(c, x, y.T)',
    'where(c.T, x, y)': 'f.where(c.T, x, y)',
    'where, all [::2, ::3]': 'f.where(c[::2, ::3], x[::2, ::3], y[::2, ::3])',
    'where(c.T, x.T, 0)': 'f.where(c.T, x.T, 0)',
    'sum(x.T)': 'x.T.sum()',
    'sum(x.T, axis=0)': 'x.T.sum(axis=0)',
    'sum(x.T, axis=1)': 'x.T.sum(axis=1)',
    'sum(x[::2, ::3])': 'x[::2, ::3].sum()',
    'sum(x[::2, ::3], axis=0)': 'x[::2, ::3].sum(axis=0)',
    'sum(x[::2, ::3], axis=1)': 'x[::2, ::3].sum(axis=1)',
    'max(x.T, axis=0)': 'x.T.max(axis=0)',
    'max(x[:, ::2], axis=1)': 'x[:, ::2].max(axis=1)',
    'argmax(x)': 'x.argmax()',
    'argmax(x, axis=0)': 'x.argmax(axis=0)',
    'argmax(x, axis=1)': 'x.argmax(axis=1)',
    'argmin(x, axis=1)': 'x.argmin(axis=1)',
    'argmax(x.T)': 'x.T.argmax()',
    'argmax(x.T, axis=0)': 'x.T.argmax(axis=0)',
    'argmax(x.T, axis=1)': 'x.T.argmax(axis=1)',
    'argmax(x[::2, ::3])': 'x[::2, ::3].argmax()',
    'argmax(x[::2, ::3], axis=0)': 'x[::2, ::3].argmax(axis=0)',
    'argmax(x[::2, ::3], axis=1)': 'x[::2, ::3].argmax(axis=1)',
}


def variables(library, dtype, other):
    rng = np.random.default_rng(0)
    x, y, z = (rng.uniform(0.5, 1.5, (N, N)).astype(dtype) for _ in range(3))
    values = {
        'x': x,
        'y': y,
        'z': z,
        'c': x > y,
        'v': x[0],
        't': x.reshape(N // 50, 50 * N // 4, 4),
    }
    return {'f': library, 'other': other} | {k: library.array(v) for k, v in values.items()}


def rows(bench):
    """Elementwise functions, copies, where, reductions and argmax of 2000 x 2000 arrays."""
    for dtype, other in [('float32', 'float64'), ('float64', 'float32')]:
        names = {'chainerx': chainerx, 'numpy': np}
        given = {peer: variables(library, dtype, other) for peer, library in names.items()}
        for name, statement in STATEMENTS.items():
            bench.row(f'{name}, {dtype}', dict.fromkeys(names, statement), given, against='numpy')


if __name__ == '__main__':
    main(rows, 'layouts', rounds=40, round_seconds=0.004)
