"""`LayerNormalization`: each row of a matrix."""

from __future__ import annotations

import math
import typing as tp

from chainer import initializers
from chainer.functions.normalization.layer_normalization import layer_normalization
from chainer.link import Link
from chainer.utils import type_check
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, VariableLike
    from chainer.initializer import Initializer


class LayerNormalization(Link):
    """Normalizes each row of a matrix.

    Args:
        size: Number of columns. None: taken from the first input.
        eps: Added to variances.
        initial_gamma: Initializer of `gamma`; 1 by default.
        initial_beta: Initializer of `beta`; 0 by default.

    Attributes:
        gamma (Parameter): Scale, ``(size,)``.
        beta (Parameter): Shift, ``(size,)``.
        eps (float): As given.
    """

    def __init__(
        self,
        size: int | None = None,
        eps: float = 1e-6,
        initial_gamma: InitializerSpec | None = None,
        initial_beta: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        self.eps = eps
        with self.init_scope():
            self.gamma = Parameter(_initializer(initial_gamma, 1), size)
            self.beta = Parameter(_initializer(initial_beta, 0), size)

    def _initialize_params(self, size: int) -> None:
        self.gamma.initialize(size)
        self.beta.initialize(size)

    def forward(self, x: VariableLike) -> Variable:
        """Normalize.

        Args:
            x (Variable or array): (n, size), of the dtype of the parameters.

        Returns:
            Variable: Shape and dtype of `x`.
        """
        if self.gamma.array is None:
            type_check.expect(type_check.Variable(x.ndim, 'x.ndim') == 2)
            self._initialize_params(math.prod(x.shape[1:]))
        return layer_normalization(x, self.gamma, self.beta, self.eps)


def _initializer(given: InitializerSpec | None, default: float) -> Initializer:
    return initializers._get_initializer(default if given is None else given)
