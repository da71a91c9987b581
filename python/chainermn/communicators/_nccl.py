"""NCCL between processes, as far as `PureNcclCommunicator` needs it.

The library is the one that chainerx uses. What is called here is in NCCL since 2.10.
"""

from __future__ import annotations

import ctypes
import functools
import typing as tp

import chainerx

_ID_BYTES: tp.Final = 128
#: ncclDataType_t.
TYPES: tp.Final = {
    'int8': 0,
    'uint8': 1,
    'bool': 1,
    'int32': 2,
    'uint32': 3,
    'int64': 4,
    'uint64': 5,
    'float16': 6,
    'float32': 7,
    'float64': 8,
    'bfloat16': 9,
}
_MEAN: tp.Final = 4  # of ncclRedOp_t


class _UniqueId(ctypes.Structure):
    """Passed by value."""

    _fields_ = (('internal', ctypes.c_byte * _ID_BYTES),)


@functools.cache
def _load() -> ctypes.CDLL:
    found = chainerx.cuda.describe()['nccl']
    if 'error' in found:
        raise RuntimeError(
            f'pure_nccl: {found["error"]}. The communicator non_cuda_aware needs no NCCL: it takes '
            'arrays of GPUs through memory of the host; naive and flat also run without a GPU'
        )
    library = ctypes.CDLL(found['path'])
    library.ncclGetErrorString.restype = ctypes.c_char_p
    comm, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    buffers = (ctypes.c_void_p, ctypes.c_void_p, size, number, number)
    library.ncclAllReduce.argtypes = (*buffers, comm, ctypes.c_void_p)
    library.ncclBroadcast.argtypes = (*buffers, comm, ctypes.c_void_p)
    library.ncclCommInitRank.argtypes = (ctypes.POINTER(comm), number, _UniqueId, number)
    library.ncclCommGetAsyncError.argtypes = (comm, ctypes.POINTER(number))
    library.ncclCommDestroy.argtypes = (comm,)
    return library


def check_available() -> None:
    """Raises RuntimeError, with what can be used instead, if there is no NCCL."""
    _load()


def _call(name: str, *arguments: tp.Any) -> None:
    library = _load()
    status = getattr(library, name)(*arguments)
    if status != 0:
        text = library.ncclGetErrorString(status).decode()
        raise RuntimeError(
            f'pure_nccl: {name} failed with status {status} ({text}); NCCL_DEBUG=WARN says more. '
            'Each process needs a GPU of its own, such as cuda:N with N = comm.intra_rank'
        )


def new_unique_id() -> bytes:
    """What all processes of a communicator must have, made by one of them."""
    made = _UniqueId()
    _call('ncclGetUniqueId', ctypes.byref(made))
    return bytes(made)


class Communicator:
    """Processes with a GPU each, that of the current context. All processes must make it.

    Args:
        unique_id (bytes): Of `new_unique_id`.
        size (int): The number of processes.
        rank (int): That of this one.
    """

    def __init__(self, unique_id: bytes, size: int, rank: int) -> None:
        self._comm = ctypes.c_void_p()
        given = _UniqueId.from_buffer_copy(unique_id)
        _call('ncclCommInitRank', ctypes.byref(self._comm), size, given, rank)

    def _check(self) -> None:
        error = ctypes.c_int()
        _call('ncclCommGetAsyncError', self._comm, ctypes.byref(error))
        if error.value != 0:
            text = _load().ncclGetErrorString(error.value).decode()
            raise RuntimeError(f'pure_nccl: another process or GPU failed: {text}')

    def mean(self, memory: int, count: int, dtype: str, stream: int) -> None:
        """Queues a mean over all processes, in place.

        Args:
            memory (int): Where the numbers are.
            count (int): How many.
            dtype (str): A key of `TYPES`, of floats.
            stream (int): The stream of CUDA.
        """
        self._check()
        _call('ncclAllReduce', memory, memory, count, TYPES[dtype], _MEAN, self._comm, stream)

    def broadcast(self, memory: int, n_bytes: int, stream: int) -> None:
        """Queues a copy from rank 0 to all, in place.

        Args:
            memory (int): Where the bytes are.
            n_bytes (int): How many.
            stream (int): The stream of CUDA.
        """
        self._check()
        _call('ncclBroadcast', memory, memory, n_bytes, TYPES['uint8'], 0, self._comm, stream)

    def destroy(self) -> None:
        """Waits until all work is done, and gives up the communicator."""
        comm, self._comm = self._comm, ctypes.c_void_p()
        if comm:
            _call('ncclCommDestroy', comm)
