"""NVIDIA's GPUs: what there is of them, and of what they need.

Arrays are created on a GPU by ``device='cuda:0'``. The backend is a plug-in that needs a driver and
NVRTC, NVIDIA's runtime compiler; it opens both when a ``cuda`` device is first asked for.
``python -m chainerx.cuda check`` tests them.
"""

from __future__ import annotations

import functools as _functools
import json as _json
import pathlib as _pathlib
import typing as _typing


@_functools.cache
def _plugin() -> _typing.Any:
    import ctypes

    path = _pathlib.Path(__file__).parent.parent / 'lib' / 'libchainerx_cuda.so'
    plugin = ctypes.CDLL(str(path))
    plugin.ChainerxCudaDescribe.restype = ctypes.c_char_p
    return plugin


def describe() -> dict[str, _typing.Any]:
    """Return what there is of CUDA: the driver with its devices, NVRTC, the cache of kernels.

    Returns
    -------
    dict
        ``driver`` and ``nvrtc`` have ``path`` and ``version``, or ``error``: why there is none, and
        where it was looked for. ``driver['devices']`` has, by device, ``name``,
        ``compute_capability``, ``memory`` in bytes and ``multiprocessors``. ``cache`` is the folder
        of compiled kernels.
    """
    try:
        text = _plugin().ChainerxCudaDescribe()
    except OSError as error:
        missing = {'error': f'chainerx was built without the plug-in of CUDA: {error}'}
        return {'driver': missing, 'nvrtc': missing, 'cache': ''}
    return _json.loads(text)


def device_count() -> int:
    """Return the number of GPUs that this process can use; 0 if there is no driver."""
    return len(describe()['driver'].get('devices', []))


def is_available() -> bool:
    """Return whether arrays can be computed on ``cuda:0``: there is a GPU, its driver and NVRTC."""
    return device_count() > 0 and 'error' not in describe()['nvrtc']
