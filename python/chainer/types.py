"""Names for type annotations."""

from __future__ import annotations

import numbers
import typing as tp
from types import ModuleType

if tp.TYPE_CHECKING:
    import chainerx
    import numpy as np
    import numpy.typing as npt

    from chainer._base import devices
    from chainer._base.mixed16 import _Mixed16
    from chainer.backends import cuda

# Unions of strings, so that importing this module imports nothing else.
Xp = ModuleType
Shape = tuple[int, ...]
ShapeSpec = tp.Union[int, tp.Sequence[int]]  # noqa: UP007
DTypeSpec = tp.Union['npt.DTypeLike', '_Mixed16']
NdArray = tp.Union['np.ndarray', 'cuda.ndarray', 'chainerx.ndarray']
CudaDeviceSpec = tp.Union['cuda.Device', int, 'np.integer']
DeviceSpec = tp.Union['devices.Device', 'chainerx.Device', 'cuda.Device', str, int]
# To type checkers an int or a float is complex, and no numbers.Number.
ScalarValue = tp.Union['np.generic', bytes, str, memoryview, numbers.Number, complex]


class AbstractInitializer(tp.Protocol):
    """What fills an array: any callable with this signature, and a `dtype`, maybe None."""

    dtype: tp.Any = None

    def __call__(self, array: NdArray) -> None: ...


InitializerSpec = tp.Union[AbstractInitializer, ScalarValue, 'np.ndarray']
