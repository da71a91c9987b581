"""Arrays from files, functions and iterables, and to files: NumPy reads and writes."""

from __future__ import annotations

import os
import typing as tp
from collections.abc import Iterable

import numpy as np

from chainerx import _core
from chainerx._array_likes import as_array

if tp.TYPE_CHECKING:
    from collections.abc import Callable

    from chainerx._typing import (
        Argument,
        ArrayLike,
        DeviceLike,
        DTypeLike,
        Number,
        PathOrFile,
        Routine,
    )


def _wrap(array: np.ndarray, device: DeviceLike | None) -> _core.ndarray:
    """Wraps the memory of an array without other owners, unless its bytes may be invalid bools."""
    return _core.array(array, copy=array.dtype == bool, device=device)


def _dtype(op: str, dtype: DTypeLike) -> np.dtype:
    try:
        return np.dtype(dtype)
    except TypeError:
        raise _core.DtypeError(f'{op}: dtype is {dtype!r}, expected the name of a dtype') from None


def fromfile(
    file: PathOrFile,
    dtype: DTypeLike = float,
    count: int = -1,
    sep: str = '',
    device: DeviceLike | None = None,
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
        TypeError: If there is an offset in text, or ``file`` is neither path nor file.
    """
    if not isinstance(file, (str, bytes, os.PathLike)) and not hasattr(file, 'read'):
        raise TypeError(f'fromfile: file must be a path or a file, got {type(file).__name__}')
    array = np.fromfile(file, dtype=_dtype('fromfile', dtype), count=count, sep=sep, offset=offset)
    return _wrap(array, device)


def fromfunction(
    function: Routine,
    shape: tuple[int, ...],
    *,
    dtype: DTypeLike = float,
    device: DeviceLike | None = None,
    **kwargs: Argument,
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
    iterable: Iterable[Number], dtype: DTypeLike, count: int = -1, device: DeviceLike | None = None
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
    return _wrap(np.fromiter(iterable, dtype=_dtype('fromiter', dtype), count=count), device)


def fromstring(
    string: str,
    dtype: DTypeLike = float,
    count: int = -1,
    sep: str = '',
    device: DeviceLike | None = None,
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
    return _wrap(
        np.fromstring(string, dtype=_dtype('fromstring', dtype), count=count, sep=sep), device
    )


def loadtxt(
    fname: PathOrFile,
    dtype: DTypeLike = float,
    comments: str | tp.Sequence[str] | None = '#',
    delimiter: str | None = None,
    converters: tp.Any = None,
    skiprows: int = 0,
    usecols: int | tp.Sequence[int] | None = None,
    unpack: bool = False,
    ndmin: tp.Literal[0, 1, 2] = 0,
    encoding: str | None = None,
    device: DeviceLike | None = None,
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


def genfromtxt(fname: tp.Any, dtype: DTypeLike = float, **kwargs: Argument) -> _core.ndarray:
    """Reads a text file in which values may be missing, as :func:`numpy.genfromtxt`.

    Args:
        fname: Path, file, or iterable of lines.
        dtype: Of the array.
        **kwargs: All others of NumPy's, and ``device``.
    Returns:
        ndarray: 1-d or 2-d; NaN where a value is missing.
    Raises:
        OSError: If the file can't be read.
        ValueError: If lines differ in length.
        DtypeError: If columns have several dtypes.
        TypeError: If ``fname`` is neither path nor file, nor has lines of text.
    """
    if not isinstance(fname, (str, bytes, os.PathLike)) and not hasattr(fname, 'read'):
        if not isinstance(fname, Iterable):
            name = type(fname).__name__
            raise TypeError(f'genfromtxt: fname must be a path, a file or lines, got {name}')
        fname = list(fname)
        for line in fname:
            if not isinstance(line, (str, bytes)):
                raise TypeError(
                    f'genfromtxt: a line of fname must be a str, got {type(line).__name__}'
                )
    device = kwargs.pop('device', None)
    return _wrap(np.genfromtxt(fname, dtype=dtype, **kwargs), device)


def savetxt(fname: PathOrFile, X: _core.ndarray, *args: Argument, **kwargs: Argument) -> None:
    """Writes a text file, as :func:`numpy.savetxt`.

    Args:
        fname: Path or file.
        X (ndarray): 1-d or 2-d.
        *args: As of NumPy's: ``fmt``, ``delimiter``, ``newline``, ``header``, ``footer``,
            ``comments``, ``encoding``.
        **kwargs: The same by name.
    Raises:
        OSError: If the file can't be written.
        ValueError: If the array has other dimensions.
    """
    x = _to_numpy('savetxt', 'X', X)
    np.savetxt(fname, x.astype('float32') if x.dtype.name == 'bfloat16' else x, *args, **kwargs)


def _to_numpy(op: str, name: str, x: ArrayLike) -> np.ndarray:
    return _core.to_numpy(as_array(op, name, x), copy=False)


def save(file: PathOrFile, arr: _core.ndarray) -> None:
    """Writes an array to a file in NumPy's format, as :func:`numpy.save`.

    Args:
        file: Path, to which ``.npy`` is added where it lacks that, or binary file.
        arr (ndarray): Any shape and dtype. NumPy's format has no name for bfloat16: it is two raw
            bytes, which :func:`load` reads back.
    Raises:
        OSError: If the file can't be written.
        TypeError: If ``arr`` is no array, number or list.
    """
    np.save(file, _to_numpy('save', 'arr', arr), allow_pickle=False)


def _save_many(
    op: str,
    function: Callable[..., None],
    file: PathOrFile,
    args: tuple[ArrayLike, ...],
    kwds: tp.Mapping[str, ArrayLike],
) -> None:
    arrays = {name: _to_numpy(op, name, x) for name, x in kwds.items()}
    function(file, *(_to_numpy(op, f'arr_{i}', x) for i, x in enumerate(args)), **arrays)


def savez(file: PathOrFile, *args: _core.ndarray, **kwds: _core.ndarray) -> None:
    """Writes several arrays to one file, as :func:`numpy.savez`.

    Args:
        file: Path, to which ``.npz`` is added where it lacks that, or binary file.
        *args (ndarray): They are named arr_0, arr_1 and so on.
        **kwds (ndarray): Under these names.
    Raises:
        OSError: If the file can't be written.
        TypeError: If one is no array, number or list.
        ValueError: If two have one name.
    """
    _save_many('savez', np.savez, file, args, kwds)


def savez_compressed(file: PathOrFile, *args: _core.ndarray, **kwds: _core.ndarray) -> None:
    """The same as :func:`savez`, compressed.

    Args:
        file: Path, to which ``.npz`` is added where it lacks that, or binary file.
        *args (ndarray): They are named arr_0, arr_1 and so on.
        **kwds (ndarray): Under these names.
    Raises:
        OSError: If the file can't be written.
        TypeError: If one is no array, number or list.
        ValueError: If two have one name.
    """
    _save_many('savez_compressed', np.savez_compressed, file, args, kwds)


def _wrap_raw(array: np.ndarray, device: DeviceLike | None) -> _core.ndarray:
    """Reinterprets two raw bytes, which is how files store bfloat16."""
    if array.dtype == 'V2':
        import ml_dtypes

        array = array.view(ml_dtypes.bfloat16)
    return _wrap(array, device)


def load(
    file: PathOrFile, *, device: DeviceLike | None = None
) -> _core.ndarray | dict[str, _core.ndarray]:
    """Reads what :func:`save` or :func:`savez` has written, or NumPy's functions of these names.

    Args:
        file: Path or binary file.
        device: Default: the default device.
    Returns:
        ndarray or dict: The array; of several, a dict of all by their names.
    Raises:
        OSError: If the file can't be read.
        ValueError: If it has Python objects, which are never unpickled, or is of another format.
        DtypeError: If a dtype is none of chainerx.
    """
    loaded = np.load(file, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return _wrap_raw(loaded, device)
    with loaded:
        return {name: _wrap_raw(loaded[name], device) for name in loaded.files}


def asarray_chkfinite(
    a: ArrayLike, dtype: DTypeLike | None = None, *, device: DeviceLike | None = None
) -> _core.ndarray:
    """The same as :func:`asarray`, but it looks whether all numbers are finite.

    Args:
        a: What asarray() takes.
        dtype: Default: that of ``a``.
        device: Default: the default device.
    Returns:
        ndarray: After waiting for its device.
    Raises:
        ValueError: If there is an infinity or NaN.
    """
    x = _core.asarray(a, dtype, device)
    if not _core.isfinite(x).all():
        raise ValueError('asarray_chkfinite: a holds infinities or NaN')
    return x
