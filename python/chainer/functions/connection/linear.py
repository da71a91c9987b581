"""The fully connected layer."""

from __future__ import annotations

import math
import typing as tp

from chainerx._core import engine

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.functions.array import reshape
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class LinearFunction(BuiltinFunction):
    """See `linear`; of matrices only."""

    # Weights of another precision do not change that of the data.
    compose = routine(engine.Native('linear'))

    def check_type_forward(self, in_types: InTypes) -> None:
        n_in = type_check.eval(in_types.size())
        type_check.expect(n_in >= 2, n_in <= 3)
        type_check._argname(in_types[:2], ('x', 'W'))
        x, w = in_types[:2]
        type_check.expect(
            x.dtype.kind == 'f',
            w.dtype.kind == 'f',
            x.ndim == 2,
            w.ndim == 2,
            x.shape[1] == w.shape[1],
        )
        if n_in == 3:
            type_check._argname((in_types[2],), ('b',))
            b = in_types[2]
            type_check.expect(b.dtype == x.dtype, b.ndim == 1, b.shape[0] == w.shape[0])


class RectifiedLinear(LinearFunction):
    """``relu(linear(x, W, b))`` of matrices, which keeps its result alone for backward."""

    compose = routine(engine.Native('rectified_linear'))


def linear(
    x: VariableLike, W: VariableLike, b: VariableLike | None = None, n_batch_axes: int = 1
) -> variable.Variable:
    """A fully connected layer, ``x @ W.T + b``.

    Args:
        x (Variable or array): Batch axes, then axes that count as one of length ``ins``; a float
            dtype.
        W (Variable or array): (outs, ins).
        b (Variable or array): (outs,), or None.
        n_batch_axes (int): The number of batch axes, at least 1.

    Returns:
        Variable: The batch axes of ``x``, then ``outs``; the dtype of ``x``. Differentiable in
        all of them, any order.

    Raises:
        InvalidType: If shapes do not fit, or dtypes are no floats.
        ValueError: If ``n_batch_axes`` is not positive.
    """
    if n_batch_axes > 1:
        batch = x.shape[:n_batch_axes]
        y = LinearFunction.call(_flatten(x, n_batch_axes), W, b)
        return reshape.reshape(y, (*batch, y.shape[1]))
    check_batch_axes(n_batch_axes)
    # functions raise their usual error for arguments that are not arrays
    if getattr(x, 'ndim', 0) > 2:
        x = _flatten(x, 1)
    return LinearFunction.call(x, W, b)


def _rectified_linear(
    x: VariableLike, W: VariableLike, b: VariableLike | None = None
) -> variable.Variable:
    """``relu(linear(x, W, b))``."""
    return RectifiedLinear.call(_flatten(x, 1) if x.ndim > 2 else x, W, b)


def check_batch_axes(n_batch_axes: int) -> None:
    """Refuses a number of batch axes that is not positive."""
    if n_batch_axes <= 0:
        raise ValueError(f'linear: n_batch_axes is {n_batch_axes}, expected at least 1')


def _flatten(x: VariableLike, n_batch_axes: int) -> variable.Variable:
    shape = x.shape
    return reshape.reshape(x, (math.prod(shape[:n_batch_axes]), math.prod(shape[n_batch_axes:])))
