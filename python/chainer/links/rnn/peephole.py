"""`StatefulPeepholeLSTM`: a long short-term memory whose gates see the cell."""

from __future__ import annotations

import typing as tp

from chainerx._core import engine

from chainer._graph.declaration import routine
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.activation.tanh import tanh
from chainer.functions.array.reshape import reshape
from chainer.functions.array.separate import separate
from chainer.links.connection.linear import Linear
from chainer.links.rnn._cell import Cell
from chainer.links.rnn._state import Stateful, zeros

if tp.TYPE_CHECKING:
    from chainer._graph.variable import Variable
    from chainer._typing import VariableLike


class PeepholeStep(Cell):
    """The step of a `StatefulPeepholeLSTM` that has states."""

    compose = routine(engine.Native('peephole_step'), units=...)


class StatefulPeepholeLSTM(Stateful):
    """A long short-term memory with peepholes, which keeps its state.

    With ``a``, ``i``, ``f``, ``o`` taken from ``upward(x) + lateral(h)``, it is ``c' = tanh(a) *
    sigmoid(i + peep_i(c)) + sigmoid(f + peep_f(c)) * c`` and
    ``h' = sigmoid(o + peep_o(c')) * tanh(c')``.

    Args:
        in_size: Features of the input; None: taken from the first one.
        out_size: Units.

    Attributes:
        upward (Linear): From the input to the gates; those of a unit stand side by side.
        lateral (Linear): From the output before to the gates; without bias.
        peep_i (Linear): From the cell to the input gate; without bias, as the others.
        peep_f (Linear): From the cell to the forget gate.
        peep_o (Linear): From the next cell to the output gate.
        c (Variable): The cell, or None.
        h (Variable): The output before, or None.

    Source: Gers and Schmidhuber, IJCNN 2000.
    """

    _states = ('c', 'h')
    c: tp.Any = None

    def __init__(self, in_size: int | None, out_size: int) -> None:
        super().__init__()
        self.state_size = out_size
        with self.init_scope():
            self.upward = Linear(in_size, 4 * out_size)
            self.lateral = Linear(out_size, 4 * out_size, nobias=True)
            self.peep_i = Linear(out_size, out_size, nobias=True)
            self.peep_f = Linear(out_size, out_size, nobias=True)
            self.peep_o = Linear(out_size, out_size, nobias=True)

    def forward(self, x: VariableLike) -> Variable:
        """Apply the layer to the next element of the sequences.

        Args:
            x (Variable or array): ``(N, in_size)``.

        Returns:
            Variable: ``(N, out_size)``.
        """
        if not engine.is_tracing() and self.c is not None and self.h is not None:
            layers = (self.upward, self.lateral, self.peep_i, self.peep_f, self.peep_o)
            inputs = x, self.c, self.h
            states = engine.apply_to_layers(PeepholeStep.call, inputs, layers, self.state_size)
            if states is not None:
                self.c, self.h = states
                return self.h
        gates = self.upward(x)
        if self.h is not None:
            gates = gates + self.lateral(self.h)
        c = zeros(self, (x.shape[0], self.state_size), gates.dtype) if self.c is None else self.c
        a, i, f, o = separate(reshape(gates, (gates.shape[0], self.state_size, 4)), 2)
        c = tanh(a) * sigmoid(i + self.peep_i(c)) + sigmoid(f + self.peep_f(c)) * c
        h = sigmoid(o + self.peep_o(c)) * tanh(c)
        self.c, self.h = c, h
        return h
