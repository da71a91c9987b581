"""Which function is written how."""

from __future__ import annotations

import collections.abc
import functools
import typing as tp

import numpy as np
import onnx
from chainerx.onnx._nodes import rename
from chainerx.onnx._terms import Term
from chainerx.onnx._writer import Writer

from onnx_chainer import onnx_helper
from onnx_chainer._trace import memory_of

if tp.TYPE_CHECKING:
    from chainer.function_node import FunctionNode
    from chainerx.onnx._lengths import Length

    from onnx_chainer.context import Context

    Converter = collections.abc.Callable[['Conversion'], str | tuple[str, ...]]

CONVERTERS: dict[str, Converter] = {}


class FunctionConverterParams:
    """What a converter of the user's gets.

    Attributes:
        func (FunctionNode): The function.
        opset_version (int): The version of the operators.
        input_names (list of str): Names of its inputs.
        output_names (list of str): Names that its outputs must have.
        context (Context): The graph.
    """

    def __init__(
        self,
        func: FunctionNode,
        opset_version: int,
        input_names: list[str],
        output_names: list[str],
        context: Context,
    ) -> None:
        self.func = func
        self.opset_version = opset_version
        self.input_names = input_names
        self.output_names = output_names
        self.context = context
        # What has shape and dtype: nodes, or arrays.
        self.in_values: list[tp.Any] = list(func.inputs or ())
        self.out_values: list[tp.Any] = []
        # Names of attributes that had arrays before, and arrays that the function made of others.
        self.given: tp.Collection[str] = ()
        self.byproducts: list[tp.Any] = []
        self.train = False  # whether the function ran as in training


class Conversion(Writer):
    """The nodes of one function of Chainer."""

    context: Context

    def __init__(self, params: FunctionConverterParams) -> None:
        super().__init__(onnx_helper.get_func_name(), params.opset_version, params.context)
        self.params = params
        self.func: tp.Any = params.func
        self.x = params.input_names
        self.train = params.train

    @property
    def label(self) -> str:
        return str(self.func.label)

    def shape(self, i: int) -> tuple[int, ...]:
        """The shape of input i."""
        return tuple(self.params.in_values[i].shape)

    def dtype(self, i: int) -> np.dtype:
        """The dtype of input i."""
        return np.dtype(self.params.in_values[i].dtype)

    def out_shape(self, i: int = 0) -> tuple[int, ...]:
        """The shape of output i."""
        return tuple(self.params.out_values[i].shape)

    def out_dtype(self, i: int = 0) -> np.dtype:
        """The dtype of output i."""
        return np.dtype(self.params.out_values[i].dtype)

    def has(self, i: int) -> bool:
        """Whether input i is there."""
        return i < len(self.x) and self.x[i] != ''

    def term(self, i: int) -> Term:
        """Input i, for formulas."""
        return Term(self, self.x[i], self.dtype(i))

    def wide(self, i: int) -> Term:
        """Input i in float32, or float64 if it is that."""
        x = self.term(i)
        return x if x.dtype == np.float64 else x.cast(np.float32)

    # Values

    def like(self, value: tp.Any, i: int = 0) -> str:
        """A constant with the dtype of input i."""
        return self.const(onnx_helper.to_numpy(value), 'value', self.dtype(i))

    def value_of(self, array: tp.Any, name: str) -> str:
        """The name of an array that is an attribute: of the graph or the model, or a constant."""
        known = self.context.get_name(memory_key(array, self.context))
        if known is not None:
            return known
        if (path := self.context.path_of(array)) is not None:
            return self.context.tensor(array, array, path)
        return self.const(onnx_helper.to_numpy(array), name)

    def wanted(self) -> list[tp.Any]:
        """What the function made beside its outputs, and functions of the graph or outputs read."""
        return [x for x in self.params.byproducts if memory_of(x) in self.context.wanted]

    # Shapes with open axes

    def lengths(self, i: int) -> tuple[Length, ...]:
        """The lengths of input i: ints, names of open axes, None for those that are not known."""
        known = None if self.context.lengths is None else self.context.lengths.of(self.x[i])
        return self.shape(i) if known is None else known

    def fixed(self, i: int, axis: int, option: str = '') -> int:
        """The length of an axis that must not be open, because of an option perhaps.

        Raises:
            ValueError: If it is.
        """
        n = self.lengths(i)[axis]
        if not isinstance(n, int):
            raise ValueError(
                f'{self.label}{option and f" with {option}"} cannot have an open axis '
                f'{axis % len(self.shape(i))} of input {i}, whose shape is {self.shape(i)}; '
                'name fewer axes in input_shapes'
            )
        return n

    def hint(self, lengths: tp.Sequence[Length], i: int = 0) -> None:
        """Says what the lengths of output i are, where inference may not know them."""
        if self.context.lengths is not None:
            self.context.lengths.hints[self.params.output_names[i]] = list(lengths)

    def reshape_to(self, x: str, lengths: tp.Sequence[Length]) -> str:
        """The output in another shape with open axes; see `reshape_open`."""
        return self.reshape_open(x, lengths, self.out_shape())


def memory_key(array: tp.Any, context: Context) -> tp.Any:
    """The array by which a context knows the elements."""
    return context.arrays.get(memory_of(array), array)


def converts(*names: str) -> tp.Callable[[Converter], Converter]:
    """Registers the converter of functions, by the names of their classes."""

    def register(converter: Converter) -> Converter:
        for name in names:
            CONVERTERS[name] = converter
        return converter

    return register


def same(operators: dict[str, str]) -> None:
    """Registers functions that are one operator without attributes."""
    for name, op in operators.items():
        converts(name)(functools.partial(_one_operator, op))


def _one_operator(op: str, g: Conversion) -> str:
    return g.op(op, g.x)


def convert(params: FunctionConverterParams) -> tuple[onnx.NodeProto, ...]:
    """The nodes of a function.

    Raises:
        ValueError: If there is no converter, or the version of the operators lacks something.
    """
    conversion = Conversion(params)
    found = CONVERTERS[type(params.func).__name__](conversion)
    names = (found,) if isinstance(found, str) else tuple(found)
    return rename(conversion.nodes(), names, params.output_names)
