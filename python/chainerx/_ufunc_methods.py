"""Methods of NumPy's ufuncs, such as ``numpy.add.reduce``, computed by routines."""

from __future__ import annotations

import itertools
import operator
import typing as tp

import numpy as np

from chainerx import _core

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, ArrayLike, Axis, DTypeLike, Index, Routine

# The reduction along an axis by a function, and the corresponding cumulative routine.
_REDUCTIONS = {
    'add': _core.sum,
    'multiply': _core.prod,
    'maximum': _core.max,
    'minimum': _core.min,
    'fmax': _core.nanmax,
    'fmin': _core.nanmin,
    'logical_and': _core.all,
    'logical_or': _core.any,
    'logaddexp': _core.logsumexp,
}
_SCANS = {'add': _core.cumsum, 'multiply': _core.cumprod}
# Idempotent functions: an element may be reduced twice, so overlapping parts can be combined.
_IDEMPOTENT = ('maximum', 'minimum', 'fmax', 'fmin', 'logical_and', 'logical_or')
# Their names in `x.at[...]`.
_UPDATES = {
    'add': 'add',
    'subtract': 'subtract',
    'multiply': 'multiply',
    'divide': 'divide',
    'power': 'power',
    'maximum': 'max',
    'minimum': 'min',
}


def _lacks(ufunc: np.ufunc, method: str, names: tp.Iterable[str]) -> TypeError:
    return TypeError(
        f'{ufunc.__name__}.{method}: chainerx has no routine for that, but for '
        f'{", ".join(names)}; convert with chainerx.to_numpy(x)'
    )


def _given(kwargs: dict[str, Argument]) -> dict[str, tp.Any]:
    """Drops NumPy's default values, which not all routines accept as arguments."""
    if len(kwargs.get('out', ())) == 1:  # NumPy wraps it in a tuple
        kwargs = {**kwargs, 'out': kwargs['out'][0]}
    return {k: v for k, v in kwargs.items() if v is not None}


def _store(y: _core.ndarray, out: tuple[_core.ndarray | None]) -> _core.ndarray:
    if out[0] is None:
        return y
    out[0][...] = y
    return out[0]


def _reduce(ufunc: np.ufunc, x: _core.ndarray, axis: Axis | None = 0, **kwargs: Argument) -> tp.Any:
    routine: tp.Any = _REDUCTIONS.get(ufunc.__name__)
    if routine is None:
        raise _lacks(ufunc, 'reduce', _REDUCTIONS)
    return routine(x, axis=axis, **_given(kwargs))


def _accumulate(ufunc: np.ufunc, x: _core.ndarray, axis: int = 0, **kwargs: Argument) -> tp.Any:
    if ufunc.__name__ in _SCANS:
        return _SCANS[ufunc.__name__](x, axis=axis, **_given(kwargs))
    if ufunc.__name__ not in _IDEMPOTENT:
        raise _lacks(ufunc, 'accumulate', (*_SCANS, *_IDEMPOTENT))
    dtype, out = kwargs.get('dtype'), kwargs.get('out', (None,))
    y = _core.moveaxis(x if dtype is None else x.astype(dtype), axis, 0)
    if ufunc.__name__.startswith('logical'):
        y = y.astype(bool)
    step = 1  # each result reduces the last `step` elements
    while step < len(y):
        y = _core.concatenate([y[:step], getattr(_core, ufunc.__name__)(y[step:], y[:-step])])
        step *= 2
    return _store(_core.moveaxis(y, 0, axis), out)


def _reduceat(
    ufunc: np.ufunc,
    x: _core.ndarray,
    indices: tp.Any,
    axis: int = 0,
    dtype: DTypeLike | None = None,
    out: tuple[_core.ndarray | None] = (None,),
) -> tp.Any:
    """One reduction per index, up to the next one; a single element if the next is not larger."""
    if ufunc.__name__ not in _REDUCTIONS:
        raise _lacks(ufunc, 'reduceat', _REDUCTIONS)
    rows = _core.moveaxis(x, axis, 0)
    n = len(rows)
    at = [operator.index(i) for i in (indices.tolist() if hasattr(indices, 'tolist') else indices)]
    for i in at:
        if not 0 <= i < n:
            raise IndexError(
                f'{ufunc.__name__}.reduceat: indices holds {i}, expected 0 to {n - 1}, for axis '
                f'{axis} of shape {x.shape}'
            )
    parts = [
        _reduce(ufunc, rows[i : max(j, i + 1)], keepdims=True, dtype=dtype)
        for i, j in itertools.pairwise([*at, n])
    ]
    empty = _reduce(ufunc, rows[:1], keepdims=True, dtype=dtype)[:0]
    return _store(_core.moveaxis(_core.concatenate([*parts, empty]), 0, axis), out)


def _outer(function: Routine, a: ArrayLike, b: object, **kwargs: Argument) -> tp.Any:
    if isinstance(a, _core.ndarray):
        ndim = b.ndim if isinstance(b, _core.ndarray) else 0
        a = a.reshape(a.shape + (1,) * ndim)
    return function(a, b, **_given(kwargs))


def _at(ufunc: np.ufunc, x: ArrayLike, index: Index, *values: ArrayLike) -> None:
    """Updates in place; equal indices count as often as they occur."""
    if not isinstance(x, _core.ndarray):
        raise TypeError(
            f'{ufunc.__name__}.at: a must be a chainerx.ndarray, got {type(x).__name__}'
        )
    if ufunc.__name__ == 'add' and len(values) == 1 and isinstance(values[0], _core.ndarray):
        _core.add_at(x, index, values[0])
        return
    if ufunc.__name__ not in _UPDATES:
        raise _lacks(ufunc, 'at', _UPDATES)
    x[...] = getattr(x.at[index], _UPDATES[ufunc.__name__])(*values)


def call(
    ufunc: np.ufunc,
    function: Routine,
    method: str,
    inputs: tuple[Argument, ...],
    kwargs: dict[str, Argument],
) -> tp.Any:
    """Computes ``ufunc.method(*inputs, **kwargs)``.

    Args:
        ufunc (numpy.ufunc): One of NumPy's.
        function (callable): The elementwise function of its name here.
        method (str): 'reduce', 'accumulate', 'reduceat', 'outer' or 'at'.
        inputs (tuple): What the method was called with.
        kwargs (dict): The same, by name.
    Returns:
        ndarray: Differentiable as the routine is; None of 'at'.
    Raises:
        TypeError: If no routine here does that.
        IndexError: If an index is out of range.
    """
    if method == 'outer':
        return _outer(function, *inputs, **kwargs)
    run: tp.Any = {'reduce': _reduce, 'accumulate': _accumulate, 'reduceat': _reduceat, 'at': _at}
    return run[method](ufunc, *inputs, **kwargs)
