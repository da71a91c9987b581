"""Kernels on large arrays, against PyTorch (and NumPy, for information)."""

import chainerx
import numpy as np
import torch
from harness import float32, main

OPS = {  # name -> (chainerx, torch, numpy)
    'add': ('f.add(a, b)',) * 3,
    'exp': ('f.exp(a)',) * 3,
    'tanh': ('f.tanh(a)',) * 3,
    'sum': ('f.sum(a)',) * 3,
    'mean(axis=0)': ('f.mean(a, axis=0)', 'f.mean(a, dim=0)', 'f.mean(a, axis=0)'),
    'mean(axis=1)': ('f.mean(a, axis=1)', 'f.mean(a, dim=1)', 'f.mean(a, axis=1)'),
}


def rows_of(bench, label, shape, ops):
    a, b = float32(*shape), float32(*shape, seed=1)
    variables = {
        peer: {'a': a[i], 'b': b[i], 'f': module}
        for i, (peer, module) in enumerate(
            [('chainerx', chainerx), ('torch', torch), ('numpy', np)]
        )
    }
    for name in ops:
        bench.row(
            f'{name}, {label}',
            dict(zip(('chainerx', 'torch', 'numpy'), OPS[name], strict=True)),
            variables,
            scope={'torch': torch.no_grad},
        )


def rows(bench):
    """add, exp, tanh, sum, mean over 1M elements."""
    rows_of(bench, '1M', (1000, 1000), OPS)


if __name__ == '__main__':
    main(rows, 'ops', threads=(1, 2), rounds=30, round_seconds=0.01)
