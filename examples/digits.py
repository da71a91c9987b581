"""Train a network on handwritten digits with chainerx alone.

The data are the 1,797 real 8x8 digits of the UCI repository that ship inside scikit-learn, so
nothing is downloaded. The split (1,437 to learn from, 360 to test on) is fixed; ``--seed`` decides
the initial weights and the order of the minibatches, and the same seed gives the same result.

    python examples/digits.py --device native:0 --out result
"""

import argparse
import itertools
import pathlib
import sys

import chainerx as chx
import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

N_TRAIN = 1437
MIN_ACCURACY = 0.97


def load_data():
    """Returns (x_train, t_train, x_test, t_test); which digit is where never changes."""
    digits = load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    x = (digits.data[order] / 16).astype(np.float32)
    t = digits.target[order].astype(np.int64)
    return tuple(chx.array(a) for a in (x[:N_TRAIN], t[:N_TRAIN], x[N_TRAIN:], t[N_TRAIN:]))


class MLP:
    """Linear layers with ReLU between them, and stochastic gradient descent with momentum."""

    def __init__(self, sizes):
        self.params = []
        for n_in, n_out in itertools.pairwise(sizes):
            w = chx.random.normal(0, (2 / n_in) ** 0.5, (n_out, n_in)).astype('float32')
            self.params += [w.require_grad(), chx.zeros(n_out).require_grad()]
        self.velocities = [chx.zeros_like(p) for p in self.params]

    def __call__(self, x):
        for i in range(0, len(self.params), 2):
            x = chx.linear(chx.relu(x) if i else x, self.params[i], self.params[i + 1])
        return x

    def update(self, lr, momentum=0.9):
        for param, v in zip(self.params, self.velocities, strict=True):
            v *= momentum
            v -= lr * param.grad
            # A parameter is part of a graph and may not be written; its grad-stopped view may.
            p = param.as_grad_stopped()
            p += v
            param.cleargrad()


def train(model, x, t, epochs, batch_size, base_lr=0.1):
    """Trains with a progress bar; returns the mean loss of each epoch."""
    losses = []
    bar = tqdm(total=epochs * len(x), unit=' samples', unit_scale=True)
    for epoch in range(epochs):
        order = chx.random.permutation(len(x))
        lr = base_lr * (1 - epoch / epochs)
        total_loss = total_hits = 0.0
        for i in range(0, len(x), batch_size):
            batch = order[i : i + batch_size]
            xb, tb = x.take(batch, axis=0), t.take(batch, axis=0)
            y = model(xb)
            loss = chx.softmax_cross_entropy(y, tb).mean()
            loss.backward()
            model.update(lr)
            total_loss += float(loss) * len(xb)
            total_hits += float(chx.accuracy(y.as_grad_stopped(), tb)) * len(xb)
        losses.append(total_loss / len(x))
        bar.set_description(f'epoch {epoch + 1}/{epochs}', refresh=False)
        status = f'loss {losses[-1]:.4f}, accuracy {total_hits / len(x):.4f}'
        bar.set_postfix_str(status, refresh=False)
        bar.update(len(x))
    bar.close()
    return losses


def predict(model, x):
    with chx.no_backprop_mode():
        return chx.to_numpy(model(x).argmax(axis=1))


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--device', default='native:0', help='where to train, e.g. cuda:0')
    parser.add_argument('--epochs', type=int, default=20)
    parser.add_argument('--batch-size', type=int, default=32)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', type=pathlib.Path, default=pathlib.Path('result'))
    parser.add_argument('--no-plots', action='store_true', help='do not write any picture')
    args = parser.parse_args()
    if args.epochs < 1 or args.batch_size < 1:
        parser.error('--epochs and --batch-size must be at least 1')

    chx.set_default_device(args.device)
    chx.random.seed(args.seed)
    x_train, t_train, x_test, t_test = load_data()
    model = MLP((64, 128, 64, 10))
    losses = train(model, x_train, t_train, args.epochs, args.batch_size)

    truth, guess = chx.to_numpy(t_test), predict(model, x_test)
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


if __name__ == '__main__':
    main()
