"""Sequence to sequence with NStepLSTM, dot-product attention and variable lengths."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer.training import extensions

UNK, EOS, N_SOURCE, N_TARGET, N_UNITS, N_LAYERS = 0, 1, 10, 8, 6, 2


def sequence_embed(embed, xs):
    lengths = [len(x) for x in xs]
    sections = np.cumsum(lengths[:-1])
    return F.split_axis(embed(F.concat(xs, axis=0)), sections, 0)


class Attention(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.out = L.Linear(2 * N_UNITS, N_UNITS)

    def forward(self, states, memories):
        results = []
        for state, memory in zip(states, memories):
            weight = F.softmax(F.matmul(state, memory, transb=True), axis=1)
            context = F.matmul(weight, memory)
            results.append(F.tanh(self.out(F.concat([context, state], axis=1))))
        return results


class Seq2seq(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed_x = L.EmbedID(N_SOURCE, N_UNITS)
            self.embed_y = L.EmbedID(N_TARGET, N_UNITS)
            self.encoder = L.NStepLSTM(N_LAYERS, N_UNITS, N_UNITS, 0.0)
            self.decoder = L.NStepLSTM(N_LAYERS, N_UNITS, N_UNITS, 0.0)
            self.attention = Attention()
            self.W = L.Linear(N_UNITS, N_TARGET)

    def forward(self, xs, ys):
        xs = [x[::-1] for x in xs]
        eos = self.xp.array([EOS], np.int32)
        ys_in = [F.concat([eos, y], axis=0) for y in ys]
        ys_out = [F.concat([y, eos], axis=0) for y in ys]
        hx, cx, memories = self.encoder(None, None, sequence_embed(self.embed_x, xs))
        _, _, states = self.decoder(hx, cx, sequence_embed(self.embed_y, ys_in))
        batch = len(xs)
        logit = self.W(F.concat(self.attention(states, memories), axis=0))
        target = F.concat(ys_out, axis=0)
        loss = F.sum(F.softmax_cross_entropy(logit, target, reduce='no')) / batch
        n_words = logit.shape[0]
        perplexity = self.xp.exp(loss.array * batch / n_words)
        chainer.report({'loss': loss, 'perp': perplexity}, self)
        return loss

    def translate(self, xs, max_length=5):
        batch = len(xs)
        with chainer.no_backprop_mode(), chainer.using_config('train', False):
            h, c, memories = self.encoder(
                None, None, sequence_embed(self.embed_x, [x[::-1] for x in xs])
            )
            ys = self.xp.full(batch, EOS, np.int32)
            result = []
            for _ in range(max_length):
                eys = F.split_axis(self.embed_y(ys), batch, 0)
                h, c, states = self.decoder(h, c, eys)
                logit = self.W(F.concat(self.attention(states, memories), axis=0))
                ys = self.xp.argmax(logit.array, axis=1).astype(np.int32)
                result.append(ys)
        result = chainer.get_device('@numpy').send(self.xp.stack(result).T)
        outs = []
        for y in result:
            ends = np.argwhere(y == EOS)
            outs.append(y[: ends[0, 0]] if len(ends) > 0 else y)
        return outs


@chainer.dataset.converter()
def convert(batch, device):
    """Sends the sequences of a minibatch as one array."""

    def send(sequences):
        if device is None:
            return sequences
        ends = np.cumsum([len(x) for x in sequences[:-1]], dtype=np.int32)
        joined = device.send(np.concatenate(sequences))
        return device.xp.split(joined, [int(end) for end in ends])

    return {'xs': send([x for x, _ in batch]), 'ys': send([y for _, y in batch])}


class CountTranslated(chainer.training.Extension):
    trigger = 2, 'iteration'
    priority = chainer.training.PRIORITY_WRITER

    def __init__(self, model, data, device):
        self.model, self.data, self.device = model, data, device

    def __call__(self, trainer):
        xs = convert(self.data, self.device)['xs']
        words = sum(len(y) for y in self.model.translate(xs))
        chainer.report({'validation/words': words})


def train(device, start, iterations=4):
    data = [
        (
            np.random.randint(2, N_SOURCE, np.random.randint(1, 5)).astype(np.int32),
            np.random.randint(2, N_TARGET, np.random.randint(1, 4)).astype(np.int32),
        )
        for _ in range(12)
    ]
    model = Seq2seq()
    model.to_device(device)
    start(model=model, xs=[x for x, _ in data[:4]], ys=[y for _, y in data[:4]])
    optimizer = chainer.optimizers.Adam(0.02)
    optimizer.setup(model)
    iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
    updater = chainer.training.updaters.StandardUpdater(
        iterator, optimizer, converter=convert, device=device
    )
    trainer = chainer.training.Trainer(updater, (iterations, 'iteration'), chainer.config.out)
    trainer.extend(CountTranslated(model, data[4:8], device))
    log = extensions.LogReport(trigger=(1, 'iteration'))
    trainer.extend(log)
    trainer.run()
    keys = ('main/loss', 'main/perp', 'validation/words')
    return [[entry[key] for key in keys if key in entry] for entry in log.log]
