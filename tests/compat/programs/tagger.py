"""A tagger of sentences of varying length: a CRF on bidirectional LSTMs."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import training
from chainer.training import extensions

N_VOCAB, N_TAGS, N_UNITS = 8, 3, 4


class Tagger(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(N_VOCAB, N_UNITS)
            self.rnn = L.NStepBiLSTM(1, N_UNITS, N_UNITS, 0)
            self.feature = L.Linear(2 * N_UNITS, N_TAGS)
            self.crf = L.CRF1d(N_TAGS, initial_cost=chainer.initializers.Normal(0.5))

    def features(self, xs):
        sections = np.cumsum([len(x) for x in xs[:-1]])
        es = F.split_axis(self.embed(F.concat(xs, axis=0)), sections, axis=0)
        _, _, hs = self.rnn(None, None, es)
        ys = F.split_axis(self.feature(F.concat(hs, axis=0)), sections, axis=0)
        return F.transpose_sequence(ys)

    def forward(self, xs, ts):
        # The longest come first, as links for sequences require.
        order = np.argsort([-len(x) for x in xs], kind='stable').astype(np.int32)
        xs, ts = [xs[i] for i in order], [ts[i] for i in order]
        hs = self.features(xs)
        loss = self.crf(hs, F.transpose_sequence(ts))
        _, paths = self.crf.argmax(hs)
        paths = F.transpose_sequence(paths)
        right = sum(int((y.array == t).sum()) for y, t in zip(paths, ts))
        chainer.report({'loss': loss, 'accuracy': right / sum(len(t) for t in ts)}, self)
        return loss


@chainer.dataset.converter()
def convert(batch, device):
    return {
        'xs': [device.send(x) for x, _ in batch],
        'ts': [device.send(t) for _, t in batch],
    }


def train(device, start, iterations=4):
    data = []
    for i in range(8):
        x = np.random.randint(N_VOCAB, size=1 + (i * 3) % 4).astype(np.int32)
        data.append((x, (x % N_TAGS).astype(np.int32)))
    model = Tagger().to_device(device)
    start(model=model, xs=[x for x, _ in data[:4]], ts=[t for _, t in data[:4]])
    optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)
    iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
    updater = training.updaters.StandardUpdater(
        iterator, optimizer, convert, device, loss_func=model
    )
    trainer = training.Trainer(updater, (iterations, 'iteration'), chainer.config.out)
    trainer.extend(extensions.MicroAverage('main/accuracy', 'main/loss', 'micro'), name='micro')
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    trainer.extend(extensions.ParameterStatistics(model.crf, trigger=(1, 'iteration')))
    trainer.run()
    log = trainer.get_extension('LogReport').log
    return [[entry['main/loss'], entry['main/accuracy']] for entry in log]
