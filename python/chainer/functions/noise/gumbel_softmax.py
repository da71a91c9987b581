"""Samples near those of a categorical distribution, differentiable in its parameters."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import variable
from chainer._base.host_draws import HostDraws
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.activation.softmax import softmax

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


_draws: tp.Final = HostDraws()


class _Gumbel(BuiltinFunction):
    """Samples of the Gumbel distribution, as many as there are elements; a node for exports."""

    has_graph = False

    @staticmethod
    def compose(log_pi: chainerx.ndarray) -> chainerx.ndarray:
        shape, dtype = log_pi.shape, log_pi.dtype

        def draw() -> np.ndarray:
            return np.random.gumbel(size=shape).astype(dtype)

        return _draws(draw, (shape, dtype), log_pi.device)


def gumbel_softmax(
    log_pi: VariableLike, tau: VariableLike | float = 0.1, axis: int = 1
) -> variable.Variable:
    """``softmax((log_pi + g) / tau)``, where ``g`` are samples of the Gumbel distribution.

    Args:
        log_pi (Variable or array): The logarithms of the probabilities of the classes; any
            shape with this axis, any float dtype. A 0-dimensional one is that of a single class.
        tau (float, Variable or array): The temperature: the lower, the nearer to one class; a
            shape that broadcasts to that of ``log_pi``.
        axis (int): The axis of classes.

    Returns:
        Variable: Shape and dtype of ``log_pi``. Differentiable in both, any order.

    Raises:
        InvalidType: If ``log_pi`` is not of a float dtype, or has no such axis.

    Source: Jang et al., ICLR 2017.
    """
    log_pi = variable.as_variable(log_pi)
    if log_pi.ndim == 0:
        return variable.Variable(log_pi.device.send(np.ones((), log_pi.dtype)))
    return softmax((log_pi + _Gumbel.call(log_pi)) / tau, axis=axis)
