"""`Linear`: the fully connected layer."""

from __future__ import annotations

import math
import typing as tp
from collections.abc import Iterator

from chainerx._core import engine

from chainer import initializers
from chainer.functions.connection.linear import LinearFunction, check_batch_axes, linear
from chainer.link import Link
from chainer.link_hook import _entered
from chainer.utils import type_check
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, NdArray, VariableLike


class Linear(Link):
    """Fully connected layer, ``x @ W.T + b``.

    Args:
        in_size: Columns of `W`. None, or left out (the first argument is then `out_size`): taken
            from the first input.
        out_size: Rows of `W`.
        nobias: Whether there is no `b`.
        initialW: Initializer of `W`; `LeCunNormal` by default.
        initial_bias: Initializer of `b`; 0 by default.

    Attributes:
        W (Parameter): Weight, ``(out_size, in_size)``.
        b (Parameter): Bias, ``(out_size,)``, or None.
    """

    def __init__(
        self,
        in_size: int | None,
        out_size: int | None = None,
        nobias: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        if out_size is None:
            in_size, out_size = None, in_size
        self.in_size = in_size
        self.out_size: tp.Any = out_size
        with self.init_scope():
            self.W = Parameter(initializers._get_initializer(initialW))
            if in_size is not None:
                self._initialize_params(in_size)
            if nobias:
                self.b = None
            else:
                bias = initializers._get_initializer(0 if initial_bias is None else initial_bias)
                self.b = Parameter(bias, out_size)

    def _initialize_params(self, in_size: int) -> None:
        self.W.initialize((self.out_size, in_size))

    @staticmethod
    def _in_size_of(x: VariableLike, n_batch_axes: int = 1) -> int:
        if n_batch_axes <= 1:  # inputs that the function refuses must not initialize a weight
            check_batch_axes(n_batch_axes)
            type_check.expect(type_check.Variable(x.ndim, 'x.ndim') >= 2)
        return math.prod(x.shape[n_batch_axes:])

    @classmethod
    def from_params(
        cls, W: VariableLike, b: VariableLike | None = None, nobias: bool = False
    ) -> tp.Self:
        """Make the link from a weight and a bias.

        Args:
            W (array or Variable): (out_size, in_size); it is copied.
            b (array or Variable): (out_size,); it is copied.
            nobias (bool): Whether there is none.

        Returns:
            Linear: A new one.

        Raises:
            ValueError: If the sizes of `W` and `b` differ.
        """
        out_size, in_size = W.shape
        if b is not None and out_size != b.size:
            raise ValueError(
                f'`out_size` does not match the size of `b`: W.shape is {W.shape}, b.size {b.size}'
            )
        return cls(
            in_size,
            out_size,
            nobias,
            initialW=_as_array(W),
            initial_bias=None if b is None else _as_array(b),
        )

    @property
    def printable_specs(self) -> Iterator[tuple[str, object]]:
        yield 'in_size', self.in_size
        yield 'out_size', self.out_size
        yield 'nobias', self.b is None

    def forward(self, x: VariableLike, n_batch_axes: int = 1) -> Variable:
        """Apply the layer.

        Args:
            x: Input; its axes after the first `n_batch_axes` are flattened.
            n_batch_axes: How many axes of `x` stay.
        Returns:
            Variable: ``x.shape[:n_batch_axes] + (out_size,)``.
        """
        W = self.W
        if isinstance(W, Variable) and W.array is None:
            self._initialize_params(self._in_size_of(x, n_batch_axes))
        return linear(x, W, self.b, n_batch_axes=n_batch_axes)


def _as_array(x: VariableLike) -> NdArray:
    return x.array if isinstance(x, Variable) else x


engine.set_linear(Linear, _entered, LinearFunction.call)
