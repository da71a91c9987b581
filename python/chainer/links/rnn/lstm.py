"""`LSTM` and `StatelessLSTM`: layers with a long short-term memory."""

from __future__ import annotations

import math
import typing as tp

import numpy as np
from chainerx._core import engine

from chainer import initializers
from chainer._base.docstrings import documented_like
from chainer._graph.declaration import routine
from chainer.backend import using_device
from chainer.functions.array.concat import concat
from chainer.functions.rnn.lstm import lstm
from chainer.link import Chain
from chainer.links.connection.linear import Linear
from chainer.links.rnn._cell import Cell
from chainer.links.rnn._state import Stateful, zeros
from chainer.variable import Parameter

if tp.TYPE_CHECKING:
    from chainer._graph.variable import Variable
    from chainer._typing import InitializerSpec, VariableLike


class LSTMStep(Cell):
    """`LSTMBase._step`."""

    compose = routine(engine.Native('lstm_step'))


class LSTMBase(Chain):
    """What `LSTM` and `StatelessLSTM` have in common: the gates, made of input and output."""

    def __init__(
        self,
        in_size: int | None,
        out_size: int | None = None,
        lateral_init: InitializerSpec | None = None,
        upward_init: InitializerSpec | None = None,
        bias_init: InitializerSpec | None = None,
        forget_bias_init: InitializerSpec | None = None,
    ) -> None:
        if out_size is None:
            in_size, out_size = None, in_size
        assert out_size is not None
        super().__init__()
        self.state_size = out_size
        self.lateral_init = lateral_init
        self.upward_init = upward_init
        self.bias_init = 0 if bias_init is None else bias_init
        self.forget_bias_init = 1 if forget_bias_init is None else forget_bias_init
        with self.init_scope():
            self.upward = Linear(in_size, 4 * out_size, initialW=0)
            self.lateral = Linear(out_size, 4 * out_size, initialW=0, nobias=True)
        # The gates of a unit stand side by side: a, i, f, o.
        b = tp.cast(Parameter, self.upward.b)
        bias = np.empty((out_size, 4), b.dtype)
        for gate in range(4):
            init = self.forget_bias_init if gate == 2 else self.bias_init
            initializers._get_initializer(init)(bias[:, gate])
        _assign(b, bias.ravel())
        if in_size is not None:
            self._initialize_weights()

    def _initialize_weights(self) -> None:
        """Draws the weights a quarter at a time, so that their scale is that of one gate."""
        layers = ((self.lateral, self.lateral_init), (self.upward, self.upward_init))
        weights = [np.empty(layer.W.shape, layer.W.dtype) for layer, _ in layers]
        for start in range(0, 4 * self.state_size, self.state_size):
            for weight, (_, init) in zip(weights, layers, strict=True):
                initializers._get_initializer(init)(weight[start : start + self.state_size])
        for weight, (layer, _) in zip(weights, layers, strict=True):
            _assign(layer.W, weight)

    def _step(
        self, c: VariableLike | None, h: VariableLike | None, x: VariableLike
    ) -> tuple[Variable, Variable]:
        """The next cell and output; None stands for zeros."""
        if not engine.is_tracing() and c is not None and h is not None:
            layers = self.upward, self.lateral
            states = engine.apply_to_layers(LSTMStep.call, (x, c, h), layers)
            if states is not None:
                return states
        if self.upward.W.array is None:
            with using_device(self.device):
                self.upward._initialize_params(math.prod(x.shape[1:]))
                self._initialize_weights()
        gates = self.upward(x)
        if h is not None:
            gates = gates + self.lateral(h)
        if c is None:
            c = zeros(self, (x.shape[0], self.state_size), gates.dtype)
        return lstm(c, gates)


def _assign(param: Parameter, values: np.ndarray) -> None:
    param.array[...] = param.device.send(values)


class StatelessLSTM(LSTMBase):
    """A long short-term memory whose state is given and returned; see `LSTM`.

    Args:
        in_size: Features of the input. None, or left out (`in_size` is then what is given for
            `out_size`): taken from the first input.
        out_size: Features of the output.
        lateral_init: Initializer of the weights of the output before; `LeCunNormal` by default.
        upward_init: Initializer of the weights of the input; `LeCunNormal` by default.
        bias_init: Initializer of the biases, but that of the forget gate; 0 by default.
        forget_bias_init: Initializer of the bias of the forget gate; 1 by default.

    Attributes:
        upward (Linear): From the input to the gates; those of a unit stand side by side.
        lateral (Linear): From the output before to the gates; without bias.
    """

    def forward(
        self, c: VariableLike | None, h: VariableLike | None, x: VariableLike
    ) -> tuple[Variable, Variable]:
        """Apply the layer.

        Args:
            c (Variable or array): The cell before, ``(N, out_size)``; None for zeros.
            h (Variable or array): The output before, ``(N, out_size)``; None for zeros.
            x (Variable or array): ``(N, in_size)``, or anything of as many elements.

        Returns:
            tuple of Variable: The next ``c`` and ``h``.
        """
        return self._step(c, h, x)


@documented_like(StatelessLSTM)
class LSTM(LSTMBase, Stateful):
    """A fully connected layer with a long short-term memory, which keeps its state.

    Attributes:
        upward (Linear): From the input to the gates; those of a unit stand side by side.
        lateral (Linear): From the output before to the gates; without bias.
        c (Variable): The cell, or None.
        h (Variable): The output before, or None.
    """

    _states = ('c', 'h')
    c: tp.Any = None

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
            x (Variable or array): ``(N, in_size)``. With fewer rows than the input before, the
                state of the others stays.

        Returns:
            Variable: ``(N, out_size)``.

        Raises:
            TypeError: If there are more rows than before.
        """
        h, n, rest = self.h, x.shape[0], None
        if h is not None and h.shape[0] != n:
            if h.shape[0] < n:
                raise TypeError(
                    f'LSTM: x has {n} rows, expected no more than the {h.shape[0]} of the state'
                )
            h, rest = h[:n], h[n:]
        self.c, y = self._step(self.c, h, x)
        self.h = y if rest is None else concat([y, rest], 0)
        return y
