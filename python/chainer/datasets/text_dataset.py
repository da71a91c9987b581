"""Lines of text files."""

from __future__ import annotations

import contextlib
import functools
import os
import typing as tp

from chainer.dataset import DatasetMixin
from chainer.datasets._indices import from_start
from chainer.datasets._opened import Opened

if tp.TYPE_CHECKING:
    from chainer._typing import Example


class TextDataset(DatasetMixin):
    """Lines of a text file, or of several side by side; read when they are asked for.

    Only where lines begin is kept in memory. Lines keep their ends.

    Args:
        paths (str or list of str): One file, whose lines are the examples, in a list or not; or
            several, whose examples are tuples of a line of each.
        encoding (str): Of the files, as for `open`; a list has one for each.
        errors (str): The handling of decoding errors, as for `open`, or a list.
        newline (str): Where lines end, as for `open`, or a list.
        filter_func (callable): Takes an example's lines, one argument each, and tells whether it
            belongs to the dataset.

    Raises:
        ValueError: If there is no file, or they do not have the same number of lines.
    """

    def __init__(
        self,
        paths: str | tp.Sequence[str],
        encoding: str | tp.Sequence[str | None] | None = None,
        errors: str | tp.Sequence[str | None] | None = None,
        newline: str | tp.Sequence[str | None] | None = None,
        filter_func: tp.Callable[..., bool] | None = None,
    ) -> None:
        paths = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        self._is_single = len(paths) == 1
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
        how = [
            {'file': path, **{name: values[i] for name, values in options.items()}}
            for i, path in enumerate(paths)
        ]
        self._files = Opened(functools.partial(_OpenFiles, how))
        try:
            with self._files.use() as opened:
                self._begins = _scan(opened.files, paths, filter_func)
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        """The number of examples."""
        return len(self._begins)

    def close(self) -> None:
        """Closes the files."""
        self._files.close()

    def get_example(self, i: int) -> Example:
        """A line, or a tuple of one of each file.

        Args:
            i (int): Its index; negative ones count from the end.

        Raises:
            IndexError: If it is outside.
        """
        begins = self._begins[from_start(self, i)]
        lines = []
        with self._files.use() as opened:
            for file, begin in zip(opened.files, begins, strict=True):
                file.seek(begin)
                lines.append(file.readline())
        return lines[0] if self._is_single else tuple(lines)


class _OpenFiles:
    """Several files at once: all of them, or none."""

    def __init__(self, how: list[dict[str, tp.Any]]) -> None:
        with contextlib.ExitStack() as stack:
            self.files = [stack.enter_context(open(**arguments)) for arguments in how]
            self._stack = stack.pop_all()

    def close(self) -> None:
        self._stack.close()


def _scan(
    files: list[tp.Any], paths: list[tp.Any], filter_func: tp.Callable[..., bool] | None
) -> list[tuple[int, ...]]:
    """Where lines begin."""
    begins: list[tuple[int, ...]] = []
    while True:
        begin = tuple(file.tell() for file in files)
        lines = tuple(file.readline() for file in files)
        if not any(lines):
            return begins
        if not all(lines):
            short = paths[lines.index('')]
            raise ValueError(
                f'TextDataset: the numbers of lines differ: {os.fspath(short)!r} has '
                f'{len(begins)}'
                + (' lines that pass filter_func' if filter_func is not None else '')
                + ', another file has more'
            )
        if filter_func is None or filter_func(*lines):
            begins.append(begin)
