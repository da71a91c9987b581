"""Whole models: what onnxruntime computes of the exported file."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import onnx
import onnx_chainer
import pytest
from onnx_runtime import run

RNG = np.random.default_rng(0)


def images(n, channels, size):
    return RNG.standard_normal((n, channels, size, size)).astype('f')


class LeNet(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c1 = L.Convolution2D(1, 6, 5, pad=2)
            self.c2 = L.Convolution2D(6, 16, 5)
            self.l1 = L.Linear(None, 120)
            self.l2 = L.Linear(120, 10)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.c1(x)), 2)
        h = F.max_pooling_2d(F.relu(self.c2(h)), 2)
        return self.l2(F.dropout(F.relu(self.l1(h))))


class Separable(chainer.Chain):
    """A block as MobileNet has it."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.depthwise = L.DepthwiseConvolution2D(4, 1, 3, pad=1)
            self.grouped = L.Convolution2D(4, 4, 3, 2, 1, nobias=True, groups=4)
            self.bn = L.BatchNormalization(4)
            self.pointwise = L.Convolution2D(4, 8, 1, nobias=True)

    def forward(self, x):
        h = F.relu6(self.bn(self.grouped(self.depthwise(x))))
        return F.average(self.pointwise(h), axis=(2, 3))


class Generator(chainer.Chain):
    """As that of DCGAN."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l = L.Linear(8, 4 * 4 * 8)
            self.bn = L.BatchNormalization(4 * 4 * 8)
            self.dc1 = L.Deconvolution2D(8, 4, 4, 2, 1)
            self.dc2 = L.Deconvolution2D(4, 3, 4, 2, 1)

    def forward(self, z):
        h = F.reshape(F.relu(self.bn(self.l(z))), (len(z), 8, 4, 4))
        return F.sigmoid(self.dc2(F.leaky_relu(self.dc1(h))))


class LanguageModel(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(20, 8)
            self.rnn = L.LSTM(8, 8)
            self.out = L.Linear(8, 20)

    def forward(self, *words):
        self.rnn.reset_state()
        for word in words:
            h = self.rnn(self.embed(word))
        return self.out(h)


class Encoder(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(20, 8)
            self.rnn = L.NStepBiLSTM(2, 8, 6, 0.1)

    def forward(self, *sentences):
        hy, _, ys = self.rnn(None, None, [self.embed(s) for s in sentences])
        return hy, F.concat(ys, axis=0)


class Attention(chainer.Chain):
    """A layer of a transformer, of products and softmax."""

    def __init__(self, units=8, heads=2):
        super().__init__()
        self.heads = heads
        with self.init_scope():
            self.qkv = L.Linear(units, 3 * units)
            self.out = L.Linear(units, units)
            self.n1 = L.LayerNormalization(units)
            self.n2 = L.LayerNormalization(units)
            self.up = L.Linear(units, 4 * units)
            self.down = L.Linear(4 * units, units)

    def forward(self, x):
        n, t, u = x.shape
        h = F.reshape(x, (n * t, u))
        qkv = F.reshape(self.qkv(self.n1(h)), (n, t, 3, self.heads, u // self.heads))
        q, k, v = F.separate(F.transpose(qkv, (2, 0, 3, 1, 4)), axis=0)
        weights = F.softmax(F.matmul(q, k, transb=True) * (u // self.heads) ** -0.5, axis=3)
        mixed = F.transpose(F.matmul(weights, v), (0, 2, 1, 3))
        h += self.out(F.reshape(mixed, (n * t, u)))
        h += self.down(F.gelu(self.up(self.n2(h))))
        return F.reshape(h, (n, t, u))


class Autoencoder(chainer.Chain):
    """The mean's way through a variational one."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.encoder = L.Linear(6, 4)
            self.mean = L.Linear(4, 2)
            self.log_variance = L.Linear(4, 2)
            self.decoder = L.Linear(2, 6)

    def forward(self, x):
        h = F.tanh(self.encoder(x))
        z = self.mean(h)
        return F.sigmoid(self.decoder(z)), F.exp(self.log_variance(h))


def words(n):
    return RNG.integers(0, 20, n).astype('i')


MODELS = {
    'LeNet': (LeNet, (images(2, 1, 28),)),
    'separable': (Separable, (images(2, 4, 9),)),
    'generator': (Generator, (RNG.standard_normal((3, 8)).astype('f'),)),
    'language model': (LanguageModel, tuple(words(3) for _ in range(4))),
    'encoder': (Encoder, (words(3), words(5))),
    'transformer': (Attention, (RNG.standard_normal((2, 5, 8)).astype('f'),)),
    'autoencoder': (Autoencoder, (RNG.standard_normal((2, 6)).astype('f'),)),
    'ResNet50Layers': (lambda: L.ResNet50Layers(None), (images(1, 3, 64),)),
    'GoogLeNet': (lambda: L.GoogLeNet(None), (images(1, 3, 224),)),
}


OPSETS = (9, 11, 17, onnx_chainer.MAXIMUM_OPSET_VERSION)
LARGE = ('ResNet50Layers', 'GoogLeNet')


@pytest.mark.parametrize(
    ('name', 'opset'), [(n, o) for n in MODELS for o in OPSETS if o == 17 or n not in LARGE]
)
def test_model(name, opset, tmp_path):
    make, inputs = MODELS[name]
    model = make()
    proto = onnx_chainer.export(model, inputs, tmp_path / 'model.onnx', opset_version=opset)
    onnx.checker.check_model(str(tmp_path / 'model.onnx'), full_check=True)
    others = [x[::-1].copy() for x in inputs]
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        found = model(*map(chainer.Variable, others))
    if isinstance(found, dict):
        found = list(found.values())
    found = found if isinstance(found, (tuple, list)) else [found]
    for y, expected in zip(run(str(tmp_path / 'model.onnx'), others), found, strict=True):
        scale = np.abs(expected.array).max()
        np.testing.assert_allclose(y, expected.array, rtol=1e-5, atol=1e-5 * scale)
    assert proto.opset_import[0].version == opset
