"""Base class of the vision models: it loads weights and applies the layers to images."""

from __future__ import annotations

import collections.abc as c
import os
import typing as tp

import numpy as np

from chainer import backend, configuration, function
from chainer._base import environment
from chainer.functions.array.reshape import reshape
from chainer.functions.math.sum import sum as sum_
from chainer.link import Chain
from chainer.serializers.npz import load_npz
from chainer.utils import argument, imgproc
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import ImageLike, VariableLike

_REMOVED: tp.Final = {
    'test': 'test argument is not supported anymore. Use chainer.using_config',
    'volatile': 'volatile argument is not supported anymore. Use chainer.using_config',
}


class Weights(tp.NamedTuple):
    """Where the published weights of a model are.

    Attributes:
        name: Of the file, without its suffix.
        source: Where to get them.
    """

    name: str
    source: str


def models_folder() -> str:
    """Where weights are looked for: as in v7, below ``$CHAINER_DATASET_ROOT``."""
    root = os.environ.get('CHAINER_DATASET_ROOT')
    root = root or os.path.join(os.path.expanduser('~'), '.chainer', 'dataset')
    return os.path.join(root, 'pfnet', 'chainer', 'models')


class VisionModel(Chain):
    """Base of the models: a chain of named layers."""

    _weights: Weights
    # The input of a layer, where it is not the output of the layer before.
    _sources: tp.ClassVar[dict[str, str]] = {}

    @property
    def functions(self) -> dict[str, list[c.Callable[..., Variable]]]:
        """Return the layers by name, in order; each is a list of callables that are applied in
        turn."""
        raise NotImplementedError

    @property
    def available_layers(self) -> list[str]:
        """The names of the layers."""
        return list(self.functions)

    @staticmethod
    def _prepare(image: ImageLike, size: tuple[int, int] | None) -> np.ndarray:
        raise NotImplementedError

    def _load_caffemodel(self, path: str) -> None:
        raise NotImplementedError

    def _find_weights(self, pretrained_model: str) -> str:
        """The path of the weights; looked for first, so that nothing is made in vain."""
        if pretrained_model != 'auto':
            if not os.path.exists(pretrained_model):
                raise FileNotFoundError(
                    f'{type(self).__name__}: pretrained_model is {pretrained_model!r}, which is no '
                    'file'
                )
            return pretrained_model
        name, source = self._weights
        base = os.path.join(models_folder(), name)
        for path in (f'{base}.npz', f'{base}.caffemodel'):
            if os.path.exists(path):
                return path
        raise FileNotFoundError(
            f'{type(self).__name__}: there are no weights. Put {name}.npz, as Chainer v7 wrote it, '
            f'at {base}.npz, or {name}.caffemodel from {source} at {base}.caffemodel; or give '
            'pretrained_model the path of such a file, or None for random weights'
        )

    def _load(self, path: str) -> None:
        if os.fspath(path).endswith('.caffemodel'):
            self._load_caffemodel(path)
        else:
            load_npz(path, self)

    def forward(
        self, x: VariableLike, layers: c.Sequence[str] | None = None, **kwargs: object
    ) -> dict[str, Variable]:
        """Return the outputs of layers.

        Args:
            x (Variable or array): Images as ``prepare`` makes them, (N, 3, H, W).
            layers (list of str): Which, of `available_layers`; ``['prob']`` by default.

        Returns:
            dict of str to Variable: By layer.

        Raises:
            ValueError: If there is no such layer.
        """
        argument.check_unexpected_kwargs(kwargs, test=_REMOVED['test'])
        argument.assert_kwargs_empty(kwargs)
        functions = self.functions
        wanted = ['prob'] if layers is None else list(layers)
        for name in wanted:
            if name not in functions:
                raise ValueError(
                    f'{type(self).__name__}: layers has {name!r}, expected some of '
                    f'{", ".join(functions)}'
                )
        missing = set(wanted)
        # Kept for the layers beside the chain.
        kept = {source for name, source in self._sources.items() if name in missing}
        found: dict[str, Variable] = {}
        beside: dict[str, Variable] = {}
        h: tp.Any = x
        for name, steps in functions.items():
            if not missing:
                break
            if name in self._sources:
                if name not in missing:
                    continue
                h = beside[self._sources[name]]
            for step in steps:
                h = step(h)
            if name in missing:
                found[name] = h
                missing.remove(name)
            if name in kept:
                beside[name] = h
        return found

    def extract(
        self,
        images: c.Iterable[ImageLike],
        layers: c.Sequence[str] | None = None,
        size: tuple[int, int] | None = (224, 224),
        **kwargs: object,
    ) -> dict[str, Variable]:
        """Return the outputs of layers for images.

        Unlike `predict`, it changes no configuration: set ``chainer.config.train`` and
        ``enable_backprop`` to False where nothing is trained.

        Args:
            images (iterable of PIL.Image or numpy.ndarray): As ``prepare`` takes them.
            layers (list of str): Which, of `available_layers`; ``['prob']`` by default.
            size (pair of ints): To which images are resized; None if they have one size already.

        Returns:
            dict of str to Variable: By layer.

        Raises:
            ValueError: If there is no such layer, or no image.
        """
        argument.check_unexpected_kwargs(kwargs, **_REMOVED)
        argument.assert_kwargs_empty(kwargs)
        x = self._prepare_all(images, size)
        return self(self.device.send(x), layers=layers)

    def _prepare_all(
        self, images: c.Iterable[ImageLike], size: tuple[int, int] | None
    ) -> np.ndarray:
        prepared = [self._prepare(image, size) for image in images]
        if not prepared:
            raise ValueError(f'{type(self).__name__}: images has length 0, expected at least 1')
        return np.stack(prepared)

    def predict(self, images: c.Iterable[ImageLike], oversample: bool = True) -> Variable:
        """The probabilities of the classes, without a graph, and as in use.

        Args:
            images (iterable of PIL.Image or numpy.ndarray): As ``prepare`` takes them.
            oversample (bool): Whether they are means over ten crops of each image, instead of the
                middle alone.

        Returns:
            Variable: (N, classes).
        """
        x = self._prepare_all(images, (256, 256))
        x = imgproc.oversample(list(x), (224, 224)) if oversample else x[:, :, 16:240, 16:240]
        with function.no_backprop_mode(), configuration.using_config('train', False):
            y = self(self.device.send(np.ascontiguousarray(x)))['prob']
            if not oversample:
                return y
            return sum_(reshape(y, (len(y) // 10, 10, *y.shape[1:])), axis=1) / 10


def prepare_image(
    image: ImageLike, size: tuple[int, int] | None, mean: tuple[float, float, float]
) -> np.ndarray:
    """An image as the models take it.

    Args:
        image (PIL.Image or numpy.ndarray): An array is (H, W), (H, W, 3) or (3, H, W), 0 to 255,
            red first.
        size (pair of ints): Width and height to which it is resized; None to leave it.
        mean (triple of float): Of blue, green and red, which is taken off.

    Returns:
        numpy.ndarray: Of `chainer.config.dtype`, (3, H, W), blue first, less the mean of the images
        that the model was made for.

    Raises:
        ImportError: If there is no Pillow.
        TypeError: If ``image`` is no image.
    """
    try:
        from PIL import Image as _image  # nothing else needs it, and it takes its time
    except ImportError as error:
        raise ImportError(
            'PIL cannot be loaded. Install Pillow!\nThe actual import error is as follows:\n'
            f'{error}'
        ) from error
    if isinstance(image, np.ndarray):
        array = image
        if array.ndim == 3:
            if array.shape[0] == 1:
                array = array[0]
            elif array.shape[0] == 3:
                array = array.transpose(1, 2, 0)
        if array.ndim != 2 and (array.ndim != 3 or array.shape[2] not in (2, 3, 4)):
            raise ValueError(
                f'prepare: image has shape {array.shape}, expected (H, W), (H, W, channels), '
                '(1, H, W) or (3, H, W)'
            )
        image = _image.fromarray(array.astype(np.uint8))
    if not isinstance(image, _image.Image):
        raise TypeError(
            f'prepare: image is a {type(image).__name__}, expected a PIL.Image or a numpy.ndarray'
        )
    image = image.convert('RGB')
    if size:
        image = image.resize(size)
    dtype = environment.get_dtype()
    pixels = np.asarray(image, dtype)[:, :, ::-1] - np.array(mean, dtype)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1))


def copy_convolution(source: object, target: object) -> None:
    """The weights of a convolution or of a fully connected layer."""
    for name in ('W', 'b'):
        copy_array(getattr(source, name, None), getattr(target, name, None), name)


def copy_array(source: tp.Any, target: tp.Any, name: str) -> None:
    """Return the elements of a parameter that the target has; others are left out."""
    if target is None:
        return
    if source is None or source.size != target.size:
        raise ValueError(
            f'caffemodel: {name} has '
            f'{"no elements" if source is None else f"shape {source.shape}"}, the model has '
            f'{target.shape}'
        )
    value = getattr(source, 'array', source)
    target.array[...] = target.device.send(backend.CpuDevice().send(value).reshape(target.shape))
