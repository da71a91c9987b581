"""The calls of a traced function as a graph of ONNX."""

from __future__ import annotations

import dataclasses
import inspect
import typing as tp

import numpy as np
import onnx

import chainerx
from chainerx.onnx import _nodes, _symbols
from chainerx.onnx._names import Names
from chainerx.onnx._routine import ROWS, Operand, RoutineWriter, Typed, UnknownLength
from chainerx.onnx._symbols import Length
from chainerx.onnx._trace import (
    Call,
    Constant,
    Tracer,
    Value,
    operands_of,
    permutation_of,
)
from chainerx.onnx._writer import NotInOnnxError

if tp.TYPE_CHECKING:
    pass

#: Names and arrays, by `_trace.key_of`.
Named: tp.TypeAlias = tp.Mapping[tuple[tp.Any, ...], tuple[str, chainerx.ndarray]]


@dataclasses.dataclass
class Run:
    """A function that was traced.

    Attributes:
        inputs (dict): By name, an input; parameters are not among them.
        parameters (dict): By name, an argument that the graph holds.
        outputs (list): The results.
    """

    tracer: Tracer
    inputs: dict[str, Value]
    parameters: dict[str, tuple[Value, np.ndarray]]
    outputs: list[tuple[str, Value | Constant]]

    def values(self) -> dict[int, Value]:
        found = {v.number: v for v in self.inputs.values()}
        found |= {v.number: v for v, _ in self.parameters.values()}
        return found | {v.number: v for call in self.tracer.calls for v in call.results}


class _Tensors(Names):
    """Names of the graph; equal small constants are one tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.prefix = ''
        self._known: dict[tuple[tp.Any, ...], str] = {}

    def add_const(self, array: tp.Any, name: str) -> str:
        array = np.asarray(array)
        key = (array.dtype.str, array.dtype.name, array.shape, array.tobytes())
        is_small = array.size <= 64
        if is_small and key in self._known:
            return self._known[key]
        full = self.unused(f'{self.prefix}_{name}')
        self.add(array, full)
        if is_small:
            self._known[key] = full
        return full

    def add(self, array: np.ndarray, name: str) -> None:
        self.parameters.append(_nodes.make_tensor(array, name))


class Graph:
    """The calls that lead to the outputs, each written by its row.

    Args:
        run (Run): The function, traced.
        other (Run or None): The same with other lengths of open axes.
        named (dict): Names of arrays.
        axes (dict): Names of open axes by the input and the axis.
        opset (int): The version of the operators.
    """

    def __init__(
        self,
        run: Run,
        other: Run | None,
        named: Named,
        axes: tp.Mapping[tuple[str, int], str],
        opset: int,
    ) -> None:
        self.names = _Tensors()
        self.has_open_axes = other is not None
        #: The names of lengths that nodes have computed.
        self.known_lengths: dict[tp.Any, str] = {}
        self.sites: dict[str, str] = {}
        self._run = run
        self._opset = opset
        self._named = named
        self._axes = axes
        self._nodes: list[onnx.NodeProto] = []
        self._names: dict[int, str] = {}  # of values, by their numbers
        self._constants: dict[int, str] = {}  # by id
        self._tensors: dict[tp.Any, str] = {}  # those with names, by place and elements
        self._others = {} if other is None else other.values()
        self._twins = {} if other is None else _twins(run, other)
        for name, value in run.inputs.items():
            self._names[value.number] = self.names.unused(name)

    def make(self, graph_name: str) -> onnx.GraphProto:
        """The graph."""
        calls = self._calls()
        made = {v.number for call in calls for v in call.results}
        for name, value in self._run.outputs:
            self.names.unused(name)
            if isinstance(value, Value) and value.number in made:
                self._names.setdefault(value.number, name)
        self._name_parameters()
        counts: dict[str, int] = {}
        for call in calls:
            n = counts[call.name] = counts.get(call.name, -1) + 1
            self._convert(call, f'{call.name.removeprefix("ndarray.").strip("_")}_{n}')
        outputs = [self._output(name, v) for name, v in self._run.outputs]
        inputs = [self._info(name, v) for name, v in self._run.inputs.items()]
        tensors = self.names.parameters
        if self._opset < 9:  # tensors were inputs as well, once
            inputs += [
                onnx.helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in tensors
            ]
        return onnx.helper.make_graph(self._nodes, graph_name, inputs, outputs, tensors)

    def _calls(self) -> list[Call]:
        """The calls that the outputs need."""
        needed = {v.number for _, v in self._run.outputs if isinstance(v, Value)}
        found = []
        for call in reversed(self._run.tracer.calls):
            if not any(v.number in needed for v in call.results):
                continue
            found.append(call)
            needed |= {v.number for v in operands_of(call) if isinstance(v, Value)}
            needed |= {v.number for n in _lengths_in(call) for v in _values_in(n.expression)}
        return found[::-1]

    # For rows

    def lengths(self, value: Value, label: str) -> tuple[tp.Any, ...]:
        """The shape of a value: ints, and for open axes what they are computed from."""
        if value.is_of_values:
            dims = range(len(value.shape))
            return tuple([UnknownLength(('dim', value, i), label) for i in dims])
        return tuple(
            [
                n if self._fixed(value, i) is not None else Length(n, ('dim', value, i))
                for i, n in enumerate(value.shape)
            ]
        )

    def fold(self, expression: _symbols.Expression) -> tp.Any:
        """The expression without lengths that are fixed."""
        return _symbols.fold(expression, self._fixed)

    def _fixed(self, value: Value, axis: int) -> int | None:
        n = value.shape[axis]
        if value.is_of_values:
            return None
        if not self.has_open_axes:
            return n
        other = self._others.get(value.number)
        return n if other is not None and other.shape[axis : axis + 1] == (n,) else None

    def name_of(self, x: Value | Constant, g: RoutineWriter) -> str:
        """The name of a value or a constant; adds the tensor of one that is new."""
        if isinstance(x, Value):
            return self._names[x.number]
        if id(x) not in self._constants:
            self._constants[id(x)] = self._constant(x, g)
        return self._constants[id(x)]

    def _constant(self, x: Constant, g: RoutineWriter) -> str:
        twin = self._twins.get(id(x))
        if twin is not None and twin.array.shape != x.array.shape:
            return self._opened(x, twin, g)
        found = None if x.key is None else self._held(x) or self._view(x, g)
        return self.names.add_const(x.array, 'const') if found is None else found

    def _held(self, x: Constant) -> str | None:
        """The tensor of an array that has a name; another one, if it was written to meanwhile."""
        named = self._named.get(x.key[0])
        if named is None:
            return None
        key = (x.key[0], x.array.tobytes())
        if key not in self._tensors:
            self._tensors[key] = self.names.unused(named[0])
            self.names.add(x.array, self._tensors[key])
        return self._tensors[key]

    def _view(self, x: Constant, g: RoutineWriter) -> str | None:
        """A transpose of an array that has a name, such as the W.T of a linear layer."""
        for key, (_, array) in self._named.items():
            if key[:2] != x.key[0][:2] or x.array.ndim < 2:
                continue
            perm = permutation_of(array, x.key[1])
            base = Constant(chainerx.to_numpy(array), (key, array))
            if perm is not None and np.array_equal(base.array.transpose(perm), x.array):
                return g.transpose(tp.cast(str, self._held(base)), perm)
        return None

    def _opened(self, x: Constant, twin: Constant, g: RoutineWriter) -> str:
        """A constant of another shape in the other run: it follows the length of an open axis."""
        a, b = x.array, twin.array
        if a.ndim != b.ndim or a.dtype != b.dtype:
            self._refuse_constant(x, twin, g)
        shape = [
            n if n == m else self._length_of(n, m) for n, m in zip(a.shape, b.shape, strict=True)
        ]
        if None in shape or not a.size or not b.size:
            self._refuse_constant(x, twin, g)
        open_axes = [i for i, n in enumerate(shape) if isinstance(n, Length)]
        first = tuple([slice(0, 1) if i in open_axes else slice(None) for i in range(a.ndim)])
        if (a == a[first]).all() and (b == a[first]).all():
            return g.expand(self.names.add_const(a[first], 'const'), shape)
        line, other = a.ravel(), b.ravel()
        if max(a.shape) != a.size or max(b.shape) != b.size or a.dtype.kind not in 'iuf':
            self._refuse_constant(x, twin, g)
        long = line if line.size > other.size else other
        step = long[1] - long[0]
        expected = long[0] + step * np.arange(long.size).astype(long.dtype)
        if not (expected == long).all() or not (line == long[: line.size]).all():
            self._refuse_constant(x, twin, g)
        if not (other == long[: other.size]).all():
            self._refuse_constant(x, twin, g)
        n = g.squeeze(g.length_vector(shape[open_axes[0]]), [0])
        g.need(11, 'Range')
        y = g.op('Range', [g.const(0, 'value', np.int64), n, g.const(1, 'value', np.int64)])
        y = g.cast(y, a.dtype)
        y = g.op('Add', [g.op('Mul', [y, g.const(step)]), g.const(long[0])])
        return y if a.ndim == 1 else g.shaped(y, shape)

    def _length_of(self, n: int, other: int) -> Length | None:
        """A length that was n, and in the other run the other number; inputs come first."""
        for number, value in self._run.values().items():
            twin = self._others.get(number)
            if twin is None or value.is_of_values or number not in self._names:
                continue
            for axis, pair in enumerate(zip(value.shape, twin.shape, strict=False)):
                if pair == (n, other):
                    return Length(n, ('dim', value, axis))
        return None

    def _refuse_constant(self, x: Constant, twin: Constant, g: RoutineWriter) -> tp.NoReturn:
        raise NotInOnnxError(
            f'{g.label} has an array of shape {x.array.shape} that is computed from the length of '
            f'an open axis, outside of the graph: with another length it is {twin.array.shape}; '
            'give it as an argument, or compute it from one'
        )

    # Nodes

    def _name_parameters(self) -> None:
        for name, (value, array) in self._run.parameters.items():
            full = self.names.unused(name)
            self._names[value.number] = full
            self.names.add(array, full)

    def _convert(self, call: Call, prefix: str) -> None:
        self.names.prefix = prefix
        g = RoutineWriter(self, call, prefix, self._opset)
        write = ROWS.get(call.name)
        if write is None:
            raise NotInOnnxError(
                f'{g.label} has no operators in ONNX; compute it outside of the function'
            )
        args = [self._argument(x, g) for x in call.args]
        kwargs = {k: self._argument(x, g) for k, x in call.kwargs.items()}
        found = self._call(g, write, args, kwargs)
        results = list(found) if isinstance(found, (tuple, list)) else [found]
        typed = [
            g.to(y, v.dtype) if isinstance(y, Typed) else y
            for y, v in zip(results, call.results, strict=True)
        ]
        wanted = []
        for i, value in enumerate(call.results):
            name = prefix if len(call.results) == 1 else f'{prefix}_{i}'
            known = self._names.get(value.number)
            wanted.append(self.names.unused(name) if known is None else known)
            self._names[value.number] = wanted[-1]
        nodes = _nodes.rename(g.nodes(), [str(y) for y in typed], wanted)
        for node in nodes:
            self.sites[node.name] = g.label
        self._nodes.extend(nodes)
        renamed = dict(zip(map(str, typed), wanted, strict=True))
        for key, name in self.known_lengths.items():
            self.known_lengths[key] = renamed.get(name, name)

    def _call(
        self, g: RoutineWriter, write: tp.Any, args: list[tp.Any], kwargs: dict[str, tp.Any]
    ) -> tp.Any:
        parameters = inspect.signature(write)
        try:
            parameters.bind(g, *args, **kwargs)
        except TypeError as error:
            unknown = [k for k in kwargs if k not in parameters.parameters]
            what = f'its argument {unknown[0]}' if unknown else f'these arguments ({error})'
            g.lacks(f'operators for {what}')
        return write(g, *args, **kwargs)

    def _argument(self, x: tp.Any, g: RoutineWriter) -> tp.Any:
        if isinstance(x, (Value, Constant)):
            return Operand(g, x)
        if type(x) in (list, tuple):
            return type(x)([self._argument(y, g) for y in x])
        if type(x) is slice:
            return slice(*[self._argument(y, g) for y in (x.start, x.stop, x.step)])
        if isinstance(x, Length):
            found = self.fold(x.expression)
            return found if isinstance(found, int) else Length(int(x), found)
        return x

    # Outputs

    def _output(self, name: str, x: Value | Constant) -> onnx.ValueInfoProto:
        self.names.prefix = name
        call = Call('identity', (), {}, 'the result of the function')
        g = RoutineWriter(self, call, name, self._opset)
        known = self.name_of(x, g)
        self._nodes.extend(g.nodes())
        if known != name:
            node = _nodes.make_node('Identity', [known], [name])
            node.name = name
            self._nodes.append(node)
        if isinstance(x, Value):
            return self._info(name, x)
        shape: tuple[tp.Any, ...] = x.array.shape
        twin = self._twins.get(id(x))
        if twin is not None:
            shape = tuple(
                [n if n == m else None for n, m in zip(shape, twin.array.shape, strict=True)]
            )
        return onnx.helper.make_tensor_value_info(name, _nodes.elem_type(x.array.dtype), shape)

    def _info(self, name: str, value: Value) -> onnx.ValueInfoProto:
        shape = [self._shown(name, value, i) for i in range(len(value.shape))]
        return onnx.helper.make_tensor_value_info(name, _nodes.elem_type(value.dtype), shape)

    def _shown(self, name: str, value: Value, axis: int) -> int | str | None:
        fixed = self._fixed(value, axis)
        if fixed is not None or value.is_of_values:
            return fixed
        if self._run.inputs.get(name) is value:
            return self._axes.get((name, axis)) or None
        twin = self._others.get(value.number)
        pair = (value.shape[axis], None if twin is None else twin.shape[axis])
        for (key, i), axis_name in self._axes.items():
            source = self._run.inputs[key]
            if pair == (source.shape[i], self._others[source.number].shape[i]):
                return axis_name or None
        return None


def _lengths_in(call: Call) -> tp.Iterator[Length]:
    todo: list[tp.Any] = [call.args, *call.kwargs.values()]
    while todo:
        x = todo.pop()
        if isinstance(x, Length):
            yield x
        elif isinstance(x, _symbols.Ratio):
            todo += x.pair
        elif isinstance(x, (list, tuple)):
            todo += x
        elif isinstance(x, slice):
            todo += [x.start, x.stop, x.step]


def _values_in(expression: tp.Any) -> tp.Iterator[Value]:
    if isinstance(expression, int):
        return
    if expression[0] == 'dim':
        yield expression[1]
    else:
        yield from _values_in(expression[1])
        yield from _values_in(expression[2])


def _twins(run: Run, other: Run) -> dict[int, Constant]:
    """For each constant of a run, that of the other one in the same place."""
    found: dict[int, Constant] = {}

    def pair(a: Value | Constant, b: Value | Constant) -> None:
        if isinstance(a, Constant) and isinstance(b, Constant):
            found.setdefault(id(a), b)

    for call, twin in zip(run.tracer.calls, other.tracer.calls, strict=False):
        for a, b in zip(operands_of(call), operands_of(twin), strict=False):
            pair(a, b)
    for (_, x), (_, y) in zip(run.outputs, other.outputs, strict=False):
        pair(x, y)
    return found


def check_same(run: Run, other: Run) -> None:
    """Raises if two runs of the function did not call the same routines.

    Raises:
        NotInOnnxError: What differs.
    """
    for a, b in zip(run.tracer.calls, other.tracer.calls, strict=False):
        if a.name != b.name or a.site != b.site:
            raise NotInOnnxError(
                f'export: the function branches by the length of an open axis, or loops over it: '
                f'it calls {a.name} ({a.site}), but with another length {b.name} ({b.site})'
            )
    n, m = len(run.tracer.calls), len(other.tracer.calls)
    if n != m:
        longer = run if n > m else other
        call = longer.tracer.calls[min(n, m)]
        raise NotInOnnxError(
            f'export: the function loops over an open axis, or branches by its length: {call.name} '
            f'({call.site}) runs for one length only, {n} routines in the place of {m}'
        )
    if len(run.outputs) != len(other.outputs):
        raise NotInOnnxError(
            f'export: the function has {len(run.outputs)} results, with another length of an open '
            f'axis {len(other.outputs)}'
        )


def check_equal(graph: Graph, proto: onnx.GraphProto, other: onnx.GraphProto) -> None:
    """Raises if the graphs of two runs are not the same.

    Raises:
        NotInOnnxError: The routine whose nodes differ.
    """
    tensors = {t.name: t for t in other.initializer}
    changed = {t.name for t in proto.initializer if t.name not in tensors or tensors[t.name] != t}
    for a, b in zip(proto.node, other.node, strict=False):
        if a != b or changed & set(a.input):
            label = graph.sites.get(a.name, a.name)
            raise NotInOnnxError(
                f'{label} hangs on the length of an open axis in a way that the graph '
                "can't follow; lengths may be added, multiplied and divided as ints"
            )
    if len(proto.node) != len(other.node):
        raise NotInOnnxError('export: the graph hangs on the length of an open axis')
