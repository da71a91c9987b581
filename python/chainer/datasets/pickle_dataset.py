"""Examples in a file of pickles, one after the other."""

from __future__ import annotations

import functools
import io
import os
import pickle
import typing as tp

from chainer.dataset import DatasetMixin
from chainer.datasets._indices import from_start
from chainer.datasets._opened import Opened

if tp.TYPE_CHECKING:
    from chainer._typing import Example


class PickleDatasetWriter:
    """Writes examples to a file, each as a pickle.

    Args:
        writer: A file, open for writing bytes; closed with the writer.
        protocol (int): Of the pickles.
    """

    def __init__(self, writer: tp.IO[bytes], protocol: int = pickle.HIGHEST_PROTOCOL) -> None:
        self._writer = writer
        self._protocol = protocol

    def close(self) -> None:
        """Closes the file."""
        self._writer.close()

    def flush(self) -> None:
        """Flushes written examples to the system."""
        self._writer.flush()

    def write(self, x: Example) -> None:
        """Writes an example.

        Args:
            x: Anything that can be pickled.
        """
        pickle.dump(x, self._writer, protocol=self._protocol)

    def __enter__(self) -> tp.Self:
        return self

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        self.close()


class PickleDataset(DatasetMixin):
    """The examples that `PickleDatasetWriter` wrote, read when they are asked for.

    **A pickle is a program: reading one runs it.** Open only files that you or people whom you
    trust have written.

    Args:
        reader: A file, open for reading bytes, that can seek; closed with the dataset. The dataset
            can be pickled where that has a path, or can be pickled itself, as `io.BytesIO`.
    """

    def __init__(self, reader: tp.Any) -> None:
        self._file = Opened(_opener_of(reader), reader)
        self._begins = []
        reader.seek(0, os.SEEK_END)
        end = reader.tell()
        reader.seek(0)
        while (begin := reader.tell()) < end:
            self._begins.append(begin)
            pickle.load(reader)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __len__(self) -> int:
        """The number of examples."""
        return len(self._begins)

    def get_example(self, i: int) -> Example:
        """Reads an example.

        Args:
            i (int): Its index; negative ones count from the end.

        Raises:
            IndexError: If it is outside.
        """
        begin = self._begins[from_start(self, i)]
        with self._file.use() as reader:
            reader.seek(begin)
            return pickle.load(reader)

    def __enter__(self) -> tp.Self:
        return self

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        self.close()


def _opener_of(reader: object) -> tp.Callable[[], tp.Any] | None:
    name = getattr(reader, 'name', None)
    # Others, as of compressed files, may have the name of one whose bytes are not theirs.
    is_file = isinstance(getattr(reader, 'raw', reader), io.FileIO)
    return functools.partial(open, name, 'rb') if is_file and isinstance(name, str) else None


def open_pickle_dataset(path: str) -> PickleDataset:
    """Opens a file of pickles.

    **A pickle is a program: reading one runs it.** Open only files that you or people whom you
    trust have written.

    Args:
        path (str): Of the file.

    Returns:
        PickleDataset: To be closed, or used in a ``with`` block.
    """
    reader = open(path, 'rb')  # noqa: SIM115  # the dataset closes it
    try:
        return PickleDataset(reader)
    except BaseException:
        reader.close()
        raise


def open_pickle_dataset_writer(
    path: str, protocol: int = pickle.HIGHEST_PROTOCOL
) -> PickleDatasetWriter:
    """Opens a file to write examples to.

    Args:
        path (str): The path of the file; an existing one is overwritten.
        protocol (int): Of the pickles.

    Returns:
        PickleDatasetWriter: To be closed, or used in a ``with`` block.
    """
    return PickleDatasetWriter(open(path, 'wb'), protocol)
