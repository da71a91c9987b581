"""Whole models, as networks of the field: true in depth, small in width."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

__all__ = ['LARGE', 'MODELS', 'make', 'run']

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


def convolution(ins, outs, ksize, stride=1, groups=1):
    conv = L.Convolution2D(ins, outs, ksize, stride, ksize // 2, nobias=True, groups=groups)
    return chainer.Sequential(conv, L.BatchNormalization(outs))


class Residual(chainer.Chain):
    """A block of ResNet-18."""

    def __init__(self, ins, outs, stride):
        super().__init__()
        with self.init_scope():
            self.a = convolution(ins, outs, 3, stride)
            self.b = convolution(outs, outs, 3)
            self.around = convolution(ins, outs, 1, stride) if stride != 1 else F.identity

    def forward(self, x):
        return F.relu(self.b(F.relu(self.a(x))) + self.around(x))


def resnet18(width=4):
    blocks = [convolution(3, width, 7, 2), F.relu, lambda x: F.max_pooling_2d(x, 3, 2, 1)]
    ins = width
    for stage in range(4):
        outs = width << stage
        blocks += [Residual(ins, outs, min(stage, 1) + 1), Residual(outs, outs, 1)]
        ins = outs
    return chainer.Sequential(*blocks, mean_of_pixels, L.Linear(ins, 10))


def mean_of_pixels(x):
    return F.average(x, axis=(2, 3))


def vgg16(width=4):
    layers, ins = [], 3
    for n, outs in ((2, 1), (2, 2), (3, 4), (3, 8), (3, 8)):
        for _ in range(n):
            layers += [L.Convolution2D(ins, outs * width, 3, 1, 1), F.relu]
            ins = outs * width
        layers.append(lambda x: F.max_pooling_2d(x, 2))
    for outs in (64, 64):
        layers += [L.Linear(None, outs), F.relu, F.dropout]
    return chainer.Sequential(*layers, L.Linear(64, 10))


class Inverted(chainer.Chain):
    """A block of MobileNetV2."""

    def __init__(self, ins, outs, stride):
        super().__init__()
        self.is_residual = stride == 1 and ins == outs
        with self.init_scope():
            self.up = convolution(ins, 6 * ins, 1)
            self.depthwise = convolution(6 * ins, 6 * ins, 3, stride, 6 * ins)
            self.down = convolution(6 * ins, outs, 1)

    def forward(self, x):
        h = self.down(F.relu6(self.depthwise(F.relu6(self.up(x)))))
        return x + h if self.is_residual else h


def mobilenet():
    blocks, ins = [convolution(3, 8, 3, 2), F.relu6], 8
    for outs, n, stride in ((4, 1, 1), (6, 2, 2), (8, 3, 2), (16, 4, 2), (24, 3, 1), (40, 3, 2),
                            (80, 1, 1)):  # fmt: skip
        for i in range(n):
            blocks.append(Inverted(ins, outs, stride if i == 0 else 1))
            ins = outs
    return chainer.Sequential(*blocks, mean_of_pixels, L.Linear(ins, 10))


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


def make(name):
    """A model and its inputs."""
    build, inputs = MODELS[name]
    np.random.seed(0)
    model = build()
    # With the first statistics activations grow from layer to layer; with those of this batch alone
    # tiny variances would amplify rounding.
    norms = [link for link in model.links() if isinstance(link, L.BatchNormalization)]
    for norm in norms:
        norm.decay = 0.5
    if norms:
        with chainer.no_backprop_mode():
            model(*inputs)
    return model, inputs


def run(model, inputs):
    """What a model computes in inference, as a list of arrays."""
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        found = model(*map(chainer.Variable, inputs))
    if isinstance(found, dict):
        found = list(found.values())
    return [y.array for y in (found if isinstance(found, (tuple, list)) else [found])]


LARGE = ('ResNet50Layers', 'GoogLeNet', 'VGG16Layers')
MODELS = {
    'LeNet': (LeNet, (images(2, 1, 28),)),
    'separable': (Separable, (images(2, 4, 9),)),
    'generator': (Generator, (RNG.standard_normal((3, 8)).astype('f'),)),
    'language model': (LanguageModel, tuple(words(3) for _ in range(4))),
    'encoder': (Encoder, (words(3), words(5))),
    'transformer': (Attention, (RNG.standard_normal((2, 5, 8)).astype('f'),)),
    'transformer encoder': (
        lambda: L.TransformerEncoder(6, 8, 2, 16, activation='gelu'),
        (RNG.standard_normal((2, 5, 8)).astype('f'),),
    ),
    'ResNet-18': (resnet18, (images(2, 3, 64),)),
    'VGG-16': (vgg16, (images(2, 3, 32),)),
    'MobileNetV2': (mobilenet, (images(8, 3, 64),)),
    'autoencoder': (Autoencoder, (RNG.standard_normal((2, 6)).astype('f'),)),
    'ResNet50Layers': (lambda: L.ResNet50Layers(None), (images(1, 3, 64),)),
    'GoogLeNet': (lambda: L.GoogLeNet(None), (images(1, 3, 224),)),
    'VGG16Layers': (lambda: L.VGG16Layers(None), (images(1, 3, 224),)),
}
