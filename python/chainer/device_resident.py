"""What lives on a device: the base of links, and the visitors that move it."""

from __future__ import annotations

import sys
import threading
import typing as tp
import warnings

from chainerx._core import engine

from chainer import backend
from chainer.backends import cuda, intel64

if tp.TYPE_CHECKING:
    from types import ModuleType

    from chainer import types
    from chainer._typing import DeviceSpec, NdArray
    from chainer.variable import Variable

_LEGACY_METHODS = ('to_cpu', 'to_gpu', 'to_intel64')
_FINAL_METHODS = ('to_device', 'to_chx', 'from_chx')


# The thread and the object whose device `xp` is asking for.
_asked: set[tuple[int, int]] = set()


class DeviceResident:
    """An object with arrays on one device.

    A subclass says what it holds in :meth:`device_resident_accept`; moving is the work of visitors.
    """

    _device: backend.Device = backend.CpuDevice()
    _overridden_to_methods: tuple[str, ...] = ()

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        for name in _FINAL_METHODS:
            if name in cls.__dict__:
                raise TypeError(
                    f'method {name!r} is final: override device_resident_accept in {cls.__name__}'
                )
        for name in _LEGACY_METHODS:
            if name in cls.__dict__:
                warnings.warn(
                    f'Overriding method {name!r}: override device_resident_accept instead.',
                    DeprecationWarning,
                    stacklevel=_level_of_class_statement(),
                )
        cls._overridden_to_methods = tuple(
            name
            for name in _LEGACY_METHODS
            if getattr(cls, name) is not getattr(DeviceResident, name)
        )

    @property
    def device(self) -> backend.Device:
        """Where the arrays are (:class:`chainer.backend.Device`)."""
        return self._device

    @property
    def xp(self) -> ModuleType:
        """Array module of the device: `numpy`, `cupy` or `chainerx`."""
        if type(self).device is DeviceResident.device:
            return self._device.xp
        # A class of the user's says itself where it is, and may ask for the module to find out.
        key = (threading.get_ident(), id(self))
        if key in _asked:
            return self._device.xp
        _asked.add(key)
        try:
            return self.device.xp
        finally:
            _asked.remove(key)

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        """Let a visitor see this object, and then, in subclasses, all that it holds.

        Args:
            visitor (DeviceResidentsVisitor): What sees it.
        """
        visitor.visit_device_resident(self)

    def to_device(self, device: DeviceSpec) -> tp.Self:
        """Move in place to a device.

        Args:
            device: What :func:`chainer.get_device` takes, such as ``'native:0'`` or ``'@numpy'``.
        Returns:
            This object.
        """
        return self._accept(_ToDeviceVisitor(backend.get_device(device)))

    def to_chx(self) -> tp.Self:
        """Turn all arrays into ChainerX arrays, without copying. Returns this object."""
        return self._accept(_ToChxVisitor())

    def from_chx(self) -> tp.Self:
        """Turn ChainerX arrays into NumPy or CuPy ones, without copying. Returns this object."""
        return self._accept(_FromChxVisitor())

    def to_cpu(self) -> tp.Self:
        """Move to ``'@numpy'``. Deprecated: use :meth:`to_device`."""
        _warn_deprecated('to_cpu', '@numpy')
        return self._accept(
            _ToDeviceVisitor(backend.CpuDevice(), entry=('to_cpu', {}), starting=self)
        )

    def to_gpu(self, device: types.CudaDeviceSpec | None = None) -> tp.Self:
        """Move to a CuPy device.

        Deprecated: use :meth:`to_device`.

        Args:
            device (int or cupy.cuda.Device): None is the current one.

        Returns:
            This object.
        """
        cuda.check_cuda_available()
        index = cuda.Device(device).id
        _warn_deprecated('to_gpu', f'@cupy:{index}')
        return self._accept(
            _ToDeviceVisitor(
                backend.GpuDevice.from_device_id(index),
                entry=('to_gpu', {'device': index}),
                starting=self,
                skip_between_cupy_devices=True,
            )
        )

    def to_intel64(self) -> tp.Self:
        """Move to ``'@intel64'``. Deprecated: use :meth:`to_device`."""
        intel64.check_ideep_available()
        _warn_deprecated('to_intel64', '@intel64')
        return self._accept(
            _ToDeviceVisitor(backend.Intel64Device(), entry=('to_intel64', {}), starting=self)
        )

    def _accept(self, visitor: DeviceResidentsVisitor) -> tp.Self:
        self.device_resident_accept(visitor)
        return self


class DeviceResidentsVisitor:
    """Base of what walks over device residents and the arrays in them."""

    def visit_device_resident(self, device_resident: DeviceResident) -> None:
        """Visit an object, before what it holds.

        Args:
            device_resident (DeviceResident): Which.
        """
        self._must_override('visit_device_resident')

    def visit_array(self, arr: NdArray) -> NdArray:
        """Visit an array.

        Args:
            arr (array): Which.

        Returns:
            array: What takes its place.
        """
        self._must_override('visit_array')

    def visit_variable(self, param: Variable) -> None:
        """Visit a parameter or another Variable, which may be changed in place.

        Args:
            param (Variable): Which.
        """
        self._must_override('visit_variable')

    def _must_override(self, name: str) -> tp.NoReturn:
        raise NotImplementedError(f'{type(self).__name__}.{name} is not implemented')


class _ToDeviceVisitor(DeviceResidentsVisitor):
    """Moves everything to a device.

    A class of the user's may override a legacy method (`to_cpu`, ...) for what only it knows. The
    visitor calls it, except on the object whose method started the visit: there it is running now.
    """

    def __init__(
        self,
        device: backend.Device,
        *,
        entry: tuple[str, dict[str, tp.Any]] | None = None,
        starting: DeviceResident | None = None,
        skip_between_cupy_devices: bool = False,
    ) -> None:
        self._device = device
        self._entry = entry
        self._starting = starting
        self._skip_between_cupy_devices = skip_between_cupy_devices

    def visit_device_resident(self, device_resident: DeviceResident) -> None:
        if device_resident._overridden_to_methods:
            name, kwargs = self._entry or self._legacy_method()
            started_here = device_resident is self._starting
            if name in device_resident._overridden_to_methods and not started_here:
                getattr(device_resident, name)(**kwargs)
        if not self._skips(device_resident.device):
            device_resident._device = self._device

    def visit_array(self, arr: NdArray) -> NdArray:
        source = backend.get_device_from_array(arr)
        return arr if self._skips(source) else self._device.send(arr)

    def visit_variable(self, param: Variable) -> None:
        if not self._skips(param.device):
            param.to_device(self._device)

    def _legacy_method(self) -> tuple[str, dict[str, tp.Any]]:
        if isinstance(self._device, backend.GpuDevice):
            return 'to_gpu', {'device': self._device.device.id}
        if isinstance(self._device, backend.Intel64Device):
            return 'to_intel64', {}
        if isinstance(self._device, backend.CpuDevice):
            return 'to_cpu', {}
        return '', {}

    def _skips(self, source: backend.Device) -> bool:
        if not self._skip_between_cupy_devices or not isinstance(source, backend.GpuDevice):
            return False
        if source != self._device:
            warnings.warn(
                f'to_gpu to {self._device} leaves what is on {source} there; '
                f'use to_device({self._device.name!r}).',
                RuntimeWarning,
                stacklevel=2,
            )
        return True


class _ToChxVisitor(DeviceResidentsVisitor):
    def visit_device_resident(self, device_resident: DeviceResident) -> None:
        if not isinstance(device_resident.device, backend.ChainerxDevice):
            device_resident._device = backend.ChainerxDevice.from_fallback_device(
                device_resident.device
            )

    def visit_array(self, arr: NdArray) -> NdArray:
        return backend.to_chx(arr)

    def visit_variable(self, param: Variable) -> None:
        param.to_chx()


class _FromChxVisitor(DeviceResidentsVisitor):
    def visit_device_resident(self, device_resident: DeviceResident) -> None:
        if isinstance(device_resident.device, backend.ChainerxDevice):
            device_resident._device = device_resident.device.fallback_device

    def visit_array(self, arr: NdArray) -> NdArray:
        return backend.from_chx(arr)

    def visit_variable(self, param: Variable) -> None:
        param.from_chx()


def _level_of_class_statement() -> int:
    # Subclasses' __init_subclass__ and the metaclass are in between.
    level, frame = 1, sys._getframe(1)
    while frame.f_code.co_name == '__init_subclass__' or frame.f_globals.get('__name__') == 'abc':
        if frame.f_back is None:
            break
        level, frame = level + 1, frame.f_back
    return level


def _warn_deprecated(name: str, spec: str) -> None:
    warnings.warn(
        f'{name} is deprecated. Please use to_device({spec!r}) instead.',
        DeprecationWarning,
        stacklevel=3,
    )


engine.set_callbacks(
    cpu_device_class=backend.CpuDevice, chainerx_device_class=backend.ChainerxDevice
)
