"""Random numbers, against NumPy and PyTorch. (A file random.py would hide Python's module.)"""

import chainerx
import numpy as np
from harness import main, torch

N = 1_000_000


def rows(bench):
    """A million numbers of a distribution, against NumPy's Generator and PyTorch."""
    rng = chainerx.random.Generator(0)
    peer = np.random.default_rng(0)
    for name, ours, numpy, torchs in [
        ('normal', 'r.standard_normal(n, f)', 'r.standard_normal(n, f)', 't.randn(n)'),
        ('uniform', 'r.random(n, f)', 'r.random(n, f)', 't.rand(n)'),
        (
            'integers below 1000, int32',
            "r.integers(0, 1000, n, 'int32')",
            "r.integers(0, 1000, n, 'int32')",
            't.randint(0, 1000, (n,), dtype=t.int32)',
        ),
        (
            'gamma of shape 2.5',
            'r.standard_gamma(2.5, n, f)',
            'r.standard_gamma(2.5, n, f)',
            't._standard_gamma(x)',
        ),
        ('poisson of mean 2.5', 'r.poisson(2.5, n, f)', 'r.poisson(2.5, n)', 't.poisson(x)'),
        ('permutation', 'r.permutation(n)', 'r.permutation(n)', 't.randperm(n)'),
    ]:
        statements = {'chainerx': ours, 'numpy': numpy}
        variables = {
            'chainerx': {'r': rng, 'n': N, 'f': 'float32'},
            'numpy': {'r': peer, 'n': N, 'f': np.float32},
        }
        bench.row(name, statements, variables, against='numpy')
        if torch is not None:
            statements = {'chainerx': ours, 'torch': torchs}
            variables['torch'] = {'t': torch, 'n': N, 'x': torch.full((N,), 2.5)}
            bench.row(f'{name}, PyTorch', statements, variables, against='torch')


if __name__ == '__main__':
    main(rows, 'random_numbers', rounds=60)
