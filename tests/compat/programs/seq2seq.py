"""Sequence to sequence with NStepLSTM, dot-product attention and variable lengths."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer.training import extensions

EOS, N_SOURCE, N_TARGET, N_UNITS, N_LAYERS = 1, 10, 8, 6, 2


class Words(L.EmbedID):
    """Embeds the words of several sequences at once."""

    def forward(self, sequences):
        ends = np.cumsum([len(x) for x in sequences])
        return F.split_axis(super().forward(F.concat(sequences, axis=0)), ends[:-1], 0)


class Focus(chainer.Chain):
    """Attention of each state to the memory of its sequence."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.mix = L.Linear(2 * N_UNITS, N_UNITS)

    def forward(self, states, memories):
        found = [
            F.matmul(F.softmax(F.matmul(state, memory, transb=True), axis=1), memory)
            for state, memory in zip(states, memories)
        ]
        return F.tanh(self.mix(F.concat([F.concat(found, axis=0), F.concat(states, axis=0)])))


class Translator(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.heard = Words(N_SOURCE, N_UNITS)
            self.said = Words(N_TARGET, N_UNITS)
            self.listen = L.NStepLSTM(N_LAYERS, N_UNITS, N_UNITS, 0.0)
            self.speak = L.NStepLSTM(N_LAYERS, N_UNITS, N_UNITS, 0.0)
            self.focus = Focus()
            self.word = L.Linear(N_UNITS, N_TARGET)

    def start(self, xs):
        return self.listen(None, None, self.heard([x[::-1] for x in xs]))

    def forward(self, xs, ys):
        h, c, memories = self.start(xs)
        end = self.xp.array([EOS], np.int32)
        _, _, states = self.speak(h, c, self.said([F.concat([end, y], axis=0) for y in ys]))
        scores = self.word(self.focus(states, memories))
        words = F.concat([word for y in ys for word in (y, end)], axis=0)
        total = F.sum(F.softmax_cross_entropy(scores, words, reduce='no'))
        loss = total / len(xs)
        chainer.report({'loss': loss, 'perp': self.xp.exp(total.array / len(words))}, self)
        return loss

    def translate(self, xs, most=5):
        with chainer.no_backprop_mode(), chainer.using_config('train', False):
            h, c, memories = self.start(xs)
            steps = [self.xp.full(len(xs), EOS, np.int32)]
            for _ in range(most):
                before = [steps[-1][i : i + 1] for i in range(len(xs))]
                h, c, states = self.speak(h, c, self.said(before))
                scores = self.word(self.focus(states, memories))
                steps.append(self.xp.argmax(scores.array, axis=1).astype(np.int32))
        rows = chainer.get_device('@numpy').send(self.xp.stack(steps[1:]).T).tolist()
        return [row[: row.index(EOS)] if EOS in row else row for row in rows]


@chainer.dataset.converter()
def convert(batch, device):
    """Transfers the sequences of a minibatch as one array."""

    def send(sequences):
        if device is None:
            return sequences
        ends = np.cumsum([len(x) for x in sequences[:-1]], dtype=np.int32)
        joined = device.send(np.concatenate(sequences))
        return device.xp.split(joined, [int(end) for end in ends])

    return {'xs': send([x for x, _ in batch]), 'ys': send([y for _, y in batch])}


class WordsSaid(chainer.training.Extension):
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
    model = Translator()
    model.to_device(device)
    start(model=model, xs=[x for x, _ in data[:4]], ys=[y for _, y in data[:4]])
    optimizer = chainer.optimizers.Adam(0.02)
    optimizer.setup(model)
    iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
    updater = chainer.training.updaters.StandardUpdater(
        iterator, optimizer, converter=convert, device=device
    )
    trainer = chainer.training.Trainer(updater, (iterations, 'iteration'), chainer.config.out)
    trainer.extend(WordsSaid(model, data[4:8], device))
    log = extensions.LogReport(trigger=(1, 'iteration'))
    trainer.extend(log)
    trainer.run()
    keys = ('main/loss', 'main/perp', 'validation/words')
    return [[entry[key] for key in keys if key in entry] for entry in log.log]
