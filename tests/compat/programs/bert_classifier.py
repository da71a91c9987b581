"""A sentence encoder, fine-tuned like BERT: AdamW, warm-up over 0 iterations, a decay."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import training
from chainer.training import extensions

N_WORDS, SIZE, N_HEADS, LENGTH = 8, 6, 2, 5
INIT = chainer.initializers.Normal(0.3)


class Norm(L.LayerNormalization):
    """Layer normalization that also takes inputs with axes in between."""

    def __call__(self, x):
        rows = super().__call__(x.reshape(-1, x.shape[-1]))
        return rows.reshape(x.shape)


class Mixer(chainer.Chain):
    """Each word attends to all words of its sentence, with several heads."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.look = L.Linear(SIZE, 3 * SIZE, initialW=INIT)
            self.join = L.Linear(SIZE, SIZE, initialW=INIT)

    def forward(self, x, mask):
        batch, length, _ = x.shape
        looks = self.look(x, n_batch_axes=2)
        looks = looks.reshape(batch, length, 3, N_HEADS, -1).transpose(2, 0, 3, 1, 4)
        query, key, value = F.separate(looks, axis=0)
        score = F.matmul(query, key, transb=True) / np.sqrt(SIZE / N_HEADS)
        hidden = self.xp.broadcast_to((mask[:, None, None] - 1) * 1e4, score.shape)
        seen = F.matmul(F.softmax(score + hidden, axis=3), value)
        return self.join(seen.transpose(0, 2, 1, 3).reshape(x.shape), n_batch_axes=2)


class Encoder(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.words = L.EmbedID(N_WORDS, SIZE, initialW=INIT)
            self.places = chainer.Parameter(INIT, (LENGTH, SIZE))
            self.mixer = Mixer()
            self.wide = L.Linear(SIZE, 2 * SIZE, initialW=INIT)
            self.narrow = L.Linear(2 * SIZE, SIZE, initialW=INIT)
            self.norms = chainer.ChainList(*[Norm(None) for _ in range(3)])

    def forward(self, ids, mask):
        h = self.words(ids)
        h = self.norms[0](h + F.broadcast_to(self.places, h.shape))
        h = self.norms[1](h + self.mixer(h, mask))
        wide = self.wide(h, n_batch_axes=2)
        return self.norms[2](h + self.narrow(wide * F.sigmoid(1.702 * wide), n_batch_axes=2))


class SentenceClassifier(L.Classifier):
    """Classifies a sentence by the state of its first word."""

    def __init__(self, encoder):
        super().__init__(chainer.Sequential(encoder, lambda h: F.tanh(h[:, 0]), L.Linear(SIZE, 2)))


def pack(batch, device):
    """Packs sentences of any length into arrays of ids and masks."""
    columns = [(np.pad(x, (0, LENGTH - len(x))), t) for x, t in batch]
    ids, labels = (np.array(column, np.int32) for column in zip(*columns))
    arrays = ids, (ids > 0).astype(np.float32), labels
    return tuple(chainer.dataset.to_device(device, x) for x in arrays)


def exempt(model, names):
    for param in model.params():
        if param.name in names:
            param.update_rule.hyperparam.weight_decay_rate = 0


def train(device, start, iterations=4):
    data = []
    for i in range(16):
        sentence = np.random.randint(1, N_WORDS, 2 + i % 4)
        data.append((sentence, int(sentence[0] < 4)))
    model = SentenceClassifier(Encoder())
    model.to_device(device)
    ids, mask, labels = pack(data[:4], device)
    with chainer.no_backprop_mode():
        model.predictor(ids, mask)  # infers input sizes
    start(model=model, ids=ids, mask=mask, labels=labels)
    optimizer = chainer.optimizers.Adam(
        alpha=1.0, eta=0.02, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay_rate=0.01
    )
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer.GradientClipping(1.0))
    exempt(model, ('b', 'beta', 'gamma'))
    updater = training.updaters.StandardUpdater(
        chainer.iterators.SerialIterator(data, 4, shuffle=False), optimizer, pack, device
    )
    trainer = training.Trainer(updater, (iterations, 'iteration'), out=chainer.config.out)
    every = {'trigger': (1, 'iteration')}
    decay = extensions.PolynomialShift('alpha', 1.0, iterations + 1, 1.0, 0.0, optimizer)
    trainer.extend(decay, **every)
    trainer.extend(extensions.WarmupShift('alpha', 0.0, 0, 1.0, optimizer=optimizer))
    trainer.extend(extensions.observe_lr(), **every)
    trainer.extend(extensions.observe_value('alpha', lambda _: optimizer.alpha), **every)
    tests = chainer.iterators.SerialIterator(data, 8, repeat=False, shuffle=False)
    evaluator = extensions.Evaluator(tests, model, converter=pack, device=device)
    trainer.extend(evaluator, trigger=(2, 'iteration'))
    trainer.extend(extensions.LogReport(**every))
    trainer.run()
    log = trainer.get_extension('LogReport').log
    rows = [[entry['main/loss'], entry['alpha'], entry['lr']] for entry in log]
    return [*rows, [log[1]['validation/main/loss'], log[3]['validation/main/accuracy']]]
