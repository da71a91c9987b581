"""The graph of ONNX that the calls of a model become."""

from __future__ import annotations

import typing as tp
import warnings

import onnx
from chainer._graph.builtin import BuiltinFunction
from chainer.function import FunctionAdapter

from onnx_chainer import _open_constants, onnx_helper
from onnx_chainer._trace import Call, content_of, memory_of, overlaps, range_of
from onnx_chainer.context import Context
from onnx_chainer.converters import CONVERTERS, FunctionConverterParams, convert

if tp.TYPE_CHECKING:
    import chainer
    from chainer._typing import AnyCallable
    from chainer.function_node import FunctionNode
    from chainerx.onnx._lengths import Length

    from onnx_chainer import _values
    from onnx_chainer._trace import Recorder

    ExternalConverters = tp.Mapping[str, AnyCallable]

# Why functions have no converter, where there is something to know about it.
REASONS: tp.Final = {
    'DecorrelatedBatchNormalization': 'statistics of a batch need eigenvectors, which ONNX has '
    'not; train=False uses those that were learnt',
    'TheanoFunction': 'Theano has its own graph',
    '_Incomplete': 'ONNX has no incomplete gamma and beta functions',
}


def _nodes_of(kind: str, found: tp.Any) -> list[onnx.NodeProto]:
    """What a converter of the user's returned."""
    if isinstance(found, onnx.NodeProto):
        return [found]
    nodes = list(found) if isinstance(found, (list, tuple)) else [found]
    for node in nodes:
        if not isinstance(node, onnx.NodeProto):
            raise TypeError(
                f'export: external_converters[{kind!r}] returned {type(node).__name__}, '
                'expected a tuple of nodes'
            )
    return nodes


def _own(function: FunctionNode) -> tp.Any:
    """What the user wrote: of the old style a function inside of the node."""
    return function.function if isinstance(function, FunctionAdapter) else function


class Graph:
    """The calls that lead to the outputs, each written by its converter."""

    def __init__(
        self,
        model: tp.Any,
        inputs: _values.Inputs,
        outputs: dict[str, chainer.Variable] | list[chainer.Variable],
        recorder: Recorder,
        opset: int,
        external: ExternalConverters,
    ) -> None:
        self._inputs = inputs
        self._recorder = recorder
        self._opset = opset
        self._external = external
        self.domains: dict[str, int] = {}
        self.context = Context(model)
        self.context.lengths = inputs.lengths()
        self._tensors: dict[str, onnx.TensorProto] = {}
        self._constants: set[str] = set()
        self._nodes: list[onnx.NodeProto] = []
        self._counts: dict[str, int] = {}
        self._ranges: list[tuple[int, int]] | None = None
        for name, variable in inputs.named.items():
            self.context.set_name(variable, self.context.unused(name), pinned=True)
            self.context.know_array(variable.array, name)
        borders = {id(v.node) for v in inputs.named.values()}
        borders |= {memory_of(v.array) for v in inputs.named.values()}
        found = outputs.values() if isinstance(outputs, dict) else outputs
        if any(recorder.is_written(v.array) for v in found):
            raise ValueError(
                'export: an output was written to after a function made it; a graph has no such '
                'writes: use functions'
            )
        self._calls = recorder.calls_before(found, borders)
        self.context.wanted = {
            *(memory_of(v.array) for v in found),
            *(memory_of(x) for c in self._calls for x in c.attributes()),
            *(memory_of(c.array_of(i)) for c in self._calls for i in range(len(c.nodes))),
        }
        self._prefixes = {id(c.function): self._prefix(c.function) for c in self._calls}
        self._outputs = outputs
        self.outputs: dict[str, chainer.Variable] = {}

    def _prefix(self, function: FunctionNode) -> str:
        kind = type(_own(function)).__name__
        n = self._counts[kind] = self._counts.get(kind, -1) + 1
        return f'{kind}_{n}'

    def make(self, graph_name: str, export_params: bool) -> onnx.GraphProto:
        self._name_outputs()
        for call in self._calls:
            self._convert(call)
        made = [self._output(name, v) for name, v in self.outputs.items()]
        tensors = self.context.parameters
        constants = self.context.constants
        kept = [t for t in tensors if export_params or t.name in constants]
        inputs = self._inputs.infos()
        for t in tensors:
            is_kept = export_params or t.name in constants
            if not is_kept or self._opset < 9:  # tensors were inputs as well, once
                inputs.append(onnx.helper.make_tensor_value_info(t.name, t.data_type, t.dims))
        return onnx.helper.make_graph(self._nodes, graph_name, inputs, made, kept)

    def _name_outputs(self) -> None:
        """Outputs that a function makes get their names first; all others an Identity."""
        given = self._outputs if isinstance(self._outputs, dict) else None
        if both := set(given or ()) & set(self._inputs.named):
            raise ValueError(f'export: {sorted(both)} are names of inputs and of outputs')
        for name, v in (given or {}).items():
            self.outputs[name] = v
            if v.creator_node is not None and not self.context.is_pinned(v):
                self.context.set_name(v, self.context.unused(name), pinned=True)
        if given is not None:
            return
        for v in tp.cast('list[chainer.Variable]', self._outputs):
            function = v.creator_node
            if (
                function is not None
                and id(function) in self._prefixes
                and not self.context.is_pinned(v)
            ):
                name = self._output_name(function, v.node)
                self.context.set_name(v, name, pinned=True)
            else:
                name = 'Identity_0'
            self.outputs[self._free_output(name)] = v

    def _free_output(self, name: str) -> str:
        return (
            name
            if name not in self.outputs and not name.startswith('Identity')
            else self.context.unused(name)
        )

    def _output_name(self, function: FunctionNode, node: tp.Any) -> str:
        prefix = self._prefixes[id(function)]
        refs = function.outputs or ()
        if len(refs) == 1:
            return prefix
        place = next(i for i, ref in enumerate(refs) if ref() is node)
        return f'{prefix}_{place}'

    def _output(self, name: str, v: chainer.Variable) -> onnx.ValueInfoProto:
        known = self.context.get_name(v)
        if known is None:
            onnx_helper.set_func_name(name)
            known = self._leaf(v.node, v.array)
        if known != name:
            node = onnx_helper.make_node('Identity', [known], [name])
            node.name = name
            self._nodes.append(node)
        shape: list[Length] | None = list(v.shape)
        if (lengths := self.context.lengths) is not None:
            # What is in no function is a tensor of fixed shape.
            shape = lengths.shown(known) or shape
        return onnx.helper.make_tensor_value_info(name, onnx_helper.elem_type(v.dtype), shape)

    def _leaf(self, node: tp.Any, array: tp.Any) -> str:
        """The name of what no function of the graph made."""
        if node is not None and (path := self.context.path_of(node)) is not None:
            return self.context.tensor(node, array, path)
        if array is None:
            raise ValueError(
                f'{onnx_helper.get_func_name()}: the array of an input is gone; keep its Variable'
            )
        if (
            known := self.context.get_name(self.context.arrays.get(memory_of(array), array))
        ) is not None:
            return known
        if (path := self.context.path_of(array)) is not None:
            return self.context.tensor(array, array, path)
        self._warn_of_part(array)
        name = self.context.add_const(array, 'input')
        self._constants.add(name)
        if node is not None:
            self.context.set_name(node, name)
        return name

    def _warn_of_part(self, array: tp.Any) -> None:
        """Warns of a constant that is a part of what depends on the arguments."""
        if self._ranges is None:
            arrays = [v.array for v in self._inputs.named.values()]
            self._ranges = self._recorder.ranges_from(arrays)
        if overlaps(range_of(array), self._ranges):
            warnings.warn(
                f'export: {onnx_helper.get_func_name()} has an array of shape {array.shape} that '
                'is a part of a value that depends on the arguments, as x.array[0] is; it becomes '
                'a constant. Functions of Variables, as x[0], are written',
                stacklevel=3,
            )

    def _check_contents(self, call: Call) -> None:
        """Refuses arrays that were written to, which no graph can show."""
        names = [f'input {i}' for i in range(len(call.in_data))]
        own: tp.Collection[str] = call.given  # functions of users may write to what is theirs
        if isinstance(call.function, BuiltinFunction):
            own = call.function.writes
        names += [f'attribute {name}' for name, arrays in call.given.items() for _ in arrays]
        for i, (name, x, content) in enumerate(
            zip(names, [*call.in_data, *call.attributes()], call.contents, strict=False)
        ):
            is_own = name.removeprefix('attribute ') in own
            is_constant = x is not None and self._recorder.is_constant(x)
            if i in call.written or (is_constant and not is_own and content_of(x) != content):
                kind = type(_own(call.function)).__name__
                raise ValueError(
                    f'export: {name} of {kind}{self._where(call)} was written to '
                    f'{"after" if is_constant else "before"} the function read it; a graph has no '
                    'such writes: use functions, or a copy of the array'
                )

    def _convert(self, call: Call) -> None:
        prefix = self._prefixes[id(call.function)]
        onnx_helper.set_func_name(prefix)
        self._check_contents(call)
        kind = type(_own(call.function)).__name__
        if kind not in self._external and kind not in CONVERTERS:
            reason = f': {REASONS[kind]}' if kind in REASONS else ''
            raise ValueError(
                f'export: {kind} has no converter to ONNX{self._where(call)}{reason}; '
                f'external_converters={{{kind!r}: ...}} can give one'
            )
        params = self._params(call, prefix)
        self._open_constants(call, params)
        nodes = self._nodes_for(kind, call, params)
        for node in nodes:
            if node.domain:
                self.domains.setdefault(node.domain, 1)
        self._nodes.extend(nodes)
        known = zip(params.output_names, params.out_values, strict=False)
        self._learn_lengths(nodes, dict(known))

    def _params(self, call: Call, prefix: str) -> FunctionConverterParams:
        function = call.function
        names = [self._input(node, call, i) for i, node in enumerate(call.nodes)]
        outputs = self._outputs_of(call, prefix)
        params = FunctionConverterParams(_own(function), self._opset, names, outputs, self.context)
        params.given, params.byproducts = call.given, call.byproducts()
        params.train = call.train
        params.in_values = [
            call.array_of(i) if node is None else node for i, node in enumerate(call.nodes)
        ]
        refs = function.outputs or ()
        for i in range(len(outputs)):
            node = refs[i]() if i < len(refs) else None
            # Functions of the user's may have results that nobody kept.
            if node is None and i >= len(call.out_data):
                break
            params.out_values.append(node or call.out_data[i])
        return params

    def _nodes_for(
        self, kind: str, call: Call, params: FunctionConverterParams
    ) -> list[onnx.NodeProto]:
        """The nodes of a function; errors of converters say which it is."""
        external = self._external.get(kind)
        try:
            if external is None:
                self._warn_of_name(kind, call)
                return list(convert(params))
            nodes = _nodes_of(kind, external(params))
        except ValueError as e:
            raise ValueError(f'export: {e}{self._where(call)}') from e
        except Exception as e:
            e.add_note(f'export: of {kind}{self._where(call)}')
            raise
        made = [name for node in nodes for name in node.output]
        for name, ref in zip(params.output_names, call.function.outputs or (), strict=False):
            value = ref()
            if value is not None and name not in made and self.context.get_name(value) == name:
                raise ValueError(
                    f'export: external_converters[{kind!r}] made {made}, '
                    f'expected {params.output_names}{self._where(call)}'
                )
        return nodes

    def _warn_of_name(self, kind: str, call: Call) -> None:
        """Warns of a function of the user's that has the name of one of Chainer's."""
        module = type(_own(call.function)).__module__
        if module.split('.')[0] not in ('chainer', 'onnx_chainer'):
            warnings.warn(
                f'export: {kind} of {module} is written as the function of Chainer with this name'
                f'{self._where(call)}; external_converters={{{kind!r}: ...}} can say otherwise',
                stacklevel=3,
            )

    def _open_constants(self, call: Call, params: FunctionConverterParams) -> None:
        if self.context.lengths is None:
            return
        for i, name in enumerate(params.input_names):
            if name not in self._constants:
                continue
            tensor = next(t for t in self.context.parameters if t.name == name)
            if (found := _open_constants.opened(params, i, tensor)) is None:
                continue
            params.input_names[i], nodes = found
            self._nodes.extend(nodes)
            self._learn_lengths(nodes, {found[0]: params.in_values[i]})
            # Other functions read the value with the open axis, too.
            self._constants.discard(name)
            if (node := call.nodes[i]) is not None:
                self.context.set_name(node, found[0])

    def _learn_lengths(
        self, nodes: tp.Sequence[onnx.NodeProto], values: tp.Mapping[str, tp.Any]
    ) -> None:
        lengths = self.context.lengths
        if lengths is None:
            return
        for tensor in self.context.parameters[len(self._tensors) :]:
            self._tensors[tensor.name] = tensor
        made = {
            name: (tuple(v.shape), onnx_helper.elem_type(v.dtype)) for name, v in values.items()
        }
        imports = [onnx.helper.make_opsetid('', self._opset)]
        imports += [onnx.helper.make_opsetid(k, n) for k, n in self.domains.items()]
        lengths.learn(nodes, self._tensors, made, imports)

    def _input(self, node: tp.Any, call: Call, index: int) -> str:
        """The name of an input of a function; empty for one that is left out."""
        if node is None and call.function.inputs:
            return ''
        if node is not None and (known := self.context.get_name(node)) is not None:
            return known
        return self._leaf(node, call.array_of(index))

    def _outputs_of(self, call: Call, prefix: str) -> list[str]:
        refs = call.function.outputs or (lambda: None,) * len(call.out_data)
        names = []
        for i, ref in enumerate(refs):
            node = ref()
            name = None if node is None else self.context.get_name(node)
            if name is None:
                name = self.context.unused(prefix if len(refs) == 1 else f'{prefix}_{i}')
                if node is not None:
                    self.context.set_name(node, name)
            names.append(name)
            if i < len(call.out_data):
                self.context.know_array(call.out_data[i], name)
        return names

    def _where(self, call: Call) -> str:
        """The link in which the function ran, and parameters that it has, for messages."""
        paths = [self.context.path_of(x) for x in call.nodes if x is not None]
        known = [path for path in paths if path is not None]
        parts = [f'with {", ".join(known)}'] if known else []
        if call.link is not None:
            path = self.context.path_of_link(call.link)
            place = '' if path is None else f' {path}'
            parts.insert(0, f'in link{place} ({type(call.link).__name__})')
        return f' ({", ".join(parts)})' if parts else ''
