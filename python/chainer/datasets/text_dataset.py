"""Lines of text files."""

from __future__ import annotations

import os
import threading
import typing as tp

from chainer.dataset import DatasetMixin


class TextDataset(DatasetMixin):
    """Lines of a text file, or of several side by side; read when they are asked for.

    Only where lines begin is kept in memory. Lines keep their ends.

    Args:
        paths (str or list of str): One file, whose lines are the examples, or several, whose
            examples are tuples of a line of each.
        encoding (str): Of the files, as for `open`; a list has one for each.
        errors (str): What to do with what can't be decoded, as for `open`, or a list.
        newline (str): Where lines end, as for `open`, or a list.
        filter_func (callable): Takes an example's lines, one argument each, and tells whether it
            belongs to the dataset.

    Raises:
        ValueError: If there is no file, or they do not have the same number of lines.
    """

    def __init__(
        self,
        paths: tp.Any,
        encoding: tp.Any = None,
        errors: tp.Any = None,
        newline: tp.Any = None,
        filter_func: tp.Callable[..., bool] | None = None,
    ) -> None:
        self._is_single = isinstance(paths, str | os.PathLike)
        paths = [paths] if self._is_single else list(paths)
        if not paths:
            raise ValueError('TextDataset: at least one text file must be specified')
        options = {}
        for name, value in (('encoding', encoding), ('errors', errors), ('newline', newline)):
            if value is None or isinstance(value, str):
                value = [value] * len(paths)
            if len(value) != len(paths):
                raise ValueError(
                    f'TextDataset: {name} has {len(value)} items for {len(paths)} files'
                )
            options[name] = list(value)
        self._how = [
            {'file': path, **{name: values[i] for name, values in options.items()}}
            for i, path in enumerate(paths)
        ]
        self._open()
        try:
            self._begins = self._scan(filter_func)
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        self._files: list[tp.Any] = []
        try:
            for how in self._how:
                self._files.append(open(**how))  # noqa: SIM115
        except BaseException:
            self.close()
            raise
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def _scan(self, filter_func: tp.Callable[..., bool] | None) -> list[tuple[int, ...]]:
        begins: list[tuple[int, ...]] = []
        while True:
            begin = tuple(file.tell() for file in self._files)
            lines = tuple(file.readline() for file in self._files)
            if not any(lines):
                return begins
            if not all(lines):
                short = self._how[lines.index('')]['file']
                raise ValueError(
                    f'TextDataset: the numbers of lines differ: {os.fspath(short)!r} has '
                    f'{len(begins)}'
                    + (' lines that pass filter_func' if filter_func is not None else '')
                    + ', another file has more'
                )
            if filter_func is None or filter_func(*lines):
                begins.append(begin)

    def __getstate__(self) -> dict[str, tp.Any]:
        """Without the open files, so that other processes can have the dataset, too."""
        return {k: v for k, v in self.__dict__.items() if k not in ('_files', '_lock', '_pid')}

    def __setstate__(self, state: dict[str, tp.Any]) -> None:
        """Opens the files anew."""
        self.__dict__.update(state)
        self._open()

    def __len__(self) -> int:
        """The number of examples."""
        return len(self._begins)

    def close(self) -> None:
        """Closes the files."""
        for file in self._files:
            file.close()

    def get_example(self, i: int) -> tp.Any:
        """A line, or a tuple of one of each file.

        Args:
            i (int): Its index; negative ones count from the end.

        Raises:
            IndexError: If it is outside.
        """
        n = len(self._begins)
        if not -n <= i < n:
            raise IndexError(f'TextDataset: index {i} is out of range for {n} examples')
        if self._pid != os.getpid():
            self._open()  # a forked process would move its parent's place in the file
        with self._lock:
            lines = []
            for file, begin in zip(self._files, self._begins[i], strict=True):
                file.seek(begin)
                lines.append(file.readline())
        return lines[0] if self._is_single else tuple(lines)
