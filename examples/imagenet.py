"""Train a convolutional network on folders of JPEGs, one folder per class, such as ImageNet.

Worker processes read, crop and flip the pictures of the next minibatches meanwhile. Without folders
it draws small pictures itself.

    python examples/imagenet.py
    python examples/imagenet.py train val --arch resnet50 --size 224 --workers 8 --device cuda:0
    python examples/imagenet.py --resume
"""

import argparse
import os
import pathlib
import sys

import chainer
import chainer.links as L
import numpy as np
from _jpegs import load_folders, save_picture
from chainer import iterators, training
from chainer.training import extensions
from cifar_resnet import Block, Network

MODELS = {  # name -> class, last layer
    'resnet50': (L.ResNet50Layers, 'fc6'),
    'resnet101': (L.ResNet101Layers, 'fc6'),
    'resnet152': (L.ResNet152Layers, 'fc6'),
    'vgg16': (L.VGG16Layers, 'fc8'),
    'googlenet': (L.GoogLeNet, 'loss3_fc'),
}


class Named(chainer.Chain):
    """A well-known model with random weights, up to a given layer; it has 1,000 classes."""

    def __init__(self, name):
        super().__init__()
        cls, self.layer = MODELS[name]
        with self.init_scope():
            self.layers = cls(pretrained_model=None)

    def forward(self, x):
        return self.layers(x, layers=[self.layer])[self.layer]


def make_model(name, n_classes):
    return Network(Block, 8, 1, n_classes) if name == 'small' else Named(name)


def make_iterators(args):
    train, val = load_folders(args)
    options = {'n_processes': args.workers, 'n_prefetch': 2}
    return (
        iterators.DevicePrefetchIterator(
            iterators.MultiprocessIterator(train, args.batch_size, **options), args.device
        ),
        iterators.MultiprocessIterator(
            val, args.batch_size, repeat=False, shuffle=False, **options
        ),
    )


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('train', nargs='?', help='folder to train on; default: drawn pictures')
    parser.add_argument('val', nargs='?', help='folder to test on')
    parser.add_argument('--arch', choices=['small', *MODELS], default='small')
    parser.add_argument('--size', type=int, default=48, help='of the squares that are cut out')
    parser.add_argument('--device', default='native:0', help='@numpy, native:0, cuda:0 or @cupy:0')
    parser.add_argument('--epochs', type=int, default=6)
    parser.add_argument('--batch-size', type=int, default=32)
    parser.add_argument('--lr', type=float, default=0.1, help='of the first epochs')
    parser.add_argument('--workers', type=int, default=min(8, os.cpu_count() or 1))
    parser.add_argument('--pictures', type=int, default=3000, help='how many are drawn')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', type=pathlib.Path, default=pathlib.Path('result'))
    parser.add_argument(
        '--resume', nargs='?', const='', help='a snapshot to go on from; default: the newest'
    )
    parser.add_argument('--min-accuracy', type=float, default=0.0, help='less is an error')
    args = parser.parse_args()
    if (args.train is None) != (args.val is None):
        parser.error('train and val are needed both, or none of them')
    if min(args.epochs, args.batch_size, args.workers, args.pictures) < 1 or args.size < 32:
        parser.error('numbers must be at least 1, --size at least 32')
    return args


def main():
    args = parse_args()
    np.random.seed(args.seed)  # initial weights, the order of pictures, random numbers of processes
    train, val = make_iterators(args)
    model = L.Classifier(make_model(args.arch, len(train.dataset.classes)))
    optimizer = chainer.optimizers.MomentumSGD(args.lr).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-4))
    updater = training.StandardUpdater(train, optimizer, device=args.device)
    trainer = training.Trainer(updater, (args.epochs, 'epoch'), out=args.out)
    steps = -(-args.epochs * len(train.dataset) // args.batch_size)
    trainer.extend(extensions.CosineShift('lr', steps, warmup=min(20, steps // 4)))
    trainer.extend(extensions.Evaluator(val, model, device=args.device))
    trainer.extend(extensions.LogReport())
    columns = ['epoch', 'main/loss', 'main/accuracy', 'validation/main/accuracy', 'elapsed_time']
    trainer.extend(extensions.PrintReport(columns))
    trainer.extend(extensions.PlotReport(columns[2:4], 'epoch', filename='accuracy.png'))
    trainer.extend(extensions.ProgressBar())
    # Compression of weights takes long and saves little.
    writer = extensions.snapshot_writers.ThreadWriter(compression=False)
    resume = args.resume == ''
    trainer.extend(extensions.snapshot(writer=writer, n_retains=2, autoload=resume))
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()

    def predict(x):
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            return model.predictor(model.device.send(x)).array

    save_picture(args.out / 'pictures.png', val.dataset, predict)
    accuracy = trainer.get_extension('LogReport').log[-1]['validation/main/accuracy']
    print(f'Accuracy on {len(val.dataset)} other pictures: {accuracy:.4f} ({args.device})')
    if accuracy < args.min_accuracy:
        sys.exit(f'That is below the {args.min_accuracy} that it must reach.')


if __name__ == '__main__':
    main()
