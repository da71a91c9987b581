"""A training step of a small network: forward, softmax cross entropy, backward, SGD update.

The PyTorch side is whichever of the ways below is fastest on the row, found by a short trial:

* ``module``: nn.Sequential, F.cross_entropy and torch.optim.SGD (foreach and fused are both tried);
* ``manual``: F.linear, F.cross_entropy, torch.autograd.grad, and one torch._foreach_add_ under
  no_grad for the whole update, which avoids the optimizer's own Python code.

Two more figures are for information: ``matmuls`` is chainerx with only the matrix products of the
step, a lower bound for any step of this size; ``jax.jit`` is the whole step compiled, if jax
is installed.
"""

import itertools
import timeit

import chainerx
import numpy as np
import torch
import torch.nn.functional as F
from harness import main, seconds
from perceptron import LR, batch, jax_step, parameters


def chainerx_step(sizes, batch_size):
    params = [chainerx.array(p).require_grad() for p in parameters(sizes)]
    x, t = map(chainerx.array, batch(sizes, batch_size))
    linear, relu, loss_of = chainerx.linear, chainerx.relu, chainerx.softmax_cross_entropy
    w1, b1, w2, b2, w3, b3 = params

    def step():
        h = relu(linear(x, w1, b1))
        h = relu(linear(h, w2, b2))
        loss = loss_of(linear(h, w3, b3), t).mean()
        loss.backward()
        for param in params:
            # In place: the gradient is in no graph, and has no other owner.
            g = param.grad
            g *= LR
            p = param.as_grad_stopped()
            p -= g
            param.cleargrad()
        return loss

    return step


def matmuls_step(sizes, batch_size):
    """The products of the step: forward, gradient of the weights, gradient of the inputs."""
    weights = [chainerx.array(p) for p in parameters(sizes)[::2]]
    hs = [chainerx.ones((batch_size, n)) for n in sizes]

    def step():
        for i, w in enumerate(weights):
            chainerx.dot(hs[i], w.T)
            chainerx.dot(hs[i + 1].T, hs[i])
            if i:
                chainerx.dot(hs[i + 1], w)

    return step


def torch_module_step(sizes, batch_size, **options):
    layers = []
    for n_in, n_out in itertools.pairwise(sizes):
        layers += [torch.nn.Linear(n_in, n_out), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1])
    with torch.no_grad():
        for p, value in zip(model.parameters(), parameters(sizes), strict=True):
            p.copy_(torch.tensor(value))
    x, t = map(torch.tensor, batch(sizes, batch_size))
    optimizer = torch.optim.SGD(model.parameters(), lr=LR, **options)

    def step():
        loss = F.cross_entropy(model(x), t)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss

    return step


def torch_manual_step(sizes, batch_size):
    params = [torch.tensor(p).requires_grad_() for p in parameters(sizes)]
    x, t = map(torch.tensor, batch(sizes, batch_size))
    w1, b1, w2, b2, w3, b3 = params

    def step():
        h = F.linear(x, w1, b1).relu()
        h = F.linear(h, w2, b2).relu()
        loss = F.cross_entropy(F.linear(h, w3, b3), t)
        grads = torch.autograd.grad(loss, params)
        with torch.no_grad():
            torch._foreach_add_(params, grads, alpha=-LR)
        return loss

    return step


def fastest_torch_step(sizes, batch_size):
    ways = {
        'nn.Sequential, SGD(foreach)': torch_module_step(sizes, batch_size, foreach=True),
        'nn.Sequential, SGD(fused)': torch_module_step(sizes, batch_size, fused=True),
        'nn.Sequential, SGD(for loop)': torch_module_step(sizes, batch_size, foreach=False),
        'functional, _foreach_add_': torch_manual_step(sizes, batch_size),
    }
    n = 100 if sizes[1] < 100 else 10
    times = {}
    for _ in range(5):
        for name, step in ways.items():
            times[name] = min(times.get(name, np.inf), timeit.timeit(step, number=n) / n)
    best = min(times, key=times.get)
    print('  torch: ' + ', '.join(f'{k} {seconds(v)}' for k, v in times.items()))
    return best, ways[best]


def check_same(steps, n=3):
    """Checks that after n steps the losses of all peers agree."""
    losses = {peer: [float(step()) for _ in range(n)][-1] for peer, step in steps.items()}
    values = list(losses.values())
    if max(values) - min(values) > 1e-3 * abs(values[0]):
        raise RuntimeError(f'the peers do not train the same network: {losses}')


def rows(bench):
    """Forward, loss, backward and update of three networks."""
    configurations = [((784, 1000, 1000, 10), 100)]
    if bench.threads == 1:
        configurations = [((16, 16, 16, 10), 1), ((784, 8, 8, 10), 1), *configurations]
    for sizes, batch_size in configurations:
        chosen, torch_step = fastest_torch_step(sizes, batch_size)
        check_same(
            {
                'chainerx': chainerx_step(sizes, batch_size),
                'torch': torch_manual_step(sizes, batch_size),
            }
        )
        steps = {'chainerx': chainerx_step(sizes, batch_size), 'torch': torch_step}
        if batch_size > 1:
            steps['matmuls'] = matmuls_step(sizes, batch_size)
        if jax := jax_step(sizes, batch_size):
            steps['jax.jit'] = jax
        bench.row(
            f'{"-".join(map(str, sizes))}, batch {batch_size}',
            {peer: 'step()' for peer in steps},
            {peer: {'step': step} for peer, step in steps.items()},
            note=f'PyTorch: {chosen}',
        )


if __name__ == '__main__':
    main(rows, 'train', threads=(1, 2), rounds=30, round_seconds=0.02)
