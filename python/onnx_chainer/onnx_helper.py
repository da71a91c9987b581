"""Nodes of ONNX, by name of the function that is being written."""

from __future__ import annotations

import os
import threading
import typing as tp

import chainer
import numpy as np
import onnx
from onnx import numpy_helper

if tp.TYPE_CHECKING:
    from chainer._typing import ArrayLike


class _State(threading.local):
    func_name = ''


_state = _State()


def set_func_name(func_name: str) -> None:
    """Sets the name from which those of nodes are made."""
    _state.func_name = func_name


def get_func_name() -> str:
    """The name that `set_func_name` was given."""
    return _state.func_name


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


class GraphBuilder:
    """Collects the nodes of one function, and names what lies between them."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._n_names = 0
        self._func_name = get_func_name()

    def node_name(self) -> str:
        """A name that no other value has."""
        self._n_names += 1
        return f'{self._func_name}_tmp_{self._n_names - 1}'

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


def cleanse_param_name(name: str) -> str:
    """The name of a parameter for ONNX: ``param_l1_W`` for ``/l1/W``."""
    return 'param' + name.replace('/', '_')


def write_tensor_pb(filename: str | os.PathLike[str], name: str, value: ArrayLike) -> None:
    """Writes an array as a tensor of ONNX.

    Args:
        filename (str): The file.
        name (str): The name of the tensor.
        value (array or None): The array; for None the tensor is empty.
    """
    with open(filename, 'wb') as f:
        f.write(make_tensor(value, name).SerializeToString())


def make_tensor(value: tp.Any, name: str) -> onnx.TensorProto:
    """An array as a tensor of ONNX."""
    if value is None:
        return onnx.TensorProto(name=name)
    array = to_numpy(value)
    if array.dtype.name == 'bfloat16':  # no dtype of NumPy's
        shape, kind = array.shape, onnx.TensorProto.BFLOAT16
        return onnx.helper.make_tensor(name, kind, shape, array.tobytes(), raw=True)
    return numpy_helper.from_array(np.asarray(array, order='C'), name)


def to_numpy(value: tp.Any) -> np.ndarray:
    """An array of any kind, a Variable's array or a number, on the host."""
    if isinstance(value, chainer.Variable):
        value = value.array
    return np.asarray(value if np.isscalar(value) else chainer.get_device('@numpy').send(value))


def elem_type(dtype: tp.Any) -> int:
    """The number that ONNX has for a dtype."""
    if np.dtype(dtype).name == 'bfloat16':
        return int(onnx.TensorProto.BFLOAT16)
    return int(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
