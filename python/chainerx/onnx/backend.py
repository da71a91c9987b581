"""The interface of ONNX's own tests, ``onnx.backend.base.Backend``, for chainerx.

import chainerx.onnx.backend as backend
rep = backend.prepare(model, 'CPU')
outputs = rep.run([x])
"""

from __future__ import annotations

import typing as tp

import numpy as np
import onnx as _onnx
from onnx.backend.base import Backend, BackendRep, DeviceType
from onnx.backend.base import Device as _Device

import chainerx
from chainerx import onnx as _models

_NAMES = {DeviceType.CPU: 'native', DeviceType.CUDA: 'cuda'}


def _to_device(device: str) -> str:
    parsed = _Device(device)
    if parsed.type not in _NAMES:
        raise ValueError(f'onnx: device is {device!r}, expected CPU or CUDA')
    return f'{_NAMES[parsed.type]}:{parsed.device_id}'


def _to_numpy(value: tp.Any) -> tp.Any:
    if isinstance(value, list):
        return [_to_numpy(v) for v in value]
    return None if value is None else chainerx.to_numpy(value)


class ChainerxRep(BackendRep):
    """A model that is prepared to run."""

    def __init__(self, model: _models.Model) -> None:
        self.model = model

    def run(self, inputs: tp.Any, **kwargs: tp.Any) -> tuple[tp.Any, ...]:
        """Runs the model.

        Args:
            inputs (list): NumPy arrays, or lists of them.
            kwargs: Ignored.
        Returns:
            tuple: NumPy arrays, or lists of them.
        """
        results = self.model(*inputs)
        if not isinstance(results, tuple):
            results = (results,)
        return tuple(_to_numpy(r) for r in results)


class ChainerxBackend(Backend):
    """Runs models on the devices of chainerx."""

    @classmethod
    def prepare(cls, model: _onnx.ModelProto, device: str = 'CPU', **kwargs: tp.Any) -> ChainerxRep:
        """Loads a model.

        Args:
            model (ModelProto): Any model.
            device (str): ``'CPU'``, ``'CUDA'``, ``'CUDA:1'``.
            kwargs: Ignored.
        Returns:
            ChainerxRep: What runs it.
        """
        return ChainerxRep(_models.load(model.SerializeToString(), _to_device(device)))

    @classmethod
    def run_model(
        cls, model: _onnx.ModelProto, inputs: tp.Any, device: str = 'CPU', **kwargs: tp.Any
    ) -> tuple[tp.Any, ...]:
        """Loads a model and runs it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: _onnx.NodeProto,
        inputs: tp.Any,
        device: str = 'CPU',
        outputs_info: tp.Any = None,
        **kwargs: tp.Any,
    ) -> tuple[tp.Any, ...]:
        """Runs a single node.

        Args:
            node (NodeProto): The node.
            inputs (list): NumPy arrays for those of its inputs that are not missing.
            device (str): As for :meth:`prepare`.
            outputs_info (list): Not needed.
            kwargs: ``opset_imports`` or ``opset_version``: a version of the operators.
        Returns:
            tuple: NumPy arrays.
        """
        arrays = [np.asarray(x) for x in inputs]
        names = [name for name in dict.fromkeys(node.input) if name]
        helper = _onnx.helper
        graph_inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for name, x in zip(names, arrays, strict=True)
        ]
        graph_outputs = [_onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = helper.make_graph([node], 'node', graph_inputs, graph_outputs)
        opsets = kwargs.get('opset_imports')
        if opsets is None:
            version = kwargs.get('opset_version', min(28, _onnx.defs.onnx_opset_version()))
            opsets = [helper.make_opsetid(node.domain, version)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        return cls.run_model(model, arrays, device)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether chainerx has the device in this process.

        Args:
            device (str): As for :meth:`prepare`.
        Returns:
            bool: False for an unknown name, too.
        """
        try:
            chainerx.get_device(_to_device(device))
        except (ValueError, AttributeError, chainerx.ChainerxError):
            return False
        return True


prepare = ChainerxBackend.prepare
run_model = ChainerxBackend.run_model
run_node = ChainerxBackend.run_node
supports_device = ChainerxBackend.supports_device
