"""Sorting, selection, sets and histograms, against NumPy; sort and topk against PyTorch as well."""

import chainerx
import numpy as np
from harness import main, torch

# x, v: normal numbers; s: x sorted; i: integers below 1000. n: number of elements.
AGAINST_NUMPY = {
    'sort': 'sort(x)',
    'argsort': 'argsort(x)',
    'searchsorted': 'searchsorted(s, v)',
    'unique': 'unique(x)',
    'unique, integers': 'unique(i)',
    'unique, inverse': 'unique(x, return_inverse=True)',
    'isin': 'isin(x, v)',
    'median': 'median(x)',
    'partition': 'partition(x, x.size // 2)',
    'quantile, three': 'quantile(x, [0.1, 0.5, 0.9])',
    'histogram, 100 bins': 'histogram(x, 100)',
}
# x: many short rows.
SHORT_ROWS = {
    'sort': 'sort(x)',
    'argsort': 'argsort(x)',
    'partition': 'partition(x, 1)',
    'argpartition': 'argpartition(x, 1)',
    'median': 'median(x, -1)',
    'quantile': 'quantile(x, 0.3, -1)',
}
AGAINST_TORCH = {'sort': 'sort(x)', 'topk, 10': 'topk(x, 10)', 'topk, 100': 'topk(x, 100)'}


def rows(bench):
    rng = np.random.default_rng(0)
    for n in (1000, 1_000_000):
        x, v = rng.normal(size=(2, n)).astype('float32')
        arrays = {'x': x, 'v': v, 's': np.sort(x), 'i': rng.integers(0, 1000, n)}

        def variables(library, convert, name, arrays=arrays):
            made = {k: convert(a) for k, a in arrays.items()}
            return made | {name: getattr(library, name)}

        size = f'{n:,}'
        for title, statement in AGAINST_NUMPY.items():
            name = statement.split('(')[0]
            bench.row(
                f'{title}, {size}',
                {'chainerx': statement, 'numpy': statement},
                {
                    'chainerx': variables(chainerx, chainerx.array, name),
                    'numpy': variables(np, np.asarray, name),
                },
                against='numpy',
            )
        if torch is None:
            continue
        for title, statement in AGAINST_TORCH.items():
            name = statement.split('(')[0]
            bench.row(
                f'{title}, {size}, against PyTorch',
                {'chainerx': statement, 'torch': statement},
                {
                    'chainerx': variables(chainerx, chainerx.array, name),
                    'torch': variables(torch, torch.from_numpy, name),
                },
                against='torch',
            )
    for shape in ((100_000, 4), (10_000, 20)):
        x = rng.normal(size=shape).astype('float32')
        for title, statement in SHORT_ROWS.items():
            name = statement.split('(')[0]
            bench.row(
                f'{title}, {shape[0]:,} rows of {shape[1]}',
                {'chainerx': statement, 'numpy': statement},
                {
                    'chainerx': {'x': chainerx.array(x), name: getattr(chainerx, name)},
                    'numpy': {'x': x, name: getattr(np, name)},
                },
                against='numpy',
            )


if __name__ == '__main__':
    main(rows, 'sorting', rounds=20)
