"""Arrays of any kind as memory of the host, and back."""

from __future__ import annotations

import typing as tp

import chainer
import chainerx
import ml_dtypes
import numpy as np

if tp.TYPE_CHECKING:
    from chainer.types import NdArray


class Spec(tp.NamedTuple):
    """What a receiver must know of an array."""

    kind: str  # 'numpy', 'cupy', or the name of a backend of chainerx
    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f'{self.dtype} of shape {self.shape}'


def spec_of(operation: str, x: object) -> Spec:
    """Describes an array.

    Raises:
        TypeError: If it is no array, or not of numbers.
    """
    if not isinstance(x, (np.generic, *chainer.get_array_types())):
        hint = 'its array' if isinstance(x, chainer.Variable) else f'{operation}_obj for objects'
        raise TypeError(f'{operation}: expected an array, got {type(x).__name__}; use {hint}')
    array: tp.Any = x
    dtype = np.dtype(array.dtype)
    if dtype.kind not in 'biufc' and not hasattr(ml_dtypes, dtype.name):
        raise TypeError(
            f'{operation}: expected an array of numbers, got one of {dtype}; use {operation}_obj'
        )
    if isinstance(x, chainerx.ndarray):
        kind = x.device.backend.name
    else:
        kind = 'cupy' if isinstance(x, chainer.backends.cuda.ndarray) else 'numpy'
    return Spec(kind, dtype.name, tuple(map(int, array.shape)))


def dtype_of(spec: Spec) -> np.dtype:
    """The dtype of the array in memory of the host."""
    return np.dtype(getattr(ml_dtypes, spec.dtype, None) or spec.dtype)


def to_host(x: NdArray) -> np.ndarray:
    """An array of NumPy in C order and native byte order; it shares memory with ``x`` where it can.

    It may be read-only.
    """
    if isinstance(x, chainerx.ndarray):
        host: tp.Any = chainerx.to_numpy(x.as_grad_stopped())
    else:
        host = x if isinstance(x, np.generic) else chainer.backends.cuda.to_cpu(x)
    return np.asarray(host, host.dtype.newbyteorder('='), order='C')


def to_device(host: np.ndarray, kind: str) -> tp.Any:
    """The array as one of a kind: on the default device if that is of the kind, else on the first.

    An array of NumPy is returned as it is.
    """
    if kind == 'numpy':
        return host
    if kind == 'cupy':
        chainer.backends.cuda.check_cuda_available()
        return chainer.backends.cuda.cupy.asarray(host)
    device = chainerx.get_default_device()
    if device.backend.name != kind:
        device = chainerx.get_device(kind, 0)
    return chainerx.array(host, device=device)


def like(host: np.ndarray, x: NdArray) -> tp.Any:
    """The array as one of the kind and on the device of ``x``."""
    if isinstance(x, np.ndarray | np.generic):
        return host
    return chainer.backend.get_device_from_array(x).send(host)


def as_bytes(host: np.ndarray) -> np.ndarray:
    """The memory of a contiguous array."""
    return host.reshape(-1).view(np.uint8)
