"""`RMSNorm`: rows divided by their root mean square."""

from __future__ import annotations

import typing as tp
from collections.abc import Iterator

from chainer import initializers
from chainer.functions.normalization.rms_norm import rms_norm
from chainer.link import Link
from chainer.utils import type_check
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, VariableLike


class RMSNorm(Link):
    """Divides rows, the last axis, by their root mean square.

    Args:
        size: Length of the last axis. None: taken from the first input.
        eps: Added to means of squares.
        initial_gamma: Initializer of `gamma`; 1 by default.

    Attributes:
        gamma (Parameter): Scale, ``(size,)``.
        eps (float): As given.
    """

    def __init__(
        self,
        size: int | None = None,
        eps: float = 1e-6,
        initial_gamma: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        self.eps = eps
        with self.init_scope():
            one = 1 if initial_gamma is None else initial_gamma
            self.gamma = Parameter(initializers._get_initializer(one), size)

    @property
    def printable_specs(self) -> Iterator[tuple[str, object]]:
        yield 'size', self.gamma.shape[0] if self.gamma.is_initialized else None
        yield 'eps', self.eps

    def forward(self, x: VariableLike) -> Variable:
        """Normalize.

        Args:
            x (Variable or array): (..., size), of the dtype of the parameter.

        Returns:
            Variable: Shape and dtype of `x`.
        """
        if self.gamma.array is None:
            type_check.expect(type_check.Variable(x.ndim, 'x.ndim') >= 1)
            self.gamma.initialize((x.shape[-1],))
        return rms_norm(x, self.gamma, self.eps)
