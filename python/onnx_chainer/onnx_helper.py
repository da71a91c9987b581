"""Nodes of ONNX, by name of the function that is being written."""

from __future__ import annotations

import os
import threading
import typing as tp

import chainer
import numpy as np
import onnx
from chainerx.onnx import _nodes
from chainerx.onnx._nodes import elem_type, make_node

if tp.TYPE_CHECKING:
    from chainer._typing import ArrayLike


__all__ = [
    'GraphBuilder',
    'cleanse_param_name',
    'elem_type',
    'get_func_name',
    'make_node',
    'make_tensor',
    'set_func_name',
    'to_numpy',
    'write_tensor_pb',
]


class _State(threading.local):
    func_name = ''


_state = _State()


def set_func_name(func_name: str) -> None:
    """Sets the name from which those of nodes are made."""
    _state.func_name = func_name


def get_func_name() -> str:
    """The name that `set_func_name` was given."""
    return _state.func_name


class GraphBuilder(_nodes.NodeBuilder):
    """Collects the nodes of one function, and names what lies between them."""

    def __init__(self) -> None:
        super().__init__(get_func_name())


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
    return _nodes.make_tensor(to_numpy(value), name)


def to_numpy(value: tp.Any) -> np.ndarray:
    """An array of any kind, a Variable's array or a number, on the host."""
    if isinstance(value, chainer.Variable):
        value = value.array
    return np.asarray(value if np.isscalar(value) else chainer.get_device('@numpy').send(value))
