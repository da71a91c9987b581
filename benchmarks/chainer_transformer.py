"""Training steps of a transformer, by Adam, against PyTorch.

An encoder of two layers classifies each of 128 steps into 64 classes. PyTorch's is its
`TransformerEncoder`, or the same written by hand around `scaled_dot_product_attention`, whichever a
trial before the row finds faster. Both sides start from the same weights and are first checked to
reach the same loss, without dropout.

    python benchmarks/chainer_transformer.py
"""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer_train import fastest, loss_of
from harness import main, torch

BATCH, LENGTH, SIZE, HEADS, HIDDEN, LAYERS, CLASSES = 8, 128, 256, 8, 1024, 2, 64
ALPHA, EPS = 1e-3, 1e-5


class Tagger(chainer.Chain):
    def __init__(self, dropout):
        super().__init__()
        with self.init_scope():
            self.encoder = L.TransformerEncoder(LAYERS, SIZE, HEADS, HIDDEN, dropout, eps=EPS)
            self.last = L.Linear(SIZE, CLASSES)

    def forward(self, x):
        return self.last(F.reshape(self.encoder(x), (-1, SIZE)))


class TorchTagger(torch.nn.Module):
    def __init__(self, dropout):
        super().__init__()
        layer = torch.nn.TransformerEncoderLayer(
            SIZE, HEADS, HIDDEN, dropout, layer_norm_eps=EPS, batch_first=True
        )
        self.encoder = torch.nn.TransformerEncoder(layer, LAYERS)
        self.last = torch.nn.Linear(SIZE, CLASSES)

    def forward(self, x):
        return self.last(self.encoder(x)).reshape(-1, CLASSES)


class ByHand(TorchTagger):
    """The same parameters, without the overhead of PyTorch's modules."""

    def forward(self, x):
        f = torch.nn.functional
        n, length, size = x.shape
        for layer in self.encoder.layers:
            attention = layer.self_attn
            h = f.linear(x, attention.in_proj_weight, attention.in_proj_bias)
            q, k, v = h.view(n, length, 3, HEADS, size // HEADS).permute(2, 0, 3, 1, 4)
            ratio = attention.dropout if self.training else 0.0
            h = f.scaled_dot_product_attention(q, k, v, dropout_p=ratio)
            h = attention.out_proj(h.transpose(1, 2).reshape(n, length, size))
            x = layer.norm1(x + layer.dropout1(h))
            h = layer.linear2(layer.dropout(torch.relu(layer.linear1(x))))
            x = layer.norm2(x + layer.dropout2(h))
        return self.last(x).reshape(-1, CLASSES)


def parameters(model):
    """The parameters of a Chain in PyTorch's order."""
    for layer in model.encoder.layers:
        attention, feed_forward = layer.attention, layer.feed_forward
        yield from (attention.W_in, attention.b_in, attention.W_out, attention.b_out)
        yield from (feed_forward.W1, feed_forward.b1, feed_forward.W2, feed_forward.b2)
        for norm in (layer.norm1, layer.norm2):
            yield from (norm.gamma, norm.beta)
    yield from (model.last.W, model.last.b)


def batch():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(BATCH, LENGTH, SIZE)).astype('f')
    return x, rng.integers(0, CLASSES, BATCH * LENGTH)


def chainer_step(dropout, values):
    model = Tagger(dropout)
    for param, value in zip(parameters(model), values, strict=True):
        param.array[...] = value
    model.to_device('native:0')
    optimizer = chainer.optimizers.Adam(ALPHA).setup(model)
    x, t = batch()
    x, t = model.device.send((x, t.astype(np.int32)))

    def step():
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    return step


def torch_step(kind, dropout, values, **options):
    model = kind(dropout)
    with torch.no_grad():
        for param, value in zip(model.parameters(), values, strict=True):
            param.copy_(torch.tensor(value))
    optimizer = torch.optim.Adam(model.parameters(), ALPHA, **options)
    x, t = map(torch.tensor, batch())

    def step():
        loss = torch.nn.functional.cross_entropy(model(x), t)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss

    return step


def initial_values():
    torch.manual_seed(0)
    return [v.detach().numpy() for v in TorchTagger(0.0).parameters()]


def rows(bench):
    """Training steps of an encoder, without dropout and with it."""
    values = initial_values()
    for dropout in (0.0, 0.1):
        row = f'encoder, 2 layers of 256, batch 8 x 128{", dropout" * (dropout > 0)}'
        if not bench.wants(row):
            continue
        if dropout == 0:
            expected = loss_of(torch_step(TorchTagger, 0.0, values))
            difference = loss_of(chainer_step(0.0, values)) - expected
            if abs(difference) > 1e-3 * abs(expected):
                raise RuntimeError(f'{row}: losses differ by {difference}')
        ways = {
            f'{name}, Adam({way})': torch_step(kind, dropout, values, **{way: True})
            for name, kind in (('TransformerEncoder', TorchTagger), ('by hand', ByHand))
            for way in ('foreach', 'fused')
        }
        way, theirs = fastest(ways, 1)
        bench.row(
            row,
            {'chainerx': 'step()', 'torch': 'step()'},
            {'chainerx': {'step': chainer_step(dropout, values)}, 'torch': {'step': theirs}},
            note=f'PyTorch: {way}',
        )


if __name__ == '__main__':
    main(rows, 'chainer_transformer', threads=(1, 2), rounds=7, round_seconds=0.1)
