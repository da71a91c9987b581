"""`chainer.links.ONNXFunction`: the nodes of a file, as a part of the new one."""

from __future__ import annotations

import typing as tp

import onnx
from chainerx import onnx as chainerx_onnx
from onnx import inliner, numpy_helper, version_converter

from onnx_chainer import onnx_helper
from onnx_chainer.converters._registry import Conversion, converts


@converts('ONNXModel')
def onnx_model(g: Conversion) -> tuple[str, ...]:
    f = g.func
    source = f.graph._source
    names = _Names(g)
    given = [name for name, is_given in zip(f.graph._order, f.given, strict=True) if is_given]
    names.known |= dict.fromkeys(f.graph._order, '')
    names.known |= dict(zip(given, g.x, strict=False))
    parameters = g.x[len(given) :]
    for place, array in zip(f.places, f.statistics, strict=True):
        parameters.insert(place, g.value_of(array, 'statistic'))
    keys = chainerx_onnx.load(source, 'native:0', f.graph._values).parameters
    names.known |= dict(zip(keys, parameters, strict=True))
    graph = _read(g, source).graph
    outputs = f.graph._values or [y.name for y in graph.output]
    nodes, needed = _needed(graph, outputs)
    for tensor in graph.initializer:
        if tensor.name in needed and tensor.name not in names.known:
            array = numpy_helper.to_array(tensor)
            names.known[tensor.name] = g.const(array, tensor.name)
    for node in nodes:
        if not g.train:
            _stop_training(node)
        names.rename(node)
        g.add(node)
    return tuple(map(names.of, outputs))


def _read(g: Conversion, source: tp.Any) -> onnx.ModelProto:
    """The file, with its functions as nodes, in the version of the operators."""
    is_bytes = isinstance(source, bytes)
    proto = onnx.load_model_from_string(source) if is_bytes else onnx.load(source)
    if proto.functions:
        proto = inliner.inline_local_functions(proto)
    if proto.graph.sparse_initializer:
        raise ValueError(f'{g.label}: sparse tensors of the file cannot be written')
    version = next(x.version for x in proto.opset_import if x.domain in ('', 'ai.onnx'))
    if version == g.opset:
        return proto
    try:
        return version_converter.convert_version(proto, g.opset)
    except RuntimeError as e:
        raise ValueError(
            f'{g.label}: the file has opset {version}, which the package onnx cannot convert to '
            f'{g.opset} ({e}); opset_version={version} needs no conversion'
        ) from e


def _needed(graph: onnx.GraphProto, outputs: list[str]) -> tuple[list[onnx.NodeProto], set[str]]:
    """The nodes that values depend on, in their order, and the names of all that they read."""
    needed, nodes = set(outputs), []
    for node in reversed(graph.node):
        if not needed.isdisjoint(node.output):
            nodes.append(node)
            needed.update(_read_by(node))
    return nodes[::-1], needed


def _read_by(node: onnx.NodeProto) -> set[str]:
    """All that a node reads; by graphs inside of it, too, with values of theirs."""
    inner = (n for a in node.attribute for n in a.g.node)
    ends = (y.name for a in node.attribute for y in a.g.output)
    return {*node.input, *ends}.union(*map(_read_by, inner))


def _stop_training(node: onnx.NodeProto) -> None:
    """Lets a node do what it does outside of training."""
    if node.op_type == 'Dropout':
        del node.input[1:]
    elif node.op_type == 'BatchNormalization':
        for i, attribute in enumerate(node.attribute):
            if attribute.name == 'training_mode':
                del node.attribute[i]
                del node.output[1:]
                break
    for attribute in node.attribute:
        for inner in attribute.g.node:
            _stop_training(inner)


class _Names:
    """What values of the file are called in the new graph."""

    def __init__(self, g: Conversion) -> None:
        self._g = g
        self.known: dict[str, str] = {'': ''}

    def of(self, name: str) -> str:
        """The new name of a value."""
        if name not in self.known:
            prefix = onnx_helper.get_func_name()
            self.known[name] = self._g.context.unused(f'{prefix}_{name}')
        return self.known[name]

    def rename(self, node: onnx.NodeProto) -> None:
        """Gives a node, and the graphs inside of it, the new names."""
        for values in (node.input, node.output):
            renamed = [self.of(name) for name in values]
            del values[:]
            values.extend(renamed)
        for attribute in node.attribute:
            if not attribute.HasField('g'):
                continue
            graph = attribute.g
            for value in (*graph.input, *graph.output, *graph.initializer):
                value.name = self.of(value.name)
            del graph.value_info[:]
            for inner in graph.node:
                self.rename(inner)
