"""word2vec: skip-gram and continuous bag of words, negative sampling and hierarchical softmax."""

import collections

import chainer
import chainer.functions as F
import chainer.initializers as I
import chainer.links as L
import numpy as np
from chainer import reporter, training
from chainer.training import extensions

N_VOCAB, N_UNITS, N_NEGATIVE, WINDOW = 7, 4, 2, 2


class ContinuousBoW(chainer.Chain):
    def __init__(self, loss_func):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(N_VOCAB, N_UNITS, initialW=I.Uniform(1.0 / N_UNITS))
            self.loss_func = loss_func

    def forward(self, x, contexts):
        h = F.average(self.embed(contexts), axis=1)
        loss = self.loss_func(h, x)
        reporter.report({'loss': loss}, self)
        return loss


class SkipGram(ContinuousBoW):
    def forward(self, x, contexts):
        e = self.embed(contexts)
        batch, n_context, units = e.shape
        x = F.broadcast_to(x[:, None], (batch, n_context))
        loss = self.loss_func(
            F.reshape(e, (batch * n_context, units)), F.reshape(x, (batch * n_context,))
        )
        reporter.report({'loss': loss}, self)
        return loss


class FixedNegativeSampling(L.NegativeSampling):
    """Draws its samples with a generator of its own, the same on all devices."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.random = np.random.RandomState(0)

    def forward(self, x, t, reduce='sum', **kwargs):
        samples = self.random.randint(0, N_VOCAB, (len(t), self.sample_size + 1)).astype('i')
        samples = self.xp.asarray(samples)
        samples[:, 0] = chainer.as_array(t)
        return F.negative_sampling(x, t, self.W, lambda _: samples, self.sample_size, reduce=reduce)


class WindowIterator(chainer.dataset.Iterator):
    """Minibatches of words of a text, each with the words around it."""

    def __init__(self, dataset, window, batch_size, repeat=True):
        self.dataset = np.array(dataset, np.int32)
        self.window, self.batch_size, self._repeat = window, batch_size, repeat
        self.order = np.random.permutation(len(dataset) - window * 2).astype(np.int32) + window
        self.current_position, self.epoch = 0, 0
        self.is_new_epoch = False

    def __next__(self):
        if not self._repeat and self.epoch > 0:
            raise StopIteration
        i = self.current_position
        position = self.order[i : i + self.batch_size]
        offset = np.concatenate([np.arange(-self.window, 0), np.arange(1, self.window + 1)])
        contexts = self.dataset.take(position[:, None] + offset[None, :])
        center = self.dataset.take(position)
        self.is_new_epoch = i + self.batch_size >= len(self.order)
        if self.is_new_epoch:
            np.random.shuffle(self.order)
            self.epoch += 1
            self.current_position = 0
        else:
            self.current_position = i + self.batch_size
        return center, contexts

    @property
    def epoch_detail(self):
        return self.epoch + self.current_position / len(self.order)

    def serialize(self, serializer):
        self.current_position = serializer('current_position', self.current_position)
        self.epoch = serializer('epoch', self.epoch)
        if self.order is not None:
            serializer('order', self.order)


@chainer.dataset.converter()
def convert(batch, device):
    center, contexts = batch
    return device.send(center), device.send(contexts)


def make_model(name, counts):
    if name == 'skipgram':
        loss_func = FixedNegativeSampling(N_UNITS, [counts[i] for i in range(N_VOCAB)], N_NEGATIVE)
        loss_func.W.array[...] = I.generate_array(I.Normal(0.5), loss_func.W.shape, np)
        return SkipGram(loss_func)
    tree = L.BinaryHierarchicalSoftmax.create_huffman_tree(counts)
    return ContinuousBoW(L.BinaryHierarchicalSoftmax(N_UNITS, tree))


def train(device, start, iterations=3):
    words = np.random.choice(N_VOCAB, 30, p=np.arange(1, 8) / 28.0).astype(np.int32)
    words[:N_VOCAB] = np.arange(N_VOCAB)
    counts = dict(collections.Counter(words.tolist()))
    losses = {}
    models = {name: make_model(name, counts) for name in ('skipgram', 'bow')}
    iterators = {name: WindowIterator(words, WINDOW, 5) for name in models}
    start(
        **models,
        words=words,
        tree=L.BinaryHierarchicalSoftmax.create_huffman_tree(counts),
        places={name: iterator.order[:5].copy() for name, iterator in iterators.items()},
    )
    for name, model in models.items():
        model.to_device(device)
        optimizer = chainer.optimizers.Adam(0.05).setup(model)
        updater = training.updaters.StandardUpdater(
            iterators[name], optimizer, converter=convert, device=device
        )
        trainer = training.Trainer(updater, (iterations, 'iteration'), out=chainer.config.out)
        trainer.extend(
            extensions.Evaluator(
                WindowIterator(words, WINDOW, 10, repeat=False),
                model,
                converter=convert,
                device=device,
            ),
            trigger=(iterations, 'iteration'),
        )
        trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
        trainer.run()
        log = trainer.get_extension('LogReport').log
        losses[name] = [entry['main/loss'] for entry in log]
        losses[name].append(log[-1]['validation/main/loss'])
    return list(zip(*losses.values()))
