"""Records initial weights and results of Chainer v7.8.1's models, for `test_links_vision.py`.

Run it where Chainer 7.8.1 with numpy < 1.24 is installed:

    python tests/chainer/data/make_v7_vision.py       # writes v7_vision.json here
"""

import json
import pathlib
import zlib

import chainer
import chainer.links as L
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
MODELS = {
    'ResNet50Layers': ['conv1', 'pool1', 'res2', 'res5', 'pool5', 'fc6'],
    'GoogLeNet': ['pool1', 'conv2', 'pool2', 'inception_3a', 'inception_3b', 'inception_4a'],
    'ResNet101Layers': [],
    'ResNet152Layers': [],
    'VGG16Layers': [],
    'VGG19Layers': [],
}


def main():
    assert chainer.__version__ == '7.8.1'
    found = {}
    x = np.random.RandomState(0).randn(1, 3, 64, 64).astype('float32')
    for name, layers in MODELS.items():
        np.random.seed(0)
        net = getattr(L, name)(None)
        entry = {'layers': net.available_layers}
        entry['shapes'] = {k: list(p.shape) for k, p in sorted(net.namedparams())}
        if layers:
            entry['crc'] = {k: zlib.crc32(p.array.tobytes()) for k, p in sorted(net.namedparams())}
            with chainer.using_config('train', False), chainer.no_backprop_mode():
                ys = net(x, layers=layers)
            entry['outputs'] = {k: [float(v) for v in _some(ys[k].array)] for k in layers}
        found[name] = entry
    (HERE / 'v7_vision.json').write_text(json.dumps(found, separators=(',', ':')) + '\n')


def _some(y):
    return [*y.ravel()[:4], np.abs(y.astype('float64')).sum()]


if __name__ == '__main__':
    main()
