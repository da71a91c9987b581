"""Converts the function that a transform gets to a function of a list of plain arrays."""

from __future__ import annotations

import collections.abc as c
import threading
import typing as tp
import warnings

import chainerx
from chainerx._core import functional
from chainerx.func import _batch, _loop, _tree
from chainerx.func._batch import Level

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, Operand, Routine, Tree


def check_function(op: str, fun: object) -> None:
    """Raises when the transform is created, not when its result is called."""
    if not callable(fun):
        raise TypeError(f'{op}: fun is a {type(fun).__name__}, expected a function')


def check_pair(op: str, result: Tree) -> tuple[Operand, Operand]:
    """Checks the result of a function with has_aux, which must be a pair."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(
            f'{op}: with has_aux the function must return a pair (result, aux), got '
            f'{type(result).__name__}'
        )
    return result[0], result[1]


class Split:
    """The arguments of a call, some of whose arrays it is differentiated by.

    Inside of vmap, each array gets the axes of all batches: its derivative is another one for each
    example, even if the array is the same for all.
    """

    def __init__(self, op: str, args: tuple[Argument, ...], argnums: int | c.Sequence[int]) -> None:
        self.op = op
        self.args = args
        self.levels: list[Level] = _batch.active_levels()
        if (observer := _batch.observer()) is not None:
            observer.refuse(
                f'what {op} computes', 'derivatives are no routines; call the function itself'
            )
        self.single = not isinstance(argnums, (tuple, list))
        self.structures: list[_tree.Structure] = []
        self.leaves: list[Operand] = []
        if isinstance(argnums, (tuple, list)):
            self.argnums = [_check_argnum(op, n, args) for n in argnums]
            if len(set(self.argnums)) != len(self.argnums):
                raise ValueError(f'{op}: argnums has {tuple(argnums)}, one argument twice')
        else:
            self.argnums = [_check_argnum(op, argnums, args)]
        for n in self.argnums:
            leaves, structure = _batch.flatten_arrays(args[n], '{}: argument {}', op, n)
            self.leaves += leaves
            self.structures.append(structure)

    def check_float(self) -> None:
        """Raises unless there are gradients by all of the arrays."""
        for leaf in self.leaves:
            if not _is_float(leaf):
                raise chainerx.DtypeError(
                    f'{self.op}: an argument to differentiate by has dtype {leaf.dtype}, only '
                    'floating point and complex arrays have gradients'
                )

    def lowered(self) -> list[Operand]:
        """The arrays as plain arrays."""
        return _batch.lower_all(self.leaves, self.levels)

    def with_leaves(self, raw: list[Operand]) -> list[Operand]:
        """The arguments with other (plain) arrays."""
        leaves = iter(_batch.raise_all(raw, self.levels))
        args = list(self.args)
        for n, structure in zip(self.argnums, self.structures, strict=True):
            args[n] = _tree.unflatten(structure, leaves)
        return args

    def trees(self, raw: list[Operand]) -> Tree:
        """The (plain) arrays in the structure of the arguments; a single one, or a tuple."""
        leaves = iter(_batch.raise_all(raw, self.levels))
        if self.single:
            return _tree.unflatten(self.structures[0], leaves)
        return tuple([_tree.unflatten(structure, leaves) for structure in self.structures])


def _is_float(x: Operand) -> bool:
    return x.dtype.kind in 'fc' or x.dtype.name == 'bfloat16'


def _check_argnum(op: str, n: object, args: tuple[Argument, ...]) -> int:
    if not isinstance(n, int) or isinstance(n, bool):
        raise TypeError(f'{op}: argnums has {n!r}, expected integers')
    if not -len(args) <= n < len(args):
        raise ValueError(f'{op}: argnums has {n}, but there are {len(args)} positional arguments')
    return n % len(args)


class _Taken(threading.local):
    """The number of derivatives that this thread has begun to take."""

    count = 0


_taken = _Taken()


def _forgotten(*_: object) -> tp.NoReturn:
    raise AssertionError('a function is called again')


class Call:
    """One call of the function: its result, and the result as the library sees it."""

    def __init__(
        self,
        split: Split,
        function: Routine,
        kwargs: dict[str, tp.Any] | None = None,
        *,
        has_aux: bool = False,
    ) -> None:
        self.split = split
        self.function = function
        self.kwargs = kwargs or {}
        self.has_aux = has_aux
        self.structure = _tree.NONE
        self.aux: Tree = None

    def forget(self) -> None:
        """Drops references needed during a call only, since they could form a cycle."""
        self.function = _forgotten
        self.kwargs = {}
        self.split.args = ()

    def __call__(self, raw: list[Operand]) -> list[Operand]:
        """From plain arrays to plain arrays: those of the result, and then those of aux."""
        split = self.split
        taken = _taken.count
        result = self.function(*split.with_leaves(raw), **self.kwargs)
        aux: list[Tree] = []
        if self.has_aux:
            result, self.aux = check_pair(split.op, result)
            aux, self.aux_structure = _tree.flatten(self.aux)
        leaves, self.structure = _batch.flatten_arrays(
            result, '{}: the result of the function', split.op
        )
        self.count = len(leaves)
        self.results = leaves
        self.aux_leaves = aux
        arrays = [*leaves, *[x for x in aux if _batch.is_array(x)]] if aux else leaves
        outputs = _batch.lower_all(arrays, split.levels)
        # A constant derivative, for example of a linear function, is no error.
        if taken == _taken.count:
            self._warn_if_cut(outputs[: self.count])
        return outputs

    def _warn_if_cut(self, outputs: list[Operand]) -> None:
        if any(y.is_backprop_required(chainerx.anygraph) for y in outputs):
            return
        is_cut = any(map(_is_float, self.split.leaves)) and any(map(_is_float, outputs))
        if is_cut and not functional.is_repeated():
            warnings.warn(
                f'{self.split.op}: the result of the function hangs on no argument, so all '
                'derivatives are zeros; is the graph cut, as by `.array` of a Variable whose '
                'function took an array, by to_numpy or by as_grad_stopped?',
                UserWarning,
                stacklevel=_loop._outside(),
            )

    def result(self, raw: list[Operand]) -> Tree:
        """The result with these plain arrays as its leaves."""
        raised = _batch.raise_all(raw[: self.count], self.split.levels)
        return _tree.unflatten(self.structure, raised)

    def aux_result(self, raw: list[Operand]) -> Tree:
        """aux with these plain arrays; its other objects are unchanged."""
        arrays = iter(_batch.raise_all(raw[self.count :], self.split.levels))
        leaves = [next(arrays) if _batch.is_array(x) else x for x in self.aux_leaves]
        return _tree.unflatten(self.aux_structure, leaves)


_T = tp.TypeVar('_T')


def in_graph(op: str, function: c.Callable[..., _T], *args: Argument) -> _T:
    """Runs a call that needs a graph; only few graphs can be alive."""
    try:
        return function(*args)
    except chainerx.ChainerxError as error:
        if not str(error).startswith('too many backprop ids'):
            raise
        raise chainerx.ChainerxError(
            f'{op}: too many derivatives are alive, at most 62 can be: one for each function that '
            'vjp and linearize returned, as long as it is kept, for each level of nesting and each '
            f'scope ({error})'
        ) from error


def record(kind: c.Callable[[tp.Any, list[tp.Any]], _T], call: Call) -> _T:
    """The derivative of a call of the function."""
    _taken.count += 1
    return in_graph(call.split.op, kind, call, call.split.lowered())


def lower_like(
    call: Call, tree: Tree, what: str, structure: _tree.Structure, like: list[Operand]
) -> tuple[list[Operand], Level | None]:
    """Directions (cotangents or tangents) as plain arrays, None where there is none.

    Returns also the innermost vmap that has begun after the function was called, if a direction
    is one of its batches: the derivative is one of the function as it was, so it goes example by
    example.
    """
    leaves = _tree.flatten_like(structure, tree, what)
    newer: Level | None = None
    for i, (t, x) in enumerate(zip(leaves, like, strict=True)):
        if t is None:
            continue
        if not _batch.is_array(t):
            raise TypeError(f'{what} has a leaf of type {type(t).__name__}, expected an ndarray')
        # Checked here, since errors of the library would name axes that the user does not see.
        if t.shape != x.shape:
            raise chainerx.GradientError(
                f'{what}, leaf {i}, has shape {t.shape}, expected {x.shape}'
            )
        if t.dtype != x.dtype:
            raise chainerx.GradientError(
                f'{what}, leaf {i}, has dtype {t.dtype}, expected {x.dtype}'
            )
        level = _batch.innermost(t)
        if level is not None and level not in call.split.levels:
            newer = level if newer is None or level.number > newer.number else newer
    if newer is not None:
        return leaves, newer
    levels = call.split.levels
    return [t if t is None else _batch.lower(t, levels) for t in leaves], None
