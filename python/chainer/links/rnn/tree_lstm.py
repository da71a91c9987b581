"""`ChildSumTreeLSTM` and `NaryTreeLSTM`: long short-term memories of nodes in trees."""

from __future__ import annotations

import typing as tp

from chainerx._core import engine

from chainer._graph.declaration import routine
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.activation.tanh import tanh
from chainer.functions.array.concat import Concat
from chainer.functions.array.split_axis import SplitAxis
from chainer.functions.rnn.tree_lstm import TreeLSTM
from chainer.link import Chain
from chainer.links.connection.linear import Linear
from chainer.links.rnn._cell import Cell
from chainer.links.rnn._state import zeros

if tp.TYPE_CHECKING:
    from chainer._graph.variable import Variable
    from chainer._typing import VariableLike


class ChildSumStep(Cell):
    """A node of a `ChildSumTreeLSTM`: of the cells of the children and their outputs."""

    compose = routine(engine.Native('child_sum_step'), units=...)


class NaryStep(Cell):
    """A node of a `NaryTreeLSTM`: of the cells of the children and their outputs."""

    compose = routine(engine.Native('nary_step'), units=...)


class _TreeLSTM(Chain):
    """What both have in common: the arguments."""

    state_size: int
    W_x: Linear

    def _split(
        self, cshsx: tuple[VariableLike | None, ...]
    ) -> tuple[tuple[VariableLike, ...], tuple[VariableLike, ...], VariableLike]:
        """Cells and outputs of the children, and the input; zeros for what is None."""
        if len(cshsx) % 2 != 1:
            raise ValueError(
                f'{type(self).__name__}: {len(cshsx)} arguments, expected as many cells as '
                'outputs, and the input'
            )
        for array in cshsx:
            if array is None:
                cshsx = self._with_zeros(cshsx)
                break
        n = len(cshsx) // 2
        return cshsx[:n], cshsx[n:-1], cshsx[-1]

    def _with_zeros(self, cshsx: tuple[tp.Any, ...]) -> tuple[tp.Any, ...]:
        name = type(self).__name__
        given = next((array for array in cshsx if array is not None), None)
        if given is None:
            raise ValueError(f'{name}: all arguments are None, expected at least one array')
        n, dtype = given.shape[0], given.dtype
        nothing = zeros(self, (n, self.state_size), dtype)
        states = [nothing if array is None else array for array in cshsx[:-1]]
        x = cshsx[-1]
        if x is None:
            if self.W_x.W.array is None:
                raise ValueError(f'{name}: x is None, expected the array that says its features')
            x = zeros(self, (n, self.W_x.W.shape[1]), dtype)
        return (*states, x)


class ChildSumTreeLSTM(_TreeLSTM):
    """A long short-term memory of a node with any number of children.

    With ``a``, ``i``, ``o`` taken from ``W_x(x) + W_h_aio(h1 + h2 + ...)``, and for each child
    ``fk = sigmoid(W_x(x) + W_h_f(hk))``, it is ``c = tanh(a) * sigmoid(i) + f1 * c1 + ...``,
    ``h = sigmoid(o) * tanh(c)``.

    Args:
        in_size: Features of the input; None: taken from the first one.
        out_size: Units.

    Attributes:
        W_x (Linear): From the input to ``a``, ``i``, ``o`` and the forget gates.
        W_h_aio (Linear): From the sum of the children's outputs; without bias.
        W_h_f (Linear): From the output of a child to its forget gate; without bias.

    Source: Tai et al., ACL 2015.
    """

    def __init__(self, in_size: int | None, out_size: int) -> None:
        super().__init__()
        with self.init_scope():
            self.W_x = Linear(in_size, 4 * out_size)
            self.W_h_aio = Linear(out_size, 3 * out_size, nobias=True)
            self.W_h_f = Linear(out_size, out_size, nobias=True)
        self.in_size = in_size
        self.state_size = out_size

    def forward(self, *cshsx: VariableLike) -> tuple[Variable, Variable]:
        """Apply the layer to a node.

        Args:
            *cshsx: The cells of the children, their outputs, and the input: Variables or arrays,
                ``(N, out_size)`` and ``(N, in_size)``. None stands for zeros.

        Returns:
            tuple of Variable: The cell and the output, ``(N, out_size)``.

        Raises:
            ValueError: If there are not as many cells as outputs, or all is None.
        """
        units = self.state_size
        if not engine.is_tracing():
            layers = self.W_x, self.W_h_aio, self.W_h_f
            inputs = cshsx[-1:] + cshsx[:-1]
            found = engine.apply_to_layers(ChildSumStep.call, inputs, layers, units)
            if found is not None:
                return found
        cells, outputs, x = self._split(cshsx)
        aio, forget = SplitAxis.call(self.W_x(x), indices=(3 * units,), sections=None, axis=1)
        if outputs:
            total, *others = outputs
            for h in others:
                total = total + h
            gates = [aio + self.W_h_aio(total)]
            for h in outputs:
                gates.append(forget + self.W_h_f(h))
            return TreeLSTM.call(*cells, Concat.call(*gates, axis=1))
        a, i, o = SplitAxis.call(aio, indices=None, sections=3, axis=1)
        c = tanh(a) * sigmoid(i)
        return c, sigmoid(o) * tanh(c)


class NaryTreeLSTM(_TreeLSTM):
    """A long short-term memory of a node with a given number of children, each with weights.

    With ``a``, ``i``, ``o``, ``f1``, ... taken from ``W_x(x) + W_h1(h1) + ...``, it is
    ``c = tanh(a) * sigmoid(i) + sigmoid(f1) * c1 + ...``, ``h = sigmoid(o) * tanh(c)``.

    Args:
        in_size: Features of the input; None: taken from the first one.
        out_size: Units.
        n_ary: The number of children.

    Attributes:
        W_x (Linear): From the input to all gates.
        W_h1 (Linear): From the output of the first child to all gates; without bias. The others,
            `W_h2` and so on, are the same.

    Source: Tai et al., ACL 2015.
    """

    def __init__(self, in_size: int | None, out_size: int, n_ary: int = 2) -> None:
        if n_ary < 1:
            raise ValueError(f'NaryTreeLSTM: n_ary is {n_ary}, expected at least 1')
        super().__init__()
        with self.init_scope():
            self.W_x = Linear(in_size, (3 + n_ary) * out_size)
            for k in range(1, n_ary + 1):
                link = Linear(out_size, (3 + n_ary) * out_size, nobias=True)
                setattr(self, f'W_h{k}', link)
        self.in_size = in_size
        self.state_size = out_size
        self.n_ary = n_ary

    def forward(self, *cshsx: VariableLike) -> tuple[Variable, Variable]:
        """Apply the layer to a node.

        Args:
            *cshsx: The cells of the children, their outputs, and the input: Variables or arrays,
                ``(N, out_size)`` and ``(N, in_size)``. None stands for zeros.

        Returns:
            tuple of Variable: The cell and the output, ``(N, out_size)``.

        Raises:
            ValueError: If there is another number of arguments, or all is None.
        """
        if len(cshsx) != 2 * self.n_ary + 1:
            raise ValueError(
                f'NaryTreeLSTM: {len(cshsx)} arguments, expected {2 * self.n_ary + 1}: the cells '
                f'and outputs of {self.n_ary} children, and the input'
            )
        layers = []
        for k in range(1, self.n_ary + 1):
            layers.append(getattr(self, f'W_h{k}'))
        if not engine.is_tracing():
            inputs = cshsx[-1:] + cshsx[:-1]
            every = self.W_x, *layers
            found = engine.apply_to_layers(NaryStep.call, inputs, every, self.state_size)
            if found is not None:
                return found
        cells, outputs, x = self._split(cshsx)
        gates = self.W_x(x)
        for k, layer in enumerate(layers):
            if cshsx[self.n_ary + k] is not None:
                gates = gates + layer(outputs[k])
        return TreeLSTM.call(*cells, gates)
