"""Writing npz archives, and reading those that may be damaged or hostile."""

from __future__ import annotations

import contextlib
import io
import typing as tp
import zipfile
import zlib

import numpy as np

from chainer.serializers import _file, _npy, _values

# Errors that zipfile raises for damaged archives.
_ERRORS: tp.Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    UnicodeDecodeError,
    ValueError,
)
# More than this deflate can't shrink anything.
_MAX_DEFLATE: tp.Final = 1040


class _Writer(zipfile.ZipFile):
    """An archive that is not written to its end when it is freed."""

    # Called without arguments, it does nothing, and that in C: signals are handled in methods of
    # Python, and a KeyboardInterrupt of a finalizer is printed and lost.
    __del__ = tp.cast(tp.Any, tuple)


def write(
    stream: tp.BinaryIO, arrays: tp.Mapping[str, np.ndarray | None], compression: bool
) -> None:
    """Writes an npz file."""
    method = zipfile.ZIP_DEFLATED if compression else zipfile.ZIP_STORED
    archive, member = _Writer(stream, 'w', method), None
    try:
        for key, array in arrays.items():
            member = archive.open(f'{key}.npy', 'w', force_zip64=True)
            if array is None:
                member.write(_npy.NONE)
            else:
                np.lib.format.write_array(member, array, allow_pickle=False)
            member.close()
        archive.close()
    except BaseException:
        # Closed as usual, now or when it is freed, it would go on writing: after Ctrl-C within a
        # member that raises another error, or prints one.
        if member is not None:
            io.BufferedIOBase.close(tp.cast(tp.Any, member))
        raise


@contextlib.contextmanager
def open_archive(stream: tp.BinaryIO, name: str) -> tp.Iterator[Reader]:
    """Opens an npz file.

    Raises:
        ValueError: If it is none.
    """
    try:
        archive = zipfile.ZipFile(stream)
    except _ERRORS as error:
        raise ValueError(f'{name} is no npz file: {error}') from error
    with archive:
        yield Reader(archive, name)


class Reader:
    """The arrays in an npz archive, by key.

    Raises:
        ValueError: If it is none, or the same key is in it twice.
    """

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self.name = name
        self._archive = archive
        self._size = _file.size_of(tp.cast(tp.BinaryIO, archive.fp))
        self._members: dict[str, zipfile.ZipInfo] = {}
        for info in archive.infolist():
            if info.filename.endswith('.npy'):
                key = info.filename[: -len('.npy')]
                if key in self._members:
                    raise ValueError(f'{key!r} is twice in {name}')
                self._members[key] = info

    def __contains__(self, key: str) -> bool:
        return key in self._members

    def keys(self) -> tp.Iterable[str]:
        return self._members

    def _open(self, key: str) -> tp.IO[bytes]:
        info = self._members[key]
        if info.flag_bits & 1:
            raise ValueError('it is encrypted')
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f'its compression method {info.compress_type} is not that of npz')
        if info.compress_size > self._size - info.header_offset:
            raise ValueError(f'it claims {info.compress_size} bytes of a file of {self._size}')
        if info.file_size > _MAX_DEFLATE * (info.compress_size + 1):
            raise ValueError(f'{info.compress_size} bytes cannot unpack to {info.file_size}')
        return self._archive.open(info)

    def describe(self, key: str) -> tuple[np.dtype, tuple[int, ...]] | None:
        try:
            with self._open(key) as stream:
                header = _npy.read_header(stream)
                if header.dtype.kind == 'O':
                    # One byte more than allowed, so that too long a pickle shows.
                    payload = stream.read(_npy.MAX_NONE + 1)
                    _npy.check_none(payload if header.shape == () else b'')
                    return None
        except _ERRORS as error:
            raise ValueError(str(error) or type(error).__name__) from error
        size = header.length + _values.n_bytes(header.dtype, header.shape)
        if size != self._members[key].file_size:
            raise ValueError(
                f'shape {header.shape} and {header.dtype} make {size} bytes, but it has '
                f'{self._members[key].file_size}'
            )
        return header.dtype, header.shape

    def read(self, key: str, expected: int) -> np.ndarray:
        try:
            with self._open(key) as stream:
                dtype, shape, fortran, _ = _npy.read_header(stream)
                stored = self._members[key].compress_size
                _values.check_growth(dtype, shape, stored, expected)
                array = np.empty(shape[::-1] if fortran else shape, dtype)
                _fill_from(stream, array)
        except _ERRORS as error:
            raise ValueError(str(error) or type(error).__name__) from error
        if dtype.kind == 'b' and array.size and array.view(np.uint8).max() > 1:
            raise ValueError('a bool is neither 0 nor 1')
        array = array if dtype.isnative else array.astype(dtype.newbyteorder('='))
        return array.T if fortran else array


def _fill_from(stream: tp.IO[bytes], array: np.ndarray) -> None:
    # Writes bytes, because NumPy gives no buffer of bfloat16.
    view: tp.Any = array.reshape(-1).view(np.uint8) if array.nbytes else np.empty(0, np.uint8)
    done = 0
    while done < len(view):
        chunk = stream.read(min(len(view) - done, 1 << 20))
        if not chunk:
            raise ValueError(f'it ends after {done} of {len(view)} bytes')
        view[done : done + len(chunk)] = np.frombuffer(chunk, np.uint8)
        done += len(chunk)
    if stream.read(1):  # also makes zipfile compare the checksum
        raise ValueError(f'there is more in it than its {len(view)} bytes')
