"""A language model of stacked LSTMs with truncated backpropagation through time."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import training
from chainer.training import extensions

N_WORDS, N_HIDDEN, N_STEPS = 7, 5, 3


class Columns(chainer.dataset.Iterator):
    """Reads a text in parallel columns: each step gives a word and the next one of each."""

    def __init__(self, text, n_columns, laps=None):
        self.text, self.laps = text, laps
        self.starts = np.arange(n_columns) * len(text) // n_columns
        self.step = self.epoch = 0
        self.is_new_epoch = False

    @property
    def epoch_detail(self):
        return self.step * len(self.starts) / len(self.text)

    def __next__(self):
        if self.laps is not None and self.epoch_detail >= self.laps:
            raise StopIteration
        here = (self.starts + self.step) % len(self.text)
        behind = (here + 1) % len(self.text)
        self.step += 1
        before, self.epoch = self.epoch, int(self.epoch_detail)
        self.is_new_epoch = self.epoch > before
        return list(zip(self.text[here], self.text[behind]))

    def serialize(self, serializer):
        self.step = serializer('step', self.step)
        self.epoch = serializer('epoch', self.epoch)


class Layers(chainer.ChainList):
    def reset(self):
        for layer in self:
            layer.reset_state()

    def forward(self, h):
        for layer in self:
            h = layer(F.dropout(h, 0.0))
        return h


class NextWord(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.words = L.EmbedID(N_WORDS, N_HIDDEN)
            self.layers = Layers(*(L.LSTM(N_HIDDEN, N_HIDDEN) for _ in range(2)))
            self.out = L.Linear(N_HIDDEN, N_WORDS)
        for _, param in sorted(self.namedparams()):
            param.array[...] = np.random.uniform(-0.3, 0.3, param.shape)

    def forward(self, x):
        return self.out(self.layers(self.words(x)))


class TruncatedUpdater(training.updaters.StandardUpdater):
    """Adds up the losses of some steps, and unchains the graph before them."""

    def update_core(self):
        optimizer = self.get_optimizer('main')
        total = 0
        for batch in (self.get_iterator('main').next() for _ in range(N_STEPS)):
            x, t = map(chainer.Variable, self.converter(batch, self.device))
            total += optimizer.target(x, t)
        optimizer.target.cleargrads()
        total.backward()
        total.unchain_backward()
        optimizer.update()


def add_perplexities(entry):
    for key in [key for key in entry if key.endswith('main/loss')]:
        entry[key.replace('loss', 'perplexity')] = np.exp(entry[key])


def train(device, start, iterations=4):
    text = np.random.randint(N_WORDS, size=40).astype(np.int32)
    model = L.Classifier(NextWord())
    model.compute_accuracy = False
    model.to_device(device)
    optimizer = chainer.optimizers.SGD(lr=1.0).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(5))
    start(model=model, words=text)
    updater = TruncatedUpdater(Columns(text, 4), optimizer, device=device)
    trainer = training.Trainer(updater, (iterations, 'iteration'), chainer.config.out)

    # Its own states, and the weights of the trained model.
    reader = model.copy()
    reader.predictor = model.predictor.copy()
    reader.predictor.layers = model.predictor.layers.copy()
    evaluator = extensions.Evaluator(
        Columns(text[:8], 1, laps=1),
        reader,
        device=device,
        eval_hook=lambda _: reader.predictor.layers.reset(),
    )
    trainer.extend(evaluator, trigger=(2, 'iteration'))
    log = extensions.LogReport(postprocess=add_perplexities, trigger=(2, 'iteration'))
    trainer.extend(log)
    trainer.extend(extensions.snapshot_object(model, 'model_{.updater.iteration}'))
    losses = []
    trainer.extend(
        lambda t: losses.append([float(t.observation['main/loss'].array)]),
        name='keep',
        trigger=(1, 'iteration'),
    )
    trainer.run()
    keys = 'main/perplexity', 'validation/main/perplexity'
    return [*losses, *[[entry[key] for key in keys] for entry in log.log]]
