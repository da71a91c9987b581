"""Images in files and in archives, read when they are asked for."""

from __future__ import annotations

import functools
import io
import os
import typing as tp
import zipfile

import numpy as np

import chainer
from chainer.dataset import DatasetMixin
from chainer.datasets._indices import from_start
from chainer.datasets._opened import Opened
from chainer.datasets.concatenated_dataset import ConcatenatedDataset

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike


def read_image(file: tp.Any, dtype: DTypeLike, name: str) -> np.ndarray:
    """Reads an image by the package Pillow.

    Args:
        file: A path, or an open file.
        dtype (dtype): Of the result.
        name (str): Its name in error messages.

    Returns:
        ndarray: Of shape (channels, height, width), the values as they are in the file.

    Raises:
        ImportError: If Pillow is missing.
        ValueError: If it is no image.
    """
    try:
        return _postprocess_image(_read_image_as_array(file, dtype))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ValueError(f'{name} is no image that can be read: {error}') from error


# Libraries import the next three, which have these names in v7.


def _check_pillow_availability() -> None:
    try:
        import PIL  # noqa: F401
    except ImportError:
        raise ImportError(
            'images are read by the package Pillow, which is missing: pip install pillow'
        ) from None


def _read_image_as_array(path: tp.Any, dtype: DTypeLike) -> np.ndarray:
    """The pixels, of shape (height, width, channels), or (height, width) where they are grey."""
    _check_pillow_availability()
    from PIL import Image

    with Image.open(path) as image:
        return np.asarray(image, dtype=dtype)


def _postprocess_image(image: np.ndarray) -> np.ndarray:
    """The same with the axis of channels first."""
    return image[None] if image.ndim == 2 else image.transpose(2, 0, 1)


def _lines(path: str) -> list[str]:
    with open(path, encoding='utf-8') as file:
        return [line for line in (line.strip() for line in file) if line]


def _pairs(owner: str, pairs: str | tp.Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Pairs of a path and a label, from a file with one on each line, or as they are given."""
    if not isinstance(pairs, str | os.PathLike):
        return list(pairs)
    result = []
    for number, line in enumerate(_lines(os.fspath(pairs)), 1):
        path, _, label = line.rpartition(' ')
        try:
            result.append((path.rstrip(), int(label)))
            ok = bool(path)
        except ValueError:
            ok = False
        if not ok:
            raise ValueError(
                f'{owner}: line {number} of {os.fspath(pairs)!r} is no path and label: {line!r}'
            )
    return result


class ImageDataset(DatasetMixin):
    """Images in files.

    An example is an array of shape (channels, height, width), whose values are as in the file (0 to
    255, mostly). The package Pillow reads them.

    Args:
        paths (str or list of str): A file with a path on each line, or the paths.
        root (str): The folder in which they are.
        dtype (dtype): Of the arrays; None for ``chainer.config.dtype``.
    """

    def __init__(
        self, paths: str | tp.Sequence[str], root: str = '.', dtype: DTypeLike | None = None
    ) -> None:
        self._paths = (
            _lines(os.fspath(paths)) if isinstance(paths, str | os.PathLike) else list(paths)
        )
        self._root = root
        self._dtype = chainer.get_dtype(dtype)

    def __len__(self) -> int:
        """The number of images."""
        return len(self._paths)

    def get_example(self, i: int) -> np.ndarray:
        """Reads an image.

        Args:
            i (int): Its index.
        """
        path = os.path.join(self._root, self._paths[i])
        return read_image(path, self._dtype, repr(path))


class LabeledImageDataset(DatasetMixin):
    """Images in files, with a label each.

    An example is a pair of an array of shape (channels, height, width) and a number.

    Args:
        pairs (str or list of tuples): A file with a path and a label on each line, a space between,
            or pairs of them.
        root (str): The folder in which they are.
        dtype (dtype): Of the images; None for ``chainer.config.dtype``.
        label_dtype (dtype): Of the labels.

    Raises:
        ValueError: If a line is no path and label.
    """

    def __init__(
        self,
        pairs: str | tp.Sequence[tuple[str, int]],
        root: str = '.',
        dtype: DTypeLike | None = None,
        label_dtype: DTypeLike = np.int32,
    ) -> None:
        self._pairs = _pairs('LabeledImageDataset', pairs)
        self._root = root
        self._dtype = chainer.get_dtype(dtype)
        self._label_dtype = label_dtype

    def __len__(self) -> int:
        """The number of images."""
        return len(self._pairs)

    def get_example(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Reads an image, with its label.

        Args:
            i (int): Its index.
        """
        path, label = self._pairs[i]
        path = os.path.join(self._root, path)
        return read_image(path, self._dtype, repr(path)), np.array(label, self._label_dtype)


class _Archive:
    """An archive of images."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._zip = Opened(functools.partial(zipfile.ZipFile, path))

    def names(self) -> list[str]:
        with self._zip.use() as archive:
            return [info.filename for info in archive.infolist() if not info.is_dir()]

    def read(self, name: str, dtype: DTypeLike) -> np.ndarray:
        with self._zip.use() as archive:
            data = archive.read(name)
        return read_image(io.BytesIO(data), dtype, f'{name!r} in {self._path!r}')


class ZippedImageDataset(DatasetMixin):
    """The images in a zip archive.

    Args:
        zipfilename (str): The archive.
        dtype (dtype): Of the arrays; None for ``chainer.config.dtype``.
    """

    def __init__(self, zipfilename: str, dtype: DTypeLike | None = None) -> None:
        self._archive = _Archive(zipfilename)
        self._names = self._archive.names()
        self._dtype = chainer.get_dtype(dtype)

    def __len__(self) -> int:
        """The number of images."""
        return len(self._names)

    def get_example(self, i: int) -> np.ndarray:
        """Reads an image.

        Args:
            i (int): Its index; negative ones count from the end.

        Raises:
            IndexError: If it is outside.
        """
        return self._archive.read(self._names[from_start(self, i)], self._dtype)


class MultiZippedImageDataset(ConcatenatedDataset):
    """The images in several zip archives.

    Args:
        zipfilenames (list of str): The archives.
        dtype (dtype): Of the arrays; None for ``chainer.config.dtype``.
    """

    def __init__(self, zipfilenames: tp.Sequence[str], dtype: DTypeLike | None = None) -> None:
        super().__init__(*(ZippedImageDataset(path, dtype) for path in zipfilenames))


class LabeledZippedImageDataset(DatasetMixin):
    """Images in a zip archive, with a label each.

    Args:
        zipfilename (str): The archive.
        labelfilename (str): A file with a name of the archive and a label on each line, a space
            between.
        dtype (dtype): Of the images; None for ``chainer.config.dtype``.
        label_dtype (dtype): Of the labels.

    Raises:
        ValueError: If a line is no name and label.
    """

    def __init__(
        self,
        zipfilename: str,
        labelfilename: str,
        dtype: DTypeLike | None = None,
        label_dtype: DTypeLike = np.int32,
    ) -> None:
        self._archive = _Archive(zipfilename)
        self._pairs = _pairs('LabeledZippedImageDataset', labelfilename)
        self._dtype = chainer.get_dtype(dtype)
        self._label_dtype = label_dtype

    def __len__(self) -> int:
        """The number of images."""
        return len(self._pairs)

    def get_example(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Reads an image, with its label.

        Args:
            i (int): Its index.
        """
        name, label = self._pairs[i]
        return self._archive.read(name, self._dtype), np.array(label, self._label_dtype)
