"""What programs other than those that tell digits apart share: options, loop, pictures, score."""

import argparse
import pathlib
import sys

import chainer
import numpy as np


def parse_args(text, epochs, batch_size, more=()):
    """The options of a program with this docstring; seeds NumPy. `more` has (name, keywords)."""
    parser = argparse.ArgumentParser(description=text.split('\n')[0])
    parser.add_argument('--device', default='native:0', help='@numpy, native:0, cuda:0 or @cupy:0')
    parser.add_argument('--epochs', type=int, default=epochs)
    parser.add_argument('--batch-size', type=int, default=batch_size)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', type=pathlib.Path, default=pathlib.Path('result'))
    parser.add_argument('--no-plots', action='store_true', help='do not write any picture')
    for name, keywords in more:
        parser.add_argument(name, **keywords)
    args = parser.parse_args()
    if args.epochs < 1 or args.batch_size < 1:
        parser.error('--epochs and --batch-size must be at least 1')
    if args.device.lstrip('-').isdigit():  # as in programs of old: -1 is NumPy, 0 the first GPU
        args.device = '@numpy' if int(args.device) < 0 else f'@cupy:{args.device}'
    np.random.seed(args.seed)  # weights, the order of minibatches, all that is drawn
    return args


def to_numpy(array):
    return chainer.backend.CpuDevice().send(array)


def run_batches(step, n, args):
    """Calls step(indices of a minibatch) for all epochs; returns the mean losses of each."""
    losses = []
    for epoch in range(args.epochs):
        order = np.random.permutation(n)
        batches = [order[i : i + args.batch_size] for i in range(0, n, args.batch_size)]
        losses.append(np.mean([step(batch) for batch in batches], axis=0))
        text = ', '.join(f'{loss:.4f}' for loss in np.atleast_1d(losses[-1]))
        print(f'epoch {epoch + 1}/{args.epochs}: loss {text}', flush=True)
    return losses


def finish(args, what, score, at_least):
    """Prints the score; ends the program with an error if it is too low."""
    print(f'{what}: {score:.4f} (device {args.device})')
    if not score >= at_least:
        sys.exit(f'That is below the {at_least} that it must reach.')


def _figure(n_columns):
    import matplotlib

    matplotlib.use('Agg')
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(1, n_columns, figsize=(5 * n_columns, 4.5), layout='constrained')
    return fig, np.atleast_1d(axes)


def _save(fig, out, name):
    out.mkdir(parents=True, exist_ok=True)
    fig.savefig(out / name, dpi=100)
    print(f'Picture: {out / name}')


def _draw_losses(ax, losses, labels=None):
    ax.plot(range(1, len(losses) + 1), losses, marker='o', markersize=3, label=labels)
    ax.set(xlabel='epoch', ylabel='mean training loss')
    ax.grid(True, alpha=0.3)
    if labels:
        ax.legend()


def save_attention(out, losses, look, source, guess):
    """What a decoder looked at (letters written, letters read) beside the losses."""
    fig, (left, right) = _figure(2)
    _draw_losses(left, losses)
    right.imshow(look[: len(guess), : len(source)], cmap='Blues')
    right.set_xticks(range(len(source)), source)
    right.set_yticks(range(len(guess)), guess)
    _save(fig, out, 'seq2seq.png')


def save_digits(out, name, losses, titled_rows, labels=None):
    """Rows of images of 8 x 8, each row with its title, beside the losses."""
    fig, (left, right) = _figure(2)
    _draw_losses(left, losses, labels)
    rows = [np.hstack([np.pad(x.reshape(8, 8), 1) for x in images]) for _, images in titled_rows]
    right.imshow(np.vstack(rows), cmap='gray_r')
    right.set_yticks([10 * i + 5 for i in range(len(rows))], [title for title, _ in titled_rows])
    right.set_xticks([])
    _save(fig, out, name)


def save_map(out, losses, words, places):
    """Words at their places (n, 2) beside the losses."""
    fig, (left, right) = _figure(2)
    _draw_losses(left, losses)
    right.scatter(*places.T, s=2)
    for word, place in zip(words, places, strict=True):
        right.annotate(word, place, fontsize=6)
    _save(fig, out, 'word2vec.png')
