"""`pseudo_connect`."""

from __future__ import annotations

import typing as tp

import chainer
import numpy as np

from chainermn.functions._communication import startable

if tp.TYPE_CHECKING:
    from chainer._typing import Arrays, Gradients


class PseudoConnect(chainer.FunctionNode):
    """See `pseudo_connect`."""

    def forward(self, inputs: Arrays) -> Arrays:
        """The inputs without the delegate.

        Args:
            inputs (tuple of array): The delegate, and the others.

        Returns:
            tuple of array: The others.
        """
        return inputs[1:]

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: Gradients) -> tp.Any:
        """Passes gradients on; the delegate gets an empty one.

        Args:
            target_input_indexes (tuple of int): Which.
            grad_outputs (tuple of Variable or None): The gradients of the outputs.

        Returns:
            tuple of Variable or None: One per index.
        """
        known = next(gy for gy in grad_outputs if gy is not None)
        with chainer.using_device(known.device):
            gxs = (chainer.Variable(known.xp.zeros(0, np.float32)), *grad_outputs)
        return tuple(gxs[i] for i in target_input_indexes)


def pseudo_connect(
    delegate_variable: chainer.Variable | None, *actual_variables: chainer.Variable
) -> tp.Any:
    """Puts a delegate into the graph of variables, so that their ``backward`` goes through it.

    Args:
        delegate_variable (Variable): What `send` returned: float32, shape (0,). None does nothing.
        *actual_variables (Variable): Any shapes and dtypes; on the device of the delegate.

    Returns:
        Variable or tuple of Variable: The same variables, of the same shapes and dtypes; without
        any, the delegate. Differentiable, any order.

    Raises:
        TypeError: If kinds of arrays are mixed.
    """
    if delegate_variable is None:
        ys: tuple[chainer.Variable, ...] = actual_variables
    elif not actual_variables:
        return delegate_variable
    else:
        ys = PseudoConnect().apply((delegate_variable, *actual_variables))
        ys = tuple(startable(y) if y.shape == (0,) else y for y in ys)
    return ys[0] if len(ys) == 1 else ys
