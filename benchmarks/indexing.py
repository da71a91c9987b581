"""Indexing, joining and padding, against NumPy; sums at indices, against PyTorch."""

import chainerx
import numpy as np
from harness import float32, main, torch

# The statements of `elementary`, with either library as `xp`.
STATEMENTS = {
    'take': 'xp.take(x, i)',
    'x[i]': 'x[i]',
    'x[mask]': 'x[mask]',
    'nonzero': 'xp.nonzero(x)',
    'extract': 'xp.extract(mask, x)',
    'nonzero of bool': 'xp.nonzero(mask)',
    'argwhere of bool': 'xp.argwhere(mask)',
    'where': 'xp.where(mask, x, y)',
    'cumsum': 'xp.cumsum(x)',
    'roll': 'xp.roll(x, 5)',
    'pad': 'xp.pad(x, 10)',
    'pad of a square': 'xp.pad(square, 3)',
    'pad of a square, edge': "xp.pad(square, 3, 'edge')",
    'pad of a square, reflect': "xp.pad(square, 3, 'reflect')",
    'pad of a square, wrap': "xp.pad(square, 3, 'wrap')",
    'roll of a square': 'xp.roll(square, (5, 3), (0, 1))',
    'diff': 'xp.diff(x)',
    'take_along_axis': 'xp.take_along_axis(square, at, 1)',
}


def elementary(bench):
    """Routines on many and on few elements."""
    rng = np.random.default_rng(0)
    for count, text in ((1_000, '1k'), (1_000_000, '1M')):
        _, _, x_np = float32(count)
        _, _, y_np = float32(count, seed=1)
        side = int(count**0.5)
        numpy = {
            'xp': np,
            'x': np.where(x_np < 0.7, np.float32(0), x_np),
            'y': y_np,
            'i': rng.integers(0, count, count),
            'mask': rng.random(count) < 0.5,
            'square': x_np[: side * side].reshape(side, side),
            'at': rng.integers(0, side, (side, side)),
        }
        ours = {k: chainerx.array(v) for k, v in numpy.items() if k != 'xp'} | {'xp': chainerx}
        for name, statement in STATEMENTS.items():
            bench.row(
                f'{name}, {text}',
                {'chainerx': statement, 'numpy': statement},
                {'chainerx': ours, 'numpy': numpy},
                against='numpy',
            )


# The same for many short rows, to show the overhead per row.
SHORT_ROWS = {
    '100000 x 4': {
        'tile': 'xp.tile(x, (1, 2))',
        'repeat': 'xp.repeat(x, 2, 0)',
        'take of columns': 'xp.take(x, i, 1)',
        'x[:, i]': 'x[:, i]',
        'x[:, ::-1].copy()': 'x[:, ::-1].copy()',
        'roll': 'xp.roll(x, 1, 1)',
        'concatenate': 'xp.concatenate([x, x], 1)',
        'stack': 'xp.stack([x, x], 2)',
        'pad': 'xp.pad(x, 1)',
        'diff': 'xp.diff(x, axis=1)',
    },
    '30000 x 3 x 3': {
        'tile': 'xp.tile(x, 2)',
        'x.swapaxes(1, 2).copy()': 'x.swapaxes(1, 2).copy()',
        'triu': 'xp.triu(x)',
        'diagonals': 'xp.diagonal(x, axis1=1, axis2=2).copy()',
        'x[:, :, i]': 'x[:, :, i]',
    },
    '3000 x 100': {'tile': 'xp.tile(x, 2)', 'repeat': 'xp.repeat(x, 2, 0)'},
}


def short_rows(bench):
    """Routines on stacks of short rows."""
    for shape, statements in SHORT_ROWS.items():
        x, _, x_np = float32(*map(int, shape.split(' x ')))
        i_np = np.array([1, 0, 2])
        variables = {
            'chainerx': {'xp': chainerx, 'x': x, 'i': chainerx.array(i_np)},
            'numpy': {'xp': np, 'x': x_np, 'i': i_np},
        }
        for name, statement in statements.items():
            bench.row(
                f'{name}, {shape}',
                {'chainerx': statement, 'numpy': statement},
                variables,
                against='numpy',
            )


def sums(bench):
    """Scatter-add: values added at indices, several to one element."""
    if torch is None:
        return
    rng = np.random.default_rng(0)
    for n_rows, width, n_values in (
        (1_000, 1, 1_000),
        (1_000_000, 1, 1_000_000),
        (1_000, 64, 10_000),
        (100_000, 16, 100_000),
    ):
        shape = (n_rows, width) if width > 1 else (n_rows,)
        x, x_torch, _ = float32(*shape)
        v, v_torch, _ = float32(n_values, *shape[1:], seed=1)
        i = rng.integers(0, n_rows, n_values)
        bench.row(
            f'add {n_values} at {n_rows} x {width}',
            {'chainerx': 'f(x, i, v)', 'torch': 'x.index_add_(0, i, v)'},
            {
                'chainerx': {'f': chainerx.add_at, 'x': x, 'i': chainerx.array(i), 'v': v},
                'torch': {'x': x_torch, 'i': torch.tensor(i), 'v': v_torch},
            },
        )


def rows(bench):
    """take, x[i], x[i:j] = v, concatenate, pad and so on."""
    elementary(bench)
    short_rows(bench)
    sums(bench)
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

    x, _, x_np = float32(1000, 1000)
    for share in (0.02, 0.97):
        mask_np = rng.random((1000, 1000)) < share
        for name, statement in [('x[mask]', 'x[m]'), ('x[mask] = 0', 'x[m] = 0')]:
            bench.row(
                f'{name}, {share:.0%} of 1000 x 1000',
                {'chainerx': statement, 'numpy': statement},
                {
                    'chainerx': {'x': x.copy(), 'm': chainerx.array(mask_np)},
                    'numpy': {'x': x_np.copy(), 'm': mask_np},
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
