"""Train a network, convolutional or not, on 1,797 real handwritten digits through a Trainer.

It shows progress, writes a log, a plot and a snapshot per epoch, and resumes from the newest
snapshot when it is started again: killed at any moment, it ends with the same bits.

    python examples/train_digits.py --device native:0 --out result
    python examples/train_digits.py --net mlp
    python examples/train_digits.py --devices cuda:0 cuda:1
"""

import argparse
import sys

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from _digits import load_data
from chainer import training
from chainer.training import extensions, updaters

MIN_ACCURACY = {'cnn': 0.985, 'mlp': 0.97}


def make_model(net):
    if net == 'mlp':
        layers = L.Linear(8 * 8, 128), F.relu, L.Linear(128, 64), F.relu, L.Linear(64, 10)
    else:
        layers = (
            L.Convolution2D(1, 16, 3, pad=1),
            F.relu,
            L.Convolution2D(16, 32, 3, pad=1),
            F.relu,
            lambda h: F.max_pooling_2d(h, 2),
            lambda h: F.dropout(h, 0.25),
            L.Linear(32 * 4 * 4, 10),
        )
    return L.Classifier(chainer.Sequential(*layers))


def load_iterators(batch_size):
    x, t, x_test, t_test = load_data()
    train, test = (
        chainer.datasets.TupleDataset(a.reshape(-1, 1, 8, 8), b.astype(np.int32))
        for a, b in ((x, t), (x_test, t_test))
    )
    return (
        chainer.iterators.SerialIterator(train, batch_size),
        chainer.iterators.SerialIterator(test, batch_size, repeat=False, shuffle=False),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--net', choices=list(MIN_ACCURACY), default='cnn')
    parser.add_argument('--device', default='native:0', help='@numpy, native:0, cuda:0 or @cupy:0')
    parser.add_argument('--devices', nargs='+', help='several, which share each minibatch')
    parser.add_argument('--epochs', type=int, default=15)
    parser.add_argument('--batch-size', type=int, default=32)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', default='result')
    args = parser.parse_args()
    if args.epochs < 1 or args.batch_size < 1:
        parser.error('--epochs and --batch-size must be at least 1')
    devices = args.devices or [args.device]
    np.random.seed(args.seed)
    for device in devices:
        chainer.backend.get_device(device).xp.random.seed(args.seed)

    model = make_model(args.net)
    train, test = load_iterators(args.batch_size)
    optimizer = chainer.optimizers.Adam(2e-3).setup(model)
    if args.devices:
        models = {'main': devices[0]} | {device: device for device in devices[1:]}
        updater = updaters.ParallelUpdater(train, optimizer, devices=models, reduce='mean')
    else:
        updater = training.StandardUpdater(train, optimizer, device=args.device)
    trainer = training.Trainer(updater, (args.epochs, 'epoch'), out=args.out)
    steps = args.epochs * len(train.dataset) // args.batch_size
    trainer.extend(extensions.CosineShift('alpha', steps))
    trainer.extend(extensions.Evaluator(test, model, device=devices[0]))
    trainer.extend(extensions.LogReport())
    columns = ['epoch', 'main/loss', 'validation/main/loss', 'validation/main/accuracy']
    trainer.extend(extensions.PrintReport(columns))
    trainer.extend(extensions.PlotReport(columns[1:3], 'epoch', filename='loss.png'))
    trainer.extend(extensions.ProgressBar())
    trainer.extend(extensions.snapshot(n_retains=2, autoload=True))
    trainer.run()

    accuracy = trainer.get_extension('LogReport').log[-1]['validation/main/accuracy']
    where = ', '.join(devices)
    print(f'Final test accuracy: {accuracy:.4f} on {len(test.dataset)} digits ({where})')
    if accuracy < MIN_ACCURACY[args.net]:
        sys.exit(f'That is below the {MIN_ACCURACY[args.net]} that it must reach.')


if __name__ == '__main__':
    main()
