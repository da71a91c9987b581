"""Train a residual network, or one with depthwise convolutions, with chainer.

The pictures have the size of CIFAR-10, 32 x 32 pixels in three colors, and ten classes; the
program draws them itself.

    python examples/cifar_resnet.py
    python examples/cifar_resnet.py --net mobilenet --width 32 --device @numpy
"""

import sys
import time

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from _pictures import draw
from _plots import save_guesses
from _programs import parse_args, to_numpy


def convolution(ins, outs, ksize, stride=1):
    """A convolution without bias, and batch normalization."""
    w = chainer.initializers.HeNormal()
    conv = L.Convolution2D(ins, outs, ksize, stride, ksize // 2, nobias=True, initialW=w)
    return chainer.Sequential(conv, L.BatchNormalization(outs))


class Block(chainer.Chain):
    """Two convolutions, and a shortcut around them."""

    def __init__(self, ins, outs, stride):
        super().__init__()
        with self.init_scope():
            self.a = convolution(ins, outs, 3, stride)
            self.b = convolution(outs, outs, 3)
            if stride != 1 or ins != outs:
                self.around = convolution(ins, outs, 1, stride)

    def forward(self, x):
        around = self.around(x) if hasattr(self, 'around') else x
        return F.relu(self.b(F.relu(self.a(x))) + around)


class Separable(chainer.Chain):
    """A depthwise convolution, and one of 1 x 1 over all channels."""

    def __init__(self, ins, outs, stride):
        super().__init__()
        with self.init_scope():
            self.depthwise = L.DepthwiseConvolution2D(ins, 1, 3, stride, 1, nobias=True)
            self.norm = L.BatchNormalization(ins)
            self.pointwise = convolution(ins, outs, 1)

    def forward(self, x):
        return F.relu(self.pointwise(F.relu(self.norm(self.depthwise(x)))))


class Network(chainer.Chain):
    """A convolution, blocks in stages of decreasing resolution, and a linear layer."""

    def __init__(self, block, width, n_blocks, n_classes=10):
        super().__init__()
        blocks, ins = [], width
        for stage in range(4):
            for i in range(n_blocks):
                outs = width * 2**stage
                blocks.append(block(ins, outs, 2 if stage > 0 and i == 0 else 1))
                ins = outs
        with self.init_scope():
            self.first = convolution(3, width, 3)
            self.blocks = chainer.Sequential(*blocks)
            self.last = L.Linear(ins, n_classes)

    def forward(self, x):
        h = self.blocks(F.relu(self.first(x)))
        return self.last(F.average(h, axis=(2, 3)))


def resnet18(width=64):
    return Network(Block, width, 2)


def mobilenet(width=32):
    return Network(Separable, width, 3)


def train(model, x, t, epochs, batch_size, lr=0.05):
    device = model.device
    optimizer = chainer.optimizers.MomentumSGD().setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(5e-4))
    losses = []
    for epoch in range(epochs):
        optimizer.lr = lr * (1 - epoch / epochs)
        start, total = time.perf_counter(), 0
        order = np.random.permutation(len(x))
        for i in range(0, len(x), batch_size):
            batch = order[i : i + batch_size]
            loss = F.softmax_cross_entropy(model(device.send(x[batch])), device.send(t[batch]))
            model.cleargrads()
            loss.backward()
            optimizer.update()
            total = total + loss.array * len(batch)  # on the device: no step waits for it
        total = float(total)
        speed = len(x) / (time.perf_counter() - start)
        losses.append(total / len(x))
        print(f'epoch {epoch + 1}: loss {losses[-1]:.4f}, {speed:.0f} pictures/s', flush=True)
    return losses


def predict(model, x, batch_size=100):
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        ys = [model(model.device.send(x[i : i + batch_size])) for i in range(0, len(x), batch_size)]
    return np.concatenate([to_numpy(y.array).argmax(1) for y in ys])


def main():
    more = [
        ('--net', {'choices': ['resnet18', 'mobilenet'], 'default': 'resnet18'}),
        ('--min-accuracy', {'type': float, 'default': 0.9, 'help': 'less is an error'}),
    ]
    args = parse_args(__doc__, more, width=16, epochs=5, pictures=3000, batch_size=32)
    model = {'resnet18': resnet18, 'mobilenet': mobilenet}[args.net](args.width)
    print(f'{args.net}, {model.count_params()} parameters, on {args.device}')
    model.to_device(args.device)
    losses = train(
        model, *draw(args.pictures, np.random.RandomState(1)), args.epochs, args.batch_size
    )
    x, t = draw(1000, np.random.RandomState(2))
    guess = predict(model, x)
    accuracy = (guess == t).mean()
    if not args.no_plots:
        save_guesses(args.out, 'cifar_resnet.png', losses, x, t, guess)
    print(f'Accuracy on {len(x)} other pictures: {accuracy:.4f}')
    if accuracy < args.min_accuracy:
        sys.exit(f'That is below the {args.min_accuracy} that it must reach.')


if __name__ == '__main__':
    main()
