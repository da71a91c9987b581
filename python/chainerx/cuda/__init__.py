"""NVIDIA's GPUs: what there is of them, and of what they need.

Arrays are created on a GPU by ``device='cuda:0'``. The backend is a plug-in that needs a driver and
NVRTC, NVIDIA's runtime compiler; it opens both when a ``cuda`` device is first asked for.
``python -m chainerx.cuda check`` tests them.

All work is queued to the current stream of the thread. Another one is chosen by
``with chainerx.cuda.Stream():``; between two of them only events make an order.
"""

from __future__ import annotations

import ctypes as _ctypes
import functools as _functools
import os as _os
import typing as _typing

from chainerx import _core
from chainerx._core._cuda import Event as Event
from chainerx._core._cuda import Stream as Stream
from chainerx._core._cuda import copy_async as copy_async
from chainerx._core._cuda import current_stream as current_stream
from chainerx._core._cuda import empty_cache as empty_cache
from chainerx._core._cuda import empty_pinned as empty_pinned
from chainerx._core._cuda import get_memory_limit as get_memory_limit
from chainerx._core._cuda import is_pinned as is_pinned
from chainerx._core._cuda import mem_info as mem_info
from chainerx._core._cuda import set_memory_limit as set_memory_limit
from chainerx._core._cuda import synchronize as synchronize
from chainerx.cuda import nvtx as nvtx
from chainerx.cuda._collectives import all_reduce as all_reduce
from chainerx.cuda._collectives import broadcast as broadcast
from chainerx.cuda._kernels import ElementwiseKernel as ElementwiseKernel
from chainerx.cuda._kernels import RawKernel as RawKernel
from chainerx.cuda._kernels import ReductionKernel as ReductionKernel
from chainerx.cuda._kernels import elementwise as elementwise
from chainerx.cuda._kernels import raw as raw
from chainerx.cuda._kernels import reduce as reduce

if _typing.TYPE_CHECKING:
    from chainerx import ndarray as _ndarray
    from chainerx._typing import DeviceLike as _DeviceLike


@_functools.cache
def _plugin() -> _typing.Any:
    package = _os.path.dirname(_os.path.dirname(__file__))
    plugin = _ctypes.CDLL(_os.path.join(package, 'lib', 'libchainerx_cuda.so'))
    for name in ('Describe', 'Sources', 'Compile', 'Profiler'):
        getattr(plugin, f'ChainerxCuda{name}').restype = _ctypes.c_char_p
    plugin.ChainerxCudaMaxWorkspace.restype = _ctypes.c_int64
    return plugin


def describe(*, libraries: bool = True) -> dict[str, _typing.Any]:
    """Return what there is of CUDA: the driver with its devices, libraries, the cache of kernels.

    Parameters
    ----------
    libraries : bool
        Whether to open all libraries, not only those that every kernel needs.

    Returns
    -------
    dict
        ``driver``, ``nvrtc``, ``cublaslt``, ``cudnn``, ``cufft``, ``cusolver`` and ``nccl`` have
        ``path`` and ``version``, or ``error``: why there is none, and where it was looked for.
        ``driver['devices']`` has, by device, ``name``, ``compute_capability``, ``memory`` in bytes
        and ``multiprocessors``. ``cache`` is the folder of compiled kernels, ``test_driver`` that
        of the driver for tests, if it is used, or None.
    """
    try:
        text = _plugin().ChainerxCudaDescribe(int(libraries))
    except OSError as error:
        missing = {'error': f'chainerx was built without the plug-in of CUDA: {error}'}
        names = ['driver', 'nvrtc', 'cublaslt', 'cudnn', 'cufft', 'cusolver', 'nccl']
        return dict.fromkeys(names, missing) | {'cache': '', 'test_driver': None}
    import json  # here, for few programs call this

    return json.loads(text.decode(errors='surrogateescape'))


def device_count() -> int:
    """Return the number of GPUs that this process can use; 0 if there is no driver."""
    return len(describe(libraries=False)['driver'].get('devices', []))


def is_available() -> bool:
    """Return whether arrays can be computed on ``cuda:0``: there is a GPU, its driver and NVRTC."""
    found = describe(libraries=False)
    devices = found['driver'].get('devices', [])
    if not devices or 'error' in found['nvrtc']:
        return False
    return float(devices[0]['compute_capability']) >= 8


def _allow(name: str, allowed: bool | None) -> bool:
    return bool(_plugin().ChainerxCudaAllow(name.encode(), -1 if allowed is None else int(allowed)))


def allow_tf32(allowed: bool | None = None) -> bool:
    """Choose whether large products and convolutions of float32 may round to ten bits (TF32).

    cuBLASLt and cuDNN then compute them by tensor cores, several times as fast. By default they may
    not round operands.

    Parameters
    ----------
    allowed : bool
        What holds from now on, in the whole process; None changes nothing.

    Returns
    -------
    bool
        What held before.
    """
    return _allow('tf32', allowed)


def allow_reduced_precision(allowed: bool | None = None) -> bool:
    """Choose whether sums of large products of 16-bit floats may be added in parts of 16 bits.

    Each part is added in float32. cuBLASLt splits long sums in parts where there are few elements
    to compute, and may round these before it adds them. By default it may, as in PyTorch.

    Parameters
    ----------
    allowed : bool
        What holds from now on, in the whole process; None changes nothing.

    Returns
    -------
    bool
        What held before.
    """
    return _allow('reduced_precision', allowed)


def profiler_start(device: _DeviceLike | None = None) -> None:
    """Lets a profiler of NVIDIA begin, if it was told to wait for that.

    It is ``cudaProfilerStart`` of CUDA: for ``nsys profile -c cudaProfilerApi``, for example.

    Parameters
    ----------
    device : str or Device
        The GPU; by default the default device, or ``cuda:0``.
    """
    _control_profiler(device, 1)


def profiler_stop(device: _DeviceLike | None = None) -> None:
    """Lets a profiler of NVIDIA end.

    Parameters
    ----------
    device : str or Device
        The GPU; by default the default device, or ``cuda:0``.
    """
    _control_profiler(device, 0)


def _control_profiler(device: _DeviceLike | None, start: int) -> None:
    mem_info(device)  # makes the context of the GPU that of this thread
    error = _plugin().ChainerxCudaProfiler(start).decode()
    if error:
        raise _core.BackendError(f'profiler_{"start" if start else "stop"}: {error}')


def max_workspace_size(size: int | None = None) -> int:
    """Choose how much work space a convolution by cuDNN may use.

    Parameters
    ----------
    size : int
        Bytes that hold from now on, in the whole process; None changes nothing. An engine that
        wants more is passed over.

    Returns
    -------
    int
        What held before; at first 1 GiB.

    Raises
    ------
    ValueError
        If ``size`` is negative.
    """
    if size is not None and not 0 <= size < 2**63:
        raise ValueError(f'max_workspace_size: size is {size}, expected 0 or more bytes')
    return _plugin().ChainerxCudaMaxWorkspace(_ctypes.c_int64(-1 if size is None else size))


def _gpu_of(device: _DeviceLike | None) -> _core.Device:
    return current_stream(device).device


def memory_stats(device: _DeviceLike | None = None) -> dict[str, int | None]:
    """Return the memory that a GPU gives to arrays.

    Parameters
    ----------
    device : str or Device
        The GPU; by default the default device, or ``cuda:0``.

    Returns
    -------
    dict
        What :func:`chainerx.memory_stats` says, but ``limit`` is that of :func:`set_memory_limit`;
        and ``free`` and ``total``, bytes of the GPU, whoever uses them.
    """
    gpu = _gpu_of(device)
    free, total = mem_info(gpu)
    stats = _core.memory_stats(gpu)
    return stats | {'limit': get_memory_limit(gpu), 'free': free, 'total': total}


def pinned(x: _typing.Any, dtype: _typing.Any = None) -> _ndarray:
    """Return a copy of an array in page-locked memory of the host.

    Parameters
    ----------
    x : array_like
        Its values, from a device, NumPy, or a list.
    dtype
        The dtype; that of ``x`` by default.

    Returns
    -------
    ndarray
        An array of ``native:0``; ``numpy.asarray`` shares its memory.
    """
    host = _core.asarray(x, dtype).to_device('native:0')
    copied = empty_pinned(host.shape, host.dtype)
    copied[...] = host.as_grad_stopped()
    return copied


def to_gpu(x: _typing.Any, device: _DeviceLike | None = None) -> _ndarray:
    """Return a copy on a GPU without waiting, if ``x`` is in pinned memory.

    Parameters
    ----------
    x : array_like
        An array of the host. If it is a contiguous array of :func:`empty_pinned` or :func:`pinned`,
        the GPU reads it later: don't write it before the stream has passed the copy.
    device : str or Device
        The GPU; by default the default device, or ``cuda:0``.

    Returns
    -------
    ndarray
        In no graph.
    """
    host = _core.ascontiguousarray(_core.asarray(x, device='native:0'))
    copied = _core.empty(host.shape, host.dtype, device=_gpu_of(device))
    copy_async(host, copied)
    return copied


def to_host(x: _ndarray, out: _ndarray | None = None) -> _ndarray:
    """Return a copy in pinned memory without waiting.

    Parameters
    ----------
    x : ndarray
        An array of a GPU.
    out : ndarray
        A contiguous array of the host for the result; by default a new one in pinned memory.

    Returns
    -------
    ndarray
        Its values are there once the current stream has passed the copy:
        ``chainerx.cuda.current_stream().synchronize()`` waits for it.
    """
    packed = _core.ascontiguousarray(x)
    if out is None:
        out = empty_pinned(packed.shape, packed.dtype, packed.device)
    copy_async(packed, out)
    return out
