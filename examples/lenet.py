"""Train a LeNet on the digits of digits.py with chainer: convolutions, pooling, linear layers.

python examples/lenet.py
python examples/lenet.py --device @numpy --epochs 5
"""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from _digits import load_data, parse_args, report
from digits_chainer import predict, train


class LeNet(chainer.Chain):
    """Two convolutions, each followed by pooling, and two linear layers, for images of 8 x 8."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 16, 3, pad=1)
            self.conv2 = L.Convolution2D(16, 32, 3, pad=1)
            self.l1 = L.Linear(None, 64)
            self.l2 = L.Linear(64, 10)

    def forward(self, x):
        h = F.reshape(x, (len(x), 1, 8, 8))
        h = F.max_pooling_2d(F.relu(self.conv1(h)), 2)
        h = F.max_pooling_2d(F.relu(self.conv2(h)), 2)
        return self.l2(F.dropout(F.relu(self.l1(h)), 0.3))


def main():
    args = parse_args(__doc__.split('\n')[0], '@numpy, native:0, cuda:0 or @cupy:0')
    np.random.seed(args.seed)  # initial weights, dropout and the order of minibatches
    x_train, t_train, x_test, t_test = load_data()
    model = LeNet().to_device(args.device)
    losses = train(model, x_train, t_train, args.epochs, args.batch_size)
    report(args, losses, t_test, predict(model, x_test))


if __name__ == '__main__':
    main()
