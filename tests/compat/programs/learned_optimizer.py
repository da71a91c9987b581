"""A learned optimizer: a network that is trained through its own update steps.

The weights of the optimized network are not parameters, but variables computed by earlier steps,
which replace its parameters.
"""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np


class Optimizee(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 4)
            self.l2 = L.Linear(4, 2)

    def forward(self, x, t):
        return F.softmax_cross_entropy(self.l2(F.tanh(self.l1(x))), t)


def replace(link, name, variable):
    """Replaces a parameter by a variable, without the link's knowledge."""
    super(chainer.Link, link).__setattr__(name, variable)


class LearnedOptimizer(chainer.Chain):
    """Reads the gradient of each weight, and keeps a state per weight."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.lstm = L.StatelessLSTM(2, 4)
            self.out = L.Linear(4, 1)

    def preprocess(self, grad, p=5.0):
        xp = self.xp
        size = xp.maximum(xp.abs(grad), 1e-8)
        log = xp.log(size) / p
        large = size > np.exp(-p)
        return xp.stack(
            [xp.where(large, log, -1), xp.where(large, xp.sign(grad), np.exp(p) * grad)], axis=1
        ).astype(np.float32)

    def step(self, c, h, grad):
        c, h = self.lstm(c, h, self.preprocess(grad.reshape(-1)))
        return c, h, F.reshape(self.out(h), grad.shape) * 0.1


def weights(link):
    """Paths in sorted order, with the link and the name of each weight."""
    for path, child in sorted(link.namedlinks(skipself=True)):
        for name in ('W', 'b'):
            yield path, child, name


def unroll(learned, optimizee, x, t, n_steps, states):
    total = 0
    for _ in range(n_steps):
        loss = optimizee(x, t)
        total += loss
        names = [(path, child, name) for path, child, name in weights(optimizee)]
        values = [getattr(child, name) for _, child, name in names]
        grads = chainer.grad([loss], values)
        for (path, child, name), value, grad in zip(names, values, grads):
            c, h = states.get((path, name), (None, None))
            c, h, step = learned.step(c, h, grad.array)
            states[path, name] = c, h
            replace(child, name, value + step)
    return total


def train(device, start, iterations=3, n_steps=3):
    learned, optimizee = LearnedOptimizer(), Optimizee()
    learned.to_device(device)
    optimizee.to_device(device)
    optimizer = chainer.optimizers.Adam(0.01).setup(learned)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(1.0))
    x = device.send(np.random.normal(size=(6, 3)).astype(np.float32))
    t = device.send(np.random.randint(2, size=6).astype(np.int32))
    start(learned=learned, optimizee=optimizee, x=x, t=t)
    states = {}
    losses = []
    for _ in range(iterations):
        loss = unroll(learned, optimizee, x, t, n_steps, states)
        optimizee.cleargrads()
        learned.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append([float(loss.array)])
        # The next unrolling starts with the current values.
        for _, child, name in weights(optimizee):
            replace(child, name, chainer.Variable(getattr(child, name).array.copy()))
        states = {key: (c.array, h.array) for key, (c, h) in states.items()}
    losses.append([float(sum(F.sum(p).array for p in optimizee.params()))])
    return losses
