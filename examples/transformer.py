"""Train a small transformer to guess the next character of Python's documentation.

The text is that of `help('topics')`, which Python ships. The baseline to beat is a bigram model: a
table of how often each character follows another one.

    python examples/transformer.py
    python examples/transformer.py --device @numpy --steps 500
"""

import argparse
import pathlib
import pydoc_data.topics
import sys

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from tqdm import trange

LENGTH = 64  # context length in characters
PART_OF_PAIRS = 0.85  # the fraction of the bigram model's bits that must be reached


class LanguageModel(chainer.Chain):
    """Predicts the character after each one of a text."""

    def __init__(self, n_chars, size=64, heads=4, layers=2):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_chars, size)
            self.encoder = L.TransformerEncoder(
                layers, size, heads, dropout=0.0, activation='gelu', pre_norm=True, rotary=True
            )
            self.last = L.Linear(size, n_chars)

    def forward(self, ids, cache=None):
        h = self.encoder(self.embed(ids), causal=True, cache=cache)
        return self.last(h, n_batch_axes=2)


def load_data():
    """Returns the alphabet, and the text as integers, for training and for testing."""
    topics = pydoc_data.topics.topics
    text = '\n\n'.join(topics[name] for name in sorted(topics))
    chars, ids = np.unique(list(text), return_inverse=True)
    is_test = np.arange(len(ids)) // 2000 % 10 == 9  # every tenth page
    return chars, ids[~is_test].astype(np.int32), ids[is_test].astype(np.int32)


def bits_of_pairs(train, test, n_chars):
    """Bits per character of the test text by the bigram frequencies of the training text."""
    counts = np.full((n_chars, n_chars), 0.1)
    np.add.at(counts, (train[:-1], train[1:]), 1)
    logs = np.log2(counts / counts.sum(1, keepdims=True))
    return -logs[test[:-1], test[1:]].mean()


def loss_of(model, rows):
    """Mean loss over all characters but the first of each row."""
    y = model(rows[:, :-1])
    return F.softmax_cross_entropy(F.reshape(y, (-1, y.shape[2])), rows[:, 1:].reshape(-1))


def train(model, ids, steps, batch_size, base_alpha=5e-3):
    optimizer = chainer.optimizers.Adam().setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(1.0))
    places = np.arange(LENGTH + 1)
    losses, bar = [], trange(steps, unit=' steps')
    for i in bar:
        starts = np.random.randint(0, len(ids) - LENGTH, batch_size)
        loss = loss_of(model, model.device.send(ids[starts[:, None] + places]))
        model.cleargrads()
        loss.backward()
        optimizer.alpha = base_alpha * min(1.0, (i + 1) / 20, 1.05 - i / steps)
        optimizer.update()
        losses.append(loss.array / np.log(2))  # on the device: no step waits for it
        if i % 20 == 0:
            bar.set_postfix_str(f'{float(losses[-1]):.3f} bits per character', refresh=False)
    return [float(loss) for loss in losses]


def evaluate(model, ids, n_rows=128):
    rows = np.stack([ids[i : i + LENGTH + 1] for i in range(0, len(ids) - LENGTH, LENGTH)])
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        loss = loss_of(model, model.device.send(rows[:n_rows]))
    return float(loss.array) / np.log(2)


def write(model, start, n, rng):
    """Continues a text, character by character, with a cache of keys and values."""
    ids, cache = list(start), model.encoder.make_cache()
    seen = 0
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        for _ in range(n):
            y = model(model.device.send(np.array([ids[seen:]], np.int32)), cache)
            seen = len(ids)
            p = chainer.backend.CpuDevice().send(F.softmax(y[0, -1:] * 1.5).array)[0]
            ids.append(int(rng.choice(len(p), p=p / p.sum())))
    return ids


def save_plot(out, losses, pairs):
    import matplotlib

    matplotlib.use('Agg')
    import matplotlib.pyplot as plt

    out.mkdir(parents=True, exist_ok=True)
    fig, ax = plt.subplots(figsize=(6, 4), layout='constrained')
    ax.plot(range(1, len(losses) + 1), losses, label='transformer, while learning')
    ax.axhline(pairs, color='gray', linestyle='--', label='table of pairs')
    ax.set(xlabel='step', ylabel='bits per character', title="Python's documentation")
    ax.legend()
    fig.savefig(out / 'transformer.png', dpi=120)


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--device', default='native:0', help='@numpy, native:0, cuda:0 or @cupy:0')
    parser.add_argument('--steps', type=int, default=300)
    parser.add_argument('--batch-size', type=int, default=12)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', type=pathlib.Path, default=pathlib.Path('result'))
    parser.add_argument('--no-plots', action='store_true', help='do not write any picture')
    args = parser.parse_args()
    if args.steps < 1 or args.batch_size < 1:
        parser.error('--steps and --batch-size must be at least 1')
    return args


def main():
    args = parse_args()
    np.random.seed(args.seed)  # initial weights and minibatches
    chars, learnt, test = load_data()
    model = LanguageModel(len(chars)).to_device(args.device)
    losses = train(model, learnt, args.steps, args.batch_size)
    bits, pairs = evaluate(model, test), bits_of_pairs(learnt, test, len(chars))
    print('It writes:', repr(''.join(chars[write(model, test[:40], 120, np.random)])))
    if not args.no_plots:
        save_plot(args.out, losses, pairs)
        print(f'Picture: {args.out / "transformer.png"}')
    print(f'Final bits per character: {bits:.3f}, by pairs {pairs:.3f} (device {args.device})')
    if bits > PART_OF_PAIRS * pairs:
        sys.exit(f'{bits:.3f} bits are more than {PART_OF_PAIRS} of {pairs:.3f}.')


if __name__ == '__main__':
    main()
