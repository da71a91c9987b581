"""Host cost per op: arrays are so small that arithmetic takes almost no time.

The PyTorch side runs under torch.no_grad() where no graph is wanted; with a graph, its inputs
require gradients and the result, with its graph, is dropped at once, as on our side.
"""

import chainerx
import torch
from harness import float32, main

# name -> (chainerx, torch); a, b: (2, 3); s, t: (3, 3)
OPS = {
    'a + b': ('a + b', 'a + b'),
    'a * 2.0': ('a * 2.0', 'a * 2.0'),
    'exp': ('exp(a)', 'exp(a)'),
    'relu': ('relu(a)', 'relu(a)'),
    'a @ b': ('s @ t', 's @ t'),
    'x.reshape': ('a.reshape(3, 2)', 'a.reshape(3, 2)'),
    'x.T': ('a.T', 'a.T'),
    'x[0]': ('a[0]', 'a[0]'),
    'x.sum()': ('a.sum()', 'a.sum()'),
}


def inputs(graph):
    """The variables of the statements, for each library."""
    ours, theirs = {}, {}
    for i, (name, shape) in enumerate([('a', (2, 3)), ('b', (2, 3)), ('s', (3, 3)), ('t', (3, 3))]):
        x, y, _ = float32(*shape, seed=i)
        ours[name] = x.require_grad() if graph else x
        theirs[name] = y.requires_grad_() if graph else y
    ours.update(exp=chainerx.exp, relu=chainerx.relu)
    theirs.update(exp=torch.exp, relu=torch.relu)
    return {'chainerx': ours, 'torch': theirs}


def chain(bench):
    """100 adds forward, then backward through them."""
    a, b = float32(2, 3), float32(2, 3, seed=1)
    gy = torch.ones(2, 3)
    bench.row(
        'chain of 100 adds',
        {
            'chainerx': 'y = a\nfor _ in r: y = y + b\ny.backward()\na.cleargrad()',
            'torch': 'y = a\nfor _ in r: y = y + b\ny.backward(gy)\na.grad = None',
        },
        {
            'chainerx': {'a': a[0].require_grad(), 'b': b[0], 'r': range(100)},
            'torch': {'a': a[1].requires_grad_(), 'b': b[1], 'r': range(100), 'gy': gy},
        },
        per=100,
    )


def rows(bench):
    """Host cost per op, with and without a graph."""
    for graph in (False, True):
        variables = inputs(graph)
        suffix = 'graph' if graph else 'no graph'
        for name, (ours, theirs) in OPS.items():
            bench.row(
                f'{name}, {suffix}',
                {'chainerx': ours, 'torch': theirs},
                variables,
                scope=None if graph else {'torch': torch.no_grad},
            )
    chain(bench)


if __name__ == '__main__':
    main(rows, 'overhead', rounds=60)
