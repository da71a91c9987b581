"""Products of float32 matrices, against PyTorch: of a perceptron, of convolutions, and cubes.

python benchmarks/products.py --only '512*'
"""

import chainerx
import numpy as np
import torch
from harness import main

# m, k, n; N for a plain operand, T for a transposed view of memory.
SHAPES = [
    (100, 784, 1000, 'NT'),
    (100, 1000, 784, 'NN'),
    (1000, 100, 1000, 'TN'),
    (64, 576, 25088, 'NN'),
    (64, 256, 3136, 'NN'),
    *((n, n, n, 'NN') for n in (64, 128, 512, 1024, 2048)),
]
BATCH = (64, 64, 64, 64)


def matrix(rng, shape, kind):
    """A matrix with the same values for all peers."""
    if kind == 'T':
        x = rng.uniform(-1, 1, shape[::-1]).astype('f')
        return chainerx.array(x).T, torch.tensor(x).T
    x = rng.uniform(-1, 1, shape).astype('f')
    return chainerx.array(x), torch.tensor(x)


def rows(bench):
    """One row per shape; the note gives our operations per second."""
    rng = np.random.default_rng(0)
    for m, k, n, kinds in SHAPES:
        a, a_torch = matrix(rng, (m, k), kinds[0])
        b, b_torch = matrix(rng, (k, n), kinds[1])
        add(bench, f'{m} x {k} x {n} {kinds}', (a, b), (a_torch, b_torch), m * k * n)
    x, x_torch = matrix(rng, BATCH[:3], 'N')
    add(bench, '64 of 64 x 64 x 64', (x, x), (x_torch, x_torch), BATCH[0] * 64**3)


def add(bench, name, ours, theirs, work):
    peers = {'chainerx': (chainerx, ours), 'torch': (torch, theirs)}
    result = bench.row(
        name,
        dict.fromkeys(peers, 'f(a, b)'),
        {peer: {'f': lib.matmul, 'a': a, 'b': b} for peer, (lib, (a, b)) in peers.items()},
    )
    if result is not None:
        result.note = f'{work / result.best["chainerx"] / 1e9:.0f} G/s'


if __name__ == '__main__':
    main(rows, 'products', threads=(1, 2), rounds=15, round_seconds=0.02)
