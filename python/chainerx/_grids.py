"""NumPy's objects with square brackets: grids of coordinates, and arrays joined from ranges."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainerx import _core, _dtypes
from chainerx._array_likes import as_array

if tp.TYPE_CHECKING:
    from collections.abc import Iterator

    from chainerx._typing import ArrayLike, DeviceLike, DTypeLike


def _points(part: slice) -> _core.ndarray:
    """The points of a slice; an imaginary step, ``5j``, is their number, including the stop."""
    start = 0 if part.start is None else part.start
    if isinstance(part.step, complex):
        return _core.linspace(start, part.stop, int(abs(part.step)))
    step = 1 if part.step is None else part.step
    is_float = any(isinstance(number, float | np.floating) for number in (start, part.stop, step))
    return _core.arange(start, part.stop, step, 'float32' if is_float else None)


class _Grid:
    def __init__(self, name: str, is_sparse: bool) -> None:
        self._name = name
        self._is_sparse = is_sparse

    def __getitem__(self, key: slice | tuple[slice, ...]) -> tp.Any:
        parts = key if isinstance(key, tuple) else (key,)
        for part in parts:
            if not isinstance(part, slice) or part.stop is None:
                raise TypeError(f'{self._name}: expected slices with a stop, got {part!r}')
        axes = [_points(part) for part in parts]
        if not isinstance(key, tuple):
            return axes[0]
        dtype = _dtypes.result_type(*axes) if axes else np.dtype('int32')
        axes = [x.astype(dtype) for x in axes]
        grids = _core.meshgrid(*axes, indexing='ij', sparse=self._is_sparse)
        if self._is_sparse:
            return grids
        return _core.stack(grids) if grids else _core.empty(0, dtype)

    def __repr__(self) -> str:
        return f'chainerx.{self._name}'


class _Joined:
    """``r_`` and ``c_``; a leading string gives the axis and the number of dimensions."""

    def __init__(self, name: str, axis: int, ndmin: int, trans1d: int) -> None:
        self._name = name
        self._defaults = (axis, ndmin, trans1d)

    def __getitem__(self, key: tp.Any) -> _core.ndarray:
        parts = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, trans1d = self._defaults
        if parts and isinstance(parts[0], str):
            axis, ndmin, trans1d = self._directive(parts.pop(0))
        if not parts:
            raise ValueError(f'{self._name}: there is nothing to join')
        arrays = [_points(p) if isinstance(p, slice) else p for p in parts]
        device = next((x.device for x in arrays if isinstance(x, _core.ndarray)), None)
        arrays = [_core.array(x) if isinstance(x, list) else x for x in arrays]
        for x in arrays:
            if not isinstance(x, (_core.ndarray, bool, int, float, complex)):
                raise TypeError(
                    f'{self._name}: expected arrays, lists, numbers and slices, got '
                    f'{type(x).__name__}'
                )
        dtype = _dtypes.result_type(*arrays)
        return _core.concatenate(
            [self._lifted(x, dtype, device, ndmin, trans1d) for x in arrays], axis
        )

    def _directive(self, text: str) -> tuple[int, int, int]:
        try:
            given = [int(number) for number in text.split(',')]
        except ValueError:
            given = []
        if not 1 <= len(given) <= 3:
            raise ValueError(
                f"{self._name}: the string is '{text}', expected up to three numbers: axis, ndmin "
                'and trans1d (there are no matrices)'
            )
        axis, ndmin, trans1d = given + list(self._defaults[len(given) :])
        return axis, ndmin, trans1d

    def _lifted(
        self, x: ArrayLike, dtype: DTypeLike, device: DeviceLike | None, ndmin: int, trans1d: int
    ) -> _core.ndarray:
        """Extends to `ndmin` axes; the array's own axes begin at `trans1d`."""
        if not isinstance(x, _core.ndarray):
            return _core.full((1,) * max(ndmin, 1), x, dtype, device=device)
        x = x.astype(dtype, False)
        lacking = ndmin - x.ndim
        if lacking <= 0:
            return x
        before = trans1d if trans1d >= 0 else trans1d + lacking + 1
        return x.reshape((1,) * before + x.shape + (1,) * (lacking - before))

    def __repr__(self) -> str:
        return f'chainerx.{self._name}'


mgrid = _Grid('mgrid', False)
ogrid = _Grid('ogrid', True)
r_ = _Joined('r_', 0, 1, -1)
c_ = _Joined('c_', -1, 2, 0)


def ndenumerate(arr: _core.ndarray) -> Iterator[tuple[tuple[int, ...], tp.Any]]:
    """Goes through the indices and the elements of an array, as numbers.

    Args:
        arr (ndarray): Any shape and dtype; it is copied to the host once.
    Returns:
        iterator: Pairs of a tuple of int and a number, in C order.
    Raises:
        TypeError: If it is no array, number or list.
    """
    arr = as_array('ndenumerate', 'arr', arr)
    values = arr.reshape(-1).tolist()
    return zip(np.ndindex(arr.shape), values, strict=True)
