"""Indexing and joining, against NumPy."""

import chainerx
import numpy as np
from harness import float32, main


def rows(bench):
    """take, x[i], x[i:j] = v, concatenate, against NumPy."""
    rng = np.random.default_rng(0)
    for n_rows, width, n_taken in [(100, 16, 32), (10_000, 64, 1_000), (1_000_000, 16, 100_000)]:
        x, _, x_np = float32(n_rows, width)
        i_np = rng.integers(0, n_rows, n_taken)
        bench.row(
            f'take {n_taken} of {n_rows} x {width}',
            {'chainerx': 'x.take(i, axis=0)', 'numpy': 'x.take(i, axis=0)'},
            {'chainerx': {'x': x, 'i': chainerx.array(i_np)}, 'numpy': {'x': x_np, 'i': i_np}},
            against='numpy',
        )

    x, _, x_np = float32(1_000_000)
    i_np = rng.integers(0, 1_000_000, 1_000_000)
    mask_np = rng.random(1_000_000) < 0.5
    for name, index in [('x[i], 1M of 1M', i_np), ('x[mask], half of 1M', mask_np)]:
        bench.row(
            name,
            {'chainerx': 'x[i]', 'numpy': 'x[i]'},
            {
                'chainerx': {'x': x, 'i': chainerx.array(index)},
                'numpy': {'x': x_np, 'i': index},
            },
            against='numpy',
        )

    x, _, x_np = float32(100, 16)
    v, _, v_np = float32(10, 16, seed=1)
    variables = {
        'chainerx': {'x': x, 'v': v, 'r': range(100)},
        'numpy': {'x': x_np, 'v': v_np, 'r': range(100)},
    }
    for name, statement, per in [
        ('x[i] in a loop', 'for i in r: x[i]', 100),
        ('x[i:j] = v', 'x[20:30] = v', 1),
        ('x[i] = scalar', 'x[7] = 1.5', 1),
    ]:
        bench.row(
            name,
            {'chainerx': statement, 'numpy': statement},
            variables,
            against='numpy',
            per=per,
        )

    pair = [float32(1000, 500, seed=i) for i in range(2)]
    for axis in (1, 2):
        bench.row(
            f'stack two 1000 x 500, axis={axis}',
            {'chainerx': f'stack(pair, {axis})', 'numpy': f'stack(pair, {axis})'},
            {
                'chainerx': {'stack': chainerx.stack, 'pair': [p[0] for p in pair]},
                'numpy': {'stack': np.stack, 'pair': [p[2] for p in pair]},
            },
            against='numpy',
        )

    parts = [float32(5, 3, seed=i) for i in range(100)]
    bench.row(
        'concatenate 100 small arrays',
        {'chainerx': 'concatenate(parts)', 'numpy': 'concatenate(parts)'},
        {
            'chainerx': {'concatenate': chainerx.concatenate, 'parts': [p[0] for p in parts]},
            'numpy': {'concatenate': np.concatenate, 'parts': [p[2] for p in parts]},
        },
        against='numpy',
    )


if __name__ == '__main__':
    main(rows, 'indexing', rounds=60)
