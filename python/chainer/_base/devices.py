"""The base of device objects."""

from __future__ import annotations

import typing as tp
from types import ModuleType

from chainer import types

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray


class _DummyContext:
    """For devices that can't be current: entering one changes nothing."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        pass


_dummy_context = _DummyContext()


class Device:
    """A place where arrays live, and the array module that makes them.

    Devices are compared and hashed by `name`, which `chainer.get_device` understands too.
    """

    @property
    def xp(self) -> ModuleType:
        """The array module: numpy, cupy or chainerx."""
        raise NotImplementedError('Device implementation must override this property.')

    @property
    def supported_array_types(self) -> tuple[type, ...]:
        """Classes of the arrays that can live here."""
        raise NotImplementedError('Device implementation must override this property.')

    @property
    def name(self) -> str:
        """A string that stands for the device, such as ``'@numpy'`` or ``'native:0'``."""
        raise NotImplementedError('Device implementation must override this property.')

    def __eq__(self, other: object) -> bool:
        raise NotImplementedError('Device implementation must override this method.')

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __enter__(self) -> tp.NoReturn:
        raise RuntimeError(
            'Device class does not support runtime context using `with` statement. '
            'Use chainer.using_device instead.'
        )

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        raise AssertionError('__enter__ never succeeds')

    def create_context(self) -> tp.ContextManager[object]:
        """A new context in which the device is the current one of its kind."""
        return _dummy_context

    def send(self, arrays: tp.Any) -> tp.Any:
        """Brings arrays here; what is here already is returned as it is.

        Args:
            arrays: An array, a scalar, None, or a list or tuple of them. One that occurs twice is
                converted once.

        Returns:
            The same structure; None stays None.
        """
        return _convert_arrays(arrays, self.send_array)

    def send_array(self, array: NdArray) -> NdArray:
        """Brings one array here.

        Args:
            array: Of any kind.

        Returns:
            array: The same values, here.
        """
        raise NotImplementedError('Device implementation must override this method.')

    def use(self) -> None:
        """Makes the device the current one of its kind, for the rest of the thread's life."""

    def is_array_supported(self, array: types.NdArray) -> bool:
        """Whether ``array`` lives here.

        Args:
            array: Of any kind.

        Returns:
            bool: True for one that functions take here.
        """
        raise NotImplementedError('Device implementation must override this method.')


def _convert_arrays(arrays: object, func: tp.Callable[[tp.Any], tp.Any]) -> tp.Any:
    if not isinstance(arrays, (list, tuple)):
        return func(arrays)
    done: dict[int, object] = {}
    for array in arrays:
        if id(array) not in done:
            done[id(array)] = None if array is None else func(array)
    results = (done[id(array)] for array in arrays)
    return list(results) if isinstance(arrays, list) else tuple(results)
