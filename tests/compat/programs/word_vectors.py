"""Word vectors: negative sampling, and hierarchical softmax."""

import collections

import chainer
import chainer.functions as F
import chainer.initializers as I
import chainer.links as L
import numpy as np
from chainer import training
from chainer.training import extensions

N_WORDS, N_UNITS, N_NOISE = 7, 4, 2
NEIGHBOURS = np.array([-2, -1, 1, 2])


class WordVectors(chainer.Chain):
    """Predicts a word from the mean of its neighbours' vectors (CBOW), or from each (skip-gram)."""

    def __init__(self, guess, alone):
        super().__init__()
        self.alone = alone
        with self.init_scope():
            self.vectors = L.EmbedID(N_WORDS, N_UNITS, initialW=I.Uniform(1 / N_UNITS))
            self.guess = guess

    def forward(self, words, around):
        h = self.vectors(around)
        if self.alone:
            words = F.flatten(F.broadcast_to(words[:, None], around.shape))
            h = F.reshape(h, (-1, N_UNITS))
        else:
            h = F.average(h, axis=1)
        loss = self.guess(h, words)
        chainer.report({'loss': loss}, self)
        return loss


class SeededNegativeSampling(L.NegativeSampling):
    """Draws its noise with a separate generator, the same on all devices."""

    def __init__(self, counts):
        super().__init__(N_UNITS, [counts[i] for i in range(N_WORDS)], N_NOISE)
        self.random = np.random.RandomState(0)
        self.W.array[...] = I.generate_array(I.Normal(0.5), self.W.shape, np)

    def forward(self, x, t):
        drawn = self.random.randint(0, N_WORDS, (len(t), N_NOISE + 1)).astype(np.int32)
        drawn = self.xp.asarray(drawn)
        drawn[:, 0] = chainer.as_array(t)
        return F.negative_sampling(x, t, self.W, lambda _: drawn, N_NOISE)


class Shuffled(chainer.dataset.Iterator):
    """Gives positions in a text in a new order each epoch; the converter looks up the words."""

    def __init__(self, places, batch_size, endless=True):
        self.places, self.batch_size, self.endless = np.array(places), batch_size, endless
        self.epoch, self.taken = 0, 0
        self.is_new_epoch = False
        np.random.shuffle(self.places)

    @property
    def epoch_detail(self):
        return self.epoch + self.taken / len(self.places)

    def __next__(self):
        if self.epoch and not self.endless:
            raise StopIteration
        batch = self.places[self.taken : self.taken + self.batch_size].copy()
        self.taken += len(batch)
        self.is_new_epoch = self.taken == len(self.places)
        if self.is_new_epoch:
            self.epoch, self.taken = self.epoch + 1, 0
            np.random.shuffle(self.places)
        return batch

    def serialize(self, serializer):
        for key in ('epoch', 'taken', 'places'):
            setattr(self, key, serializer(key, getattr(self, key)))


def looking_up(text):
    @chainer.dataset.converter()
    def convert(places, device):
        return device.send((text[places], text[places[:, None] + NEIGHBOURS]))

    return convert


def train(device, start, iterations=3):
    text = np.random.choice(N_WORDS, 30, p=np.arange(1, 8) / 28).astype(np.int32)
    text[:N_WORDS] = np.arange(N_WORDS)
    counts = dict(collections.Counter(text.tolist()))
    tree = L.BinaryHierarchicalSoftmax.create_huffman_tree(counts)
    models = {
        'skipgram': WordVectors(SeededNegativeSampling(counts), alone=True),
        'bow': WordVectors(L.BinaryHierarchicalSoftmax(N_UNITS, tree), alone=False),
    }
    places = range(2, len(text) - 2)
    batches = {name: Shuffled(places, 5) for name in models}
    first = {name: iterator.places[:5].copy() for name, iterator in batches.items()}
    start(words=text, tree=tree, places=first, **models)
    columns = []
    for name, model in models.items():
        model.to_device(device)
        optimizer = chainer.optimizers.Adam(0.05).setup(model)
        options = {'converter': looking_up(text), 'device': device}
        updater = training.updaters.StandardUpdater(batches[name], optimizer, **options)
        trainer = training.Trainer(updater, (iterations, 'iteration'), out=chainer.config.out)
        evaluator = extensions.Evaluator(Shuffled(places, 10, endless=False), model, **options)
        trainer.extend(evaluator, trigger=(iterations, 'iteration'))
        trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
        trainer.run()
        log = trainer.get_extension('LogReport').log
        losses = [entry['main/loss'] for entry in log]
        columns.append([*losses, log[-1]['validation/main/loss']])
    return list(zip(*columns))
