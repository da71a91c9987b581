"""`StatefulZoneoutLSTM`: a long short-term memory that keeps parts of its state at random."""

from __future__ import annotations

import typing as tp

from chainerx._core import engine

from chainer._graph.declaration import routine
from chainer.functions.noise.zoneout import zoneout
from chainer.functions.rnn.lstm import lstm
from chainer.links.connection.linear import Linear
from chainer.links.rnn._cell import Cell
from chainer.links.rnn._state import Stateful, zeros
from chainer.utils import argument

if tp.TYPE_CHECKING:
    from chainer._graph.variable import Variable
    from chainer._typing import VariableLike


class ZoneoutStep(Cell):
    """The step of a `StatefulZoneoutLSTM` that has states."""

    compose = routine(engine.Native('zoneout_step'), c_ratio=..., h_ratio=...)


class StatefulZoneoutLSTM(Stateful):
    """A long short-term memory with zoneout, which keeps its state.

    In training, each element of the next cell, and of the next output, is that of the one before
    with a given probability.

    Args:
        in_size: Features of the input; None: taken from the first one.
        out_size: Units.
        c_ratio: The probability for cells.
        h_ratio: The probability for outputs.

    Attributes:
        upward (Linear): From the input to the gates; those of a unit stand side by side.
        lateral (Linear): From the output before to the gates; without bias.
        c (Variable): The cell, or None.
        h (Variable): The output before, or None.

    Source: Krueger et al., ICLR 2017.
    """

    _states = ('c', 'h')
    c: tp.Any = None

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        c_ratio: float = 0.5,
        h_ratio: float = 0.5,
        **removed: object,
    ) -> None:
        if removed:
            argument.check_unexpected_kwargs(
                removed,
                train='train argument is not supported anymore. Use chainer.using_config',
            )
            argument.assert_kwargs_empty(removed)
        super().__init__()
        self.state_size = out_size
        self.c_ratio = c_ratio
        self.h_ratio = h_ratio
        with self.init_scope():
            self.upward = Linear(in_size, 4 * out_size)
            self.lateral = Linear(out_size, 4 * out_size, nobias=True)

    def set_state(self, c: Variable, h: Variable) -> None:
        """Sets the state, which moves to the device of the link.

        Args:
            c (Variable): The cell, (N, out_size).
            h (Variable): The output before, (N, out_size).
        """
        self._set_states(c=c, h=h)

    def forward(self, x: VariableLike) -> Variable:
        """Apply the layer to the next element of the sequences.

        Args:
            x (Variable or array): ``(N, in_size)``.

        Returns:
            Variable: ``(N, out_size)``.
        """
        c, h = self.c, self.h
        ratios = self.c_ratio, self.h_ratio
        if not engine.is_tracing() and c is not None and h is not None:
            layers = self.upward, self.lateral
            states = engine.apply_to_layers(ZoneoutStep.call, (x, c, h), layers, *ratios)
            if states is not None:
                self.c, self.h = states
                return self.h
        gates = self.upward(x)
        if h is not None:
            gates = gates + self.lateral(h)
        c, h = (
            zeros(self, (x.shape[0], self.state_size), gates.dtype) if state is None else state
            for state in (c, h)
        )
        next_c, next_h = lstm(c, gates)
        self.c, self.h = zoneout(c, next_c, ratios[0]), zoneout(h, next_h, ratios[1])
        return self.h
