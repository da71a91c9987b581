"""Models of ONNX, exported from Chains and run by chainerx.onnx and by onnxruntime, float32.

Weights and statistics are random, and both sides are first checked to give the same outputs.
onnxruntime has its default optimizations, and the same number of threads. Needs `pip install
onnx==1.23.2 onnxruntime==1.32.0` beside chainerx.

    python benchmarks/onnx_models.py --only 'ResNet*'
"""

import math
import warnings

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import chainerx.onnx
import numpy as np
import onnx_chainer
import onnxruntime
from harness import OURS, main

PEER = 'onnxruntime'


class ResNet50(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.layers = L.ResNet50Layers(pretrained_model=None)

    def forward(self, x):
        return self.layers(x, layers=['fc6'])['fc6']


class Convolution(chainer.Chain):
    """Convolution, normalization, and ReLU6 if asked."""

    def __init__(self, ins, outs, ksize, stride=1, groups=1, is_clipped=True):
        super().__init__()
        self.is_clipped = is_clipped
        with self.init_scope():
            self.conv = L.Convolution2D(ins, outs, ksize, stride, ksize // 2, True, groups=groups)
            self.bn = L.BatchNormalization(outs)

    def forward(self, x):
        h = self.bn(self.conv(x))
        return F.clipped_relu(h, 6.0) if self.is_clipped else h


class InvertedResidual(chainer.Chain):
    def __init__(self, ins, outs, stride, expansion):
        super().__init__()
        self.is_residual = stride == 1 and ins == outs
        width = ins * expansion
        with self.init_scope():
            self.expand = Convolution(ins, width, 1) if expansion > 1 else F.identity
            self.depthwise = Convolution(width, width, 3, stride, width)
            self.project = Convolution(width, outs, 1, is_clipped=False)

    def forward(self, x):
        h = self.project(self.depthwise(self.expand(x)))
        return h + x if self.is_residual else h


class MobileNetV2(chainer.Chain):
    # Expansion, channels, blocks, stride of the first.
    STAGES = (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    )

    def __init__(self):
        super().__init__()
        blocks, ins = [], 32
        for expansion, outs, n, stride in self.STAGES:
            for i in range(n):
                blocks.append(InvertedResidual(ins, outs, stride if i == 0 else 1, expansion))
                ins = outs
        with self.init_scope():
            self.first = Convolution(3, 32, 3, 2)
            self.blocks = chainer.Sequential(*blocks)
            self.last = Convolution(ins, 1280, 1)
            self.fc = L.Linear(1280, 1000)

    def forward(self, x):
        h = self.last(self.blocks(self.first(x)))
        return self.fc(F.mean(h, axis=(2, 3)))


class Encoder(chainer.Chain):
    """Four layers of 256 with eight heads over 128 steps."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.encoder = L.TransformerEncoder(4, 256, 8, 1024, 0.0)

    def forward(self, x):
        return self.encoder(x)


class LSTM(chainer.Chain):
    """Two layers of 256 over 50 steps, (steps, batch, units)."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.lstm = L.NStepLSTM(2, 256, 256, 0.0)

    def forward(self, x):
        steps = [F.squeeze(v, 1) for v in F.split_axis(x, x.shape[1], axis=1)]
        return F.stack(self.lstm(None, None, steps)[2], axis=1)


NETWORKS = {
    'ResNet-50': (ResNet50, lambda n: (n, 3, 224, 224)),
    'MobileNetV2': (MobileNetV2, lambda n: (n, 3, 224, 224)),
    'Transformer encoder': (Encoder, lambda n: (n, 128, 256)),
    'LSTM': (LSTM, lambda n: (50, n, 256)),
}
BATCHES = (1, 16)


def randomize(model, rng):
    """Gives normalizations random parameters and statistics, as if they had been trained."""
    for link in model.links():
        if isinstance(link, L.BatchNormalization):
            for name, low in (('gamma', 0.5), ('beta', -0.5), ('avg_mean', -0.5), ('avg_var', 0.5)):
                value = getattr(link, name)
                value = value.array if isinstance(value, chainer.Parameter) else value
                value[...] = rng.uniform(low, low + 1, value.shape)


def exported(name, batch):
    """The file of a network, and an input."""
    kind, shape_of = NETWORKS[name]
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape_of(batch)).astype('f')
    with chainer.using_config('train', False):
        model = kind()
        model(rng.normal(size=shape_of(1)).astype('f'))
        randomize(model, rng)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            return onnx_chainer.export(model, x).SerializeToString(), x


def session(file, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(file, options, providers=['CPUExecutionProvider'])


def check(name, ours, theirs):
    scale = math.sqrt(float(np.square(theirs, dtype='d').mean()))
    worst = float(np.abs(ours - theirs).max()) / scale
    if not worst < 1e-5:
        raise RuntimeError(f'{name}: outputs differ by {worst:.1e} of their mean square root')


def rows(bench):
    """Models of ONNX against onnxruntime."""
    for name in NETWORKS:
        for batch in BATCHES:
            row = f'{name}, batch {batch}'
            if not bench.wants(row):
                continue
            file, x = exported(name, batch)
            ours, theirs = chainerx.onnx.load(file), session(file, bench.threads)
            cx, feed = chainerx.array(x), {theirs.get_inputs()[0].name: x}
            check(row, chainerx.to_numpy(ours(cx)), theirs.run(None, feed)[0])
            bench.row(
                row,
                {OURS: 'model(x)', PEER: 'model.run(None, x)'},
                {OURS: {'model': ours, 'x': cx}, PEER: {'model': theirs, 'x': feed}},
                against=PEER,
            )
    ratios = [math.log(r.ratio) for r in bench.results]
    if ratios:
        print(f'geometric mean: {math.exp(sum(ratios) / len(ratios)):.3f}')


if __name__ == '__main__':
    main(rows, 'onnx_models', threads=(1, 2), rounds=10, round_seconds=0.01)
