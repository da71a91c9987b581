"""Captured steps of training against the same steps as they are, and those of PyTorch and JAX.

The ceilings of budgets.toml refer to the eager step of chainerx.
"""

import itertools

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import numpy as np
from chainer import optimizers
from harness import main, torch
from perceptron import jax_step


class Perceptron(chainer.Chain):
    def __init__(self, sizes):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(sizes[0], sizes[1])
            self.l2 = L.Linear(sizes[1], sizes[2])
            self.l3 = L.Linear(sizes[2], sizes[3])

    def forward(self, x):
        return self.l3(F.relu(self.l2(F.relu(self.l1(x)))))


class LeNet(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 6, 5)
            self.conv2 = L.Convolution2D(6, 16, 5)
            self.l1 = L.Linear(256, 120)
            self.l2 = L.Linear(120, 84)
            self.l3 = L.Linear(84, 10)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.conv1(x)), 2)
        h = F.max_pooling_2d(F.relu(self.conv2(h)), 2)
        return self.l3(F.relu(self.l2(F.relu(self.l1(h)))))


class Recurrent(chainer.Chain):
    """An LSTM of 16 units over 50 steps."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.up = L.Linear(16, 64)
            self.side = L.Linear(16, 64, nobias=True)
            self.out = L.Linear(16, 10)

    def forward(self, x):
        c = h = chainerx.zeros((x.shape[1], 16), 'float32')
        for i in range(50):
            c, h = F.lstm(c, self.up(x[i]) + self.side(h))
        return self.out(h)


class Encoder(chainer.Chain):
    """A layer of a transformer, of 32 units and 4 heads."""

    def __init__(self, d=32):
        super().__init__()
        with self.init_scope():
            self.norm1 = L.LayerNormalization(d)
            self.norm2 = L.LayerNormalization(d)
            self.qkv = L.Linear(d, 3 * d)
            self.proj = L.Linear(d, d)
            self.up = L.Linear(d, 4 * d)
            self.down = L.Linear(4 * d, d)
            self.out = L.Linear(d, 10)

    def forward(self, x):
        t, d = x.shape
        q, k, v = F.split_axis(self.qkv(self.norm1(x)), 3, axis=1)
        q, k, v = (F.transpose(F.reshape(a, (t, 4, d // 4)), (1, 0, 2)) for a in (q, k, v))
        a = F.softmax(F.matmul(q, k, transb=True) * (d // 4) ** -0.5, axis=2)
        h = F.reshape(F.transpose(F.matmul(a, v), (1, 0, 2)), (t, d))
        x = x + self.proj(h)
        x = x + self.down(F.gelu(self.up(self.norm2(x))))
        return self.out(x)


def make_step(model, optimizer):
    model.to_chx()
    optimizer = optimizer.setup(model)

    def step(x, t):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    return step


def arrays(shape, n):
    rng = np.random.default_rng(0)
    return (
        chainerx.array(rng.normal(size=shape).astype('f')),
        chainerx.array(rng.integers(0, 10, size=n)),
    )


def core_step(sizes):
    rng = np.random.default_rng(0)
    params = []
    for n_in, n_out in itertools.pairwise(sizes):
        params.append(chainerx.array(rng.normal(size=(n_out, n_in)).astype('f')).require_grad())
        params.append(chainerx.zeros(n_out, 'float32').require_grad())
    w1, b1, w2, b2, w3, b3 = params
    linear, relu = chainerx.linear, chainerx.relu

    def step(x, t):
        h = relu(linear(relu(linear(x, w1, b1)), w2, b2))
        loss = chainerx.softmax_cross_entropy(linear(h, w3, b3), t).mean()
        for p in params:
            p.cleargrad()
        loss.backward()
        for p in params:
            data = p.as_grad_stopped()
            data -= p.grad * 0.01
        return loss

    return step


def torch_step(sizes, adam):
    layers = []
    for n_in, n_out in itertools.pairwise(sizes):
        layers += [torch.nn.Linear(n_in, n_out), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1])
    rule = torch.optim.Adam if adam else torch.optim.SGD
    optimizer = rule(model.parameters(), lr=0.01, foreach=True)

    def step(x, t):
        loss = torch.nn.functional.cross_entropy(model(x), t)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss

    return step


def row(bench, name, step, data, torch_peer=None, jax_peer=None):
    captured = chainerx.capture(step)
    for _ in range(5):
        step(*data)
        captured(*data)
    peers = {'chainerx': captured, 'eager': step}
    inputs = dict.fromkeys(peers, data)
    if torch_peer is not None and torch is not None:
        peers['torch'] = torch_peer()
        inputs['torch'] = tuple(torch.tensor(chainerx.to_numpy(a)) for a in data)
    if jax_peer is not None and (step_of_jax := jax_peer()) is not None:
        peers['jax.jit'] = lambda x, t: step_of_jax()
        inputs['jax.jit'] = None, None
    bench.row(
        name,
        dict.fromkeys(peers, 'step(x, t)'),
        {p: {'step': s, 'x': inputs[p][0], 't': inputs[p][1]} for p, s in peers.items()},
        against='eager',
    )
    (variant,) = captured.info()
    print(f'  {variant.kernels} kernels, {variant.nbytes} bytes of temporaries')


def rows(bench):
    """Replays of whole steps of training."""
    small = (16, 16, 16, 10)
    data = arrays((1, 16), 1)
    row(
        bench,
        '16-16-16-10, core',
        core_step(small),
        data,
        lambda: torch_step(small, False),
        lambda: jax_step(small, 1),
    )
    for name, rule in (('SGD', optimizers.SGD), ('Adam', optimizers.Adam)):
        row(
            bench,
            f'16-16-16-10, {name}',
            make_step(Perceptron(small), rule(0.01)),
            data,
            lambda name=name: torch_step(small, name == 'Adam'),
        )
    row(
        bench,
        'LSTM, 16 units, 50 steps',
        make_step(Recurrent(), optimizers.SGD()),
        arrays((50, 1, 16), 1),
    )
    row(bench, 'LeNet, batch 1', make_step(LeNet(), optimizers.SGD()), arrays((1, 1, 28, 28), 1))
    row(bench, 'transformer, d = 32', make_step(Encoder(), optimizers.Adam()), arrays((8, 32), 8))
    large = (784, 1000, 1000, 10)
    row(
        bench,
        '784-1000-1000-10, batch 100',
        make_step(Perceptron(large), optimizers.SGD()),
        arrays((100, 784), 100),
        lambda: torch_step(large, False),
        lambda: jax_step(large, 100),
    )


if __name__ == '__main__':
    main(rows, 'capture', rounds=20, round_seconds=0.01)
