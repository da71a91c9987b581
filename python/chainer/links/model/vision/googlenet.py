"""`GoogLeNet`: blocks of convolutions of several sizes."""

from __future__ import annotations

import collections.abc as c
import os
import typing as tp

import numpy as np

from chainer import initializers
from chainer._base.docstrings import documented_like
from chainer.functions.activation.relu import relu
from chainer.functions.activation.softmax import softmax
from chainer.functions.noise.dropout import dropout
from chainer.functions.normalization.local_response_normalization import (
    local_response_normalization,
)
from chainer.functions.pooling.average_pooling_2d import average_pooling_2d
from chainer.functions.pooling.max_pooling_nd import max_pooling_2d
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.links.connection.inception import Inception
from chainer.links.connection.linear import Linear
from chainer.links.model.vision import _model
from chainer.serializers.npz import save_npz
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import ImageLike, VariableLike
    from chainer.initializer import Initializer

# in_channels, out1, proj3, out3, proj5, out5, proj_pool
_BLOCKS: tp.Final = {
    '3a': (192, 64, 96, 128, 16, 32, 32),
    '3b': (256, 128, 128, 192, 32, 96, 64),
    '4a': (480, 192, 96, 208, 16, 48, 64),
    '4b': (512, 160, 112, 224, 24, 64, 64),
    '4c': (512, 128, 128, 256, 24, 64, 64),
    '4d': (512, 112, 144, 288, 32, 64, 64),
    '4e': (528, 256, 160, 320, 32, 128, 128),
    '5a': (832, 256, 160, 320, 32, 128, 128),
    '5b': (832, 384, 192, 384, 48, 128, 128),
}
# The layers of Caffe's model.
_CAFFE: tp.Final = {
    'conv1': 'conv1/7x7_s2',
    'conv2_reduce': 'conv2/3x3_reduce',
    'conv2': 'conv2/3x3',
    'loss3_fc': 'loss3/classifier',
    **{
        f'loss{i}_{ours}': f'loss{i}/{theirs}'
        for i in (1, 2)
        for ours, theirs in (('conv', 'conv'), ('fc1', 'fc'), ('fc2', 'classifier'))
    },
}
_CAFFE_BLOCK: tp.Final = {
    'conv1': '1x1',
    'proj3': '3x3_reduce',
    'conv3': '3x3',
    'proj5': '5x5_reduce',
    'conv5': '5x5',
    'projp': 'pool_proj',
}


class GoogLeNet(_model.VisionModel):
    """The winner of ILSVRC 2014.

    Args:
        pretrained_model: Path of the weights, of ``save_npz`` or Caffe's. 'auto': those in
            ``$CHAINER_DATASET_ROOT/pfnet/chainer/models``. None: random ones.

    Source: Szegedy et al., Going Deeper with Convolutions, CVPR 2015.
    """

    _weights = _model.Weights(
        'bvlc_googlenet', 'https://github.com/BVLC/caffe/tree/master/models/bvlc_googlenet'
    )
    _sources: tp.ClassVar[dict[str, str]] = {
        'loss1_fc2': 'inception_4a',
        'loss2_fc2': 'inception_4d',
    }

    def __init__(self, pretrained_model: str | None = 'auto') -> None:
        super().__init__()
        path = self._find_weights(pretrained_model) if pretrained_model else None
        weight: Initializer = initializers.Zero() if path else initializers.LeCunUniform(1.0)
        w: tp.Any = {'initialW': weight, 'initial_bias': 0}
        inner = weight if path else None  # as in v7, that of Inception itself
        with self.init_scope():
            self.conv1 = Convolution2D(3, 64, 7, 2, 3, **w)
            self.conv2_reduce = Convolution2D(64, 64, 1, **w)
            self.conv2 = Convolution2D(64, 192, 3, 1, 1, **w)
            for name, sizes in _BLOCKS.items():
                setattr(self, f'inc{name}', Inception(*sizes, conv_init=inner))
            self.loss3_fc = Linear(1024, 1000, **w)
            for i, ins in ((1, 512), (2, 528)):
                setattr(self, f'loss{i}_conv', Convolution2D(ins, 128, 1, **w))
                setattr(self, f'loss{i}_fc1', Linear(2048, 1024, **w))
                setattr(self, f'loss{i}_fc2', Linear(1024, 1000, **w))
        if path:
            self._load(path)

    @property
    def functions(self) -> dict[str, list[c.Callable[..., Variable]]]:
        """Return the layers by name, in order; each is a list of callables that are applied in
        turn."""
        found: dict[str, list[c.Callable[..., Variable]]] = {
            'conv1': [self.conv1, relu],
            'pool1': [_max_pooling_2d, _local_response_normalization],
            'conv2_reduce': [self.conv2_reduce, relu],
            'conv2': [self.conv2, relu, _local_response_normalization],
            'pool2': [_max_pooling_2d],
        }
        for name in _BLOCKS:
            found[f'inception_{name}'] = [self[f'inc{name}']]
            if name in ('3b', '4e'):
                found[f'pool{name[0]}'] = [_max_pooling_2d]
        found['pool5'] = [_average_pooling_2d_k7]
        found['loss3_fc'] = [_dropout, self.loss3_fc]
        found['prob'] = [softmax]
        for loss in ('loss1', 'loss2'):
            found[f'{loss}_fc2'] = [
                _average_pooling_2d_k5,
                self[f'{loss}_conv'],
                relu,
                self[f'{loss}_fc1'],
                relu,
                self[f'{loss}_fc2'],
            ]
        return found

    @staticmethod
    def _prepare(image: ImageLike, size: tuple[int, int] | None) -> np.ndarray:
        return prepare(image, size)

    def _load_caffemodel(self, path: str) -> None:
        from chainer.links.caffe.caffe_function import CaffeFunction

        source = CaffeFunction(path)
        for name, theirs in _CAFFE.items():
            _model.copy_convolution(source[theirs], self[name])
        for block in _BLOCKS:
            for name, theirs in _CAFFE_BLOCK.items():
                layer = source[f'inception_{block}/{theirs}']
                _model.copy_convolution(layer, self[f'inc{block}'][name])

    @classmethod
    def convert_caffemodel_to_npz(cls, path_caffemodel: str, path_npz: str) -> None:
        """Writes Caffe's weights as an npz.

        Args:
            path_caffemodel (str): The file to read.
            path_npz (str): The file to write.
        """
        model = cls(None)
        model._load_caffemodel(os.fspath(path_caffemodel))
        save_npz(path_npz, model, compression=False)


def _max_pooling_2d(x: VariableLike) -> Variable:
    return tp.cast(Variable, max_pooling_2d(x, ksize=3, stride=2))


def _local_response_normalization(x: VariableLike) -> Variable:
    return local_response_normalization(x, n=5, k=1, alpha=1e-4 / 5)


def _average_pooling_2d_k5(x: VariableLike) -> Variable:
    return average_pooling_2d(x, ksize=5, stride=3)


def _average_pooling_2d_k7(x: VariableLike) -> Variable:
    return average_pooling_2d(x, ksize=7, stride=1)


def _dropout(x: VariableLike) -> Variable:
    return dropout(x, ratio=0.4)


@documented_like(_model.prepare_image)
def prepare(image: ImageLike, size: tuple[int, int] | None = (224, 224)) -> np.ndarray:
    """An image as this model takes it. Needs Pillow."""
    return _model.prepare_image(image, size, (104.0, 117.0, 123.0))
