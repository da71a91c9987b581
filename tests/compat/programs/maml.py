"""Model-agnostic meta-learning: the loss after a step, differentiated through the step."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np


class Regressor(chainer.Chain):
    """A network that can be called with given weights."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(1, 6)
            self.l2 = L.Linear(6, 1)

    def forward(self, x, weights=None):
        if weights is None:
            weights = dict(self.namedparams())
        h = F.tanh(F.linear(x, weights['/l1/W'], weights['/l1/b']))
        return F.linear(h, weights['/l2/W'], weights['/l2/b'])


class MAML:
    def __init__(self, model, lr, n_steps):
        self.model, self.lr, self.n_steps = model, lr, n_steps

    def adapt(self, x, t):
        weights = dict(self.model.namedparams())
        for _ in range(self.n_steps):
            loss = F.mean_squared_error(self.model(x, weights), t)
            names = sorted(weights)
            grads = chainer.grad(
                [loss], [weights[name] for name in names], enable_double_backprop=True
            )
            weights = {name: weights[name] - self.lr * grad for name, grad in zip(names, grads)}
        return weights

    def meta_loss(self, tasks):
        losses = []
        for (x, t), (x_query, t_query) in tasks:
            weights = self.adapt(x, t)
            losses.append(F.mean_squared_error(self.model(x_query, weights), t_query))
        return sum(losses) / len(losses)


def sample_task(n, device):
    amplitude, phase = np.random.uniform(0.5, 2), np.random.uniform(0, np.pi)
    x = np.random.uniform(-3, 3, (2 * n, 1)).astype(np.float32)
    t = (amplitude * np.sin(x + phase)).astype(np.float32)
    return [device.send((x[i::2], t[i::2])) for i in range(2)]


def train(device, start, iterations=3):
    model = Regressor()
    model.to_device(device)
    maml = MAML(model, lr=0.1, n_steps=2)
    optimizer = chainer.optimizers.AMSGrad(alpha=0.02)
    optimizer.setup(model)
    losses = []
    for iteration in range(iterations):
        tasks = [sample_task(5, device) for _ in range(2)]
        if iteration == 0:
            start(model=model, tasks=tasks)
        model.cleargrads()
        loss = maml.meta_loss(tasks)
        loss.backward(enable_double_backprop=True)
        norm = sum(F.sum(F.square(p.grad_var)) for p in model.params())
        optimizer.update()
        losses.append([float(loss.array), float(norm.array)])
    return losses
