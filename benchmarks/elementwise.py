"""Elementwise functions and multi-pass statistics, against NumPy."""

import chainerx
import numpy as np
from harness import float32, main

SHAPES = {'1000': (1000,), '1M': (1000, 1000)}
FUNCTIONS = [
    'f.where(m, x, y)',
    'f.where(m, x, 0)',
    'f.isclose(x, y)',
    'f.allclose(x, y)',
    'f.nan_to_num(x)',
    'f.round(x)',
    'f.round(x, 2)',
    'f.clip(x, 0.75, 1.25)',
    'f.fmax(x, y)',
    'f.std(x)',
    'f.std(x, ddof=1)',
    'f.std(x, axis=0)',
    'f.nanmean(x)',
    'f.mean(x, where=m)',
    'f.add(x, y, out=z)',
    'f.add(x, y, out=z, where=m)',
]


def rows(bench):
    """where, isclose, nan_to_num, round, std, and calls with options, of 1000 and 1M elements."""
    for label, shape in SHAPES.items():
        x, _, x_np = float32(*shape)
        y, _, y_np = float32(*shape, seed=1)
        m_np = x_np > 1
        ours = {'x': x, 'y': y, 'm': chainerx.array(m_np), 'z': chainerx.empty_like(x)}
        theirs = {'x': x_np, 'y': y_np, 'm': m_np, 'z': np.empty_like(x_np)}
        for statement in FUNCTIONS:
            # The mean of a vector along axis 0 equals that of all elements.
            if 'axis=0' in statement and len(shape) == 1:
                continue
            bench.row(
                f'{statement[2:]}, {label}',
                {'chainerx': statement, 'numpy': statement},
                {'chainerx': {'f': chainerx, **ours}, 'numpy': {'f': np, **theirs}},
                against='numpy',
            )


if __name__ == '__main__':
    main(rows, 'elementwise', threads=(1,), rounds=30, round_seconds=0.01)
