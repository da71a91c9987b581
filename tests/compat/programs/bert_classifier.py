"""A BERT-like sentence classifier, fine-tuned with AdamW, warm-up over 0 iterations and a decay."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import training
from chainer.training import extensions

N_VOCAB, N_UNITS, N_HEADS, MAX_LENGTH = 8, 6, 2, 5


def gelu(x):
    return x * F.sigmoid(1.702 * x)


class LayerNormalization3D(L.LayerNormalization):
    """Normalizes the last of three axes."""

    def __call__(self, x):
        batch, length, units = x.shape
        y = super().__call__(F.reshape(x, (-1, units)))
        return F.reshape(y, (batch, length, units))


class Attention(chainer.Chain):
    def __init__(self, init):
        super().__init__()
        with self.init_scope():
            for name in ('query', 'key', 'value', 'output'):
                setattr(self, name, L.Linear(N_UNITS, N_UNITS, initialW=init))

    def heads(self, x):
        x = F.reshape(x, (*x.shape[:2], N_HEADS, N_UNITS // N_HEADS))
        return F.transpose(x, (0, 2, 1, 3))

    def forward(self, x, mask):
        query, key, value = (
            self.heads(link(x, n_batch_axes=2)) for link in (self.query, self.key, self.value)
        )
        score = F.matmul(query, F.transpose(key, (0, 1, 3, 2))) / np.sqrt(N_UNITS / N_HEADS)
        penalty = (1.0 - mask[:, None, None, :]) * -10000.0
        probs = F.softmax(score + self.xp.broadcast_to(penalty, score.shape), axis=3)
        context = F.transpose(F.matmul(probs, value), (0, 2, 1, 3))
        return self.output(F.reshape(context, x.shape), n_batch_axes=2)


class Bert(chainer.Chain):
    def __init__(self, init):
        super().__init__()
        with self.init_scope():
            self.words = L.EmbedID(N_VOCAB, N_UNITS, initialW=init)
            self.positions = L.EmbedID(MAX_LENGTH, N_UNITS, initialW=init)
            self.ln0 = LayerNormalization3D(None)
            self.attention = Attention(init)
            self.ln1 = LayerNormalization3D(None)
            self.intermediate = L.Linear(N_UNITS, 2 * N_UNITS, initialW=init)
            self.output = L.Linear(2 * N_UNITS, N_UNITS, initialW=init)
            self.ln2 = LayerNormalization3D(None)
            self.pooler = L.Linear(N_UNITS, N_UNITS, initialW=init)

    def forward(self, ids, mask):
        places = self.xp.arange(ids.shape[1]).astype(np.int32)
        h = self.words(ids) + F.broadcast_to(self.positions(places)[None], (*ids.shape, N_UNITS))
        h = self.ln0(h)
        h = self.ln1(h + self.attention(h, mask))
        out = self.output(gelu(self.intermediate(h, n_batch_axes=2)), n_batch_axes=2)
        h = self.ln2(h + out)
        return F.tanh(self.pooler(h[:, 0]))


class Classifier(chainer.Chain):
    def __init__(self, bert, n_classes, init):
        super().__init__()
        with self.init_scope():
            self.bert = bert
            self.output = L.Linear(N_UNITS, n_classes, initialW=init)

    def forward(self, ids, mask, labels):
        logit = self.output(self.bert(ids, mask))
        loss = F.softmax_cross_entropy(logit, labels)
        chainer.report({'loss': loss, 'accuracy': F.accuracy(logit, labels)}, self)
        return loss


class Converter:
    """Sentences become fixed arrays of ids and masks."""

    def __call__(self, batch, device):
        ids = np.zeros((len(batch), MAX_LENGTH), np.int32)
        for row, (sentence, _) in zip(ids, batch):
            row[: len(sentence)] = sentence
        labels = np.array([label for _, label in batch], np.int32)
        arrays = {'ids': ids, 'mask': (ids > 0).astype(np.float32), 'labels': labels}
        return {name: chainer.dataset.to_device(device, x) for name, x in arrays.items()}


def train(device, start, iterations=4):
    data = []
    for i in range(16):
        sentence = np.random.randint(1, N_VOCAB, 2 + i % 4)
        data.append((sentence, int(sentence[0] < 4)))
    init = chainer.initializers.Normal(0.3)
    model = Classifier(Bert(init), 2, init).to_device(device)
    batch = Converter()(data[:4], device)
    with chainer.no_backprop_mode():
        model.bert(batch['ids'], batch['mask'])
    start(model=model, **batch)
    optimizer = chainer.optimizers.Adam(
        alpha=1.0, eta=0.02, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay_rate=0.01
    )
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer.GradientClipping(1.0))
    for param in model.params():
        if param.name in ('b', 'beta', 'gamma'):
            param.update_rule.hyperparam.weight_decay_rate = 0
    iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
    updater = training.updaters.StandardUpdater(
        iterator, optimizer, converter=Converter(), device=device
    )
    trainer = training.Trainer(updater, (iterations, 'iteration'), out=chainer.config.out)
    n_warmup = 0
    trainer.extend(
        extensions.PolynomialShift(
            'alpha', 1.0, iterations + 1, init=1.0, target=0.0, optimizer=optimizer
        ),
        trigger=(1, 'iteration'),
    )
    trainer.extend(extensions.WarmupShift('alpha', 0.0, n_warmup, 1.0, optimizer=optimizer))
    trainer.extend(extensions.observe_lr(), trigger=(1, 'iteration'))
    trainer.extend(
        extensions.observe_value('alpha', lambda trainer: optimizer.alpha),
        trigger=(1, 'iteration'),
    )
    trainer.extend(
        extensions.Evaluator(
            chainer.iterators.SerialIterator(data, 8, repeat=False, shuffle=False),
            model,
            converter=Converter(),
            device=device,
        ),
        trigger=(2, 'iteration'),
    )
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    trainer.run()
    log = trainer.get_extension('LogReport').log
    return [
        *[[entry['main/loss'], entry['alpha'], entry['lr']] for entry in log],
        [log[1]['validation/main/loss'], log[3]['validation/main/accuracy']],
    ]
