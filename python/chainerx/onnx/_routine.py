"""How routines are written: the table of rows, and what a row writes with."""

from __future__ import annotations

import functools
import typing as tp

import numpy as np
import onnx

import chainerx
from chainerx.onnx import _symbols
from chainerx.onnx._compositions import floor_divided
from chainerx.onnx._nodes import elem_type
from chainerx.onnx._symbols import Length, Ratio
from chainerx.onnx._trace import Constant
from chainerx.onnx._writer import NotInOnnxError, Writer

if tp.TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainerx.onnx._graph import Graph
    from chainerx.onnx._trace import Call, Value

    Row = Callable[..., tp.Any]

#: Rows that write nodes, by the name of the routine: called with a `RoutineWriter` and the
#: arguments of the call, in which arrays are an `Operand`. They return the name of the result, or a
#: tuple of names.
ROWS: dict[str, Row] = {}
#: Rows that call other routines, with the arguments of the call. They return NotImplemented where
#: there is a row for these arguments.
COMPOSITIONS: dict[str, Row] = {}


def row(*names: str) -> Callable[[Row], Row]:
    """Registers a row that writes nodes."""

    def register(function: Row) -> Row:
        for name in names:
            ROWS[name] = function
        return function

    return register


def composed(*names: str) -> Callable[[Row], Row]:
    """Registers a row that calls other routines."""

    def register(function: Row) -> Row:
        for name in names:
            COMPOSITIONS[name] = function
        return function

    return register


class Typed(str):
    """The name of a value whose dtype is known."""

    dtype: np.dtype

    def __new__(cls, name: str, dtype: tp.Any) -> Typed:
        self = super().__new__(cls, name)
        self.dtype = np.dtype(dtype)
        return self


class UnknownLength:
    """A length that depends on values: only the graph knows it."""

    def __init__(self, expression: _symbols.Expression, label: str) -> None:
        self.expression = expression
        self._label = label

    def _refuse(self, *_: object) -> tp.NoReturn:
        raise NotInOnnxError(f'{self._label} needs a length that depends on values')

    __int__ = __index__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __floordiv__ = __mod__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _refuse

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnknownLength) and self.expression == other.expression

    __hash__ = None  # type: ignore[assignment]


class Operand:
    """An array among the arguments of a call.

    Attributes:
        shape (tuple): Of ints; a `Length` where the axis is open.
        dtype (numpy.dtype): The dtype.
        array (numpy.ndarray or None): The elements of a constant.
    """

    def __init__(self, g: RoutineWriter, source: Value | Constant) -> None:
        self._g = g
        self._source = source
        self.shape: tuple[tp.Any, ...]
        if isinstance(source, Constant):
            self.array: np.ndarray | None = source.array
            self.dtype = np.dtype(source.array.dtype)
            self.shape = source.array.shape
        else:
            self.array = None
            self.dtype = np.dtype(source.dtype)
            self.shape = g.graph.lengths(source, g.label)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def name(self) -> str:
        """Its name in the graph."""
        return self._g.graph.name_of(self._source, self._g)


@functools.cache
def _types(op: str, opset: int) -> frozenset[int]:
    """The element types that an operator takes."""
    try:
        schema = onnx.defs.get_schema(op, opset)
    except onnx.defs.SchemaError:
        return frozenset()
    kind = schema.inputs[0].type_str
    allowed = [c.allowed_type_strs for c in schema.type_constraints if c.type_param_str == kind]
    names = allowed[0] if allowed else [kind]
    found = [n[len('tensor(') : -1] for n in names if n.startswith('tensor(')]
    kinds = onnx.TensorProto.DataType.keys()
    return frozenset(
        onnx.TensorProto.DataType.Value(n.upper()) for n in found if n.upper() in kinds
    )


_WIDER: tp.Final = {
    'bool': ('bool', 'int32', 'float32'),
    # Runtimes have arithmetic of no smaller ones; elements wrap when they are cast back.
    **{name: ('int32', 'int64') for name in ('int8', 'int16', 'uint8', 'uint16')},
    'int32': ('int32', 'int64'),
    'int64': ('int64',),
    'uint32': ('int64', 'uint32', 'uint64'),
    'uint64': ('uint64',),
    'float16': ('float16', 'float32'),
    'bfloat16': ('bfloat16', 'float32'),
    'float32': ('float32',),
    'float64': ('float64',),
}


# Operators that give the same bits for uint64 as for int64, of which runtimes have more.
_WRAPPING: tp.Final = ('Add', 'Sub', 'Mul', 'MatMul', 'Einsum', 'ReduceSum', 'ReduceProd', 'CumSum')


def _dtype(name: str) -> np.dtype:
    return np.dtype(chainerx.bfloat16) if name == 'bfloat16' else np.dtype(name)


class RoutineWriter(Writer):
    """The nodes of one call of a routine.

    Attributes:
        outs (list of Value): The results: their shapes and dtypes.
    """

    def __init__(self, graph: Graph, call: Call, prefix: str, opset: int) -> None:
        super().__init__(prefix, opset, graph.names)
        self.graph = graph
        self.call = call
        self.outs = call.results

    @property
    def label(self) -> str:
        return f'export: {self.call.name} ({self.call.site})'

    @property
    def is_open(self) -> bool:
        return self.graph.has_open_axes

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the first result."""
        return np.dtype(self.outs[0].dtype)

    @property
    def out_shape(self) -> tuple[tp.Any, ...]:
        """The shape of the first result, as that of an operand."""
        return self.graph.lengths(self.outs[0], self.label)

    def lacks(self, what: str, instead: str = '') -> tp.NoReturn:
        """Raises the error of what no version of the operators has."""
        raise NotInOnnxError(f'{self.label}: ONNX has no {what}' + (instead and f'; {instead}'))

    # Values

    def to(self, x: tp.Any, dtype: tp.Any) -> Typed:
        """The name of an operand, a number or a value, in a dtype."""
        dtype = np.dtype(dtype)
        if isinstance(x, Operand):
            if x.array is not None and x.dtype != dtype and x.array.size <= 1:
                return Typed(self.const(x.array.astype(dtype)), dtype)
            x = Typed(x.name, x.dtype)
        if isinstance(x, Typed):
            return x if x.dtype == dtype else Typed(self.cast(x, dtype), dtype)
        if isinstance(x, Length):
            return Typed(self.cast(self.squeeze(self.length_vector(x), [0]), dtype), dtype)
        if isinstance(x, Ratio):
            a, b = (self.to(v, np.float64) for v in x.pair)
            return self.to(Typed(self.op('Div', [a, b]), np.float64), dtype)
        if isinstance(x, str):
            raise AssertionError(f'{self.label}: {x} has no dtype')
        if dtype.kind in 'iub':
            return Typed(self.const(np.asarray(x).astype(dtype)), dtype)
        return Typed(self.const(x, 'value', dtype), dtype)

    def typed(self, x: Operand) -> Typed:
        """The name of an operand, in its dtype."""
        return Typed(x.name, x.dtype)

    def work_dtype(self, op: str, dtype: tp.Any) -> np.dtype:
        """The dtype in which an operator computes elements of a dtype."""
        name = np.dtype(dtype).name
        if name == 'uint64' and op in _WRAPPING:
            return np.dtype(np.int64)
        if name not in _WIDER:
            self.lacks(f'operators for {name}')
        for wider in _WIDER[name]:
            if elem_type(_dtype(wider)) in _types(op, self.opset):
                return _dtype(wider)
        for opset in range(self.opset, onnx.defs.onnx_opset_version() + 1):
            if any(elem_type(_dtype(wider)) in _types(op, opset) for wider in _WIDER[name]):
                self.need(opset, f'{op} of {name}')
        self.lacks(f'{op} of {name}')

    def run(self, op: str, *xs: tp.Any, dtype: tp.Any = None, **attributes: tp.Any) -> Typed:
        """An operator whose operands and result are of one dtype.

        Args:
            op (str): The operator.
            *xs: Operands, numbers, values.
            dtype (numpy.dtype): The dtype; default: that of the first result.
            **attributes: Attributes.

        Returns:
            Typed: The name of the result, of this dtype.
        """
        dtype = self.dtype if dtype is None else np.dtype(dtype)
        if op in ('Max', 'Min'):
            self.need(8, f'{op} of several shapes')
        work = self.work_dtype(op, dtype)
        y = Typed(self.op(op, [self.to(x, work) for x in xs], **attributes), work)
        return self.to(y, dtype)

    def compare(self, op: str, *xs: tp.Any, dtype: tp.Any) -> Typed:
        """An operator whose operands are of one dtype, and whose result is bool."""
        work = self.work_dtype(op, dtype)
        return Typed(self.op(op, [self.to(x, work) for x in xs]), bool)

    def choose(self, condition: tp.Any, x: tp.Any, y: tp.Any, dtype: tp.Any = None) -> Typed:
        """Where, of values of one dtype."""
        dtype = self.dtype if dtype is None else np.dtype(dtype)
        self.need(9, 'Where')
        names = {'bool': 'uint8', 'uint16': 'int32', 'int8': 'int32', 'int16': 'int32'}
        work = np.dtype(names.get(dtype.name, dtype))
        picked = [self.to(v, work) for v in (x, y)]
        return self.to(Typed(self.op('Where', [self.to(condition, bool), *picked]), work), dtype)

    def common_dtype(self, *xs: tp.Any) -> np.dtype:
        """The dtype that operands and numbers have in common."""
        kinds = [x.dtype if isinstance(x, (Operand, np.generic)) else x for x in xs]
        return np.dtype(chainerx.result_type(*[k for k in kinds if k is not None]))

    # Lengths

    def length_vector(self, n: tp.Any) -> str:
        """A length as a vector of one element."""
        if isinstance(n, (Length, UnknownLength)):
            return self._emit(self.graph.fold(n.expression))
        return self.ints([int(n)])

    def _emit(self, expression: tp.Any) -> str:
        if isinstance(expression, int):
            return self.ints([expression])
        known = self.graph.known_lengths
        key = _key(expression)
        if key not in known:
            if expression[0] == 'dim':
                x = self.graph.name_of(expression[1], self)
                known[key] = self.length_of(x, expression[2])
            else:
                a, b = self._emit(expression[1]), self._emit(expression[2])
                if expression[0] == 'FloorDiv':
                    known[key] = floor_divided(self, a, b, np.dtype(np.int64))
                elif expression[0] == 'Mod':
                    self.need(10, 'Mod')
                    known[key] = self.op('Mod', [a, b])
                else:
                    known[key] = self.op(expression[0], [a, b])
        return known[key]

    def vector(self, lengths: Sequence[tp.Any]) -> str:
        """Lengths as a vector of int64."""
        if all(type(n) is int or isinstance(n, np.integer) for n in lengths):
            return self.ints(lengths, 'shape')
        return self.concat([self.length_vector(n) for n in lengths])

    def shaped(self, x: str, shape: Sequence[tp.Any]) -> str:
        """Another shape, some of whose lengths may be open."""
        lengths = list(shape)
        is_open = [isinstance(n, (Length, UnknownLength)) for n in lengths]
        if sum(is_open) == 1 and not any(isinstance(n, int) and n in (0, -1) for n in lengths):
            lengths[is_open.index(True)] = -1
        elif any(isinstance(n, int) and n == 0 for n in lengths):
            self.need(14, 'allowzero of Reshape')
            return self.op('Reshape', [x, self.vector(lengths)], allowzero=1)
        return self.op('Reshape', [x, self.vector(lengths)])

    def expand(self, x: str, shape: Sequence[tp.Any]) -> str:
        """Broadcasts to a shape."""
        self.need(8, 'Expand')
        return self.op('Expand', [x, self.vector(shape)])


def _key(expression: tp.Any) -> tp.Any:
    if isinstance(expression, int):
        return expression
    if expression[0] == 'dim':
        return ('dim', expression[1].number, expression[2])
    return expression[0], _key(expression[1]), _key(expression[2])


def axis_of(axis: tp.Any, ndim: int) -> int:
    """An axis that counts from the front."""
    return int(axis) % max(ndim, 1)


def axes_of(axis: tp.Any, ndim: int) -> list[int]:
    """Axes that count from the front, in their order; all for None."""
    if axis is None:
        return list(range(ndim))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    return sorted(axis_of(i, ndim) for i in axes)
