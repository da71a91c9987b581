"""Arrays from files, buffers, functions and iterables: NumPy reads, and the result is wrapped."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainerx import _core

if tp.TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def _wrap(array: np.ndarray, device: tp.Any) -> _core.ndarray:
    """Over the memory of an array that nobody else has, unless bytes may be no proper bools."""
    return _core.array(array, copy=array.dtype == bool, device=device)


def fromfile(
    file: tp.Any,
    dtype: tp.Any = float,
    count: int = -1,
    sep: str = '',
    device: tp.Any = None,
    *,
    offset: int = 0,
) -> _core.ndarray:
    """Reads an array from a file, as :func:`numpy.fromfile`.

    Args:
        file: Path or file.
        dtype: Of the elements.
        count (int): Number of elements; -1 reads all.
        sep (str): What stands between numbers in text; '' for a binary file.
        device: Default: the default device.
        offset (int): How many bytes of a binary file come before.
    Returns:
        ndarray: 1-d.
    Raises:
        OSError: If the file can't be read.
        TypeError: If there is an offset in text.
    """
    array = np.fromfile(file, dtype=dtype, count=count, sep=sep, offset=offset)
    return _wrap(array, device)


def fromfunction(
    function: Callable[..., tp.Any],
    shape: tuple[int, ...],
    *,
    dtype: tp.Any = float,
    device: tp.Any = None,
    **kwargs: tp.Any,
) -> _core.ndarray:
    """Calls a function on NumPy arrays of coordinates, as :func:`numpy.fromfunction`.

    Args:
        function (callable): Takes one array per axis, each of the whole shape.
        shape (tuple of int): Of the coordinates.
        dtype: Of the coordinates.
        device: Default: the default device.
        **kwargs: Further arguments of the function.
    Returns:
        ndarray: What the function returned.
    """
    return _wrap(np.fromfunction(function, shape, dtype=dtype, **kwargs), device)


def fromiter(
    iterable: Iterable[tp.Any], dtype: tp.Any, count: int = -1, device: tp.Any = None
) -> _core.ndarray:
    """Takes the elements of an iterable, as :func:`numpy.fromiter`.

    Args:
        iterable: Of numbers.
        dtype: Of the array.
        count (int): Number of elements; -1 takes all.
        device: Default: the default device.
    Returns:
        ndarray: 1-d.
    Raises:
        ValueError: If there are fewer elements.
    """
    return _wrap(np.fromiter(iterable, dtype=dtype, count=count), device)


def fromstring(
    string: str,
    dtype: tp.Any = float,
    count: int = -1,
    sep: str = '',
    device: tp.Any = None,
) -> _core.ndarray:
    """Reads numbers from text, as :func:`numpy.fromstring`.

    Args:
        string (str): The text.
        dtype: Of the array.
        count (int): Number of elements; -1 reads all.
        sep (str): What stands between numbers; not ''.
        device: Default: the default device.
    Returns:
        ndarray: 1-d.
    Raises:
        ValueError: If ``sep`` is '', or the text has something else.
    """
    return _wrap(np.fromstring(string, dtype=dtype, count=count, sep=sep), device)


def loadtxt(
    fname: tp.Any,
    dtype: tp.Any = float,
    comments: tp.Any = '#',
    delimiter: str | None = None,
    converters: tp.Any = None,
    skiprows: int = 0,
    usecols: tp.Any = None,
    unpack: bool = False,
    ndmin: tp.Any = 0,
    encoding: str | None = None,
    device: tp.Any = None,
    *,
    max_rows: int | None = None,
    quotechar: str | None = None,
) -> _core.ndarray:
    """Reads a text file, as :func:`numpy.loadtxt`.

    Args:
        fname: Path, file, or iterable of lines.
        dtype: Of the array.
        comments (str or sequence of str): What begins a comment.
        delimiter (str): What stands between numbers; None is white space.
        converters (dict or callable): From text to numbers, by column or for all.
        skiprows (int): Lines to skip at the start.
        usecols (int or sequence of int): Columns to read; None reads all.
        unpack (bool): Whether the result is transposed.
        ndmin (int): The least number of dimensions, 0 to 2.
        encoding (str): Of the file.
        device: Default: the default device.
        max_rows (int): How many lines of numbers to read at most.
        quotechar (str): What stands around texts.
    Returns:
        ndarray: 2-d; axes of length 1 are dropped down to ``ndmin``.
    Raises:
        OSError: If the file can't be read.
        ValueError: If text is no number, or lines differ in length.
    """
    array = np.loadtxt(
        fname,
        dtype=dtype,
        comments=comments,
        delimiter=delimiter,
        converters=converters,
        skiprows=skiprows,
        usecols=usecols,
        unpack=unpack,
        ndmin=ndmin,
        encoding=encoding,
        max_rows=max_rows,
        quotechar=quotechar,
    )
    return _wrap(array, device)
