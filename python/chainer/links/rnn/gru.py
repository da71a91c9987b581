"""`GRU`, `StatefulGRU` and `StatelessGRU`: layers with gated recurrent units."""

from __future__ import annotations

import typing as tp

from chainerx._core import engine

from chainer._base.docstrings import documented_like
from chainer._graph.declaration import routine
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.activation.tanh import tanh
from chainer.functions.math.linear_interpolate import linear_interpolate
from chainer.link import Chain
from chainer.links.connection.linear import Linear
from chainer.links.rnn._cell import Cell
from chainer.links.rnn._state import Stateful

if tp.TYPE_CHECKING:
    from chainer._graph.variable import Variable
    from chainer._typing import InitializerSpec, VariableLike


class GRUStep(Cell):
    """`GRUBase._step`."""

    compose = routine(engine.Native('gru_step'))
    interpolates = True


class GRUBase(Chain):
    """What `StatefulGRU` and `StatelessGRU` have in common: the gates."""

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        init: InitializerSpec | None = None,
        inner_init: InitializerSpec | None = None,
        bias_init: InitializerSpec | None = None,
    ) -> None:
        super().__init__()

        def of_input() -> Linear:
            return Linear(in_size, out_size, initialW=init, initial_bias=bias_init)

        def of_state() -> Linear:
            return Linear(out_size, out_size, initialW=inner_init, initial_bias=bias_init)

        with self.init_scope():
            self.W_r, self.U_r = of_input(), of_state()
            self.W_z, self.U_z = of_input(), of_state()
            self.W, self.U = of_input(), of_state()

    def _step(self, h: VariableLike | None, x: VariableLike) -> Variable:
        """The next output; None stands for a start without a past, where `U` adds nothing."""
        if not engine.is_tracing() and h is not None:
            layers = self.W_r, self.U_r, self.W_z, self.U_z, self.W, self.U
            y = engine.apply_to_layers(GRUStep.call, (x, h), layers)
            if y is not None:
                return y
        z, new = self.W_z(x), self.W(x)
        if h is None:
            return sigmoid(z) * tanh(new)
        r = sigmoid(self.W_r(x) + self.U_r(h))
        z = sigmoid(z + self.U_z(h))
        return linear_interpolate(z, tanh(new + self.U(r * h)), h)


class StatelessGRU(GRUBase):
    """A gated recurrent unit whose state is given and returned.

    With ``r = sigmoid(W_r(x) + U_r(h))``, ``z = sigmoid(W_z(x) + U_z(h))``, the next output is
    ``(1 - z) * h + z * tanh(W(x) + U(r * h))``.

    Args:
        in_size: Features of the input; None: taken from the first one.
        out_size: Units.
        init: Initializer of the weights of the input; `LeCunNormal` by default.
        inner_init: Initializer of the weights of the state; `LeCunNormal` by default.
        bias_init: Initializer of the biases; 0 by default.

    Source: Cho et al., EMNLP 2014; Chung et al., 2014.
    """

    def forward(self, h: VariableLike | None, x: VariableLike) -> Variable:
        """Apply the layer.

        Args:
            h (Variable or array): The output before, ``(N, out_size)``.
            x (Variable or array): ``(N, in_size)``.

        Returns:
            Variable: The next output.
        """
        return self._step(h, x)


@documented_like(StatelessGRU)
class StatefulGRU(GRUBase, Stateful):
    """A gated recurrent unit, which keeps its state; see `StatelessGRU`.

    Attributes:
        h (Variable): The output before, or None.
    """

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        init: InitializerSpec | None = None,
        inner_init: InitializerSpec | None = None,
        bias_init: InitializerSpec | None = 0,
    ) -> None:
        super().__init__(in_size, out_size, init, inner_init, bias_init)
        self.state_size = out_size

    def set_state(self, h: Variable) -> None:
        """Sets the state, which moves to the device of the link.

        Args:
            h (Variable): The output before, (N, out_size).
        """
        self._set_states(h=h)

    def forward(self, x: VariableLike) -> Variable:
        """Apply the layer to the next element of the sequences.

        Args:
            x (Variable or array): ``(N, in_size)``.

        Returns:
            Variable: ``(N, out_size)``.
        """
        self.h = y = self._step(self.h, x)
        return y


@documented_like(StatefulGRU)
class GRU(StatefulGRU):
    """Another name of `StatefulGRU`."""

    def forward(self, *args: object) -> tp.Any:
        """Apply the layer to the next element of the sequences.

        Args:
            *args: One Variable or array, ``(N, in_size)``.

        Returns:
            Variable: ``(N, out_size)``.

        Raises:
            ValueError: If there is another number of arguments.
        """
        if len(args) != 1:
            raise ValueError(
                f'GRU: {len(args)} arguments, expected 1; the layer that is given its state is '
                'StatelessGRU'
            )
        return super().forward(args[0])
