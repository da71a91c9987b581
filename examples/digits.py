"""Train a network on handwritten digits with chainerx alone.

The data are the 1,797 real 8x8 digits of the UCI repository that ship inside scikit-learn, so
nothing is downloaded. The split (1,437 for training, 360 for testing) is fixed; ``--seed`` decides
the initial weights and the order of the minibatches, and the same seed gives the same result.

    python examples/digits.py --device native:0 --out result
"""

import itertools

import chainerx as chx
from _digits import load_data, parse_args, report, run_epochs


class MLP:
    """Linear layers with ReLU between them, and stochastic gradient descent with momentum."""

    def __init__(self, sizes):
        self.params = []
        for n_in, n_out in itertools.pairwise(sizes):
            w = chx.random.normal(0, (2 / n_in) ** 0.5, (n_out, n_in)).astype('float32')
            self.params += [w.require_grad(), chx.zeros(n_out).require_grad()]
        self.velocities = [chx.zeros_like(p) for p in self.params]

    def __call__(self, x):
        for i in range(0, len(self.params), 2):
            x = chx.linear(chx.relu(x) if i else x, self.params[i], self.params[i + 1])
        return x

    def update(self, lr, momentum=0.9):
        for param, v in zip(self.params, self.velocities, strict=True):
            v *= momentum
            v -= lr * param.grad
            # A parameter is part of a graph and may not be written; its grad-stopped view may.
            p = param.as_grad_stopped()
            p += v
            param.cleargrad()


def train(model, x, t, epochs, batch_size, base_lr=0.1):
    def step(batch, ahead):
        xb, tb = x.take(batch, axis=0), t.take(batch, axis=0)
        y = model(xb)
        loss = chx.softmax_cross_entropy(y, tb).mean()
        loss.backward()
        model.update(base_lr * ahead)
        return loss.as_grad_stopped(), chx.accuracy(y.as_grad_stopped(), tb)

    return run_epochs(step, chx.random.permutation, epochs, batch_size)


def predict(model, x):
    with chx.no_backprop_mode():
        return chx.to_numpy(model(x).argmax(axis=1))


def main():
    args = parse_args(__doc__.split('\n')[0], 'native:0 or cuda:0')
    chx.set_default_device(args.device)
    chx.random.seed(args.seed)
    x_train, t_train, x_test, t_test = (chx.array(a) for a in load_data())
    model = MLP((64, 128, 64, 10))
    losses = train(model, x_train, t_train, args.epochs, args.batch_size)
    report(args, losses, chx.to_numpy(t_test), predict(model, x_test))


if __name__ == '__main__':
    main()
