"""Round trips through files."""

from __future__ import annotations

import importlib
import os
import tempfile
import typing as tp

if tp.TYPE_CHECKING:
    from chainer._typing import Serializable


def save_and_load(
    src: Serializable,
    dst: Serializable,
    filename: str,
    saver: tp.Callable[[str, tp.Any], tp.Any],
    loader: tp.Callable[[str, tp.Any], tp.Any],
) -> None:
    """Saves one object to a file in a temporary folder and loads another from it.

    Args:
        src, dst (serializable): Links, optimizers, ...
        filename (str): Name in the folder.
        saver, loader (callables): Called with the path and the object.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, filename)
        saver(path, src)
        loader(path, dst)


def save_and_load_npz(src: Serializable, dst: Serializable) -> None:
    """Saves one object in NumPy's format, in a temporary folder, and loads another.

    Args:
        src: A link, optimizer, ..., to save.
        dst: The object to load into.
    """
    npz = importlib.import_module('chainer.serializers.npz')
    save_and_load(src, dst, 'tmp.npz', npz.save_npz, npz.load_npz)


def save_and_load_hdf5(src: Serializable, dst: Serializable) -> None:
    """Saves one object in HDF5, in a temporary folder, and loads another; needs h5py.

    Args:
        src: A link, optimizer, ..., to save.
        dst: The object to load into.
    """
    hdf5 = importlib.import_module('chainer.serializers.hdf5')
    save_and_load(src, dst, 'tmp.h5', hdf5.save_hdf5, hdf5.load_hdf5)
