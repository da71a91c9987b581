"""Routines that apply functions of the user to parts of arrays."""

from __future__ import annotations

import functools
import itertools
import typing as tp

from chainerx import _core
from chainerx._array_likes import as_array
from chainerx._shapes import broadcast_shapes

if tp.TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainerx._typing import Argument, DeviceLike, Routine


# The function by which chainerx.func replaces a routine that has batches among its arguments: it
# runs once for each example. Called with the name, the function, args and kwargs; returns
# NotImplemented without batches.
BY_EXAMPLES: list[Routine] = []


def apply_along_axis(
    func1d: Routine, axis: int, arr: _core.ndarray, *args: Argument, **kwargs: Argument
) -> _core.ndarray:
    """Calls a function on each vector along an axis.

    Args:
        func1d (callable): Takes a vector and ``args``, ``kwargs``; returns an array, always of one
            shape, or a number.
        axis (int): Which.
        arr (ndarray): 1 dimension or more.
        *args: Further arguments.
        **kwargs: Further keyword arguments.
    Returns:
        ndarray: What the function returned in the place of the axis. Differentiable as the
        function is.
    Raises:
        ValueError: If there is no vector to call it on.
        DimensionError: If there is no such axis, or results have several shapes.
        TypeError: If ``axis`` is no integer.
    """
    arr = as_array('apply_along_axis', 'arr', arr)
    ndim = arr.ndim
    if not hasattr(axis, '__index__'):
        name = type(axis).__name__
        raise TypeError(f'apply_along_axis: axis must be an integer, got {name}')
    if not -ndim <= axis < ndim:
        raise _core.AxisError(
            f'apply_along_axis: axis {axis} is out of range for {ndim} dimensions'
        )
    x = _core.moveaxis(arr, axis, -1)
    outer = x.shape[:-1]
    if 0 in outer:
        raise ValueError(f'apply_along_axis: arr of shape {arr.shape} has no vector')
    results = []
    for index in itertools.product(*map(range, outer)):
        y = func1d(x[index], *args, **kwargs)
        results.append(y if isinstance(y, _core.ndarray) else _core.array(y, device=arr.device))
    y = _core.stack(results)
    y = y.reshape(outer + y.shape[1:])
    last = y.ndim - len(outer)
    at = axis % arr.ndim
    return _core.moveaxis(y, tuple(range(len(outer), y.ndim)), tuple(range(at, at + last)))


def apply_over_axes(
    func: Callable[[_core.ndarray, int], _core.ndarray], a: _core.ndarray, axes: int | Sequence[int]
) -> _core.ndarray:
    """Calls a function over one axis after the other.

    Args:
        func (callable): Takes an array and an axis; returns an array of as many dimensions, or of
            one less.
        a (ndarray): Any shape.
        axes (int or sequence of int): Which; they count as those of ``a``.
    Returns:
        ndarray: As many dimensions as ``a``. Differentiable as the function is.
    Raises:
        TypeError: If ``a`` is no ndarray.
        ValueError: If the function returns another number of dimensions.
    """
    y = as_array('apply_over_axes', 'a', a)
    for axis in (axes,) if isinstance(axes, int) else axes:
        at = axis + a.ndim if axis < 0 else axis
        result = func(y, at)
        if result.ndim == y.ndim - 1:
            result = _core.expand_dims(result, at)
        if result.ndim != y.ndim:
            raise ValueError(
                f'apply_over_axes: func returned {result.ndim} dimensions for {y.ndim}'
            )
        y = result
    return y


def piecewise(
    x: _core.ndarray,
    condlist: tp.Any,
    funclist: Sequence[tp.Any],
    *args: Argument,
    **kw: Argument,
) -> _core.ndarray:
    """A function that is defined by parts: of several conditions that hold the last counts.

    Args:
        x (ndarray): Where; any shape, numbers.
        condlist (sequence of ndarray): Conditions, of the shape of ``x`` or that broadcast to it;
            lists of bools, too. One alone may be given as it is.
        funclist (sequence): For each a number, or a function that takes the elements where it
            holds; one more for those where none does, which are 0 else.
        *args: Further arguments of the functions.
        **kw: Further keyword arguments.
    Returns:
        ndarray: The shape and dtype of ``x``. Differentiable as the functions are. Runs example by
        example in `func.vmap`, where functions may use arguments alone.
    Raises:
        ValueError: If the lists do not fit.
        DimensionError: If conditions do not broadcast.
    """
    x = as_array('piecewise', 'x', x)
    for by_examples in BY_EXAMPLES:
        y = by_examples('piecewise', piecewise, (x, condlist, funclist, *args), kw)
        if y is not NotImplemented:
            return tp.cast(_core.ndarray, y)
    condlist = _conditions(condlist, x)
    conditions = []
    for i, condition in enumerate(condlist):
        try:
            conditions.append(_core.broadcast_to(condition.astype('bool', False), x.shape))
        except _core.DimensionError:
            raise _core.DimensionError(
                f'piecewise: condlist[{i}] has shape {condition.shape}, which does not broadcast '
                f'to {x.shape}, the shape of x'
            ) from None
    if len(funclist) == len(conditions) + 1:
        none = _core.ones(x.shape, 'bool', x.device)
        for c in conditions:
            none = _core.logical_and(none, _core.logical_not(c))
        conditions.append(none)
    if len(funclist) != len(conditions):
        n = len(condlist)
        raise ValueError(
            f'piecewise: funclist has {len(funclist)} items, expected {n} or {n + 1} for condlist'
        )
    y = x * 0 if x.is_backprop_required() else _core.zeros_like(x, device=x.device)
    for condition, function in zip(conditions, funclist, strict=True):
        if not callable(function):
            y = _core.where(condition, function, y).astype(x.dtype, False)
            continue
        picked = x[condition]
        if picked.size:
            y = y.at[condition].set(function(picked, *args, **kw))
    return y


def _conditions(condlist: tp.Any, x: _core.ndarray) -> list[_core.ndarray]:
    """The items of ``condlist``; a single condition is wrapped in a list."""
    if isinstance(condlist, (list, tuple)):
        is_one = x.ndim > 0 and not any(
            isinstance(c, (list, tuple, _core.ndarray)) or getattr(c, 'ndim', 0) for c in condlist
        )
    else:
        is_one = getattr(condlist, 'ndim', 0) <= x.ndim
    return [_core.asarray(c, device=x.device) for c in ([condlist] if is_one else condlist)]


def mask_indices(
    n: int, mask_func: Callable[..., _core.ndarray], k: int = 0, device: DeviceLike | None = None
) -> tuple[_core.ndarray, ...]:
    """The index of what a function such as :func:`triu` leaves of a square matrix.

    Args:
        n (int): The number of rows and columns.
        mask_func (callable): Takes a matrix and ``k``.
        k: Its second argument.
        device: Default: the default device.
    Returns:
        tuple of ndarray: int64, rows and columns.
    """
    return _core.nonzero(mask_func(_core.ones((n, n), 'int32', device), k))


class vectorize:
    """A function of numbers as one of arrays, called for all combinations that broadcasting gives.

    It is a loop in Python: for functions that can't be written in array routines.

    Args:
        pyfunc (callable): Takes and returns arrays without dimensions, or numbers.
        otypes (list or str): Dtypes of the results; without them, those of the first call.
        doc (str): The docstring. Default: that of the function.
        excluded (set): Positions and names of arguments that are handed on as they are.
    """

    def __init__(
        self,
        pyfunc: Routine,
        otypes: tp.Any = None,
        doc: str | None = None,
        excluded: tp.Iterable[int | str] | None = None,
    ) -> None:
        functools.update_wrapper(self, pyfunc)
        if doc is not None:
            self.__doc__ = doc
        self.pyfunc = pyfunc
        self.otypes = None if otypes is None else list(otypes)
        self.excluded = set(excluded or ())

    def __call__(self, *args: Argument, **kwargs: Argument) -> tp.Any:
        """Calls the function for all elements; differentiable if the function is."""
        given: dict[tp.Any, tp.Any] = {**dict(enumerate(args)), **kwargs}
        arrays = {
            key: x if isinstance(x, _core.ndarray) else _core.array(x)
            for key, x in given.items()
            if key not in self.excluded
        }
        shape = broadcast_shapes(*(x.shape for x in arrays.values()))
        flat = {key: _core.broadcast_to(x, shape).reshape(-1) for key, x in arrays.items()}
        count = 1
        for n in shape:
            count *= n
        if count == 0 and self.otypes is None:
            raise ValueError('vectorize: nothing to call for, and otypes is not given')
        results = []
        for i in range(count):
            called = given | {key: x[i] for key, x in flat.items()}
            results.append(
                self.pyfunc(
                    *(called[k] for k in range(len(args))),
                    **{k: called[k] for k in kwargs},
                )
            )
        if count == 0:
            outputs = [_core.empty(shape, dtype) for dtype in self.otypes or ()]
            return outputs[0] if len(outputs) == 1 else tuple(outputs)
        if not isinstance(results[0], tuple):
            return self._join(results, 0, shape)
        return tuple(self._join([r[k] for r in results], k, shape) for k in range(len(results[0])))

    def _join(self, values: list[tp.Any], k: int, shape: tuple[int, ...]) -> _core.ndarray:
        arrays = [v if isinstance(v, _core.ndarray) else _core.array(v) for v in values]
        dtype = arrays[0].dtype if self.otypes is None else self.otypes[k]
        return _core.stack([a.astype(dtype, False) for a in arrays]).reshape(shape)
