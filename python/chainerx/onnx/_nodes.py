"""Nodes and tensors of ONNX."""

from __future__ import annotations

import typing as tp

import numpy as np
import onnx
from onnx import numpy_helper


def make_node(
    op_name: str, input_names: tp.Sequence[str], output_names: tp.Sequence[str], **kwargs: tp.Any
) -> onnx.NodeProto:
    """A node; attributes that are None are left out.

    Args:
        op_name (str): The operator.
        input_names (list of str): Names of inputs; empty for one that is left out.
        output_names (list of str): Names of outputs.
        **kwargs: Attributes.

    Returns:
        onnx.NodeProto: The node.
    """
    attributes = {name: value for name, value in kwargs.items() if value is not None}
    return onnx.helper.make_node(op_name, list(input_names), list(output_names), **attributes)


def make_tensor(array: np.ndarray, name: str) -> onnx.TensorProto:
    """An array as a tensor of ONNX."""
    if array.dtype.name == 'bfloat16':  # no dtype of NumPy's
        shape, kind = array.shape, onnx.TensorProto.BFLOAT16
        return onnx.helper.make_tensor(name, kind, shape, array.tobytes(), raw=True)
    return numpy_helper.from_array(np.asarray(array, order='C'), name)


def elem_type(dtype: tp.Any) -> int:
    """The number that ONNX has for a dtype."""
    if np.dtype(dtype).name == 'bfloat16':
        return int(onnx.TensorProto.BFLOAT16)
    return int(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def value_info(
    name: str, dtype: tp.Any, shape: tp.Sequence[int] | None = None
) -> onnx.ValueInfoProto:
    """An input or output of a graph."""
    return onnx.helper.make_tensor_value_info(name, elem_type(dtype), shape)


def names_read(node: onnx.NodeProto) -> tp.Iterator[str]:
    """The values that a node reads, also those inside of its graphs."""
    yield from node.input
    for attribute in node.attribute:
        for inner in attribute.g.node:
            yield from names_read(inner)


class NodeBuilder:
    """Collects the nodes of one function, and names what lies between them.

    Args:
        prefix (str): What the names of nodes begin with.
    """

    def __init__(self, prefix: str) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._n_names = 0
        self._prefix = prefix

    def node_name(self) -> str:
        """A name that no other value has."""
        self._n_names += 1
        return f'{self._prefix}_tmp_{self._n_names - 1}'

    @tp.overload
    def op(
        self, op_name: str, input_names: tp.Sequence[str], num_outputs: int, **kwargs: tp.Any
    ) -> tp.Any: ...

    @tp.overload
    def op(self, op_name: str, input_names: tp.Sequence[str], **kwargs: tp.Any) -> str: ...

    def op(
        self,
        op_name: str,
        input_names: tp.Sequence[str],
        num_outputs: int = 1,
        **kwargs: tp.Any,
    ) -> tp.Any:
        """Adds a node.

        Args:
            op_name (str): The operator.
            input_names (list of str): Names of inputs.
            num_outputs (int): How many outputs.
            **kwargs: Attributes.

        Returns:
            str or tuple of str: The names of the outputs.
        """
        names = [self.node_name() for _ in range(num_outputs)]
        return self.op_output_named(op_name, input_names, names, **kwargs)

    def op_output_named(
        self,
        op_name: str,
        input_names: tp.Sequence[str],
        output_names: tp.Sequence[str],
        **kwargs: tp.Any,
    ) -> tp.Any:
        """Adds a node whose outputs are named; else as `op`."""
        node = make_node(op_name, input_names, output_names, **kwargs)
        node.name = output_names[0] if output_names else ''
        self._nodes.append(node)
        return output_names[0] if len(output_names) == 1 else tuple(output_names)

    def add(self, node: onnx.NodeProto) -> None:
        """Adds a node that is there already."""
        self._nodes.append(node)

    def nodes(self, output_names: tp.Sequence[str] | None = None) -> tuple[onnx.NodeProto, ...]:
        """The nodes so far; the outputs of the last one get the names."""
        if output_names is not None:
            last = self._nodes[-1]
            if len(last.output) != len(output_names):
                raise ValueError(
                    f'{last.op_type} has {len(last.output)} outputs, '
                    f'output_names has {len(output_names)}'
                )
            del last.output[:]
            last.output.extend(output_names)
        return tuple(self._nodes)


def rename(
    nodes: tp.Sequence[onnx.NodeProto], found: tp.Sequence[str], wanted: tp.Sequence[str]
) -> tuple[onnx.NodeProto, ...]:
    """Gives outputs the names that they must have; what is no node's output gets an Identity."""
    made = {name for node in nodes for name in node.output}
    names: dict[str, str] = {}
    more = []
    for old, new in zip(found, wanted, strict=True):
        if old in made and old not in names:
            names[old] = new
        else:
            more.append(make_node('Identity', [names.get(old, old)], [new]))
    for node in nodes:
        _rename(node, names)
        node.name = node.output[0]
    return (*nodes, *more)


def _rename(node: onnx.NodeProto, names: tp.Mapping[str, str]) -> None:
    for values in (node.input, node.output):
        renamed = [names.get(name, name) for name in values]
        del values[:]
        values.extend(renamed)
    for attribute in node.attribute:
        for inner in attribute.g.node:
            _rename(inner, names)
