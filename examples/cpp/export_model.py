"""Train a small CNN on the digits 0 to 4, and write it as a model of ONNX.

    python examples/cpp/export_model.py digits.onnx

It has ten outputs, so that its last layer can learn the other digits (finetune_onnx.cc). The first
test digit goes to a file beside it, digits.npy, for run_onnx.cc and chainerx-run.
"""

import pathlib
import sys

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import onnx_chainer
from sklearn.datasets import load_digits


class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 16, 3, pad=1)
            self.conv2 = L.Convolution2D(16, 32, 3, pad=1)
            self.hidden = L.Linear(128, 64)
            self.last = L.Linear(64, 10)

    def forward(self, x):
        for conv in (self.conv1, self.conv2):
            x = F.max_pooling_2d(F.relu(conv(x)), 2)
        return self.last(F.relu(self.hidden(x)))


def main(path):
    np.random.seed(0)
    digits = load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    pictures = (digits.images[order].astype('f') / 16)[:, None]
    labels = digits.target[order].astype('i')
    known = np.flatnonzero(labels[:1437] < 5)
    net = Net()
    optimizer = chainer.optimizers.Adam(0.002).setup(net)
    for _ in range(5):
        np.random.shuffle(known)
        for first in range(0, len(known), 32):
            rows = known[first : first + 32]
            optimizer.update(lambda r=rows: F.softmax_cross_entropy(net(pictures[r]), labels[r]))
    onnx_chainer.export(net, pictures[:1], path, input_shapes=('batch', 1, 8, 8))
    np.save(pathlib.Path(path).with_suffix('.npy'), pictures[1437:1438])
    print(f'{path}: knows {len(known)} digits from 0 to 4')


if __name__ == '__main__':
    main(sys.argv[1] if len(sys.argv) > 1 else 'digits.onnx')
