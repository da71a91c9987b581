"""Reverse mode: gradients of functions."""

from __future__ import annotations

import collections.abc as c
import functools
import typing as tp

import chainerx
from chainerx import _collector
from chainerx._core import functional
from chainerx.func import _batch, _loop, _tree
from chainerx.func._calls import Call, Split, check_function, lower_like, record

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, Operand, Tree

Function = c.Callable[..., tp.Any]
Argnums = int | c.Sequence[int]


def value_and_grad(fun: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """The function that computes a function and its gradient.

    Args:
        fun (callable): Returns an array of no axes; with ``has_aux`` a pair of one and of anything
            else.
        argnums (int or sequence of int): By which positional arguments. They are arrays of floats,
            or tuples, lists and dicts of them.
        has_aux (bool): Whether there is something else.

    Returns:
        callable: Takes what ``fun`` takes and returns ``(value, gradient)``, or
        ``((value, aux), gradient)``. The gradient has the form of the argument, or is a tuple of
        one for each of several ``argnums``; zeros where the value does not depend on an array.
        Differentiable, any order, and a batch of examples for `vmap`.

    Raises:
        DtypeError: If an argument to differentiate by, or the value, is of integers; if the one is
            real, and the other complex.
        TypeError: If ``fun`` can't be called; by the result, if the value is no array, or
            ``argnums`` are no arrays.
        DimensionError: If the value has axes.
    """
    check_function('value_and_grad', fun)
    return _value_and_grad('grad', fun, argnums, has_aux)


def _value_and_grad(op: str, fun: Function, argnums: Argnums, has_aux: bool) -> Function:
    @functools.wraps(fun)
    def value_and_gradient(*args: Argument, **kwargs: Argument) -> Tree:
        split = Split(op, args, argnums)
        split.check_float()
        call = Call(split, fun, kwargs, has_aux=has_aux)
        pullback = record(functional.Pullback, call)
        if call.structure is not _tree.LEAF:
            raise TypeError(
                f'{op}: the function returned the structure {call.structure}, expected one array'
            )
        value = call.results[0]
        if value.shape != ():
            raise chainerx.DimensionError(
                f'{op}: the function returned an array of shape {value.shape}, expected (); jacrev '
                'takes the derivatives of several elements'
            )
        if value.dtype.kind not in 'fc' and value.dtype.name != 'bfloat16':
            raise chainerx.DtypeError(
                f'{op}: the function returned dtype {value.dtype}, expected a floating point one: '
                'only such results have derivatives'
            )
        if value.dtype.kind == 'c' and any(x.dtype.kind != 'c' for x in split.leaves):
            raise chainerx.DtypeError(
                f'{op}: the function of an array of real numbers returned dtype {value.dtype}, '
                'expected a real one; jacrev takes the derivatives of both parts'
            )
        raw = pullback.outputs
        seeds = [chainerx.ones_like(raw[0], raw[0].device), *[None] * (len(raw) - 1)]
        gradient = split.trees(pullback(seeds))
        result = call.result(raw)
        return ((result, call.aux_result(raw)) if has_aux else result), gradient

    return value_and_gradient


def grad(fun: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """The function that computes the gradient of a function.

    Not to be confused with `chainerx.grad`, which takes arrays.

    Args:
        fun (callable): Returns an array of no axes; with ``has_aux`` a pair of one and of anything
            else.
        argnums (int or sequence of int): By which positional arguments.
        has_aux (bool): Whether there is something else.

    Returns:
        callable: Takes what ``fun`` takes and returns the gradient, or ``(gradient, aux)``; see
        `value_and_grad`.

    Raises:
        DtypeError: If an argument to differentiate by, or the value, is of integers; if the one is
            real, and the other complex.
        DimensionError: If the value has axes.
    """
    check_function('grad', fun)
    return gradient_of('grad', fun, argnums, has_aux)


def gradient_of(op: str, fun: Function, argnums: Argnums, has_aux: bool) -> Function:
    """`grad` whose errors name another function."""
    both = _value_and_grad(op, fun, argnums, has_aux)

    @functools.wraps(fun)
    def gradient(*args: Argument, **kwargs: Argument) -> Tree:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(fun: Function, *primals: Tree, has_aux: bool = False) -> Tree:
    """A function at a point, and what takes gradients of its result to those of its arguments.

    Args:
        fun (callable): Takes the primals, returns arrays: one, or tuples, lists and dicts of them.
        *primals: The arguments, arrays or trees of them.
        has_aux (bool): Whether ``fun`` returns a pair of that and of anything else.

    Returns:
        tuple: The result, a function, and aux if there is one. The function takes cotangents in the
        form of the result (None for zeros) and returns a tuple of gradients, one for each primal,
        in its form. It can be called several times, and is differentiable.

    Raises:
        ChainerxError: If 62 derivatives are alive: functions from `vjp` and `linearize` that are
            kept, and levels of nesting.
        TypeError: If ``fun`` can't be called, or a primal or the result is not of arrays; by the
            function, if cotangents do not have the form of the result.
        GradientError: By the function, if a cotangent has another shape or dtype than the result.
    """
    check_function('vjp', fun)
    return vjp_of('vjp', fun, primals, has_aux)


def vjp_of(op: str, fun: Function, primals: tuple[Tree, ...], has_aux: bool) -> Tree:
    """`vjp` whose errors name another function."""
    pull = _Pull(op, fun, primals, has_aux)
    return (pull.result, pull, pull.aux) if has_aux else (pull.result, pull)


class _Pull:
    """The pullback that `vjp` returns."""

    def __init__(self, op: str, fun: Function, primals: tuple[Tree, ...], has_aux: bool) -> None:
        split = Split(op, primals, tuple(range(len(primals))))
        self._call = Call(split, fun, has_aux=has_aux)
        self._pullback = record(functional.Pullback, self._call)
        self._call.forget()
        raw = self._pullback.outputs
        self._without_aux = [None] * (len(raw) - self._call.count)
        self.result = self._call.result(raw)
        self.aux = self._call.aux_result(raw) if has_aux else None

    def __call__(self, cotangents: Tree) -> Tree:
        call = self._call
        leaves, newer = lower_like(
            call, cotangents, f'{call.split.op}: cotangents', call.structure, call.results
        )
        if newer is not None:
            name = 'the function that vjp returned'
            return _loop.call(name, newer, self._of_leaves, (leaves,), {})
        return call.split.trees(self._pullback([*leaves, *self._without_aux]))

    def _of_leaves(self, leaves: list[Operand]) -> Tree:
        return self(_tree.unflatten(self._call.structure, leaves))


def checkpoint(fun: Function) -> Function:
    """A function that keeps its arguments alone for backward, and is called again there.

    Args:
        fun (callable): Takes anything, returns arrays or trees of them. Must do the same when it is
            called again; random numbers of chainerx and of NumPy's global generator will be those
            of the first call. Other threads may draw from generators of chainerx meanwhile, but not
            from NumPy's, if ``fun`` does.

    Returns:
        callable: Takes and returns the same. Differentiable, any order, by its arguments and by all
        that ``fun`` uses.

    Raises:
        TypeError: If ``fun`` can't be called, or returns something else.
        GradientError: In backward, if the second call gives other shapes or dtypes.

    Source: Chen et al., Training deep nets with sublinear memory cost, 2016.
    """
    check_function('checkpoint', fun)
    _collector.watch()

    @functools.wraps(fun)
    def checkpointed(*args: Argument, **kwargs: Argument) -> Tree:
        if _batch.observer() is not None:  # which sees the routines, not a call of this one
            return fun(*args, **kwargs)
        leaves, structure = _tree.flatten((args, kwargs))
        levels = _batch.active_levels()
        at = [i for i, x in enumerate(leaves) if _batch.is_array(x)]
        shape_of_result: list[_tree.Structure] = []
        numpy_state = NumpyState()

        def function(raw: list[Operand]) -> list[Operand]:
            values = list(leaves)
            for i, x in zip(at, _batch.raise_all(raw, levels), strict=True):
                values[i] = x
            with numpy_state, _batch.at_levels(levels):
                again_args, again_kwargs = _tree.unflatten(structure, values)
                result = fun(*again_args, **again_kwargs)
            arrays, found = _batch.flatten_arrays(result, 'checkpoint: the result of the function')
            shape_of_result[:] = [found]
            return _batch.lower_all(arrays, levels)

        raw = functional.checkpoint(function, _batch.lower_all([leaves[i] for i in at], levels))
        for i in at:  # the library keeps the arrays that it needs
            leaves[i] = None
        return _tree.unflatten(shape_of_result[0], _batch.raise_all(raw, levels))

    return checkpointed


class NumpyState:
    """What NumPy's global generator was when this was first entered, and is when it is again.

    That has one state for all threads, so it is touched only if the first call drew from it.
    """

    def __init__(self) -> None:
        self.first: tp.Any = None
        self.before: tp.Any = None
        self.is_first = True

    def __enter__(self) -> None:
        import numpy as np

        if self.is_first:
            self.first = np.random.get_state()
        elif self.first is not None:
            self.before = np.random.get_state()
            np.random.set_state(self.first)

    def __exit__(self, *_: object) -> None:
        import numpy as np

        if self.is_first:
            self.is_first = False
            if _is_same(np.random.get_state(), self.first):
                self.first = None
        elif self.before is not None:
            np.random.set_state(self.before)
            self.before = None


def _is_same(state: Operand, other: Operand) -> bool:
    """Whether two states of NumPy's global generator are equal."""
    pairs = zip(state, other, strict=True)
    return all(bool((a == b).all()) if hasattr(a, 'all') else a == b for a, b in pairs)
