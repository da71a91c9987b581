"""``chainer data``: lists datasets, fetches them, and says where they lie."""

from __future__ import annotations

import argparse
import os
import typing as tp

TEXT = 'Lists well-known datasets, fetches them, and says where their files are.'

_GRAY = tuple(
    f'{part}-ubyte.gz'
    for part in (
        'train-images-idx3',
        'train-labels-idx1',
        't10k-images-idx3',
        't10k-labels-idx1',
    )
)


class _Entry(tp.NamedTuple):
    folder: str
    files: tuple[str, ...]
    text: str


# What `chainer.datasets.get_<name>` reads.
DATASETS: tp.Final = {
    'mnist': _Entry('mnist', _GRAY, 'handwritten digits, 70,000 of 28 x 28'),
    'fashion_mnist': _Entry('fashion-mnist', _GRAY, 'clothes, 70,000 of 28 x 28'),
    'kuzushiji_mnist': _Entry('kuzushiji_mnist', _GRAY, 'Japanese characters, 70,000 of 28 x 28'),
    'cifar10': _Entry('cifar', ('cifar-10-binary.tar.gz',), 'photographs of 10 classes, 60,000'),
    'cifar100': _Entry('cifar', ('cifar-100-binary.tar.gz',), 'photographs of 100 classes, 60,000'),
    'svhn': _Entry('svhn', ('train_32x32.mat', 'test_32x32.mat'), 'house numbers, 99,289'),
    'ptb_words': _Entry(
        'ptb', ('ptb.train.txt', 'ptb.valid.txt', 'ptb.test.txt'), 'words of newspapers, 1,085,779'
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar='action', dest='action')
    actions.add_parser('list', help='what there is')
    get = actions.add_parser('get', help='fetch datasets, and read them once')
    get.add_argument('names', nargs='+', choices=sorted(DATASETS), metavar='name')
    path = actions.add_parser('path', help='the folder of all, or where files may be put by hand')
    path.add_argument('name', nargs='?', choices=sorted(DATASETS), metavar='name')


def run(args: argparse.Namespace) -> int:
    from chainer import datasets
    from chainer.dataset import download

    if args.action == 'list':
        for name, entry in DATASETS.items():
            print(f'{name:16} {entry.text}')
    elif args.action == 'get':
        for name in args.names:
            parts = getattr(datasets, f'get_{name}')()
            print(f'{name}: {" + ".join(str(len(part)) for part in parts)} examples')
    elif args.name is None:
        print(os.path.abspath(download.get_dataset_root()))
    else:
        entry = DATASETS[args.name]
        folder = os.path.join(download.get_dataset_root(), 'pfnet', 'chainer', entry.folder)
        for file in entry.files:
            print(os.path.abspath(os.path.join(folder, file)))
    return 0
