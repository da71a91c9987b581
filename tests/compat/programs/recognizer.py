"""A recognizer of symbols in signals: bidirectional GRU, connectionist temporal classification."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

N_IN, N_UNITS, N_SYMBOLS, BLANK = 3, 4, 4, 0


class Recognizer(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution1D(N_IN, N_UNITS, 3, pad=1)
            self.rnn = L.NStepBiGRU(1, N_UNITS, N_UNITS, 0)
            self.out = L.Linear(2 * N_UNITS, N_SYMBOLS)

    def forward(self, xs):
        hs = [F.transpose(F.tanh(self.conv(F.transpose(x)[None]))[0]) for x in xs]
        _, hs = self.rnn(None, hs)
        hs = F.pad_sequence(hs, padding=0.0)
        return [self.out(h) for h in F.transpose(hs, (1, 0, 2))]

    def loss(self, xs, ts):
        xp = self.xp
        ys = self.forward(xs)
        x_lengths = xp.array([len(x) for x in xs], dtype=np.int32)
        t_lengths = xp.array([len(t) for t in ts], dtype=np.int32)
        t = F.pad_sequence(ts, padding=-1)
        return F.connectionist_temporal_classification(
            ys, t, BLANK, x_lengths, t_lengths, reduce='mean'
        )

    def decode(self, xs):
        with chainer.no_backprop_mode(), chainer.using_config('train', False):
            ys = F.stack(self.forward(xs), axis=1)
        best = F.argmax(ys, axis=2).array
        for line, x in zip(best, xs):
            line = [int(i) for i in line[: len(x)]]
            kept = [a for i, a in enumerate(line) if i == 0 or a != line[i - 1]]
            yield [i for i in kept if i != BLANK]


def train(device, start, iterations=4):
    data = []
    for length in (4, 6, 5):
        x = np.random.normal(size=(length, N_IN)).astype(np.float32)
        t = np.random.randint(1, N_SYMBOLS, length // 2).astype(np.int32)
        data.append((x, t))
    model = Recognizer()
    model.to_device(device)
    optimizer = chainer.optimizers.Adam(0.05)
    optimizer.use_cleargrads()
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientNoise(eta=0.0), name='noise')
    xs, ts = ([device.send(x) for x in column] for column in zip(*data))
    start(model=model, xs=[x for x, _ in data], ts=[t for _, t in data])
    losses = []
    for _ in range(iterations):
        loss = model.loss(xs, ts)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append([float(loss.array)])
    losses.append([float(sum(map(sum, model.decode(xs))))])
    return losses
