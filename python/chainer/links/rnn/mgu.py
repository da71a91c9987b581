"""`StatefulMGU` and `StatelessMGU`: layers with minimal gated units."""

from __future__ import annotations

import typing as tp

from chainerx._core import engine

from chainer._graph.declaration import routine
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.activation.tanh import tanh
from chainer.functions.array.concat import concat
from chainer.functions.math.linear_interpolate import linear_interpolate
from chainer.link import Chain
from chainer.links.connection.linear import Linear
from chainer.links.rnn._cell import Cell
from chainer.links.rnn._state import Stateful, zeros

if tp.TYPE_CHECKING:
    from chainer._graph.variable import Variable
    from chainer._typing import VariableLike


class MGUStep(Cell):
    """`MGUBase._step`."""

    compose = routine(engine.Native('mgu_step'))
    interpolates = True


class MGUBase(Chain):
    """What `StatefulMGU` and `StatelessMGU` have in common: the gate."""

    def __init__(self, n_inputs: int, n_units: int) -> None:
        super().__init__()
        with self.init_scope():
            self.W_f = Linear(n_inputs + n_units, n_units)
            self.W_h = Linear(n_inputs + n_units, n_units)

    def _step(self, h: VariableLike | None, x: VariableLike) -> Variable:
        if not engine.is_tracing():
            y = engine.apply_to_layers(MGUStep.call, (x, h), (self.W_f, self.W_h))
            if y is not None:
                return y
        f = sigmoid(self.W_f(concat([h, x])))
        return linear_interpolate(f, tanh(self.W_h(concat([f * h, x]))), h)


class StatelessMGU(MGUBase):
    """A minimal gated unit whose state is given and returned.

    With ``f = sigmoid(W_f([h, x]))``, the next output is
    ``(1 - f) * h + f * tanh(W_h([f * h, x]))``.

    Args:
        n_inputs: Features of the input.
        n_units: Units.

    Source: Zhou et al., 2016.
    """

    def forward(self, h: VariableLike | None, x: VariableLike) -> Variable:
        """Apply the layer.

        Args:
            h (Variable or array): The output before, ``(N, n_units)``.
            x (Variable or array): ``(N, n_inputs)``.

        Returns:
            Variable: The next output.
        """
        return self._step(h, x)


class StatefulMGU(MGUBase, Stateful):
    """A minimal gated unit, which keeps its state; see `StatelessMGU`.

    Args:
        in_size: Features of the input.
        out_size: Units.

    Attributes:
        h (Variable): The output before, or None.
    """

    def __init__(self, in_size: int, out_size: int) -> None:
        super().__init__(in_size, out_size)
        self._state_size = out_size

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
        h = zeros(self, (x.shape[0], self._state_size), x.dtype) if self.h is None else self.h
        self.h = y = self._step(h, x)
        return y
