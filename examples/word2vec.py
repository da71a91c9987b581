"""Learn word vectors from the documentation of Python: skip-gram with negative sampling.

The text is that of Python's own help(). The score is the fraction of some pairs of related words of
which one is among the nearest neighbours of the other, out of about 480 words.

    python examples/word2vec.py
    python examples/word2vec.py --out-type hsm --device @numpy
"""

import collections
import pydoc_data.topics
import re

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from _plots import save_map
from _programs import finish, parse_args, run_batches, to_numpy

WINDOW = 3
N_UNITS = 48
NEAREST = 10
PAIRS = ['list tuple', 'int float', 'try except', 'true false', 'global local', 'keys values',
         'bytes ascii', 'left right', 'sequence mapping', 'first last', 'class instance',
         'positional keyword', 'raise exception', '__getattr__ __getattribute__',
         'mutable immutable', 'start end', 'precision decimal', 'metaclass class',
         'break continue']  # fmt: skip


def load_words(min_count=20):
    """Returns the frequent words of the text, and the text as integers."""
    text = ' '.join(body for _, body in sorted(pydoc_data.topics.topics.items())).lower()
    words = re.findall(r'[a-z_]+', text)
    counts = collections.Counter(words)
    names = [word for word, n in counts.most_common() if n >= min_count]
    numbers = {word: i for i, word in enumerate(names)}
    ids = np.array([numbers[word] for word in words if word in numbers], np.int32)
    return names, ids, np.bincount(ids)


def without_most_frequent(ids, counts, threshold=1e-3):
    """Drops words at random, frequent ones with higher probability."""
    share = counts[ids] / len(ids)
    return ids[np.random.rand(len(ids)) < np.sqrt(threshold / share)]


class SkipGram(chainer.Chain):
    """Predicts the words around a word."""

    def __init__(self, n_words, n_units, loss_func):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_words, n_units, initialW=chainer.initializers.Uniform(0.5))
            self.loss_func = loss_func

    def forward(self, centers, contexts):
        n, width = contexts.shape
        e = F.broadcast_to(self.embed(centers)[:, None], (n, width, N_UNITS))
        return self.loss_func(F.reshape(e, (n * width, N_UNITS)), contexts.reshape(n * width)) / n


def make_loss(kind, counts):
    if kind == 'hsm':
        tree = L.BinaryHierarchicalSoftmax.create_huffman_tree(dict(enumerate(counts.tolist())))
        return L.BinaryHierarchicalSoftmax(N_UNITS, tree)
    loss = L.NegativeSampling(N_UNITS, counts.tolist(), sample_size=5)
    loss.W.array[...] = 0
    return loss


def main():
    kinds = {'choices': ['ns', 'hsm'], 'default': 'ns', 'help': 'negative sampling or a tree'}
    args = parse_args(__doc__, epochs=8, batch_size=256, more=[('--out-type', kinds)])
    names, ids, counts = load_words()
    model = SkipGram(len(names), N_UNITS, make_loss(args.out_type, counts)).to_device(args.device)
    optimizer = chainer.optimizers.Adam(5e-3).setup(model)
    ids = without_most_frequent(ids, counts)
    offsets = [k for k in range(-WINDOW, WINDOW + 1) if k != 0]
    print(f'{len(names)} words, {len(ids)} places in the text')

    def step(batch):
        places = batch + WINDOW
        contexts = np.stack([ids[places + k] for k in offsets], axis=1)
        loss = model(model.device.send(ids[places]), model.device.send(contexts))
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss.array

    losses = run_batches(step, len(ids) - 2 * WINDOW, args)
    vectors = to_numpy(model.embed.W.array)
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = [[names.index(word) for word in pair.split()] for pair in PAIRS]
    hits = []
    for a, b in pairs:
        nearest = [np.argsort(-(vectors @ vectors[k]))[1 : NEAREST + 1] for k in (a, b)]
        hits.append(b in nearest[0] or a in nearest[1])
        print(f'{names[a]:>10}: {", ".join(names[k] for k in nearest[0])}')
    if not args.no_plots:
        shown = vectors[:80] - vectors[:80].mean(0)
        axes = np.linalg.svd(shown, full_matrices=False)[2]
        save_map(args.out, losses, names[:80], shown @ axes[:2].T)
    finish(args, 'Pairs found', np.mean(hits), at_least=0.6)


if __name__ == '__main__':
    main()
