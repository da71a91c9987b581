"""Training steps of a language model against PyTorch: embedding, LSTMs, a linear layer, Adam.

A step is forward, softmax cross entropy over all positions, backward, update. Both start with the
same parameters and are first checked to give the same losses for some steps.
"""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import torch
from harness import main

KINDS = {'chainerx': 'native:0', 'numpy': '@numpy'}
# Vocabulary size, units, layers, batch size, sequence length.
SIZES = [(10_000, 256, 2, 20, 35), (100, 64, 2, 4, 20)]


class Model(chainer.Chain):
    def __init__(self, words, units, layers):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(words, units)
            self.lstm = L.NStepLSTM(layers, units, units, 0.0)
            self.out = L.Linear(units, words)

    def forward(self, texts):
        n, length = texts.shape
        x = F.reshape(self.embed(texts), (n * length, self.embed.W.shape[1]))
        _, _, ys = self.lstm(None, None, F.split_axis(x, n, 0))
        return self.out(F.concat(ys, axis=0))


class TheirModel(torch.nn.Module):
    def __init__(self, words, units, layers):
        super().__init__()
        self.embed = torch.nn.Embedding(words, units)
        self.lstm = torch.nn.LSTM(units, units, layers, batch_first=True)
        self.out = torch.nn.Linear(units, words)

    def forward(self, texts):
        y, _ = self.lstm(self.embed(texts))
        return self.out(y).flatten(0, 1)

    def copy_from(self, model):
        """Copies our parameters, concatenated as in PyTorch."""
        with torch.no_grad():
            self.embed.weight[...] = torch.tensor(model.embed.W.array)
            self.out.weight[...] = torch.tensor(model.out.W.array)
            self.out.bias[...] = torch.tensor(model.out.b.array)
            for i, (ws, bs) in enumerate(zip(model.lstm.ws, model.lstm.bs, strict=True)):
                for kind, arrays in (('weight', ws), ('bias', bs)):
                    for where, half in (('ih', arrays[:4]), ('hh', arrays[4:])):
                        joined = np.concatenate([p.array for p in half])
                        getattr(self.lstm, f'{kind}_{where}_l{i}')[...] = torch.tensor(joined)


def our_step(model, texts, targets):
    optimizer = chainer.optimizers.Adam(0.001).setup(model)

    def step():
        loss = F.softmax_cross_entropy(model(texts), targets)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    return step


def their_step(model, texts, targets):
    optimizer = torch.optim.Adam(model.parameters(), 0.001, fused=True)

    def step():
        loss = torch.nn.functional.cross_entropy(model(texts), targets)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss

    return step


def rows(bench):
    """Steps with chainerx arrays and with NumPy arrays."""
    for words, units, layers, n, length in SIZES:
        text = np.random.default_rng(0).integers(0, words, (n, length + 1))
        texts, targets = text[:, :-1].astype('i'), text[:, 1:].ravel().astype('i')
        for kind, device in KINDS.items():
            name = f'{layers} layers of {units}, {words} words, {n} x {length}, {kind}'
            if not bench.wants(name):
                continue
            np.random.seed(0)
            model, theirs = Model(words, units, layers), TheirModel(words, units, layers)
            theirs.copy_from(model)
            model.to_device(device)
            step = our_step(model, *model.device.send((texts, targets)))
            peer = their_step(theirs, *(torch.tensor(x.astype('q')) for x in (texts, targets)))
            for _ in range(3):
                np.testing.assert_allclose(float(step().array), float(peer().detach()), rtol=1e-3)
            bench.row(
                name,
                {'chainerx': 'step()', 'torch': 'step()'},
                {'chainerx': {'step': step}, 'torch': {'step': peer}},
            )


if __name__ == '__main__':
    main(rows, 'language_model', threads=(1, 2), rounds=5, round_seconds=0.02)
