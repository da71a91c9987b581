"""Train a residual network on folders of JPEGs with chainerx alone; chainer only reads the files.

Without folders it draws small pictures itself.

    python examples/imagenet_chainerx.py
    python examples/imagenet_chainerx.py train val --size 112 --width 64 --device cuda:0
"""

import argparse
import pathlib
import sys

import chainer
import chainerx as chx
import numpy as np
from _jpegs import load_folders, save_picture


class ResNet:
    """Convolutions in stages of decreasing resolution, with shortcuts, and a linear layer."""

    def __init__(self, width, n_classes, n_stages=4):
        self.params, self.statistics = {}, {}
        self.add_convolution('first', 3, width, 3)
        self.stages, ins = [], width
        for k in range(n_stages):
            outs = width * 2**k
            self.stages.append((f'stage{k}', 1 if k == 0 else 2))
            self.add_convolution(f'stage{k}/a', ins, outs, 3)
            self.add_convolution(f'stage{k}/b', outs, outs, 3)
            self.add_convolution(f'stage{k}/around', ins, outs, 1)
            ins = outs
        self.add('w', chx.random.normal(0, (1 / ins) ** 0.5, (n_classes, ins)))
        self.add('b', chx.zeros(n_classes))
        self.velocities = {name: chx.zeros_like(p) for name, p in self.params.items()}

    def add(self, name, value):
        self.params[name] = value.astype('float32').require_grad()

    def add_convolution(self, name, ins, outs, ksize):
        scale = (2 / (ins * ksize * ksize)) ** 0.5
        self.add(f'{name}/w', chx.random.normal(0, scale, (outs, ins, ksize, ksize)))
        self.add(f'{name}/gamma', chx.ones(outs))
        self.add(f'{name}/beta', chx.zeros(outs))
        mean, var = chx.zeros(outs, 'float32'), chx.ones(outs, 'float32')
        self.statistics[name] = mean, var

    def convolve(self, name, x, stride, train):
        w, gamma, beta = (self.params[f'{name}/{part}'] for part in ('w', 'gamma', 'beta'))
        x = chx.conv(x, w, None, stride, w.shape[2] // 2)
        mean, var = self.statistics[name]
        if train:
            return chx.batch_norm(x, gamma, beta, mean, var, axis=(0, 2, 3))
        return chx.fixed_batch_norm(x, gamma, beta, mean, var, axis=(0, 2, 3))

    def __call__(self, x, train=True):
        x = chx.relu(self.convolve('first', x, 1, train))
        for name, stride in self.stages:
            h = chx.relu(self.convolve(f'{name}/a', x, stride, train))
            h = self.convolve(f'{name}/b', h, 1, train)
            x = chx.relu(h + self.convolve(f'{name}/around', x, stride, train))
        return chx.linear(x.mean(axis=(2, 3)), self.params['w'], self.params['b'])

    def update(self, lr, momentum=0.9):
        for name, param in self.params.items():
            v = self.velocities[name]
            v *= momentum
            v -= lr * param.grad
            p = param.as_grad_stopped()  # a writable view
            p += v
            param.cleargrad()


def batches_of(dataset, args, repeat):
    return chainer.iterators.MultiprocessIterator(
        dataset, args.batch_size, repeat=repeat, shuffle=repeat, n_processes=args.workers
    )


def to_chainerx(batch):
    return (chx.array(a) for a in chainer.dataset.concat_examples(batch))


def train(model, dataset, args):
    steps = -(-args.epochs * len(dataset) // args.batch_size)
    total = 0.0
    with batches_of(dataset, args, True) as batches:
        for step, batch in zip(range(steps), batches, strict=False):
            x, t = to_chainerx(batch)
            loss = chx.softmax_cross_entropy(model(x), t).mean()
            loss.backward()
            model.update(args.lr * min(1, (step + 1) / 20) * (1 - step / steps))
            total = total + loss.as_grad_stopped()  # on the device: no step waits for it
            if batches.is_new_epoch:
                print(
                    f'epoch {batches.epoch}: loss {float(total) / (step + 1):.4f} so far',
                    flush=True,
                )


def evaluate(model, dataset, args):
    hits = 0
    with batches_of(dataset, args, False) as batches, chx.no_backprop_mode():
        for batch in batches:
            x, t = to_chainerx(batch)
            hits += int((model(x, train=False).argmax(axis=1) == t).sum())
    return hits / len(dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('train', nargs='?', help='folder to train on; default: drawn pictures')
    parser.add_argument('val', nargs='?', help='folder to test on')
    parser.add_argument('--size', type=int, default=48, help='of the squares that are cut out')
    parser.add_argument('--width', type=int, default=8, help='channels of the first layer')
    parser.add_argument('--device', default='native:0', help='native:0 or cuda:0')
    parser.add_argument('--epochs', type=int, default=6)
    parser.add_argument('--batch-size', type=int, default=32)
    parser.add_argument('--lr', type=float, default=0.1)
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument('--pictures', type=int, default=3000, help='how many are drawn')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', type=pathlib.Path, default=pathlib.Path('result'))
    parser.add_argument('--min-accuracy', type=float, default=0.0, help='less is an error')
    args = parser.parse_args()
    if (args.train is None) != (args.val is None):
        parser.error('train and val are needed both, or none of them')
    chx.set_default_device(args.device)
    chx.random.seed(args.seed)
    np.random.seed(args.seed)  # for the order of pictures
    train_set, val_set = load_folders(args)
    model = ResNet(args.width, len(train_set.classes))
    train(model, train_set, args)
    args.out.mkdir(parents=True, exist_ok=True)
    with chx.no_backprop_mode():
        save_picture(args.out / 'pictures.png', val_set, lambda x: model(chx.array(x), train=False))
    accuracy = evaluate(model, val_set, args)
    print(f'Accuracy on {len(val_set)} other pictures: {accuracy:.4f} ({args.device})')
    if accuracy < args.min_accuracy:
        sys.exit(f'That is below the {args.min_accuracy} that it must reach.')


if __name__ == '__main__':
    main()
