"""What has no batching rule runs once per example."""

from __future__ import annotations

import collections.abc as c
import typing as tp
import warnings

import chainerx
from chainerx.func import _batch, _tree
from chainerx.func._batch import Level


class BatchingWarning(RuntimeWarning):
    """A call inside of vmap runs once per example, which takes time."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)


def call(
    name: str, level: Level, function: c.Callable[..., tp.Any], args: tp.Any, kwargs: tp.Any
) -> tp.Any:
    """The routine for each example; the results, arrays or trees of them, are stacked."""
    warnings.warn(
        f'vmap: {name} has no batching rule, so it runs once for each of {level.size} examples',
        BatchingWarning,
        stacklevel=4,
    )
    return each(name, level, function, args, kwargs)


def each(
    name: str, level: Level, function: c.Callable[..., tp.Any], args: tp.Any, kwargs: tp.Any
) -> tp.Any:
    """The same without a word."""
    if level.size == 0:
        raise chainerx.NotImplementedError(
            f'vmap: {name} has no batching rule, and without examples there is nothing to run'
        )
    rows = []
    structure = None
    for i in range(level.size):
        leaves, structure = _tree.flatten(
            function(*_pick(args, level, i), **_pick(kwargs, level, i))
        )
        rows.append(leaves)
    assert structure is not None
    columns = []
    for column in zip(*rows, strict=True):
        if not _batch.is_array(column[0]):
            columns.append(column[0])
            continue
        shapes = {x.shape for x in column}
        if len(shapes) > 1:
            raise chainerx.DimensionError(
                f'vmap: the results of {name} have shapes {" and ".join(map(str, sorted(shapes)))} '
                'for different examples, expected one shape'
            )
        columns.append(_batch.Batched(chainerx.stack(list(column)), level))
    return _tree.unflatten(structure, columns)


def _pick(x: tp.Any, level: Level, i: int) -> tp.Any:
    if _batch.is_batch(x, level):
        return x.array[i]
    if type(x) in (list, tuple):
        return type(x)([_pick(y, level, i) for y in x])
    if type(x) is dict:
        return {k: _pick(v, level, i) for k, v in x.items()}
    if type(x) is slice:
        return slice(*[_pick(y, level, i) for y in (x.start, x.stop, x.step)])
    return x


_batch.WITHOUT_RULE[:] = [call]
