"""A transformer that reverses sequences: masks, label smoothing, and a custom evaluator."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import reporter, training
from chainer.training import extensions

N_VOCAB, N_UNITS, N_HEADS, PAD, BOS = 9, 8, 2, -1, 1


def on_rows(func, x):
    """Applies a function of rows to all steps of sequences (batch, length, units)."""
    batch, length, units = x.shape
    return F.reshape(func(F.reshape(x, (batch * length, units))), (batch, length, -1))


class MultiHeadAttention(chainer.Chain):
    def __init__(self):
        super().__init__()
        init = chainer.initializers.GlorotUniform()
        with self.init_scope():
            self.query = L.Linear(N_UNITS, N_UNITS, nobias=True, initialW=init)
            self.key_value = L.Linear(N_UNITS, 2 * N_UNITS, nobias=True, initialW=init)
            self.out = L.Linear(N_UNITS, N_UNITS, nobias=True, initialW=init)

    def split(self, x):
        """Moves heads into the batch axis."""
        return F.concat(F.split_axis(x, N_HEADS, axis=2), axis=0)

    def forward(self, x, z, mask):
        xp = self.xp
        query = self.split(on_rows(self.query, x))
        key, value = F.split_axis(on_rows(self.key_value, z), 2, axis=2)
        score = F.matmul(query, self.split(key), transb=True) * (N_UNITS // N_HEADS) ** -0.5
        mask = xp.concatenate([mask] * N_HEADS, axis=0)
        score = F.where(mask, score, xp.full(score.shape, -1e9, dtype=score.dtype))
        weight = F.softmax(score, axis=2)
        heads = F.split_axis(F.matmul(weight, self.split(value)), N_HEADS, axis=0)
        return on_rows(self.out, F.concat(heads, axis=2))


class Layer(chainer.Chain):
    def __init__(self, with_source):
        super().__init__()
        self.with_source = with_source
        with self.init_scope():
            self.self_attention = MultiHeadAttention()
            self.ln1 = L.LayerNormalization(N_UNITS, eps=1e-6)
            if with_source:
                self.source_attention = MultiHeadAttention()
                self.ln2 = L.LayerNormalization(N_UNITS, eps=1e-6)
            self.w1 = L.Linear(N_UNITS, 2 * N_UNITS)
            self.w2 = L.Linear(2 * N_UNITS, N_UNITS)
            self.ln3 = L.LayerNormalization(N_UNITS, eps=1e-6)

    def forward(self, x, mask, source=None, source_mask=None):
        x = on_rows(self.ln1, x + self.self_attention(x, x, mask))
        if self.with_source:
            x = on_rows(self.ln2, x + self.source_attention(x, source, source_mask))
        h = on_rows(lambda h: self.w2(F.leaky_relu(self.w1(h), 0.1)), x)
        return on_rows(self.ln3, x + h)


class Transformer(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(N_VOCAB, N_UNITS, ignore_label=PAD)
            self.encoder = Layer(with_source=False)
            self.decoder = Layer(with_source=True)
            self.bias = chainer.Parameter(0, (N_VOCAB,))

    def embed_sequence(self, ids):
        length = ids.shape[1]
        rate = np.exp(-np.arange(N_UNITS // 2) * np.log(1e4) / (N_UNITS // 2 - 1))
        angle = np.arange(length)[:, None] * rate
        position = np.concatenate([np.sin(angle), np.cos(angle)], axis=1).astype(np.float32)
        return self.embed(ids) * N_UNITS**0.5 + self.xp.array(position)[None]

    def make_mask(self, queries, keys):
        return (queries[:, :, None] >= 0) * (keys[:, None, :] >= 0)

    def forward(self, source, target_in, target_out):
        xp = self.xp
        length = target_in.shape[1]
        causal = xp.arange(length)[None, :] <= xp.arange(length)[:, None]
        mask = self.make_mask(target_in, target_in) * causal[None]
        h = self.encoder(self.embed_sequence(source), self.make_mask(source, source))
        h = self.decoder(self.embed_sequence(target_in), mask, h, self.make_mask(target_in, source))
        logit = F.linear(F.reshape(h, (-1, N_UNITS)), self.embed.W, self.bias)
        return self.loss(logit, target_out.reshape(-1))

    def loss(self, logit, target, eps=0.1):
        seen = (target != PAD).astype(logit.dtype)
        n = float(seen.sum())
        log_prob = F.log_softmax(logit)
        chosen = F.select_item(log_prob, self.xp.maximum(target, 0))
        cross_entropy = -F.sum(chosen * seen) / n
        uniform = -F.sum(F.mean(log_prob, axis=1) * seen) / n
        accuracy = F.accuracy(logit, target, ignore_label=PAD)
        reporter.report({'loss': cross_entropy, 'acc': accuracy}, self)
        return (1 - eps) * cross_entropy + eps * uniform


class CountingEvaluator(extensions.Evaluator):
    """An evaluator with means over elements, not over minibatches."""

    def evaluate(self):
        iterator = self.get_iterator('main')
        target = self.get_target('main')
        iterator.reset()
        summary = reporter.DictSummary()
        for batch in iterator:
            observation = {}
            with reporter.report_scope(observation):
                arrays = self.converter(batch, self.device)
                with chainer.no_backprop_mode(), chainer.using_config('train', False):
                    target(*arrays)
            weight = float((arrays[2] != PAD).sum())
            summary.add({name: (value, weight) for name, value in observation.items()})
        return summary.compute_mean()


def pad_converter(batch, device):
    columns = list(zip(*batch))
    convert = chainer.dataset.concat_examples
    source = convert(columns[0], device, padding=PAD)
    target_in = convert([np.r_[BOS, y].astype('i') for y in columns[1]], device, padding=PAD)
    target_out = convert([np.r_[y, 0].astype('i') for y in columns[1]], device, padding=PAD)
    return source, target_in, target_out


@training.make_extension(trigger=(1, 'iteration'), priority=training.PRIORITY_WRITER)
def noam(trainer):
    step = trainer.updater.iteration + 1
    optimizer = trainer.updater.get_optimizer('main')
    optimizer.alpha = 0.5 * N_UNITS**-0.5 * min(step**-0.5, step * 4**-1.5)


def train(device, start, iterations=3):
    pairs = []
    for i in range(12):
        x = np.random.randint(2, N_VOCAB, 2 + i % 3).astype(np.int32)
        pairs.append((x, x[::-1].copy()))
    model = Transformer()
    model.to_device(device)
    optimizer = chainer.optimizers.Adam(alpha=0.06, beta1=0.9, beta2=0.98, eps=1e-9)
    optimizer.setup(model)
    iterator = chainer.iterators.SerialIterator(pairs, 4, shuffle=False)
    source, target_in, target_out = pad_converter(pairs[:4], device)
    start(model=model, source=source, target_in=target_in, target_out=target_out)
    updater = training.StandardUpdater(iterator, optimizer, converter=pad_converter, device=device)
    trainer = training.Trainer(updater, (iterations, 'iteration'), out=chainer.config.out)
    tests = chainer.iterators.SerialIterator(pairs, 5, repeat=False, shuffle=False)
    evaluator = CountingEvaluator(tests, model, converter=pad_converter, device=device)
    evaluator.name = 'val'
    trainer.extend(evaluator, trigger=(1, 'iteration'))
    trainer.extend(noam)
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    trainer.run()
    return [
        [entry[key] for key in ('main/loss', 'main/acc', 'val/main/loss', 'val/main/acc')]
        for entry in trainer.get_extension('LogReport').log
    ]
