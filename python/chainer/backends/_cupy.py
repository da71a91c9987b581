"""CuPy, if it is there, or stand-ins for its classes that nothing is an instance of."""

from __future__ import annotations

import typing as tp

import numpy as np
from chainerx._core import engine

available = False
cudnn_enabled = False
_cudnn_version = -1
_cupy_major = 0
_resolution_error: BaseException | None = None


class _Absent:
    """Stands in for the modules ``cupy`` and ``cupyx``."""

    def __init__(self, module: str) -> None:
        self.__module = module

    def __getattr__(self, name: str) -> tp.NoReturn:
        reason = f'{type(_resolution_error).__name__}: {_resolution_error}'
        raise AttributeError(f'{self.__module}.{name}: CuPy cannot be used. {reason}', name=name)


def _explain(error: BaseException) -> BaseException:
    """The error; or one that names both versions, if CuPy is of a later CUDA than the driver."""
    try:
        of_cupy = cupy.cuda.runtime.runtimeGetVersion()
        of_driver = cupy.cuda.runtime.driverGetVersion()
    except Exception:  # CuPy, or the driver, is not there
        return error
    if of_driver == 0 or of_cupy // 1000 <= of_driver // 1000:
        return error
    return RuntimeError(
        f"this CuPy is of CUDA {of_cupy // 1000}, NVIDIA's driver of CUDA {of_driver // 1000}: "
        f'install cupy-cuda{of_driver // 1000}x in its place, or a newer driver ({error})'
    )


cupy: tp.Any = _Absent('cupy')

try:
    import cupy  # type: ignore[import-not-found, no-redef]
    from cupy import ndarray
    from cupy.cuda import Device, Event, Stream  # type: ignore[import-not-found]

    _cupy_major = int(cupy.__version__.split('.')[0])
    available = cupy.cuda.runtime.getDeviceCount() > 0
    if not available:
        _resolution_error = RuntimeError('there is no CUDA device')
except Exception as e:  # whatever keeps CuPy from working is told when a GPU is asked for
    _resolution_error = _explain(e)

if not available:

    class ndarray:  # type: ignore[no-redef]
        """Stands in for ``cupy.ndarray``."""

        @property
        def device(self) -> tp.Any:
            """None."""
            return None

        @property
        def shape(self) -> tp.Any:
            """None."""
            return None

        def get(self, stream: tp.Any = None) -> tp.Any:
            """None.

            Args:
                stream: Without effect.
            """
            return None

        def set(self, arr: np.ndarray, stream: tp.Any = None) -> None:
            """Does nothing.

            Args:
                arr: Without effect.
                stream: Without effect.
            """

    class Device:  # type: ignore[no-redef]
        """Stands in for ``cupy.cuda.Device``.

        Args:
            device: Without effect.
        """

        def __init__(self, device: int | None = None) -> None:
            pass

        def __enter__(self) -> Device:
            return self

        def __exit__(self, *args: object) -> None:
            pass

    class Event:  # type: ignore[no-redef]
        """Stands in for ``cupy.cuda.Event``."""

    class Stream:  # type: ignore[no-redef]
        """Stands in for ``cupy.cuda.Stream``."""


cudnn: tp.Any = None
cupyx: tp.Any = _Absent('cupyx')
if available:
    engine.set_cupy(cupy)
    try:
        import cupyx  # type: ignore[import-not-found, no-redef]  # noqa: F401
    except ImportError as e:
        _resolution_error = e
    try:
        from cupy import cudnn  # type: ignore[no-redef]  # noqa: F401

        _cudnn_version = cupy.cuda.cudnn.getVersion()
        cudnn_enabled = _cudnn_version > 0
    except (ImportError, AttributeError):
        pass  # recent versions of CuPy come without
