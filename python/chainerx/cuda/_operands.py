"""The operands of a kernel's call: what they are, and their bytes in its parameters."""

from __future__ import annotations

import operator
import struct
import typing as tp

import numpy as np

from chainerx import _core
from chainerx._core import _cuda
from chainerx.cuda import _sources
from chainerx.cuda._sources import Param

SCALARS = (bool, int, float, complex, np.generic)


class Operand(tp.NamedTuple):
    """An argument of a call: an array, or a scalar with the dtype that its parameter has."""

    param: Param
    dtype: str
    array: _core.ndarray | None
    scalar: tp.Any


def align(data: bytes, alignment: int) -> bytes:
    return data + bytes(-len(data) % alignment)


def pack_scalar(value: tp.Any, dtype: str) -> bytes:
    if dtype == 'bfloat16':  # the upper half of a float32, rounded to even
        bits = int(np.float32(value).view(np.uint32))
        return struct.pack('<H', (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF)
    return np.asarray(value).astype(dtype).tobytes()


def pack_address(x: _core.ndarray) -> bytes:
    return struct.pack('<Q', x.data_ptr + x.offset)


def pack_ints(numbers: tp.Iterable[int]) -> bytes:
    return b''.join(struct.pack('<q', n) for n in numbers)


def scalar_dtype(value: tp.Any) -> str:
    """The dtype that a scalar gives to a parameter whose type is a letter."""
    if isinstance(value, np.generic):
        return value.dtype.name
    if isinstance(value, bool):
        return 'bool'
    if isinstance(value, int):
        return 'int64'
    return 'float64' if isinstance(value, float) else 'complex128'


def _check_argument(kernel: str, param: Param, value: tp.Any) -> None:
    if isinstance(value, _core.ndarray):
        return
    if isinstance(value, SCALARS) and not param.is_raw:
        return
    hint = ''
    if isinstance(value, np.ndarray):
        hint = '; copy it to a GPU by chainerx.array(x, device="cuda:0")'
    raise TypeError(
        f'{kernel}: {param.name} is a {type(value).__module__}.{type(value).__name__}, expected '
        f'a chainerx.ndarray{"" if param.is_raw else " or a scalar"}{hint}'
    )


def find_device(kernel: str, values: tp.Sequence[tp.Any]) -> _core.Device:
    """The GPU of all arrays, or the current one."""
    arrays = [x for x in values if isinstance(x, _core.ndarray)]
    if not arrays:
        return _cuda.current_stream().device
    device = arrays[0].device
    for x in arrays:
        if x.device is not device:
            raise _core.DeviceError(f'{kernel}: arrays of {device.name} and of {x.device.name}')
    if device.backend.name != 'cuda':
        raise _core.DeviceError(
            f'{kernel}: arrays of {device.name}, expected arrays of a cuda device'
        )
    return device


class Call:
    """The operands of one call, with their dtypes."""

    def __init__(self, kernel: str, params: tp.Sequence[Param], values: tp.Sequence[tp.Any]):
        self.kernel = kernel
        self.device = find_device(kernel, values)
        self.letters: dict[str, str] = {}
        scalars: dict[str, str] = {}
        for param, value in zip(params, values, strict=True):
            _check_argument(kernel, param, value)
            if not param.is_letter:
                continue
            if isinstance(value, _core.ndarray):
                self.bind(param, value.dtype.name)
            else:
                kind = scalar_dtype(value)
                known = scalars.setdefault(param.type, kind)
                scalars[param.type] = np.result_type(known, kind).name
        self.letters = scalars | self.letters
        self.operands = [
            self.operand(param, value) for param, value in zip(params, values, strict=True)
        ]

    def bind(self, param: Param, dtype: str) -> None:
        known = self.letters.setdefault(param.type, dtype)
        if known != dtype:
            raise _core.DtypeError(
                f'{self.kernel}: {param.name} has dtype {dtype}, but {param.type} is {known}'
            )

    def dtype(self, param: Param) -> str:
        if not param.is_letter:
            return param.type
        if param.type not in self.letters:
            raise _core.DtypeError(
                f'{self.kernel}: no argument says what the type {param.type} of {param.name} is'
            )
        return self.letters[param.type]

    def operand(self, param: Param, value: tp.Any) -> Operand:
        dtype = self.dtype(param)
        if not isinstance(value, _core.ndarray):
            return Operand(param, dtype, None, value)
        if value.dtype.name != dtype:
            raise _core.DtypeError(
                f'{self.kernel}: {param.name} has dtype {value.dtype.name}, expected {dtype}'
            )
        return Operand(param, dtype, value, None)

    def output(self, param: Param, value: tp.Any, shape: tuple[int, ...]) -> Operand:
        """An array that the caller gave, or a new one."""
        if value is None:
            array = _core.empty(shape, self.dtype(param), device=self.device)
            return Operand(param, self.dtype(param), array, None)
        made = self.operand(param, value)
        if made.array is None:
            raise TypeError(f'{self.kernel}: {param.name} is a scalar, expected an array to write')
        if not param.is_raw and made.array.shape != shape:
            raise _core.DimensionError(
                f'{self.kernel}: {param.name} has shape {made.array.shape}, expected {shape}'
            )
        if made.array.is_backprop_required():
            raise _core.ChainerxError(
                f'{self.kernel}: {param.name} is part of a graph, which cannot see that it is '
                'written'
            )
        return made


def _is_same(x: _core.ndarray, y: _core.ndarray) -> bool:
    """Whether both have the same elements at the same places."""
    return (x.shape, x.strides, pack_address(x)) == (y.shape, y.strides, pack_address(y))


def copy_overlapping(
    operands: tp.Sequence[Operand], outputs: tp.Sequence[Operand], *, by_element: bool
) -> list[Operand]:
    """Inputs, copied where their memory is written, but by the thread that reads the element."""
    written = arrays_of(outputs)

    def is_lost(x: _core.ndarray) -> bool:
        return any(
            _core._extents_meet(x, y) and not (by_element and _is_same(x, y)) for y in written
        )

    return [
        o
        if o.array is None or o.param.is_raw or not is_lost(o.array)
        else o._replace(array=o.array.as_grad_stopped(copy=True))
        for o in operands
    ]


def merge_shapes(kernel: str, operands: tp.Sequence[Operand]) -> tuple[int, ...]:
    shapes = [o.array.shape for o in operands if o.array is not None and not o.param.is_raw]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        names = ', '.join(
            f'{o.param.name} {o.array.shape}' for o in operands if o.array is not None
        )
        raise _core.DimensionError(f'{kernel}: shapes do not broadcast: {names}') from None


def broadcast_strides(x: _core.ndarray, shape: tuple[int, ...]) -> list[int]:
    """In bytes, 0 along axes that are repeated."""
    missing = len(shape) - x.ndim
    return [0] * missing + [
        stride if size == wanted else 0
        for size, stride, wanted in zip(x.shape, x.strides, shape[missing:], strict=True)
    ]


def normalize_axes(kernel: str, axis: tp.Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [operator.index(a) for a in given]
    for a in axes:
        if not -ndim <= a < ndim:
            raise _core.DimensionError(f'{kernel}: axis {a} of {ndim} dimensions')
    normalized = sorted({a % ndim for a in axes})
    if len(normalized) != len(axes):
        raise _core.DimensionError(f'{kernel}: axis {axis} names an axis twice')
    return tuple(normalized)


def pack_operands(operands: tp.Sequence[Operand], shape: tuple[int, ...], is_flat: bool) -> bytes:
    data = b''
    for param, dtype, array, scalar in operands:
        if array is None:
            data += align(pack_scalar(scalar, dtype), 8)
        elif param.is_raw:
            data += pack_ints(array.shape or [1])
            data += pack_address(array) + pack_ints(array.strides or [0])
        elif is_flat:
            data += pack_address(array)
        else:
            data += pack_address(array) + pack_ints(broadcast_strides(array, shape))
    return data


def variables_of(operands: tp.Sequence[Operand]) -> list[_sources.Variable]:
    return [
        _sources.Variable(o.param, o.dtype, None if o.array is None else o.array.ndim)
        for o in operands
    ]


def arrays_of(operands: tp.Sequence[Operand]) -> list[_core.ndarray]:
    return [o.array for o in operands if o.array is not None]
