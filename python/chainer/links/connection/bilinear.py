"""`Bilinear`: a layer that is linear in each of two inputs."""

from __future__ import annotations

import typing as tp

from chainer import initializers
from chainer.functions.connection.bilinear import bilinear
from chainer.link import Link
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, VariableLike


class Bilinear(Link):
    """A bilinear layer; see `chainer.functions.bilinear`.

    Args:
        left_size: Features of the first input.
        right_size: Features of the second.
        out_size: Features of the output.
        nobias: Whether there are no `V1`, `V2` and `b`.
        initialW: Initializer of `W`; `LeCunNormal` by default.
        initial_bias: Tuple of the initializers of `V1`, `V2` and `b`; by default `LeCunNormal`
            twice, and 0.

    Attributes:
        W (Parameter): ``(left_size, right_size, out_size)``.
        V1 (Parameter): ``(left_size, out_size)``.
        V2 (Parameter): ``(right_size, out_size)``.
        b (Parameter): ``(out_size,)``.
    """

    def __init__(
        self,
        left_size: int,
        right_size: int,
        out_size: int,
        nobias: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: tuple[InitializerSpec | None, InitializerSpec | None, InitializerSpec | None]
        | None = None,
    ) -> None:
        super().__init__()
        self.in_sizes = (left_size, right_size)
        self.nobias = nobias
        if initial_bias is None:
            initial_bias = (None, None, 0)
        elif not nobias and (not isinstance(initial_bias, tuple) or len(initial_bias) != 3):
            raise ValueError(
                f'Bilinear: initial_bias is {initial_bias!r}, expected a tuple of three, or None'
            )
        with self.init_scope():
            self.W = _parameter(initialW, (left_size, right_size, out_size))
            if not nobias:
                v1, v2, b = initial_bias
                self.V1 = _parameter(v1, (left_size, out_size))
                self.V2 = _parameter(v2, (right_size, out_size))
                self.b = _parameter(b, (out_size,))

    def forward(self, e1: VariableLike, e2: VariableLike) -> Variable:
        """Apply the layer to two arrays of as many rows.

        Args:
            e1 (Variable or array): (N, ...), ``left_size`` elements per row.
            e2 (Variable or array): (N, ...), ``right_size`` elements per row.

        Returns:
            Variable: (N, out_size).
        """
        if self.nobias:
            return bilinear(e1, e2, self.W)
        return bilinear(e1, e2, self.W, self.V1, self.V2, self.b)

    def zero_grads(self) -> None:
        """Deprecated: use `cleargrads`."""
        self.zerograds()


def _parameter(initializer: InitializerSpec | None, shape: tuple[int, ...]) -> Parameter:
    return Parameter(initializers._get_initializer(initializer), shape)
