"""`GroupNormalization`: channels in groups, image by image."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer._base import environment
from chainer.functions.normalization.group_normalization import group_normalization
from chainer.link import Link
from chainer.links.normalization._initial import initializer
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, VariableLike


class GroupNormalization(Link):
    """Normalizes the channels of a group together, image by image.

    Args:
        groups: Number of groups, a divisor of the number of channels.
        size: Number of channels. None: taken from the first input.
        eps: Added to variances.
        initial_gamma: Initializer of `gamma`; 1 by default.
        initial_beta: Initializer of `beta`; 0 by default.

    Attributes:
        gamma (Parameter): Scale, ``(size,)``.
        beta (Parameter): Shift, ``(size,)``.
        groups (int): As given.
        eps (float): As given.
    """

    def __init__(
        self,
        groups: int,
        size: int | None = None,
        eps: float = 1e-5,
        initial_gamma: InitializerSpec | None = None,
        initial_beta: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        self.groups = groups
        self.eps = eps
        dtype = environment.get_dtype(map_mixed16=np.float32)
        with self.init_scope():
            self.gamma = Parameter(initializer(initial_gamma, 1, dtype), size)
            self.beta = Parameter(initializer(initial_beta, 0, dtype), size)

    def _initialize_params(self, size: int) -> None:
        self.gamma.initialize(size)
        self.beta.initialize(size)

    def forward(self, x: VariableLike) -> Variable:
        """Normalize.

        Args:
            x (Variable or array): (n, channels, ...).

        Returns:
            Variable: Shape and dtype of `x`.

        Raises:
            ValueError: If it has fewer than 2 axes.
        """
        if x.ndim < 2:
            raise ValueError(
                'Input dimension must be at least 2, including batch size dimension (first '
                f'dimension). (x.ndim is {x.ndim})'
            )
        if self.gamma.array is None:
            self._initialize_params(x.shape[1])
        return group_normalization(x, self.groups, self.gamma, self.beta, self.eps)
