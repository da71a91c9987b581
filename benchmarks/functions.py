"""Neural network functions, forward and backward, against PyTorch."""

import chainer
import chainer.functions
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
    'silu': ('f.silu(x)',) * 2,
    'mish': ('f.mish(x)',) * 2,
    'dropout': ('f.dropout(x, 0.5)', 'f.dropout(x, 0.5)'),
}


def rows(bench):
    """Softmax, gelu and dropout of 10^5 and 10^7 elements; masked scores, a sequence loss."""
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

    masked_row(bench)
    embedding_row(bench)
    ctc_row(bench)


def masked_row(bench):
    """Attention weights with half of the scores masked."""
    n = 1000
    x = np.random.default_rng(4).standard_normal((n, n)).astype('float32')
    x[x < 0] = -np.inf
    peers = {
        'chainerx': {'f': chainerx, 'x': chainerx.array(x)},
        'torch': {'f': torch.nn.functional, 'x': torch.tensor(x)},
    }
    statement = dict.fromkeys(peers, 'f.softmax(x, 1)')
    bench.row(f'softmax, {n} x {n}, half of it -inf, forward', statement, peers)


def embedding_row(bench):
    """Embedding: rows of a large table, and their gradient, which is as large as the table."""
    words, units, n = 50_000, 256, 4096
    w, w_torch, _ = float32(words, units)
    gy, gy_torch, _ = float32(n, units, seed=1)
    t = np.random.default_rng(2).integers(0, words, n)
    bench.row(
        f'embedding, {words} x {units}, {n} ids',
        {
            'chainerx': 'grad([f.embed_id(t, w)], [w], [gy])',
            'torch': 'grad(f.embedding(t, w), w, gy)',
        },
        {
            'chainerx': {
                'f': chainer.functions,
                'grad': chainer.grad,
                'w': chainer.Variable(w),
                't': chainerx.array(t.astype('int32')),
                'gy': chainer.Variable(gy),
            },
            'torch': {
                'f': torch.nn.functional,
                'grad': torch.autograd.grad,
                'w': w_torch.requires_grad_(),
                't': torch.tensor(t),
                'gy': gy_torch,
            },
        },
    )


def ctc_row(bench):
    """chainer's CTC loss, from scores to their gradients, including the logarithms."""
    steps, batch, classes, labels = 100, 32, 50, 20
    rng = np.random.default_rng(3)
    x = rng.standard_normal((steps, batch, classes)).astype('float32')
    t = rng.integers(1, classes, (batch, labels)).astype('int32')
    x_torch = torch.tensor(x, requires_grad=True)
    lengths = torch.full((batch,), steps), torch.full((batch,), labels)
    bench.row(
        f'connectionist temporal classification, {steps} x {batch} x {classes}',
        {
            'chainerx': 'grad([f.connectionist_temporal_classification(x, t, 0)], [x])',
            'torch': 'grad(f.ctc_loss(f.log_softmax(x, 2), t, *lengths), x)',
        },
        {
            'chainerx': {
                'f': chainer.functions,
                'grad': chainer.grad,
                'x': chainer.Variable(chainerx.array(x)),
                't': chainerx.array(t),
            },
            'torch': {
                'f': torch.nn.functional,
                'grad': torch.autograd.grad,
                'x': x_torch,
                't': torch.tensor(t, dtype=torch.int64),
                'lengths': lengths,
            },
        },
    )


if __name__ == '__main__':
    main(rows, 'functions', threads=(1, 2), rounds=20, round_seconds=0.01)
