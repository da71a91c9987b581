"""Memory for time: intermediate arrays are computed again for backward."""

from __future__ import annotations

import contextlib
import pickle
import random
import typing as tp

import chainerx
import numpy as np
from chainerx._core import functional

from chainer import configuration, variable
from chainer.function_node import FunctionNode

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, Arrays, Gradients, NdArray, VariableLike


class Forget(FunctionNode):
    """See `forget`."""

    def __init__(self, func: AnyCallable) -> None:
        if not callable(func):
            raise TypeError(f'forget: func is a {type(func).__name__}, expected a callable')
        self.func = func
        self._random: RandomStates | None = None  # where func draws from NumPy or Python
        self._same = functional.SameDraws()  # of chainerx, and running statistics

    def apply(self, inputs: tp.Sequence[VariableLike]) -> tuple[variable.Variable, ...]:
        """See `FunctionNode.apply`; chainerx arrays stay chainerx arrays."""
        variables = tuple(variable.as_variable(x) for x in inputs)
        in_data = tuple(x.array for x in variables)
        if not all(isinstance(x, chainerx.ndarray) for x in in_data):
            return super().apply(inputs)
        outputs = self._compute(in_data)
        return self._connect(variables, in_data, outputs, outputs)

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs(tuple(range(len(inputs))))
        before = RandomStates()
        with configuration.using_config('enable_backprop', False):
            ys = self._call([_leaf(x) for x in inputs])
            outputs = tuple(y.array for y in ys)
        if RandomStates() != before:  # else nothing is kept: they are some thousand bytes
            self._random = before
        return outputs

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: Gradients) -> Gradients:
        if configuration.config.enable_backprop:
            raise RuntimeError(
                'forget: double backpropagation is not supported: gradients of parameters inside '
                'func would be lost'
            )
        xs = [_leaf(x.array) for x in self.get_retained_inputs()]
        with (
            self._random or contextlib.nullcontext(),
            configuration.using_config('in_recomputing', True),
            configuration.using_config('enable_backprop', True),
        ):
            ys = self._call(xs)
        variable.backward(list(ys), list(grad_outputs))
        return tuple(xs[i].grad_var for i in target_input_indexes)

    def _call(self, xs: list[variable.Variable]) -> tuple[variable.Variable, ...]:
        ys: object = self._same(lambda: self.func(*xs))
        ys = ys if isinstance(ys, tuple) else (ys,)
        for n, y in enumerate(ys):
            if not isinstance(y, variable.Variable):
                raise RuntimeError(
                    f'forget: output {n} of func is a {type(y).__name__}, expected a Variable or a '
                    'tuple of them'
                )
        return ys


class RandomStates:
    """Saved states of the global generators of NumPy and Python, restored in the context."""

    def __init__(self) -> None:
        self._numpy = np.random.get_state(legacy=False)
        self._python = random.getstate()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RandomStates)
            and self._python == other._python
            # Arrays and numbers, whatever the kind of the generator.
            and pickle.dumps(self._numpy) == pickle.dumps(other._numpy)
        )

    __hash__ = None  # type: ignore[assignment]

    def _set(self) -> None:
        np.random.set_state(self._numpy)
        random.setstate(self._python)

    def __enter__(self) -> None:
        self._outside = RandomStates()
        self._set()

    def __exit__(self, *_: object) -> None:
        self._outside._set()


def _leaf(array: NdArray) -> variable.Variable:
    """A variable of no graph but its own."""
    if isinstance(array, chainerx.ndarray):
        array = array.as_grad_stopped()
    return variable.Variable(array)


def forget(func: AnyCallable, *xs: VariableLike) -> tp.Any:
    """Calls a function, and forgets all but its inputs and outputs; backward computes it anew.

    Args:
        func (callable): Takes Variables, returns a Variable or a tuple of them. It is called once
            more in backward, where ``chainer.config.in_recomputing`` is True; it must do the same
            then. Random numbers, of NumPy, chainerx and Python, are those of the first call.
        *xs (Variable or array): Its arguments, of any shapes and dtypes.

    Returns:
        Variable or tuple of Variable: The result of ``func``, with its shape and dtype.
        Differentiable once in ``xs`` and the parameters that ``func`` uses.

    Raises:
        TypeError: If ``func`` is not callable.
        RuntimeError: If it returns something else; in backward, with ``enable_double_backprop``.

    Source: Chen et al., Training deep nets with sublinear memory cost, 2016.
    """
    f = Forget(func)
    if not xs:
        with configuration.using_config('enable_backprop', False):
            ys = f._call([])
    else:
        ys = f.apply(xs)
    return ys[0] if len(ys) == 1 else ys
