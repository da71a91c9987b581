"""Fused chains of elementwise operations: against the same step as it is, and torch.compile.

The ceilings of budgets.toml refer to the eager step of chainerx.
"""

import chainerx
import numpy as np
from chainerx.cuda._chains import Ours, adam, gelu, layer_norm, swish_gated
from harness import main, torch

SHAPES = {'1e4': (40, 250), '1e7': (10_000, 1000)}


class Theirs:
    if torch is not None:
        sqrt, tanh, sigmoid = torch.sqrt, torch.tanh, torch.sigmoid

    @staticmethod
    def mean(x):
        return x.mean(dim=1, keepdim=True)


def values(shape):
    rng = np.random.default_rng(0)
    return [rng.normal(size=s).astype('f') for s in (shape, shape[1:], shape[1:], shape)]


def row(bench, name, step, arrays, torch_step, torch_arrays):
    peers = {
        'chainerx': chainerx.capture(step),
        'eager': step,
        'unfused': chainerx.capture(step, fuse=False),
    }
    inputs = dict.fromkeys(peers, arrays)
    if torch is not None:
        peers['torch'] = torch_step
        inputs['torch'] = torch_arrays
    for peer, function in peers.items():
        for _ in range(5):
            function(*inputs[peer])
    bench.row(
        name,
        dict.fromkeys(peers, 'step(*arrays)'),
        {p: {'step': s, 'arrays': inputs[p]} for p, s in peers.items()},
        against='eager',
    )


def forward(bench, name, function, data):
    arrays = [chainerx.array(a) for a in data[:3]]
    torch_arrays = [torch.tensor(a) for a in data[:3]] if torch else []
    compiled = torch.compile(lambda *xs: function(Theirs, *xs)) if torch else None
    row(bench, name, lambda *xs: function(Ours, *xs), arrays, compiled, torch_arrays)


def backward(bench, name, function, data):
    x = chainerx.array(data[0]).require_grad()

    def step(gamma, beta, gy):
        x.cleargrad()
        (function(Ours, x, gamma, beta) * gy).sum().backward()

    def torch_step(gamma, beta, gy):
        leaf.grad = None
        compiled(leaf, gamma, beta, gy).backward()

    if torch is not None:
        leaf = torch.tensor(data[0], requires_grad=True)
        compiled = torch.compile(lambda x, g, b, gy: (function(Theirs, x, g, b) * gy).sum())
    arrays = [chainerx.array(a) for a in data[1:]]
    torch_arrays = [torch.tensor(a) for a in data[1:]] if torch else []
    row(bench, name, step, arrays, torch_step, torch_arrays)


def update(bench, name, data):
    state = [chainerx.array(abs(a)) for a in (data[0], data[3], data[3])]
    compiled, torch_arrays = None, []
    if torch is not None:
        torch_state = [torch.tensor(abs(a)) for a in (data[0], data[3], data[3])]
        inner = torch.compile(lambda *xs: adam(Theirs, *xs))

        def compiled(g):
            return inner(g, *torch_state)

        torch_arrays = [torch.tensor(data[3])]
    row(
        bench,
        name,
        lambda g: adam(Ours, g, *state),
        [chainerx.array(data[3])],
        compiled,
        torch_arrays,
    )


def rows(bench):
    """Chains of 6 to 25 elementwise operations, captured."""
    for size, shape in SHAPES.items():
        data = values(shape)
        for function in (layer_norm, gelu, swish_gated):
            name = f'{function.__name__}, {size}'
            if bench.wants(f'{name}, forward'):
                forward(bench, f'{name}, forward', function, data)
            if bench.wants(name):
                backward(bench, name, function, data)
        if bench.wants(f'adam, {size}'):
            update(bench, f'adam, {size}', data)


if __name__ == '__main__':
    main(rows, 'capture_fusion', rounds=12, round_seconds=0.01)
