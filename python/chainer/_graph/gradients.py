"""Compositions that are recorded as one operation, because their steps would keep too much.

``engine.WithGradient(name, compose, gradient, n_params, keeps)`` is called as ``compose`` is: with
inputs, followed by parameters. For backward it keeps the inputs, the output, both or neither
(``keeps`` is 'x', 'y', 'xy' or ''), and calls
``gradient(gy, needed, inputs, output, *parameters)``, which returns a tuple of an array or None per
input. That is made of chainerx routines, so further derivatives come by themselves.
"""

from __future__ import annotations

import collections.abc as c
import typing as tp

import chainerx
from chainerx._core import engine

if tp.TYPE_CHECKING:
    from chainer._typing import Shape


def recomputed(
    name: str, compose: c.Callable[..., chainerx.ndarray], n_params: int = 0
) -> engine.WithGradient:
    """The composition; it keeps its inputs, and backward computes it again to differentiate it."""

    def gradient(
        gy: chainerx.ndarray,
        needed: tuple[bool, ...],
        inputs: tuple[chainerx.ndarray, ...],
        _: None,
        *params: object,
    ) -> tuple[chainerx.ndarray | None, ...]:
        # Not of kind 'f', which bfloat16 is not.
        needed = tuple(n and x.dtype.kind not in 'biu' for n, x in zip(needed, inputs, strict=True))
        if any(x.is_backprop_required(chainerx.anygraph) for x in (gy, *inputs)):
            # In the graphs that are there, so that the result can be differentiated. Views, since
            # the inputs themselves are not to become leaves.
            with chainerx.force_backprop_mode():
                return _differentiate(compose, [x[...] for x in inputs], needed, params, gy, None)
        with chainerx.backprop_scope(name) as graph, chainerx.force_backprop_mode(graph):
            leaves = [x.as_grad_stopped() for x in inputs]
            return _differentiate(compose, leaves, needed, params, gy, graph)

    return engine.WithGradient(name, compose, gradient, n_params)


def linear(
    name: str, compose: c.Callable[..., chainerx.ndarray], n_params: int
) -> c.Callable[..., chainerx.ndarray]:
    """A composition that is linear in its one input, of which it keeps the shape alone.

    Backward computes it again for zeros, to differentiate that.
    """

    def composed(x: chainerx.ndarray, _: object, *params: object) -> chainerx.ndarray:
        return compose(x, *params)

    def gradient(
        gy: chainerx.ndarray, _: object, __: object, ___: object, shape: Shape, *params: object
    ) -> tuple[chainerx.ndarray | None, ...]:
        with chainerx.force_backprop_mode():
            x = chainerx.zeros(shape, gy.dtype, device=gy.device)
            return _differentiate(compose, [x], (True,), params, gy, None)

    operation = engine.WithGradient(name, composed, gradient, n_params + 1, '')

    def apply(x: chainerx.ndarray, *params: object) -> chainerx.ndarray:
        return tp.cast(chainerx.ndarray, operation(x, x.shape, *params))

    return apply


def _differentiate(
    compose: c.Callable[..., chainerx.ndarray],
    inputs: list[chainerx.ndarray],
    needed: tuple[bool, ...],
    params: tuple[tp.Any, ...],
    gy: chainerx.ndarray,
    graph: chainerx.BackpropId | None,
) -> tuple[chainerx.ndarray | None, ...]:
    targets = [x.require_grad(graph) for x, n in zip(inputs, needed, strict=True) if n]
    y = compose(*inputs, *params)
    found = iter(
        chainerx.grad([y], targets, graph, enable_double_backprop=graph is None, grad_outputs=[gy])
    )
    return tuple(next(found) if n else None for n in needed)
