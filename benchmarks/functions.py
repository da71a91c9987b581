"""Functions of networks, forward and backward, against PyTorch."""

import chainerx
import numpy as np
import torch
from harness import float32, main

ROWS = {10**5: (100, 1000), 10**7: (10_000, 1000)}
FUNCTIONS = {  # name -> (chainerx, torch)
    'softmax': ('f.softmax(x)', 'f.softmax(x, 1)'),
    'log_softmax': ('f.log_softmax(x)', 'f.log_softmax(x, 1)'),
    'softmax_cross_entropy': (
        'f.softmax_cross_entropy(x, t)',
        "f.cross_entropy(x, t, reduction='none')",
    ),
    'gelu': ('f.gelu(x)', 'f.gelu(x)'),
    'gelu, tanh': ("f.gelu(x, 'tanh')", "f.gelu(x, approximate='tanh')"),
    'dropout': ('f.dropout(x, 0.5)', 'f.dropout(x, 0.5)'),
}


def rows(bench):
    """Normalized exponentials, gelu, dropout, of 10^5 and of 10^7 elements."""
    for name, (ours, theirs) in FUNCTIONS.items():
        for n, shape in ROWS.items():
            x, x_torch, _ = float32(*shape)
            x.require_grad()
            x_torch.requires_grad_()
            t = np.random.default_rng(2).integers(0, shape[1], shape[0])
            variables = {'f': chainerx, 'x': x, 't': chainerx.array(t)}
            gy, gy_torch, _ = float32(*eval(ours, variables).shape, seed=1)
            bench.row(
                f'{name}, 10^{len(str(n)) - 1}',
                {
                    'chainerx': f'f.grad([{ours}], [x], grad_outputs=[gy])',
                    'torch': f'grad({theirs}, x, gy)',
                },
                {
                    'chainerx': {**variables, 'gy': gy},
                    'torch': {
                        'f': torch.nn.functional,
                        'x': x_torch,
                        't': torch.tensor(t),
                        'gy': gy_torch,
                        'grad': torch.autograd.grad,
                    },
                },
            )


if __name__ == '__main__':
    main(rows, 'functions', threads=(1, 2), rounds=20, round_seconds=0.01)
