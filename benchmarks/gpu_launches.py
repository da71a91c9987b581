"""Counts what one training step launches on a GPU: kernels, copies, fills, calls of libraries.

It needs no GPU, but the driver for tests (docs/testing_gpu_backends.md), whose kernels stay empty:
what is launched follows from shapes alone, so they are the peer's, at no cost.

    python tests/cuda/build_driver.py /tmp/driver
    CHAINERX_CUDA_TEST_DRIVER=/tmp/driver python benchmarks/gpu_launches.py --kernels
"""

import argparse
import collections
import ctypes
import fnmatch
import itertools
import os
import pathlib
import sys
import tomllib

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizers

DEVICE = 'cuda:0'
BUDGETS = pathlib.Path(__file__).with_name('budgets.toml')
# Nothing is computed, and memory is never touched.
os.environ |= {'CHAINERX_CUDA_TEST_EMPTY': '1', 'CHAINERX_CUDA_TEST_MEMORY': str(16 << 30)}


class MLP(chainer.ChainList):
    def __init__(self, *sizes):
        super().__init__(*(L.Linear(m, n, initialW=0) for m, n in itertools.pairwise(sizes)))

    def forward(self, x):
        *hidden, last = self
        for link in hidden:
            x = F.relu(link(x))
        return last(x)


class Block(chainer.Chain):
    """Two convolutions, and their input beside them."""

    def __init__(self, n_in, n, stride):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(n_in, n, 3, stride, 1, nobias=True, initialW=0)
            self.bn1 = L.BatchNormalization(n)
            self.conv2 = L.Convolution2D(n, n, 3, 1, 1, nobias=True, initialW=0)
            self.bn2 = L.BatchNormalization(n)
            if stride > 1:
                self.conv3 = L.Convolution2D(n_in, n, 1, stride, nobias=True, initialW=0)
                self.bn3 = L.BatchNormalization(n)

    def forward(self, x):
        h = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(h + (self.bn3(self.conv3(x)) if hasattr(self, 'conv3') else x))


class ResNet18(chainer.Chain):
    def __init__(self):
        super().__init__()
        sizes = (64, 64, 64, 128, 128, 256, 256, 512, 512)
        with self.init_scope():
            self.conv = L.Convolution2D(3, 64, 7, 2, 3, nobias=True, initialW=0)
            self.bn = L.BatchNormalization(64)
            self.blocks = chainer.Sequential(
                *(Block(m, n, 1 + (m < n)) for m, n in itertools.pairwise(sizes))
            )
            self.last = L.Linear(512, 1000, initialW=0)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.bn(self.conv(x))), 3, 2, 1, cover_all=False)
        return self.last(F.mean(self.blocks(h), (2, 3)))


class ResNet50(L.ResNet50Layers):
    def forward(self, x):
        return super().forward(x, ['fc6'])['fc6']


class Encoder(L.TransformerEncoder):
    def forward(self, x):
        return F.mean(F.square(super().forward(x)))


class Lstm(L.NStepLSTM):
    def forward(self, *xs):
        return F.sum(F.concat(super().forward(None, None, xs)[2], axis=0))


def zeros(*shape, dtype='float32'):
    return chainerx.zeros(shape, dtype, device=DEVICE)


def labelled(*shape):
    return (zeros(*shape), zeros(shape[0], dtype='int32'))


# The model, which returns a loss or scores of labels; the optimizer; arguments of the model, and
# labels; what PyTorch 2.11 launches for the same.
STEPS = {
    'MLP 784-1000-1000-10, SGD': (
        lambda: MLP(784, 1000, 1000, 10),
        lambda: optimizers.SGD(0.01),
        lambda: labelled(100, 784),
        28,
    ),
    'MLP 784-1000-1000-10, Adam': (
        lambda: MLP(784, 1000, 1000, 10),
        optimizers.Adam,
        lambda: labelled(100, 784),
        34,
    ),
    'ResNet-18, momentum': (
        ResNet18,
        optimizers.MomentumSGD,
        lambda: labelled(8, 3, 224, 224),
        368,
    ),
    'ResNet-50, momentum': (
        lambda: ResNet50(None),
        optimizers.MomentumSGD,
        lambda: labelled(8, 3, 224, 224),
        710,
    ),
    'transformer encoder of 6 layers, Adam': (
        lambda: Encoder(6, 512, 8, 2048, 0.0),
        optimizers.Adam,
        lambda: (zeros(32, 128, 512), None),
        404,
    ),
    'LSTM 512 x 50, SGD': (
        lambda: Lstm(1, 512, 512, 0.0),
        lambda: optimizers.SGD(0.1),
        lambda: (*(zeros(50, 512) for _ in range(32)), None),
        268,
    ),
}


def make_step(name):
    model, optimizer, batch, _ = STEPS[name]
    with chainerx.using_device(DEVICE):
        model, (*xs, t) = model(), batch()
    model.to_device(DEVICE)
    optimizer = optimizer().setup(model)

    def step():
        y = model(*xs)
        loss = y if t is None else F.softmax_cross_entropy(y, t)
        model.cleargrads()
        loss.backward()
        optimizer.update()

    return step


def list_launches(name, *, captured=False):
    """What a step launches, by name, after those that make its memory and its plans."""
    step = make_step(name)
    if captured:
        step = chainerx.capture(step)
    for _ in range(5 if captured else 3):
        step()
    driver = ctypes.CDLL('libcuda.so.1')  # the one that was opened
    driver.cx_test_log_launches(True)
    step()
    text = ctypes.create_string_buffer(driver.cx_test_launches(None, 0))
    driver.cx_test_launches(text, len(text))
    driver.cx_test_log_launches(False)
    return text.raw.decode().splitlines()


def count_all():
    """Name of a step -> launches, as it is and captured."""
    return {
        name: [len(list_launches(name)), len(list_launches(name, captured=True))] for name in STEPS
    }


def ceilings():
    return tomllib.loads(BUDGETS.read_text())['gpu_launches']


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--only', default='*', help='names of steps, with wildcards')
    parser.add_argument('--kernels', action='store_true', help='says what is launched how often')
    args = parser.parse_args()
    if 'CHAINERX_CUDA_TEST_DRIVER' not in os.environ:
        parser.error('CHAINERX_CUDA_TEST_DRIVER is not set: see docs/testing_gpu_backends.md')
    missed = False
    for name in fnmatch.filter(STEPS, args.only):
        launches = list_launches(name)
        n, peer, ceiling = len(launches), STEPS[name][-1], ceilings()[name]
        n_captured, most = len(list_launches(name, captured=True)), ceilings()['captured']
        missed = missed or n > ceiling or n_captured > most
        print(
            f'{name:<40} {n:4} of {peer:3} by PyTorch, {n / peer:.2f}, at most {ceiling:3} '
            f'{"ok" if n <= ceiling else "MISSED"}; captured {n_captured}, at most {most} '
            f'{"ok" if n_captured <= most else "MISSED"}'
        )
        if args.kernels:
            for kernel, times in collections.Counter(launches).most_common():
                print(f'    {times:4} {kernel}')
    return missed


if __name__ == '__main__':
    sys.exit(main())
