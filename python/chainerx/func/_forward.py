"""Forward mode: Jacobian-vector products and linearizations; Hessian-vector products."""

from __future__ import annotations

import collections.abc as c
import typing as tp

from chainerx._core import functional
from chainerx.func import _loop, _reverse, _tree
from chainerx.func._calls import Call, Split, check_function, in_graph, lower_like, record

if tp.TYPE_CHECKING:
    from chainerx._typing import Operand, Tree

Function = c.Callable[..., tp.Any]


class _Linearized:
    """A function at a point, and its forward derivative."""

    def __init__(self, op: str, fun: Function, primals: tuple[Tree, ...], has_aux: bool) -> None:
        self.split = Split(op, primals, tuple(range(len(primals))))
        self.call = Call(self.split, fun, has_aux=has_aux)
        self.pushforward = record(functional.Pushforward, self.call)
        self.call.forget()
        self.structure = _tree.Structure(tuple, None, tuple(self.split.structures))

    def push(self, tangents: tuple[Tree, ...]) -> Tree:
        what = f'{self.split.op}: tangents'
        leaves, newer = lower_like(self.call, tangents, what, self.structure, self.split.leaves)
        if newer is not None:
            name = 'the function that linearize returned'
            return _loop.call(name, newer, self._push_leaves, (leaves,), {})
        return self.call.result(in_graph(self.split.op, self.pushforward, leaves))

    def _push_leaves(self, leaves: list[Operand]) -> Tree:
        return self.push(_tree.unflatten(self.structure, leaves))

    def result(self) -> Tree:
        return self.call.result(self.pushforward.outputs)

    def aux(self) -> Tree:
        return self.call.aux_result(self.pushforward.outputs)


def jvp(
    fun: Function,
    primals: c.Sequence[Tree],
    tangents: c.Sequence[Tree],
    has_aux: bool = False,
) -> Tree:
    """A function at a point, and its change for a change of its arguments.

    Args:
        fun (callable): Takes the primals, returns arrays: one, or tuples, lists and dicts of them.
        primals (tuple or list): The arguments, arrays or trees of them.
        tangents (tuple or list): Their changes, in the same form; None for none. Those of integers
            count for nothing.
        has_aux (bool): Whether ``fun`` returns a pair of that and of anything else.

    Returns:
        tuple: The result, its change in the same form (zeros for integers), and aux if there is
        one. Both are differentiable, any order.

    Raises:
        TypeError: If ``fun`` can't be called; if a primal, a tangent or the result is not of
            arrays, or forms differ.
        GradientError: If a tangent has another shape or dtype than its primal.

    Note:
        Operations with a forward derivative use that; for others, backward is computed and
        differentiated. All that is on the way is kept to the end, as for backward.
    """
    check_function('jvp', fun)
    _check_primals('jvp', primals, tangents)
    return jvp_of('jvp', fun, primals, tangents, has_aux)


def _check_primals(op: str, primals: Tree, tangents: Tree) -> None:
    for name, value in (('primals', primals), ('tangents', tangents)):
        if not isinstance(value, (tuple, list)):
            raise TypeError(f'{op}: {name} is a {type(value).__name__}, expected a tuple or a list')
    if len(primals) != len(tangents):
        raise TypeError(
            f'{op}: {len(tangents)} tangents, expected {len(primals)} as of the primals'
        )


def jvp_of(
    op: str,
    fun: Function,
    primals: c.Sequence[Tree],
    tangents: c.Sequence[Tree],
    has_aux: bool,
) -> Tree:
    """`jvp` whose errors name another function."""
    linearized = _Linearized(op, fun, tuple(primals), has_aux)
    pushed = linearized.push(tuple(tangents))
    result = linearized.result()
    return (result, pushed, linearized.aux()) if has_aux else (result, pushed)


def linearize(fun: Function, *primals: Tree, has_aux: bool = False) -> Tree:
    """A function at a point, and its derivative there as a linear function.

    Args:
        fun (callable): Takes the primals, returns arrays or trees of them.
        *primals: The arguments, arrays or trees of them.
        has_aux (bool): Whether ``fun`` returns a pair of that and of anything else.

    Returns:
        tuple: The result, a function, and aux if there is one. The function takes tangents, one for
        each primal, and returns the change of the result. ``fun`` is not called again.

    Raises:
        TypeError: If ``fun`` can't be called, or a primal or the result is not of arrays.
    """
    check_function('linearize', fun)
    return linearize_of('linearize', fun, primals, has_aux)


def linearize_of(op: str, fun: Function, primals: tuple[Tree, ...], has_aux: bool) -> Tree:
    """`linearize` whose errors name another function."""
    linearized = _Linearized(op, fun, primals, has_aux)

    def push(*tangents: Tree) -> Tree:
        return linearized.push(tangents)

    result = linearized.result()
    return (result, push, linearized.aux()) if has_aux else (result, push)


def hvp(
    fun: Function,
    primals: c.Sequence[Tree],
    tangents: c.Sequence[Tree],
    has_aux: bool = False,
) -> Tree:
    """The product of the Hessian of a function and a vector, forward over reverse.

    Args:
        fun (callable): Takes the primals, returns an array of no axes.
        primals (tuple or list): The arguments, arrays of floats or trees of them.
        tangents (tuple or list): The vector, in the same form.
        has_aux (bool): Whether ``fun`` returns a pair of that and of anything else.

    Returns:
        tuple: One product for each primal, in its form; with ``has_aux`` a pair of that and of aux.
        Differentiable, any order.

    Raises:
        TypeError: If ``fun`` can't be called, or forms differ.
        GradientError: If a tangent has another shape or dtype than its primal.
        DimensionError: If the value has axes.
    """
    check_function('hvp', fun)
    _check_primals('hvp', primals, tangents)
    gradient = _reverse.gradient_of('hvp', fun, tuple(range(len(primals))), has_aux)
    _, product, *aux = jvp_of('hvp', gradient, primals, tangents, has_aux)
    return (product, *aux) if has_aux else product
