"""Runs routines without a batching rule once per example."""

from __future__ import annotations

import collections.abc as c
import sys
import typing as tp
import warnings

import chainerx
from chainerx import _functional
from chainerx.func import _batch, _tree
from chainerx.func._batch import Level

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, Routine, Tree

_PACKAGE = 'chainerx.'

# The routines without a rule, or with a rule for some of their arguments only, and the reasons. A
# test compares them with the whole table of operations.
_LENGTH = 'the length of the result is one of values'
_BORDERS = 'borders of bins are taken from values'
_RANKS = 'ranks that are a batch pick other elements of each example'
_WEIGHTS = 'weights that are a batch share no product'
_PYTHON = 'the result is no array: refused where examples differ'
REASONS = {
    'allclose': _PYTHON,
    'array_equal': _PYTHON,
    'array_equiv': _PYTHON,
    'einsum_path': _PYTHON,
    'argwhere': _LENGTH,
    'bincount': _LENGTH,
    'flatnonzero': _LENGTH,
    'intersect1d': _LENGTH,
    'nonzero': _LENGTH,
    'setdiff1d': _LENGTH,
    'setxor1d': _LENGTH,
    'trim_zeros': _LENGTH,
    'union1d': _LENGTH,
    'unique': _LENGTH,
    'unique_all': _LENGTH,
    'unique_counts': _LENGTH,
    'unique_inverse': _LENGTH,
    'unique_values': _LENGTH,
    'histogram': _BORDERS,
    'histogram2d': _BORDERS,
    'histogram_bin_edges': _BORDERS,
    'histogramdd': _BORDERS,
    'linalg.lstsq': 'the shape of the residuals is one of ranks',
    'real_if_close': 'the dtype of the result is one of values',
    **{n: 'as many coefficients as values tell' for n in ['polydiv', 'polymul', 'roots']},
    **{n: 'a few coefficients' for n in ['polyadd', 'polysub', 'polyder', 'polyint']},
    'poly': 'the dtype of the result is one of values',
    'polyfit': 'it stands on lstsq',
    'as_strided': 'strides are those of one array',
    'compress': 'a mask that is a batch picks other numbers of elements',
    'extract': 'a mask that is a batch picks other numbers of elements',
    'ix_': 'a mask that is a batch picks other numbers of elements',
    'piecewise': 'conditions pick other numbers of elements of each example',
    'delete': 'positions that are a batch leave other numbers of elements',
    'insert': 'positions that are a batch are ordered by value',
    **{name: _RANKS for name in ['quantile', 'nanquantile', 'percentile', 'nanpercentile']},
    'trapezoid': 'lengths that differ along the axis broadcast after differences are taken',
    'digitize': 'bins that are a batch rise for one example and fall for another',
    'from_dlpack': 'the memory is that of one array',
    **{f'n_step_{cell}': _WEIGHTS for cell in ['rnn', 'birnn', 'gru', 'bigru', 'lstm', 'bilstm']},
}

# The same for routines that a test with all arrays as batches runs by their rules.
REASONS_OF_SOME = {
    'gradient': 'spacings that are a batch are numbers or coordinates for each axis',
    'searchsorted': 'a sorter that is a batch orders each example in its own way',
    **{name: 'the order is that of memory' for name in ['ravel', 'reshape', 'flatten']},
}


class BatchingWarning(RuntimeWarning):
    """A call inside of vmap runs once per example, which takes time."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)


def call(name: str, level: Level, function: Routine, args: Argument, kwargs: Argument) -> Tree:
    """The routine for each example; the results, arrays or trees of them, are stacked."""
    if level.uniform and level.size:
        result = function(*_batch.pick(args, level, 0), **_batch.pick(kwargs, level, 0))
        leaves = _tree.flatten(result)[0]
        if not any(_batch.is_array(x) and x.dtype.kind in 'fcV' for x in leaves):
            return result  # equal for all examples, and without derivatives
    reason = REASONS.get(name) or REASONS_OF_SOME.get(name)
    why = f' for this ({reason})' if reason else ''
    warnings.warn(
        f'vmap: {name} has no batching rule{why}, so it runs once for each of {level.size} '
        'examples',
        BatchingWarning,
        stacklevel=_outside(),
    )
    return each(name, level, function, args, kwargs)


class Fallback:
    """Calls a function for all directions at once, or if that fails, takes them one by one.

    The warning does not name vmap; the function may ask for values, memory or hooks.
    """

    def __init__(self, op: str) -> None:
        self.op = op
        self.failed = False

    def __call__(self, at_once: c.Callable[[], Tree], each: c.Callable[[], Tree]) -> Tree:
        """Returns `at_once()` if it works, else `each()`."""
        if self.failed:
            return each()
        try:
            return at_once()
        except MemoryError:
            raise
        except Exception as error:
            # Keeps the text only, since the traceback would keep objects alive.
            why = f'{type(error).__name__}: {error}'
            # The function asks for values, memory or hooks.
            is_refused = str(error).startswith('vmap: ')
        result = each()  # the function itself raises its error
        self.failed = True
        if not is_refused:
            warnings.warn(
                f'{self.op}: the function can not be called for all directions at once ({why}), so '
                'they go one by one',
                BatchingWarning,
                stacklevel=_outside(),
            )
        return result


def _outside() -> int:
    """The number of stack frames between `warn` and the caller of the library."""
    frame: tp.Any = sys._getframe(1)
    level = 1
    while frame.f_back is not None and str(frame.f_globals.get('__name__')).startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    return level


def each(name: str, level: Level, function: Routine, args: Argument, kwargs: Argument) -> Tree:
    """Runs the routine for each example, without a warning; stacks the results."""
    if level.size == 0:
        raise chainerx.NotImplementedError(
            f'vmap: {name} has no batching rule, and without examples there is nothing to run'
        )
    rows = []
    structure = None
    for i in range(level.size):
        leaves, structure = _tree.flatten(
            function(*_batch.pick(args, level, i), **_batch.pick(kwargs, level, i))
        )
        rows.append(leaves)
    assert structure is not None
    columns = []
    for column in zip(*rows, strict=True):
        if any(_batch.is_batch(x, level) for x in column):
            raise chainerx.ChainerxError(
                f'vmap: {name} runs once for each example, and what it calls uses a batch; give '
                'that as an argument'
            )
        if not _batch.is_array(column[0]):
            if any(x != column[0] for x in column):
                raise TypeError(
                    f'vmap: {name} gives {column[0]!r} for one example and something else for '
                    'another, which is no array'
                )
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


def _if_batches(name: str, function: Routine, args: Argument, kwargs: Argument) -> Tree:
    level = _batch.innermost(*args, *kwargs.values())
    if level is None or level.observer is not None:  # an observer sees what it is made of
        return NotImplemented
    return call(name, level, function, args, kwargs)


_batch.WITHOUT_RULE[:] = [call]
_functional.BY_EXAMPLES[:] = [_if_batches]
