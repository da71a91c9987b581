"""Train the network of digits.py with chainer: as a Chain, by Adam, on any kind of array.

The same seed gives the same numbers, up to rounding, on NumPy and chainerx arrays.

    python examples/digits_chainer.py --device @numpy
    python examples/digits_chainer.py --device native:0
"""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from _digits import load_data, parse_args, report, run_epochs


class MLP(chainer.Chain):
    """Three linear layers with ReLU between them."""

    def __init__(self):
        super().__init__()
        he_normal = chainer.initializers.HeNormal()
        with self.init_scope():
            self.l1 = L.Linear(64, 128, initialW=he_normal)
            self.l2 = L.Linear(128, 64, initialW=he_normal)
            self.l3 = L.Linear(64, 10, initialW=he_normal)

    def forward(self, x):
        return self.l3(F.relu(self.l2(F.relu(self.l1(x)))))


def train(model, x, t, epochs, batch_size, base_alpha=3e-3):
    device = model.device
    optimizer = chainer.optimizers.Adam().setup(model)

    def step(batch, ahead):
        xb, tb = device.send(x[batch]), device.send(t[batch])
        y = model(xb)
        loss = F.softmax_cross_entropy(y, tb)
        model.cleargrads()
        loss.backward()
        optimizer.alpha = base_alpha * ahead
        optimizer.update()
        return loss.array, F.accuracy(y, tb).array

    return run_epochs(step, np.random.permutation, epochs, batch_size)


def predict(model, x):
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        y = model(model.device.send(x))
    return chainer.backend.CpuDevice().send(y.array).argmax(axis=1)


def main():
    args = parse_args(__doc__.split('\n')[0], '@numpy, native:0, cuda:0 or @cupy:0')
    np.random.seed(args.seed)  # initial weights and the order of minibatches
    x_train, t_train, x_test, t_test = load_data()
    model = MLP().to_device(args.device)
    losses = train(model, x_train, t_train, args.epochs, args.batch_size)
    report(args, losses, t_test, predict(model, x_test))


if __name__ == '__main__':
    main()
