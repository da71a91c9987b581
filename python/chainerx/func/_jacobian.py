"""Matrices of derivatives: all unit vectors at once, as a batch."""

from __future__ import annotations

import collections.abc as c
import typing as tp

import chainerx
from chainerx.func import _forward, _reverse, _tree, _vmap
from chainerx.func._calls import Split, check_function

Function = c.Callable[..., tp.Any]
Argnums = int | c.Sequence[int]


def _unit_vectors(x: tp.Any) -> tp.Any:
    """One for each element: (size, *shape)."""
    eye = chainerx.eye(x.size, dtype=x.dtype, device=x.device)
    return chainerx.reshape(eye, (x.size, *x.shape))


def _only(fun: Function, args: tuple[tp.Any, ...], split: Split) -> Function:
    """The function of the arguments in argnums alone."""

    def function(*chosen: tp.Any) -> tp.Any:
        full = list(args)
        for n, value in zip(split.argnums, chosen, strict=True):
            full[n] = value
        return fun(*full)

    return function


def _at(structure: _tree.Structure, leaves: list[tp.Any], i: int, value: tp.Any) -> tp.Any:
    """A tree of zeros, but for one leaf."""
    return _tree.unflatten(
        structure, [value if k == i else chainerx.zeros_like(x) for k, x in enumerate(leaves)]
    )


def _with_imaginary(arguments: list[tp.Any], real: tp.Any, imaginary: tp.Any) -> tp.Any:
    """The gradients by real arguments, of both parts of the result."""
    parts, structure = _tree.flatten(real)
    others, _ = _tree.flatten(imaginary)
    return _tree.unflatten(
        structure,
        [
            a if x.dtype.kind == 'c' else a + 1j * b
            for x, a, b in zip(arguments, parts, others, strict=True)
        ],
    )


def jacrev(fun: Function, argnums: Argnums = 0, chunk_size: int | None = None) -> Function:
    """The function that computes the matrix of first derivatives, in reverse mode.

    Good where results are fewer than arguments; `jacfwd` is for the other case.

    Args:
        fun (callable): Returns arrays: one, or tuples, lists and dicts of them.
        argnums (int or sequence of int): By which positional arguments, arrays of floats or trees.
        chunk_size (int): How many rows to compute at a time; None for all. Less memory, more time.

    Returns:
        callable: Takes what ``fun`` takes. For each array of the result, in its form, there is one
        for each array of the argument, in its form, of the shape of the one and then of the other.
        Differentiable, any order.

    Raises:
        TypeError: If ``fun`` can't be called.
        DtypeError: If an argument to differentiate by is of integers.
    """
    check_function('jacrev', fun)

    def jacobian(*args: tp.Any) -> tp.Any:
        split = Split('jacrev', args, argnums)
        split.check_float()
        chosen = tuple([args[n] for n in split.argnums])
        function = _only(fun, args, split)
        result, pull = _reverse.vjp(function, *chosen)
        ys, structure = _tree.flatten(result)

        def gradients_of(i: int, unit: complex) -> tp.Any:
            y = ys[i]
            if y.size == 1:
                return pull(_at(structure, ys, i, chainerx.ones_like(y) * unit))

            def row(u: tp.Any) -> tp.Any:
                return _reverse.vjp(function, *chosen)[1](_at(structure, ys, i, u))

            return _vmap.vmap(row, chunk_size=chunk_size)(_unit_vectors(y) * unit)

        def rows(i: int) -> tp.Any:
            y = ys[i]
            gradients = gradients_of(i, 1)
            if y.dtype.kind == 'c' and any(x.dtype.kind != 'c' for x in split.leaves):
                # By real numbers, backward takes the real part alone.
                gradients = _with_imaginary(split.leaves, gradients, gradients_of(i, -1j))
            leaves, form = _tree.flatten(gradients)
            shaped = [
                chainerx.reshape(g, (*y.shape, *x.shape))
                for g, x in zip(leaves, split.leaves, strict=True)
            ]
            trees = _tree.unflatten(form, shaped)
            return trees[0] if split.single else trees

        return _tree.unflatten(structure, [rows(i) for i in range(len(ys))])

    return jacobian


def jacfwd(fun: Function, argnums: Argnums = 0, chunk_size: int | None = None) -> Function:
    """The function that computes the matrix of first derivatives, in forward mode.

    Good where arguments are fewer than results; `jacrev` is for the other case.

    Args:
        fun (callable): Returns arrays: one, or tuples, lists and dicts of them.
        argnums (int or sequence of int): By which positional arguments, arrays of floats or trees.
        chunk_size (int): How many columns to compute at a time; None for all. Less memory, more
            time.

    Returns:
        callable: As of `jacrev`.

    Raises:
        TypeError: If ``fun`` can't be called.
        DtypeError: If an argument to differentiate by is of integers.
    """
    check_function('jacfwd', fun)

    def jacobian(*args: tp.Any) -> tp.Any:
        split = Split('jacfwd', args, argnums)
        split.check_float()
        chosen = tuple([args[n] for n in split.argnums])
        function = _only(fun, args, split)
        primals, form = _tree.flatten(chosen)
        columns: list[list[tp.Any]] = []  # of each argument
        structure = _tree.NONE
        for i, x in enumerate(primals):

            def column(t: tp.Any, i: int = i) -> tp.Any:
                return _forward.jvp(function, chosen, _at(form, primals, i, t))[1]

            changes = _vmap.vmap(column, out_axes=-1, chunk_size=chunk_size)(_unit_vectors(x))
            leaves, structure = _tree.flatten(changes)
            columns.append([chainerx.reshape(d, (*d.shape[:-1], *x.shape)) for d in leaves])

        def of_result(k: int) -> tp.Any:
            trees = _tree.unflatten(form, [column[k] for column in columns])
            return trees[0] if split.single else trees

        return _tree.unflatten(structure, [of_result(k) for k in range(structure.count)])

    return jacobian


def hessian(fun: Function, argnums: Argnums = 0, chunk_size: int | None = None) -> Function:
    """The function that computes the matrix of second derivatives, forward over reverse.

    Args:
        fun (callable): Returns an array of floats, or a tree of them.
        argnums (int or sequence of int): By which positional arguments, arrays of floats or trees.
        chunk_size (int): How many columns to compute at a time; None for all.

    Returns:
        callable: Takes what ``fun`` takes. The shape is that of the result, and then twice that of
        the argument; with several arrays, each with each, in their forms.

    Raises:
        TypeError: If ``fun`` can't be called.
        DtypeError: If an argument to differentiate by is of integers.
    """
    check_function('hessian', fun)
    return jacfwd(jacrev(fun, argnums, chunk_size), argnums, chunk_size)
