"""The numbers of a small network with ReLU and softmax cross entropy, and its step in JAX."""

import itertools

import numpy as np

LR = 0.01


def parameters(sizes):
    rng = np.random.default_rng(0)
    params = []
    for n_in, n_out in itertools.pairwise(sizes):
        params.append(rng.normal(0, (2 / n_in) ** 0.5, (n_out, n_in)).astype(np.float32))
        params.append(np.zeros(n_out, np.float32))
    return params


def batch(sizes, batch_size):
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 1, (batch_size, sizes[0])).astype(np.float32)
    return x, rng.integers(0, sizes[-1], batch_size)


def jax_step(sizes, batch_size):
    try:
        import jax
    except ImportError:
        return None
    params = [jax.numpy.asarray(p) for p in parameters(sizes)]
    x, t = map(jax.numpy.asarray, batch(sizes, batch_size))

    def loss_of(params):
        w1, b1, w2, b2, w3, b3 = params
        h = jax.nn.relu(x @ w1.T + b1)
        h = jax.nn.relu(h @ w2.T + b2)
        log_p = jax.nn.log_softmax(h @ w3.T + b3)
        return -jax.numpy.take_along_axis(log_p, t[:, None], 1).mean()

    @jax.jit
    def update(params):
        loss, grads = jax.value_and_grad(loss_of)(params)
        return loss, [p - LR * g for p, g in zip(params, grads, strict=True)]

    def step():
        nonlocal params
        loss, params = update(params)
        return loss.block_until_ready()

    return step
