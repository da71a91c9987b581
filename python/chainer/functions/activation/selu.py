"""The scaled exponential linear unit."""

from __future__ import annotations

import typing as tp

from chainer import variable
from chainer.functions.activation.elu import elu

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


def selu(
    x: VariableLike, alpha: float = 1.6732632423543772, scale: float = 1.0507009873554805
) -> variable.Variable:
    """``scale * x`` where positive, ``scale * alpha * (exp(x) - 1)`` elsewhere.

    Args:
        x (Variable or array): Any shape, any float dtype.
        alpha (float): See above.
        scale (float): See above.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.

    Source: Klambauer et al., NIPS 2017.
    """
    return elu(x, alpha) * scale
