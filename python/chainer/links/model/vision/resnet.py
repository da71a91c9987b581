"""`ResNet50Layers` and its kin: blocks beside which their input passes."""

from __future__ import annotations

import collections.abc as c
import os
import typing as tp

import numpy as np

from chainer import initializers
from chainer._base.docstrings import documented_like
from chainer.functions.activation.relu import relu
from chainer.functions.activation.softmax import softmax
from chainer.functions.array.reshape import reshape
from chainer.functions.pooling.average_pooling_2d import average_pooling_2d
from chainer.functions.pooling.max_pooling_nd import max_pooling_2d
from chainer.link import Chain
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.links.connection.linear import Linear
from chainer.links.model.vision import _model
from chainer.links.normalization.batch_normalization import BatchNormalization
from chainer.serializers.npz import save_npz
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._link.chain import Chain
    from chainer._typing import ImageLike, InitializerSpec, VariableLike

_SOURCE: tp.Final = 'https://github.com/KaimingHe/deep-residual-networks'
# Bottlenecks in each block.
_DEPTHS: tp.Final = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


class ResNetLayers(_model.VisionModel):
    """Base of the models of 50, 101 and 152 layers.

    Args:
        pretrained_model: Path of the weights, of ``save_npz`` or Caffe's. 'auto': those in
            ``$CHAINER_DATASET_ROOT/pfnet/chainer/models``. None: random ones.
        n_layers: 50, 101 or 152.
        downsample_fb: Whether images are made smaller by the convolutions of 3 x 3 of a block, as
            Facebook's models do it, instead of those before.

    Source: He et al., CVPR 2016.
    """

    def __init__(
        self, pretrained_model: str | None, n_layers: int, downsample_fb: bool = False
    ) -> None:
        super().__init__()
        if n_layers not in _DEPTHS:
            raise ValueError(f'ResNetLayers: n_layers is {n_layers}, expected 50, 101 or 152')
        self._weights = _model.Weights(f'ResNet-{n_layers}-model', _SOURCE)
        path = self._find_weights(pretrained_model) if pretrained_model else None
        weight = initializers.Zero() if path else initializers.HeNormal(1.0)
        n2, n3, n4, n5 = _DEPTHS[n_layers]
        rest: tp.Any = {'initialW': weight, 'downsample_fb': downsample_fb}
        with self.init_scope():
            self.conv1 = Convolution2D(3, 64, 7, 2, 3, initialW=weight)
            self.bn1 = BatchNormalization(64)
            self.res2 = BuildingBlock(n2, 64, 64, 256, 1, **rest)
            self.res3 = BuildingBlock(n3, 256, 128, 512, 2, **rest)
            self.res4 = BuildingBlock(n4, 512, 256, 1024, 2, **rest)
            self.res5 = BuildingBlock(n5, 1024, 512, 2048, 2, **rest)
            self.fc6 = Linear(2048, 1000, initialW=initializers.Zero() if path else None)
        if path:
            self._load(path)

    @property
    def functions(self) -> dict[str, list[c.Callable[..., Variable]]]:
        """Return the layers by name, in order; each is a list of callables that are applied in
        turn."""
        return {
            'conv1': [self.conv1, self.bn1, relu],
            'pool1': [_max_pooling_2d],
            'res2': [self.res2],
            'res3': [self.res3],
            'res4': [self.res4],
            'res5': [self.res5],
            'pool5': [_global_average_pooling_2d],
            'fc6': [self.fc6],
            'prob': [softmax],
        }

    @staticmethod
    def _prepare(image: ImageLike, size: tuple[int, int] | None) -> np.ndarray:
        return prepare(image, size)

    def _load_caffemodel(self, path: str) -> None:
        from chainer.links.caffe.caffe_function import CaffeFunction

        source = CaffeFunction(path)
        _model.copy_convolution(source['conv1'], self.conv1)
        _copy_normalization(source, 'conv1', self.bn1)
        for block in ('res2', 'res3', 'res4', 'res5'):
            _copy_block(source, block, self[block])
        _model.copy_convolution(source['fc1000'], self.fc6)

    @classmethod
    def convert_caffemodel_to_npz(
        cls, path_caffemodel: str, path_npz: str, n_layers: int = 50
    ) -> None:
        """Writes Caffe's weights as an npz.

        Args:
            path_caffemodel (str): The file to read.
            path_npz (str): The file to write.
            n_layers (int): 50, 101 or 152.
        """
        model = ResNetLayers(None, n_layers)
        model._load_caffemodel(os.fspath(path_caffemodel))
        save_npz(path_npz, model, compression=False)


@documented_like(ResNetLayers)
class ResNet50Layers(ResNetLayers):
    """The model of 50 layers."""

    def __init__(self, pretrained_model: str | None = 'auto', downsample_fb: bool = False) -> None:
        super().__init__(pretrained_model, 50, downsample_fb)


@documented_like(ResNetLayers)
class ResNet101Layers(ResNetLayers):
    """The model of 101 layers."""

    def __init__(self, pretrained_model: str | None = 'auto', downsample_fb: bool = False) -> None:
        super().__init__(pretrained_model, 101, downsample_fb)


@documented_like(ResNetLayers)
class ResNet152Layers(ResNetLayers):
    """The model of 152 layers."""

    def __init__(self, pretrained_model: str | None = 'auto', downsample_fb: bool = False) -> None:
        super().__init__(pretrained_model, 152, downsample_fb)


class BuildingBlock(Chain):
    """Bottlenecks, the first of which changes the number of channels and the size.

    Args:
        n_layers: Number of bottlenecks.
        in_channels: Channels of the input.
        mid_channels: Channels inside of bottlenecks.
        out_channels: Channels of the output.
        stride: By how much images become smaller.
        initialW: Initializer of the weights; `LeCunNormal` by default.
        downsample_fb: See `ResNetLayers`.
    """

    def __init__(
        self,
        n_layers: int,
        in_channels: int | None,
        mid_channels: int,
        out_channels: int,
        stride: int,
        initialW: InitializerSpec | None = None,
        downsample_fb: bool = False,
    ) -> None:
        super().__init__()
        with self.init_scope():
            self.a = BottleneckA(
                in_channels, mid_channels, out_channels, stride, initialW, downsample_fb
            )
            self._forward = ['a']
            for i in range(1, n_layers):
                self._forward.append(f'b{i}')
                setattr(self, f'b{i}', BottleneckB(out_channels, mid_channels, initialW))

    def forward(self, x: VariableLike) -> Variable:
        """Apply the block.

        Args:
            x (Variable or array): (N, in_channels, H, W).

        Returns:
            Variable: (N, out_channels, H / stride, W / stride).
        """
        for name in self._forward:
            x = self[name](x)
        return tp.cast(Variable, x)


class _Bottleneck(Chain):
    """Base of both bottlenecks: three convolutions and a shortcut beside them."""

    def __init__(
        self,
        in_channels: int | None,
        mid_channels: int,
        out_channels: int,
        strides: tuple[int, int],
        initialW: InitializerSpec | None,
    ) -> None:
        super().__init__()
        first, second = strides
        with self.init_scope():
            self.conv1 = _convolution(in_channels, mid_channels, 1, first, initialW)
            self.bn1 = BatchNormalization(mid_channels)
            self.conv2 = _convolution(mid_channels, mid_channels, 3, second, initialW)
            self.bn2 = BatchNormalization(mid_channels)
            self.conv3 = _convolution(mid_channels, out_channels, 1, 1, initialW)
            self.bn3 = BatchNormalization(out_channels)

    def _beside(self, x: VariableLike) -> VariableLike:
        return x

    def forward(self, x: VariableLike) -> Variable:
        """Apply the bottleneck.

        Args:
            x (Variable or array): (N, in_channels, H, W).

        Returns:
            Variable: (N, out_channels, H / stride, W / stride).
        """
        h = relu(self.bn1(self.conv1(x)))
        h = relu(self.bn2(self.conv2(h)))
        h = self.bn3(self.conv3(h))
        return relu(h + self._beside(x))


class BottleneckA(_Bottleneck):
    """A bottleneck beside which a convolution passes.

    Args:
        in_channels: Channels of the input.
        mid_channels: Channels inside.
        out_channels: Channels of the output.
        stride: By how much images become smaller.
        initialW: Initializer of the weights; `LeCunNormal` by default.
        downsample_fb: See `ResNetLayers`.
    """

    def __init__(
        self,
        in_channels: int | None,
        mid_channels: int,
        out_channels: int,
        stride: int = 2,
        initialW: InitializerSpec | None = None,
        downsample_fb: bool = False,
    ) -> None:
        strides = (1, stride) if downsample_fb else (stride, 1)
        super().__init__(in_channels, mid_channels, out_channels, strides, initialW)
        with self.init_scope():
            self.conv4 = _convolution(in_channels, out_channels, 1, stride, initialW)
            self.bn4 = BatchNormalization(out_channels)

    def _beside(self, x: VariableLike) -> Variable:
        return self.bn4(self.conv4(x))


class BottleneckB(_Bottleneck):
    """A bottleneck beside which its input passes.

    Args:
        in_channels: Channels of input and output.
        mid_channels: Channels inside.
        initialW: Initializer of the weights; `LeCunNormal` by default.
    """

    def __init__(
        self, in_channels: int, mid_channels: int, initialW: InitializerSpec | None = None
    ) -> None:
        super().__init__(in_channels, mid_channels, in_channels, (1, 1), initialW)


def _convolution(
    ins: int | None, outs: int, ksize: int, stride: int, weight: InitializerSpec | None
) -> Convolution2D:
    return Convolution2D(ins, outs, ksize, stride, ksize // 2, nobias=True, initialW=weight)


def _copy_block(source: Chain, name: str, block: BuildingBlock) -> None:
    for place in block._forward:
        # 50: res2a, res2b, res2c; the longer blocks of the others: res3a, res3b1, res3b2, ...
        letters = 'a' if place == 'a' else chr(ord('a') + int(place[1:]))
        if not hasattr(source, f'bn{name[3:]}{letters}_branch2a'):
            letters = place
        part = f'{name[3:]}{letters}'
        target = block[place]
        for i, branch in enumerate('abc', 1):
            _model.copy_convolution(source[f'res{part}_branch2{branch}'], target[f'conv{i}'])
            _copy_normalization(source, f'{part}_branch2{branch}', target[f'bn{i}'])
        if place == 'a':
            _model.copy_convolution(source[f'res{part}_branch1'], target.conv4)
            _copy_normalization(source, f'{part}_branch1', target.bn4)


def _copy_normalization(source: Chain, name: str, target: BatchNormalization) -> None:
    bn = f'bn_{name}' if name == 'conv1' else f'bn{name}'
    scale = f'scale_{name}' if name == 'conv1' else f'scale{name}'
    target.avg_mean[...] = source[bn].avg_mean
    target.avg_var[...] = source[bn].avg_var
    _model.copy_array(source[scale].W, target.gamma, scale)
    _model.copy_array(source[scale].bias.b, target.beta, scale)


def _max_pooling_2d(x: VariableLike) -> Variable:
    return tp.cast(Variable, max_pooling_2d(x, ksize=3, stride=2))


def _global_average_pooling_2d(x: VariableLike) -> Variable:
    n, channels, rows, columns = x.shape
    h = average_pooling_2d(x, (rows, columns), stride=1)
    return reshape(h, (n, channels))


@documented_like(_model.prepare_image)
def prepare(image: ImageLike, size: tuple[int, int] | None = (224, 224)) -> np.ndarray:
    """An image as these models take it. Needs Pillow."""
    return _model.prepare_image(image, size, (103.063, 115.903, 123.152))
