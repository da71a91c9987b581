"""``chainer info``: versions, devices, what computes, and which optional packages there are."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import typing as tp

TEXT = 'Shows versions, devices, threads, BLAS, instruction set, and optional packages.'

# What chainer does with packages that it runs without.
OPTIONAL: tp.Final = {
    'cupy': 'arrays on GPUs',
    'h5py': 'snapshots as HDF5',
    'matplotlib': 'plots',
    'nvidia-dali-cuda120': 'DaliIterator',
    'pillow': 'datasets of images',
    'protobuf': 'models of Caffe',
    'safetensors': 'weights as safetensors',
    'scikit-learn': 'get_digits',
    'scipy': 'get_svhn',
    'tensorboardX': 'TensorBoardReport',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--json', action='store_true', help='print it as JSON')


def run(args: argparse.Namespace) -> int:
    info = collect()
    if args.json:
        print(json.dumps(info, indent=2))
        return 0
    for name, text in lines(info):
        print(f'{name + ":" if name else "":<17} {text}')
    return 0


def collect() -> dict[str, tp.Any]:
    """All facts: those of `chainerx.config_info`, and what chainer knows besides."""
    import chainerx

    import chainer

    info = {'chainer': chainer.__version__, **chainerx.config_info()}
    info['processor'] = {'name': _processor(), 'usable': _count_cpus(), 'all': os.cpu_count()}
    info['cupy'] = None
    if chainer.cuda.available:
        info['cupy'] = str(chainer.cuda.cupy.__version__)
    info['optional'] = {name: _version(name) for name in OPTIONAL}
    return info


def lines(info: dict[str, tp.Any]) -> tp.Iterator[tuple[str, str]]:
    """The facts as text: what, and how it is."""
    from chainerx import _config

    yield 'chainer', info['chainer']
    processor = info['processor']
    for name, text in _config.lines(info):
        if name == 'threads':
            yield (
                'processor',
                f'{processor["name"]}, {processor["usable"]} of {processor["all"]} CPUs',
            )
        if name == 'plug-ins':
            yield 'CuPy', info['cupy'] or 'no'
        yield name, text
    here = [f'{name} {version}' for name, version in info['optional'].items() if version]
    missing = [f'{name} ({OPTIONAL[name]})' for name, v in info['optional'].items() if not v]
    yield 'optional', ', '.join(here) or 'none'
    yield 'not installed', ', '.join(missing) or 'nothing'


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    import platform

    try:
        with open('/proc/cpuinfo', encoding='utf-8') as file:
            return next(line.split(': ', 1)[1].strip() for line in file if 'model name' in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _count_cpus() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()
