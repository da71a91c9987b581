"""Jacobians and Hessians: all unit vectors at once, as a batch."""

from __future__ import annotations

import collections.abc as c
import functools
import typing as tp

import chainerx
from chainerx._core import functional
from chainerx.func import _forward, _loop, _reverse, _tree, _vmap
from chainerx.func._calls import Split, check_function, check_pair

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, Operand, Tree

Function = c.Callable[..., tp.Any]
Argnums = int | c.Sequence[int]


def _unit_vectors(x: Operand) -> Tree:
    """One unit vector for each element: (size, *shape)."""
    eye = chainerx.eye(x.size, dtype=x.dtype, device=x.device)
    return chainerx.reshape(eye, (x.size, *x.shape))


def _only(
    fun: Function, args: tuple[Argument, ...], kwargs: dict[str, Argument], split: Split
) -> Function:
    """The function of the arguments in argnums only."""

    def function(*chosen: object) -> Tree:
        full = list(args)
        for n, value in zip(split.argnums, chosen, strict=True):
            full[n] = value
        return fun(*full, **kwargs)

    return function


class _SameNumbers:
    """Calls functions with the random numbers of the first call.

    A Jacobian belongs to one function: rows with different dropout masks would not.
    """

    def __init__(self) -> None:
        self.numpy = _reverse.NumpyState()
        self.draws = functional.SameDraws()

    def __call__(self, fun: c.Callable[[], Tree]) -> Tree:
        with self.numpy:
            return self.draws(fun)


def _without_aux(op: str, fun: Function) -> Function:
    @functools.wraps(fun)
    def function(*args: Argument, **kwargs: Argument) -> Tree:
        return check_pair(op, fun(*args, **kwargs))[0]

    return function


def _with_aux(
    op: str, fun: Function, transform: c.Callable[[Function, _SameNumbers], Function]
) -> Function:
    """Applies a transform that calls the function with batches; aux comes from a separate call."""
    without_aux = _without_aux(op, fun)

    @functools.wraps(fun)
    def function(*args: Argument, **kwargs: Argument) -> Tree:
        numbers = _SameNumbers()
        aux = numbers(lambda: check_pair(op, fun(*args, **kwargs))[1])
        return transform(without_aux, numbers)(*args, **kwargs), aux

    return function


def _in_dtype_of(x: Operand, d: Operand) -> Tree:
    """The derivative by real `x` as in backward: in its dtype, or complex of the same precision."""
    dtype = chainerx.promote_types(x.dtype, 'complex64') if d.dtype.kind == 'c' else x.dtype
    return d.astype(dtype, copy=False)


def _by_complex(x: Operand, along_real: Operand, along_imaginary: Operand) -> Tree:
    """The derivative by complex `x` as in backward: of the real part of the result."""
    a, b = [chainerx.real(d).astype(x.dtype, copy=False) for d in (along_real, along_imaginary)]
    return a - 1j * b


def _at(structure: _tree.Structure, leaves: list[Operand], i: int, value: Operand) -> Tree:
    """A tree of zeros except for one leaf."""
    zeros = [chainerx.zeros_like(x, x.device) for x in leaves]
    return _tree.unflatten(structure, [*zeros[:i], value, *zeros[i + 1 :]])


def _stack(trees: list[Tree], structure: _tree.Structure, like: list[Operand], axis: int) -> Tree:
    """Stacks trees along a new axis; without trees, leaves of length 0 with shapes of `like`."""
    if not trees:
        at = [axis % (x.ndim + 1) for x in like]
        shapes = [(*x.shape[:k], 0, *x.shape[k:]) for x, k in zip(like, at, strict=True)]
        stacked = [
            chainerx.zeros(shape, x.dtype, device=x.device)
            for x, shape in zip(like, shapes, strict=True)
        ]
    else:
        columns = zip(*[_tree.flatten(tree)[0] for tree in trees], strict=True)
        stacked = [chainerx.stack(list(column), axis) for column in columns]
    return _tree.unflatten(structure, stacked)


def _with_imaginary(arguments: list[Tree], real: Operand, imaginary: Operand) -> Tree:
    """The gradients by real arguments of both parts of the result."""
    parts, structure = _tree.flatten(real)
    others, _ = _tree.flatten(imaginary)
    return _tree.unflatten(
        structure,
        [
            a if x.dtype.kind == 'c' else a + 1j * b
            for x, a, b in zip(arguments, parts, others, strict=True)
        ],
    )


def jacrev(
    fun: Function, argnums: Argnums = 0, chunk_size: int | None = None, has_aux: bool = False
) -> Function:
    """The function that computes the matrix of first derivatives, in reverse mode.

    Good where results are fewer than arguments; `jacfwd` is for the other case. `jacobian` is
    another name of it.

    Args:
        fun (callable): Returns arrays: one, or tuples, lists and dicts of them; with ``has_aux`` a
            pair of that and of anything else. Random numbers that it draws from `chainerx.random`
            are drawn once, and are the same for all rows. If it asks for what a batch does not have
            (``if x > 0``, ``float(x)``, ``x.flat``, hooks), rows are computed one after the other.
        argnums (int or sequence of int): By which positional arguments, arrays of floats or trees.
        chunk_size (int): How many rows to compute at a time; None for all. Less memory, more time.
        has_aux (bool): Whether there is something else.

    Returns:
        callable: Takes what ``fun`` takes. For each array of the result, in its form, there is one
        for each array of the argument, in its form, of the shape of the one and then of the other,
        and of the dtype of the other (complex, if the one is). By complex numbers x + iy it is the
        derivative by x minus i times that by y, of the real part of the result: f' of a holomorphic
        function. With ``has_aux``, a pair of that and of aux. Differentiable, any order.

    Raises:
        TypeError: If ``fun`` can't be called.
        ValueError: If ``chunk_size`` is less than 1.
        DtypeError: If an argument to differentiate by is of integers.
    """
    check_function('jacrev', fun)
    _vmap.check_chunk_size('jacrev', chunk_size)
    return _jacrev('jacrev', fun, argnums, chunk_size, has_aux)


def _jacrev(
    op: str, fun: Function, argnums: Argnums, chunk_size: int | None, has_aux: bool
) -> Function:
    @functools.wraps(fun)
    def matrices(*args: Argument, **kwargs: Argument) -> Tree:
        split = Split(op, args, argnums)
        split.check_float()
        chosen = tuple([args[n] for n in split.argnums])
        with_aux = _only(fun, args, kwargs, split)
        function = _without_aux(op, with_aux) if has_aux else with_aux
        numbers = _SameNumbers()
        result, pull, *aux = numbers(lambda: _reverse.vjp_of(op, with_aux, chosen, has_aux))
        ys, structure = _tree.flatten(result)
        xs, form = _tree.flatten(chosen)
        fallback = _loop.Fallback(op)

        def gradients_of(i: int, unit: complex) -> Tree:
            y = ys[i]
            if y.size == 1:
                return pull(_at(structure, ys, i, chainerx.ones_like(y, y.device) * unit))

            def row(u: Operand) -> Tree:
                return _reverse.vjp_of(op, function, chosen, False)[1](_at(structure, ys, i, u))

            def each() -> Tree:
                rows = [pull(_at(structure, ys, i, u)) for u in units]
                return _stack(rows, form, xs, 0)

            units = _unit_vectors(y) * unit
            if y.size == 0:
                return each()
            return fallback(
                lambda: _vmap.with_same_numbers(row, units, 0, chunk_size, numbers), each
            )

        def rows(i: int) -> Tree:
            y = ys[i]
            gradients = gradients_of(i, 1)
            if y.dtype.kind == 'c' and any(x.dtype.kind != 'c' for x in split.leaves):
                # For real arguments, backward returns the real part alone.
                gradients = _with_imaginary(split.leaves, gradients, gradients_of(i, -1j))
            leaves, form = _tree.flatten(gradients)
            shaped = [
                chainerx.reshape(g, (*y.shape, *x.shape))
                for g, x in zip(leaves, split.leaves, strict=True)
            ]
            trees = _tree.unflatten(form, shaped)
            return trees[0] if split.single else trees

        jacobian = _tree.unflatten(structure, [rows(i) for i in range(len(ys))])
        return (jacobian, *aux) if has_aux else jacobian

    return matrices


jacobian = jacrev


def jacfwd(
    fun: Function, argnums: Argnums = 0, chunk_size: int | None = None, has_aux: bool = False
) -> Function:
    """The function that computes the matrix of first derivatives, in forward mode.

    Good where arguments are fewer than results; `jacrev` is for the other case.

    Args:
        fun (callable): As of `jacrev`. It is called once more with ``has_aux``, and if it asks for
            what a batch does not have; it may then draw random numbers twice.
        argnums (int or sequence of int): By which positional arguments, arrays of floats or trees.
        chunk_size (int): How many columns to compute at a time; None for all. Less memory, more
            time.
        has_aux (bool): Whether ``fun`` returns a pair of arrays and of anything else.

    Returns:
        callable: As of `jacrev`.

    Raises:
        TypeError: If ``fun`` can't be called.
        ValueError: If ``chunk_size`` is less than 1.
        DtypeError: If an argument to differentiate by is of integers.
    """
    check_function('jacfwd', fun)
    _vmap.check_chunk_size('jacfwd', chunk_size)

    def transform(f: Function, numbers: _SameNumbers | None = None) -> Function:
        return _jacfwd('jacfwd', f, argnums, chunk_size, numbers)

    return _with_aux('jacfwd', fun, transform) if has_aux else transform(fun)


def _jacfwd(
    op: str,
    fun: Function,
    argnums: Argnums,
    chunk_size: int | None,
    given: _SameNumbers | None,
) -> Function:
    @functools.wraps(fun)
    def matrices(*args: Argument, **kwargs: Argument) -> Tree:
        split = Split(op, args, argnums)
        split.check_float()
        chosen = tuple([args[n] for n in split.argnums])
        function = _only(fun, args, kwargs, split)
        primals, form = _tree.flatten(chosen)
        numbers = given or _SameNumbers()
        columns: list[list[Operand]] = []  # for each argument
        structure = _tree.NONE
        fallback = _loop.Fallback(op)
        linearize = functools.cache(
            lambda: numbers(lambda: _forward.linearize_of(op, function, chosen, False))
        )

        def changes_of(i: int, unit: complex) -> Tree:
            def column(t: Operand) -> Tree:
                tangents = _at(form, primals, i, t)
                return _forward.jvp_of(op, function, chosen, tangents, False)[1]

            def each() -> Tree:
                result, push = linearize()
                ys, structure = _tree.flatten(result)
                changes = [push(*_at(form, primals, i, t)) for t in units]
                return _stack(changes, structure, ys, -1)

            units = _unit_vectors(primals[i])
            if unit != 1:
                units = units * unit
            if primals[i].size == 0:
                return each()
            return fallback(
                lambda: _vmap.with_same_numbers(column, units, -1, chunk_size, numbers), each
            )

        for i, x in enumerate(primals):
            leaves, structure = _tree.flatten(changes_of(i, 1))
            if x.dtype.kind == 'c':
                others = _tree.flatten(changes_of(i, 1j))[0]
                found = [_by_complex(x, d, e) for d, e in zip(leaves, others, strict=True)]
            else:
                found = [_in_dtype_of(x, d) for d in leaves]
            columns.append([chainerx.reshape(d, (*d.shape[:-1], *x.shape)) for d in found])

        def of_result(k: int) -> Tree:
            trees = _tree.unflatten(form, [column[k] for column in columns])
            return trees[0] if split.single else trees

        return _tree.unflatten(structure, [of_result(k) for k in range(structure.count)])

    return matrices


def hessian(
    fun: Function, argnums: Argnums = 0, chunk_size: int | None = None, has_aux: bool = False
) -> Function:
    """The function that computes the matrix of second derivatives, forward over reverse.

    Args:
        fun (callable): Returns an array of floats, or a tree of them; otherwise as of `jacrev`.
            With ``has_aux`` it is called once more.
        argnums (int or sequence of int): By which positional arguments, arrays of floats or trees.
        chunk_size (int): How many columns to compute at a time; None for all.
        has_aux (bool): Whether ``fun`` returns a pair of arrays and of anything else.

    Returns:
        callable: Takes what ``fun`` takes. The shape is that of the result, and then twice that of
        the argument; with several arrays, each with each, in their forms. With ``has_aux``, a pair
        of that and of aux.

    Raises:
        TypeError: If ``fun`` can't be called.
        ValueError: If ``chunk_size`` is less than 1.
        DtypeError: If an argument to differentiate by is of integers.
    """
    check_function('hessian', fun)
    _vmap.check_chunk_size('hessian', chunk_size)

    def transform(f: Function, numbers: _SameNumbers | None = None) -> Function:
        gradient = _jacrev('hessian', f, argnums, chunk_size, False)
        return _jacfwd('hessian', gradient, argnums, chunk_size, numbers)

    return _with_aux('hessian', fun, transform) if has_aux else transform(fun)
