"""Attention, 8 heads of 64, forward and backward, against PyTorch; batch 4, and 1 with few queries.

    python benchmarks/attention.py --memory      # peaks of resident memory instead of times

Heads are views of the rows of matrices, as networks have them. Both libraries are first checked to
give the same results and gradients.
"""

import functools
import sys

import chainerx
import numpy as np
import torch
from harness import forward_and_step, main
from peaks import compare, peak_memory

BATCH, HEADS, WIDTH = 4, 8, 64
LENGTHS = (128, 1024)
FEW = (1, 8)  # numbers of queries, for one example
IN_MEMORY = 4096


class Peers:
    """The same attention in both libraries."""

    def __init__(self, length, causal, queries=None, batch=BATCH):
        rng = np.random.default_rng(0)
        queries = length if queries is None else queries
        values = [
            rng.uniform(-2, 2, (batch, n, HEADS * WIDTH)).astype('f')
            for n in (queries, length, length, queries)
        ]
        self.options = {'is_causal': causal}
        self.x, self.gy = self.heads(map(chainerx.array, values), chainerx.swapaxes)
        self.torch_x, self.torch_gy = self.heads(map(torch.tensor, values), torch.swapaxes)

    def heads(self, arrays, swapaxes):
        split = [swapaxes(x.reshape(len(x), -1, HEADS, WIDTH), 1, 2) for x in arrays]
        return split[:3], split[3]

    def ours(self):
        return chainerx.scaled_dot_product_attention(*self.x, **self.options)

    def our_step(self):
        return chainerx.grad([self.ours()], self.x, grad_outputs=[self.gy])

    def theirs(self):
        return torch.nn.functional.scaled_dot_product_attention(*self.torch_x, **self.options)

    def their_step(self):
        return torch.autograd.grad(self.theirs(), self.torch_x, self.torch_gy)

    def require_grad(self):
        for x in self.x:
            x.require_grad()
        for x in self.torch_x:
            x.requires_grad_()

    def check(self):
        self.require_grad()
        for a, b in zip(
            (self.ours(), *self.our_step()), (self.theirs(), *self.their_step()), strict=True
        ):
            np.testing.assert_allclose(chainerx.to_numpy(a), b.detach().numpy(), 1e-3, 1e-4)


def rows(bench):
    for length in LENGTHS:
        for causal in (False, True):
            name = f'length {length}' + ', causal' * causal
            forward_and_step(bench, name, functools.partial(Peers, length, causal))
    for queries in FEW:
        peers = functools.partial(Peers, IN_MEMORY, False, queries, 1)
        forward_and_step(bench, f'{queries} x {IN_MEMORY}, batch 1', peers)


def peak_of(library):
    """Peak memory in bytes of a forward and backward pass, without its arguments."""
    peers = Peers(IN_MEMORY, False)
    peers.require_grad()
    return peak_memory(peers.our_step if library == 'chainerx' else peers.their_step)


if __name__ == '__main__':
    if '--memory' in sys.argv[1:]:
        compare('attention', f'attention of length {IN_MEMORY}')
    else:
        main(rows, 'attention', threads=(1, 2), rounds=10, round_seconds=0.02)
