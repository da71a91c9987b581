"""Shared by the programs about digits: data, epochs, options, result."""

import argparse
import pathlib
import sys

import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

N_TRAIN = 1437
MIN_ACCURACY = 0.97


def load_data():
    """Returns (x_train, t_train, x_test, t_test) as NumPy arrays, in a fixed order."""
    digits = load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    x = (digits.data[order] / 16).astype(np.float32)
    t = digits.target[order].astype(np.int64)
    return x[:N_TRAIN], t[:N_TRAIN], x[N_TRAIN:], t[N_TRAIN:]


def parse_args(description, devices):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument('--device', default='native:0', help=f'where to train: {devices}')
    parser.add_argument('--epochs', type=int, default=20)
    parser.add_argument('--batch-size', type=int, default=32)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', type=pathlib.Path, default=pathlib.Path('result'))
    parser.add_argument('--no-plots', action='store_true', help='do not write any picture')
    args = parser.parse_args()
    if args.epochs < 1 or args.batch_size < 1:
        parser.error('--epochs and --batch-size must be at least 1')
    return args


def run_epochs(step, permutation, epochs, batch_size):
    """Trains with a progress bar; returns the mean loss of each epoch.

    `step` is called with the indices of a minibatch and the remaining fraction of the training,
    from 1 to 0; it returns loss and accuracy, arrays that are read at the end of an epoch: a GPU is
    not waited for before.
    """
    losses = []
    bar = tqdm(total=epochs * N_TRAIN, unit=' samples', unit_scale=True)
    for epoch in range(epochs):
        order = permutation(N_TRAIN)
        results = []
        for i in range(0, N_TRAIN, batch_size):
            batch = order[i : i + batch_size]
            results.append((len(batch), step(batch, 1 - epoch / epochs)))
        totals = [[n * float(x) for x in pair] for n, pair in results]
        loss, accuracy = np.sum(totals, axis=0) / N_TRAIN
        losses.append(loss)
        bar.set_description(f'epoch {epoch + 1}/{epochs}', refresh=False)
        bar.set_postfix_str(f'loss {loss:.4f}, accuracy {accuracy:.4f}', refresh=False)
        bar.update(N_TRAIN)
    bar.close()
    return losses


def save_plots(out, losses, confusion, accuracy):
    import matplotlib

    matplotlib.use('Agg')
    import matplotlib.pyplot as plt

    out.mkdir(parents=True, exist_ok=True)
    fig, ax = plt.subplots(figsize=(6, 4), layout='constrained')
    ax.semilogy(range(1, len(losses) + 1), losses, marker='o', markersize=3)
    ax.set(xlabel='epoch', ylabel='mean training loss', title='Learning handwritten digits')
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(True, which='both', alpha=0.3)
    fig.savefig(out / 'loss.png', dpi=120)

    fig, ax = plt.subplots(figsize=(6, 5.5), layout='constrained')
    image = ax.imshow(confusion, cmap='Blues')
    for (row, column), count in np.ndenumerate(confusion):
        color = 'white' if count > confusion.max() / 2 else 'black'
        ax.text(column, row, count or '', ha='center', va='center', color=color)
    ax.set(xticks=range(10), yticks=range(10), xlabel='predicted', ylabel='true digit')
    ax.set_title(f'{confusion.sum()} test digits, accuracy {accuracy:.4f}')
    fig.colorbar(image, shrink=0.8)
    fig.savefig(out / 'confusion.png', dpi=120)


def report(args, losses, truth, guess):
    """Plots and prints the result; ends the program with an error if it is too bad."""
    accuracy = float((truth == guess).mean())
    if not args.no_plots:
        confusion = np.zeros((10, 10), int)
        np.add.at(confusion, (truth, guess), 1)
        save_plots(args.out, losses, confusion, accuracy)
        print(f'Pictures: {args.out / "loss.png"} and {args.out / "confusion.png"}')
    print(f'Final test accuracy: {accuracy:.4f} on {len(truth)} digits (device {args.device})')
    if accuracy < MIN_ACCURACY:
        sys.exit(
            f'The test accuracy is {accuracy:.4f}, below the {MIN_ACCURACY} that it must reach.'
        )
