"""``chainer data``: lists datasets, fetches them, and says where they lie."""

from __future__ import annotations

import argparse
import os
import typing as tp

TEXT = 'Lists well-known datasets, fetches them, and says where their files are.'

# What `chainer.datasets.get_<name>` reads.
DATASETS: tp.Final = {
    'mnist': 'handwritten digits, 70,000 of 28 x 28',
    'fashion_mnist': 'clothes, 70,000 of 28 x 28',
    'kuzushiji_mnist': 'Japanese characters, 70,000 of 28 x 28',
    'cifar10': 'photographs of 10 classes, 60,000',
    'cifar100': 'photographs of 100 classes, 60,000',
    'svhn': 'house numbers, 99,289',
    'ptb_words': 'words of newspapers, 1,085,779',
}


def _files(name: str) -> tuple[str, list[str]]:
    """The folder of a dataset, below that of all, and the files that `get` reads there."""
    from chainer.datasets import cifar, fashion_mnist, kuzushiji_mnist, mnist, ptb, svhn

    if name in ('cifar10', 'cifar100'):
        return cifar.NAME, [cifar.KINDS[name.replace('cifar', 'cifar-')].archive]
    if name == 'svhn':
        return svhn.NAME, [svhn.file_name(part) for part in ('train', 'test')]
    if name == 'ptb_words':
        return ptb.NAME, [ptb.file_name(part) for part in ptb.SUMS]
    source = {
        'mnist': mnist.MNIST,
        'fashion_mnist': fashion_mnist.FASHION,
        'kuzushiji_mnist': kuzushiji_mnist.KUZUSHIJI,
    }[name]
    return source.name, list(source.sums)


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
        for name, text in DATASETS.items():
            print(f'{name:16} {text}')
    elif args.action == 'get':
        for name in args.names:
            parts = getattr(datasets, f'get_{name}')()
            print(f'{name}: {" + ".join(str(len(part)) for part in parts)} examples')
    elif args.name is None:
        print(os.path.abspath(download.get_dataset_root()))
    else:
        folder, files = _files(args.name)
        path = download.get_dataset_directory(folder, create_directory=False)
        for file in files:
            print(os.path.abspath(os.path.join(path, file)))
    return 0
