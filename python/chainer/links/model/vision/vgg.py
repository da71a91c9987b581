"""`VGG16Layers`, `VGG19Layers`: convolutions of 3 x 3, again and again."""

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
from chainer.functions.pooling.max_pooling_nd import max_pooling_2d
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.links.connection.linear import Linear
from chainer.links.model.vision import _model
from chainer.serializers.npz import save_npz
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import ImageLike, VariableLike
    from chainer.initializer import Initializer

_SOURCE: tp.Final = 'https://www.robots.ox.ac.uk/~vgg/research/very_deep/'
# Convolutions before each pooling.
_DEPTHS: tp.Final = {16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
_CHANNELS: tp.Final = (64, 128, 256, 512, 512)


class VGGLayers(_model.VisionModel):
    """Base of `VGG16Layers` and `VGG19Layers`.

    Args:
        pretrained_model: Path of the weights, of ``save_npz`` or Caffe's. 'auto': those in
            ``$CHAINER_DATASET_ROOT/pfnet/chainer/models``. None: random ones.
        n_layers: 16 or 19.

    Source: Simonyan and Zisserman, ICLR 2015.
    """

    def __init__(self, pretrained_model: str | None = 'auto', n_layers: int = 16) -> None:
        super().__init__()
        if n_layers not in _DEPTHS:
            raise ValueError(f'VGGLayers: n_layers is {n_layers}, expected 16 or 19')
        self._depths = _DEPTHS[n_layers]
        self._weights = _model.Weights(f'VGG_ILSVRC_{n_layers}_layers', _SOURCE)
        path = self._find_weights(pretrained_model) if pretrained_model else None
        weight: Initializer = initializers.Zero() if path else initializers.Normal(0.01)
        ins = 3
        with self.init_scope():
            for i, (depth, outs) in enumerate(zip(self._depths, _CHANNELS, strict=True), 1):
                for k in range(1, depth + 1):
                    layer = Convolution2D(ins, outs, 3, 1, 1, initialW=weight, initial_bias=0)
                    setattr(self, f'conv{i}_{k}', layer)
                    ins = outs
            self.fc6 = Linear(512 * 7 * 7, 4096, initialW=weight, initial_bias=0)
            self.fc7 = Linear(4096, 4096, initialW=weight, initial_bias=0)
            self.fc8 = Linear(4096, 1000, initialW=weight, initial_bias=0)
        if path:
            self._load(path)

    @property
    def functions(self) -> dict[str, list[c.Callable[..., Variable]]]:
        """Return the layers by name, in order; each is a list of callables that are applied in
        turn."""
        found: dict[str, list[c.Callable[..., Variable]]] = {}
        for i, depth in enumerate(self._depths, 1):
            for k in range(1, depth + 1):
                found[f'conv{i}_{k}'] = [self[f'conv{i}_{k}'], relu]
            found[f'pool{i}'] = [_max_pooling_2d]
        found['fc6'] = [self.fc6, relu, dropout]
        found['fc7'] = [self.fc7, relu, dropout]
        found['fc8'] = [self.fc8]
        found['prob'] = [softmax]
        return found

    @staticmethod
    def _prepare(image: ImageLike, size: tuple[int, int] | None) -> np.ndarray:
        return prepare(image, size)

    def _load_caffemodel(self, path: str) -> None:
        from chainer.links.caffe.caffe_function import CaffeFunction

        source = CaffeFunction(path)
        for name in (str(child.name) for child in self.children()):
            _model.copy_convolution(source[name], self[name])

    @classmethod
    def convert_caffemodel_to_npz(cls, path_caffemodel: str, path_npz: str) -> None:
        """Writes Caffe's weights as an npz.

        Args:
            path_caffemodel (str): The file to read.
            path_npz (str): The file to write.
        """
        model = cls(None) if cls is not VGGLayers else cls(None, 16)
        model._load_caffemodel(os.fspath(path_caffemodel))
        save_npz(path_npz, model, compression=False)


@documented_like(VGGLayers)
class VGG16Layers(VGGLayers):
    """The model of 16 layers."""

    def __init__(self, pretrained_model: str | None = 'auto') -> None:
        super().__init__(pretrained_model, 16)


@documented_like(VGGLayers)
class VGG19Layers(VGGLayers):
    """The model of 19 layers."""

    def __init__(self, pretrained_model: str | None = 'auto') -> None:
        super().__init__(pretrained_model, 19)


def _max_pooling_2d(x: VariableLike) -> Variable:
    return tp.cast(Variable, max_pooling_2d(x, ksize=2))


@documented_like(_model.prepare_image)
def prepare(image: ImageLike, size: tuple[int, int] | None = (224, 224)) -> np.ndarray:
    """An image as these models take it. Needs Pillow."""
    return _model.prepare_image(image, size, (103.939, 116.779, 123.68))
