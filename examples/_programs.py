"""Shared by the programs that do not classify digits: options, loop, score."""

import argparse
import pathlib
import sys

import chainer
import numpy as np


def parse_args(text, more=(), **counts):
    """The options of a program with this docstring; seeds NumPy.

    `counts` has defaults of positive integers; `more` has (name, keywords).
    """
    parser = argparse.ArgumentParser(description=text.split('\n')[0])
    parser.add_argument('--device', default='native:0', help='@numpy, native:0, cuda:0 or @cupy:0')
    for name, default in counts.items():
        parser.add_argument(_option(name), type=int, default=default)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', type=pathlib.Path, default=pathlib.Path('result'))
    parser.add_argument('--no-plots', action='store_true', help='do not write any picture')
    for name, keywords in more:
        parser.add_argument(name, **keywords)
    args = parser.parse_args()
    for name in counts:
        if getattr(args, name) < 1:
            parser.error(f'{_option(name)} must be at least 1')
    if args.device.lstrip('-').isdigit():  # as in old programs: -1 is NumPy, 0 the first GPU
        args.device = '@numpy' if int(args.device) < 0 else f'@cupy:{args.device}'
    chainer.get_device(args.device).use()  # where the arrays of xp.array() and the like are
    np.random.seed(args.seed)  # initial weights, the order of minibatches, all random numbers
    return args


def _option(name):
    return '--' + name.replace('_', '-')


def to_numpy(array):
    return chainer.backend.CpuDevice().send(array)


def run_batches(step, n, args):
    """Calls step(indices of a minibatch) for all epochs; returns the mean losses per epoch.

    Losses are arrays, which are read at the end of an epoch: a GPU is not waited for before.
    """
    losses = []
    for epoch in range(args.epochs):
        order = np.random.permutation(n)
        batches = [order[i : i + args.batch_size] for i in range(0, n, args.batch_size)]
        results = [step(batch) for batch in batches]
        losses.append(np.mean([to_numpy(result) for result in results], axis=0))
        text = ', '.join(f'{loss:.4f}' for loss in np.atleast_1d(losses[-1]))
        print(f'epoch {epoch + 1}/{args.epochs}: loss {text}', flush=True)
    return losses


def finish(args, what, score, at_least):
    """Prints the score; ends the program with an error if it is too low."""
    print(f'{what}: {score:.4f} (device {args.device})')
    if not score >= at_least:
        sys.exit(f'That is below the {at_least} that it must reach.')
