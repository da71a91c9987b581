"""Stacked recurrent layers over whole sequences."""

from __future__ import annotations

import itertools
import operator
import typing as tp

import chainerx
import numpy as np

from chainer import initializers, variable
from chainer._base.docstrings import documented_like
from chainer.functions.array.permutate import permutate
from chainer.functions.array.transpose_sequence import transpose_sequence
from chainer.functions.rnn import n_step_rnn as functions
from chainer.functions.rnn._n_step import NStep, check_dropout
from chainer.functions.rnn.n_step_rnn import n_step_birnn, n_step_rnn
from chainer.link import ChainList, Link
from chainer.links.rnn._state import zeros
from chainer.utils import argument, type_check
from chainer.variable import Parameter

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, VariableLike


def argsort_list_descent(lst: tp.Sequence[tp.Any]) -> np.ndarray:
    """The places of the arrays, longer ones first; equally long ones stay in order.

    Args:
        lst (sequence of Variable or array): The sequences.

    Returns:
        numpy.ndarray: int32.
    """
    return np.argsort([-len(x) for x in lst], kind='stable').astype(np.int32)


def permutate_list(lst: tp.Sequence[tp.Any], indices: tp.Any, inv: bool) -> list[tp.Any]:
    """The items in another order.

    Args:
        lst (sequence): The items.
        indices (sequence of int): For each place the old one.
        inv (bool): Whether ``indices`` say for each old place the new one instead.

    Returns:
        list: The items.
    """
    if not inv:
        return [lst[i] for i in indices]
    result: list[object] = [None] * len(lst)
    for i, x in zip(indices, lst, strict=True):
        result[i] = x
    return result


class NStepRNNBase(ChainList):
    """What all of them have in common; subclasses say the cell.

    Args:
        n_layers (int): The number of layers.
        in_size (int): Features of the inputs.
        out_size (int): Units of each layer and direction.
        dropout (float): Ratio of the dropout between layers.
        initialW: Initializer of the weights; `LeCunNormal` by default.
        initial_bias: Initializer of the biases; 0 by default.

    Attributes:
        n_weights (int): Weights of a layer and direction; there are as many biases. The child of a
            layer and direction has them as ``w0``, ``b0``, and so on.
        n_cells (int): States of a layer and direction.
        use_bi_direction (bool): Whether there are two directions.
    """

    n_weights: int
    n_cells: int
    use_bi_direction: bool
    # What computes whole sequences at once; None where a subclass computes steps in its own way.
    _function: tp.ClassVar[type[NStep] | None] = None
    _methods: tp.ClassVar[tuple[tp.Any, ...]] = ()  # those that it takes the place of
    # From the attributes of a child to its weights, and to its biases.
    _get_weights: tp.ClassVar[operator.itemgetter]
    _get_biases: tp.ClassVar[operator.itemgetter]

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if '_function' not in vars(cls) and not {'rnn', 'ws', 'bs'}.isdisjoint(vars(cls)):
            cls._function = None
        elif '_function' in vars(cls):
            cls._methods = cls.rnn, cls.ws, cls.bs
            cls._get_weights, cls._get_biases = (
                operator.itemgetter(*(f'{letter}{j}' for j in range(cls.n_weights)))
                for letter in 'wb'
            )

    def __init__(
        self,
        n_layers: int,
        in_size: int,
        out_size: int,
        dropout: float,
        *,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
        **removed: object,
    ) -> None:
        if removed:
            argument.check_unexpected_kwargs(
                removed,
                use_cudnn='use_cudnn argument is not supported anymore. Use chainer.using_config',
                use_bi_direction='use_bi_direction is not supported anymore',
                activation='activation is not supported anymore',
            )
            argument.assert_kwargs_empty(removed)
        super().__init__()
        self.n_layers = n_layers
        self.out_size = out_size
        self.dropout = dropout
        self.direction = 2 if self.use_bi_direction else 1
        w_init = initializers._get_initializer(initialW)
        b_init = initializers._get_initializer(0 if initial_bias is None else initial_bias)
        for layer in range(n_layers):
            features = in_size if layer == 0 else out_size * self.direction
            for _ in range(self.direction):
                weights = Link()
                with weights.init_scope():
                    for j in range(self.n_weights):
                        ins = features if j < self.n_weights // 2 else out_size
                        setattr(weights, f'w{j}', Parameter(w_init, (out_size, ins)))
                        setattr(weights, f'b{j}', Parameter(b_init, (out_size,)))
                self.add_link(weights)

    @property
    def ws(self) -> list[list[Parameter]]:
        """The weights of each layer and direction."""
        return self._parameters('w')

    @property
    def bs(self) -> list[list[Parameter]]:
        """The biases of each layer and direction."""
        return self._parameters('b')

    def _parameters(self, letter: str) -> list[list[Parameter]]:
        names = [f'{letter}{j}' for j in range(self.n_weights)]
        return [[getattr(child, name) for name in names] for child in self]

    def init_hx(self, xs: tp.Sequence[VariableLike]) -> variable.Variable:
        """States of zeros.

        Args:
            xs (sequence of Variable or array): The sequences.

        Returns:
            Variable: (layers * directions, sequences, units), the dtype of the sequences.
        """
        x = xs[0]
        if not hasattr(x, 'dtype'):
            name = type(self).__name__
            raise TypeError(f'{name}: xs[0] is a {type(x).__name__}, expected an array')
        return zeros(self, (self.n_layers * self.direction, len(xs), self.out_size), x.dtype)

    def rnn(self, *args: object) -> tuple[tp.Any, ...]:
        """The function that is applied: to layers, dropout, states, weights, biases and steps.

        Args:
            *args: See `chainer.functions.n_step_lstm`.

        Returns:
            tuple: The last states, and the outputs of the steps.
        """
        raise NotImplementedError(f'{type(self).__name__}: a subclass must define rnn')

    def forward(
        self, hx: VariableLike | None, xs: tp.Sequence[VariableLike], **removed: object
    ) -> tuple[variable.Variable, list[variable.Variable]]:
        """Apply the layers.

        Args:
            hx (Variable or array): The first outputs, (layers * directions, sequences, units);
                None for zeros.
            xs (list of Variable or array): The sequences in any order, (length, features) each.

        Returns:
            tuple: The last outputs of all layers, as ``hx``, and a list of the outputs of the last
            layer, (length, directions * units) for each sequence.
        """
        return self._call([hx], xs, removed)

    def _call(
        self,
        states: list[tp.Any],
        xs: tp.Sequence[VariableLike],
        removed: dict[str, object],
    ) -> tp.Any:
        """The last states, and a list of the outputs in the order of ``xs``."""
        if removed:
            argument.check_unexpected_kwargs(
                removed,
                train='train argument is not supported anymore. Use chainer.using_config',
            )
            argument.assert_kwargs_empty(removed)
        if not isinstance(xs, (list, tuple)):
            raise TypeError(
                f'{type(self).__name__}: xs is a {type(xs).__name__}, expected a list or tuple'
            )
        if not xs:
            raise ValueError(f'{type(self).__name__}: xs has no sequence, expected at least 1')
        given, xs = xs, list(xs)  # a subclass's init_hx may change the list
        for i, hx in enumerate(states):
            if hx is None:
                states[i] = self.init_hx(given)
        try:
            if self._computes_at_once():
                return self._call_at_once(states, xs)
            self._check_states(states, xs)
            return self._call_by_steps(states, xs)
        except (type_check.InvalidType, chainerx.DimensionError):
            self._check_states(states, xs)
            raise

    def _computes_at_once(self) -> bool:
        """Whether nobody has replaced a method that `_function` takes the place of."""
        cls = type(self)
        return (
            cls._function is not None
            and (cls.rnn, cls.ws, cls.bs) == cls._methods
            and 'rnn' not in self.__dict__
        )

    def _call_at_once(self, states: list[tp.Any], xs: list[tp.Any]) -> tuple[tp.Any, ...]:
        n, dropout = len(states), self.dropout or 0.0
        if not 0.0 <= dropout <= 1.0:
            check_dropout(type(self).__name__, dropout)
        inputs: list[tp.Any] = [*states]
        biases: list[tp.Any] = []
        try:
            for child in self._children:
                attributes = child.__dict__
                inputs += self._get_weights(attributes)
                biases += self._get_biases(attributes)
        except KeyError:  # a child has another way to say what they are, or none
            flat = itertools.chain.from_iterable
            inputs, biases = [*states, *flat(self.ws)], list(flat(self.bs))
        inputs += biases
        inputs += xs
        assert self._function is not None
        outputs = self._function.of_sequences.run(self.n_layers, dropout, inputs)
        if n == 1:
            hy, *ys = outputs
            return hy, ys
        hy, cy, *ys = outputs
        return hy, cy, ys

    def _check_states(
        self, states: tp.Iterable[VariableLike], xs: tp.Sequence[VariableLike]
    ) -> None:
        for hx in states:
            if hx.ndim == 3 and hx.shape[1] != len(xs):
                raise ValueError(
                    f'{type(self).__name__}: a first state has shape {hx.shape}, expected '
                    f'{len(xs)} for its axis 1, as there are sequences'
                ) from None

    def _call_by_steps(
        self, states: list[VariableLike], xs: tp.Sequence[VariableLike]
    ) -> tuple[tp.Any, ...]:
        """The same by way of `rnn`."""
        order = argsort_list_descent(xs)
        is_sorted = bool((order[1:] > order[:-1]).all())
        hs = states
        if not is_sorted:
            there = self.device.send(order)
            hs = [permutate(hx, there, 1) for hx in states]
            xs = permutate_list(xs, order, False)
        steps = transpose_sequence(xs)
        *lasts, ys = self.rnn(self.n_layers, self.dropout, *hs, self.ws, self.bs, steps)
        ys = list(transpose_sequence(ys)) if ys else []
        ys += [self._no_steps(x) for x in xs[len(ys) :]]
        if is_sorted:
            return (*lasts, ys)
        lasts = [permutate(h, there, 1, inv=True) for h in lasts]
        return (*lasts, permutate_list(ys, order, True))

    def _no_steps(self, x: VariableLike) -> variable.Variable:
        return zeros(self, (0, self.direction * self.out_size), x.dtype)


def _activated(
    function: tp.Callable[..., tuple[tp.Any, ...]], args: tuple[tp.Any, ...], activation: str
) -> tuple[tp.Any, ...]:
    # Not in place: a type checker takes the last of *args for the activation.
    return function(*args, activation=activation)


@documented_like(NStepRNNBase)
class NStepRNNTanh(NStepRNNBase):
    """Stacked simple recurrent layers with tanh; see `chainer.functions.n_step_rnn`."""

    n_weights = 2
    n_cells = 1
    use_bi_direction = False
    _function = functions.NStepRNNTanh

    def rnn(self, *args: object) -> tuple[tp.Any, ...]:
        return _activated(n_step_rnn, args, 'tanh')


@documented_like(NStepRNNBase)
class NStepRNNReLU(NStepRNNBase):
    """Stacked simple recurrent layers with ReLU; see `chainer.functions.n_step_rnn`."""

    n_weights = 2
    n_cells = 1
    use_bi_direction = False
    _function = functions.NStepRNNReLU

    def rnn(self, *args: object) -> tuple[tp.Any, ...]:
        return _activated(n_step_rnn, args, 'relu')


@documented_like(NStepRNNBase)
class NStepBiRNNTanh(NStepRNNBase):
    """Stacked simple recurrent layers with tanh; see `chainer.functions.n_step_birnn`."""

    n_weights = 2
    n_cells = 1
    use_bi_direction = True
    _function = functions.NStepBiRNNTanh

    def rnn(self, *args: object) -> tuple[tp.Any, ...]:
        return _activated(n_step_birnn, args, 'tanh')


@documented_like(NStepRNNBase)
class NStepBiRNNReLU(NStepRNNBase):
    """Stacked simple recurrent layers with ReLU; see `chainer.functions.n_step_birnn`."""

    n_weights = 2
    n_cells = 1
    use_bi_direction = True
    _function = functions.NStepBiRNNReLU

    def rnn(self, *args: object) -> tuple[tp.Any, ...]:
        return _activated(n_step_birnn, args, 'relu')
