"""Siamese and triplet networks with shared weights, and a custom iterator of pairs."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np


class Embedding(chainer.Sequential):
    def __init__(self):
        super().__init__(
            lambda x: F.reshape(x, (len(x), -1)),
            L.Linear(4, 6),
            F.leaky_relu,
            L.Linear(6, 2),
            F.normalize,
        )


class Siamese(chainer.Chain):
    def __init__(self, embedding):
        super().__init__()
        with self.init_scope():
            self.embedding = embedding

    def forward(self, x0, x1, same):
        loss = F.contrastive(self.embedding(x0), self.embedding(x1), same, margin=1.5)
        chainer.report({'loss': loss}, self)
        return loss


class Triplet(Siamese):
    def forward(self, anchor, positive, negative):
        ys = F.split_axis(self.embedding(F.concat([anchor, positive, negative], axis=0)), 3, 0)
        loss = F.triplet(*ys, margin=0.5)
        loss += 0.1 * F.mean(F.absolute_error(ys[0], ys[1]))
        chainer.report({'loss': loss}, self)
        return loss


class PairIterator(chainer.iterators.SerialIterator):
    """Pairs each example of a minibatch with the next one."""

    def __next__(self):
        batch = super().__next__()
        others = batch[1:] + batch[:1]
        return [(x, y, np.int32(s == t)) for (x, s), (y, t) in zip(batch, others)]

    next = __next__


def triplets(x, t):
    for i, label in enumerate(t):
        same = np.flatnonzero((t == label) & (np.arange(len(t)) != i))[0]
        other = np.flatnonzero(t != label)[i % 3]
        yield x[i], x[same], x[other]


def train(device, start, iterations=3):
    t = np.arange(12) % 3
    x = (np.eye(4)[t] + np.random.normal(0, 0.5, (12, 4))).astype(np.float32).reshape(-1, 2, 2)
    embedding = Embedding()
    siamese, triplet = Siamese(embedding), Triplet(embedding)
    siamese.to_device(device)
    assert embedding.xp is device.xp
    optimizers = [chainer.optimizers.AdaGrad(0.05).setup(m) for m in (siamese, triplet)]
    convert = chainer.dataset.to_device
    iterator = PairIterator([(a, int(b)) for a, b in zip(x, t)], 6, shuffle=False)
    columns = [device.send(np.stack(column)) for column in zip(*triplets(x, t))]
    losses = []
    for _ in range(iterations):
        x0, x1, same = chainer.dataset.concat_examples(iterator.next())
        pairs = convert(device, x0), convert(device, x1), convert(device, same)
        if not losses:
            start(model=siamese, pairs=pairs, triplets=columns)
        losses.append([float(siamese(*pairs).array), float(triplet(*columns).array)])
        optimizers[0].update(siamese, *pairs)
        optimizers[1].update(triplet, *columns)
    loss, *_ = [siamese(*pairs)]
    losses.append([float(loss.array), float(embedding(columns[0]).array.sum())])
    return losses
