"""Kernels on large arrays, against PyTorch; NumPy for information."""

import chainerx
import numpy as np
import torch
from harness import float32, main

OPS = {  # name -> (chainerx, torch, numpy)
    'add': ('f.add(a, b)',) * 3,
    'mul': ('f.multiply(a, b)', 'f.mul(a, b)', 'f.multiply(a, b)'),
    'exp': ('f.exp(a)',) * 3,
    'log': ('f.log(a)',) * 3,
    'tanh': ('f.tanh(a)',) * 3,
    'sigmoid': ('f.sigmoid(a)', 'f.sigmoid(a)', '1 / (1 + f.exp(-a))'),
    'silu': ('f.silu(a)', 'f.nn.functional.silu(a)', 'a / (1 + f.exp(-a))'),
    'mish': ('f.mish(a)', 'f.nn.functional.mish(a)', 'a * f.tanh(f.log1p(f.exp(a)))'),
    'relu': ('f.relu(a)', 'f.relu(a)', 'f.maximum(a, 0)'),
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


def rows_by_numbers(bench):
    """Operators with a scalar, for which NumPy has fast paths."""
    x, _, x_np = float32(1000, 1000)
    k_np = np.arange(1_000_000) % 1000 - 500
    for name, array, array_np in [
        *((f'x ** {exponent}', x, x_np) for exponent in (2, 0.5, -1)),
        ('k // 3, int64', chainerx.array(k_np), k_np),
        ('k % 3, int64', chainerx.array(k_np), k_np),
        ('k // 3, int32', chainerx.array(k_np, 'int32'), k_np.astype('int32')),
    ]:
        statement = name.partition(',')[0]
        bench.row(
            f'{name}, 1M',
            {'chainerx': statement, 'numpy': statement},
            {'chainerx': {statement[0]: array}, 'numpy': {statement[0]: array_np}},
            against='numpy',
        )


def rows_of_accuracy(bench):
    """Accuracy: the fraction of rows whose label has the largest score."""
    y, _, y_np = float32(1000, 1000)
    t_np = y_np.argmax(axis=1)  # all predictions are correct, the slowest case
    bench.row(
        'accuracy, 1M',
        {'chainerx': 'f.accuracy(y, t)', 'numpy': '(y.argmax(axis=1) == t).mean()'},
        {
            'chainerx': {'f': chainerx, 'y': y, 't': chainerx.array(t_np)},
            'numpy': {'y': y_np, 't': t_np},
        },
        against='numpy',
    )


def rows(bench):
    """add, exp, tanh, sum, mean, accuracy of 1M elements; powers and quotients with a scalar."""
    rows_of(bench, '1M', (1000, 1000), OPS)
    rows_by_numbers(bench)
    rows_of_accuracy(bench)


if __name__ == '__main__':
    main(rows, 'ops', threads=(1, 2), rounds=30, round_seconds=0.01)
