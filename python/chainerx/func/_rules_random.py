"""Batching rules of random numbers."""

from __future__ import annotations

import functools
import inspect
import operator
import typing as tp

import chainerx
from chainerx._core import functional
from chainerx.func import _batch, _loop
from chainerx.func._batch import DRAWS, NO_DRAWS, Level, is_batch

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, Operand, Routine


def _shape(size: Argument) -> tuple[int, ...]:
    if size is None:
        return ()
    if isinstance(size, (tuple, list)):
        return tuple([operator.index(n) for n in size])
    return (operator.index(size),)


@functools.cache
def _parameters(name: str) -> list[str]:
    return list(inspect.signature(getattr(chainerx.random, name)).parameters)


def _again(function: Routine) -> Routine:
    """The same function, drawing the same numbers each time."""
    draws = functional.SameDraws()

    @functools.wraps(function)
    def again(*args: Argument, **kwargs: Argument) -> Operand:
        return draws(lambda: function(*args, **kwargs))

    return again


def _numbers(level: Level, function: Routine, *args: Argument, **kw: Argument) -> Operand:
    """Routines of numbers draw for all examples at once; those of arrays run by examples."""
    values = [*args, *kw.values()]
    if any(is_batch(x, level) for x in values):
        if level.randomness == 'same':
            function = _again(function)
        return _loop.each(function.__name__, level, function, args, kw)
    if level.randomness == 'same':
        return function(*args, **kw)
    names = _parameters(function.__name__)
    if 'size' not in names or any(_batch.is_array(x) for x in values):
        return _batch.wrap(
            chainerx.stack([function(*args, **kw) for _ in range(level.size)]), level
        )
    at = names.index('size')
    args = list(args)  # type: ignore[assignment]
    if len(args) > at:
        args[at] = (level.size, *_shape(args[at]))  # type: ignore[index]
    else:
        kw['size'] = (level.size, *_shape(kw.get('size')))
    return _batch.wrap(function(*args, **kw), level)


DRAWS['any'] = _numbers
_OTHERS = 'seed default_rng get_state set_state spawn __reduce__'
NO_DRAWS.update(f'random.{name}' for name in _OTHERS.split())


def _permutation(
    level: Level, function: Routine, x: Operand, *args: Argument, **kw: Argument
) -> Operand:
    if is_batch(x, level) and level.randomness == 'same' and not args and not kw:
        order = function(len(x))  # the same order for all examples
        return x[order]
    return _numbers(level, function, x, *args, **kw)


DRAWS['random.permutation'] = _permutation


def _dropout(
    level: Level, function: Routine, x: Operand, ratio: float = 0.5, key: Operand = None
) -> Operand:
    if level.randomness == 'different' and key is None:
        return _batch.wrap(function(_batch.full(x, level), ratio), level)
    if not is_batch(x, level):
        return function(x, ratio, key)
    ones = chainerx.ones(x.shape, x.dtype, device=x.device)
    return x * function(ones, ratio, key)


DRAWS['dropout'] = _dropout


@_batch.rule('dropout')
def _dropout_by_key(
    level: Level, function: Routine, x: Operand, ratio: float = 0.5, key: Operand = None
) -> Operand:
    return _dropout(level, function, x, ratio, key).array
