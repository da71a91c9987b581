"""A masked autoregressive flow (MADE layers with reversed orders) on two-dimensional data."""

import math

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

N_DIM, N_HIDDEN = 3, 8


class MaskedLinear(L.Linear):
    """A linear layer whose weight is masked."""

    def __init__(self, in_degrees, out_degrees, strict):
        super().__init__(len(in_degrees), len(out_degrees))
        compare = np.greater if strict else np.greater_equal
        mask = compare(out_degrees[:, None], in_degrees[None]).astype(np.float32)
        self.add_persistent('mask', mask)

    def forward(self, x):
        return F.linear(x, self.W * self.mask, self.b)


class Made(chainer.Chain):
    def __init__(self, reverse):
        super().__init__()
        order = np.arange(1, N_DIM + 1)
        order = order[::-1].copy() if reverse else order
        hidden = np.arange(N_HIDDEN) % (N_DIM - 1) + 1
        with self.init_scope():
            self.hidden = MaskedLinear(order, hidden, strict=False)
            self.mu = MaskedLinear(hidden, order, strict=True)
            self.alpha = MaskedLinear(hidden, order, strict=True)

    def forward(self, x):
        h = F.elu(self.hidden(x))
        alpha = F.tanh(self.alpha(h))
        return (x - self.mu(h)) * F.exp(-alpha), -F.sum(alpha, axis=1)


class Flow(chainer.ChainList):
    def __init__(self, n_layers):
        super().__init__(*[Made(i % 2 == 1) for i in range(n_layers)])

    def log_prob(self, x):
        total = 0
        for layer in self:
            x, log_det = layer(x)
            total += log_det
        return total - 0.5 * F.sum(F.square(x), axis=1) - N_DIM * 0.5 * math.log(2 * math.pi)

    def sample(self, z):
        """Samples by inverting the layers, one dimension after the other."""
        for layer in list(self.children())[::-1]:
            x = self.xp.zeros_like(z)
            for _ in range(N_DIM):
                h = F.elu(layer.hidden(x))
                x = (z * F.exp(F.tanh(layer.alpha(h))) + layer.mu(h)).array
            z = x
        return z


def train(device, start, iterations=3):
    x = np.random.normal(size=(8, N_DIM)).astype(np.float32)
    x[:, 2] = x[:, 0] * x[:, 1]
    flow = Flow(3)
    flow.to_device(device)
    optimizer = chainer.optimizers.AdaDelta(rho=0.9)
    optimizer.setup(flow)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(5.0))
    x = device.send(x)
    start(flow=flow, x=x)
    losses = []
    for _ in range(iterations):
        loss = -F.mean(flow.log_prob(x))
        flow.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append([float(loss.array)])
    with chainer.no_backprop_mode():
        z = x
        for layer in flow:
            z, _ = layer(z)
        distance = F.mean_absolute_error(flow.sample(z.array), x)
    assert float(distance.array) < 1e-4
    return losses
