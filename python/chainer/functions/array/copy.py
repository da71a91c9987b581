"""Arrays on another device."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import backend, variable
from chainer._builtin import BuiltinFunction
from chainer.backends import _chainerx, cuda
from chainer.function_node import FunctionNode


class Copy(BuiltinFunction):
    """See `copy`; between devices of one kind of array."""

    attributes: tp.ClassVar = {'out_device': None}
    check_uses_attributes = False

    @staticmethod
    def compose(x: chainerx.ndarray, out_device: tp.Any) -> chainerx.ndarray:
        device = getattr(out_device, 'device', x.device)
        return x.copy() if device == x.device else x.to_device(device)


class _CopyToKind(FunctionNode):
    """Between NumPy arrays and chainerx arrays of the native device, which share memory."""

    def __init__(self, out_device: tp.Any) -> None:
        self.out_device = out_device

    @property
    def label(self) -> str:
        return 'Copy'

    def apply(self, inputs: tp.Sequence[tp.Any]) -> tuple[variable.Variable, ...]:
        """See `FunctionNode.apply`."""
        (x,) = inputs
        in_data = self._compute((x.array,))
        return self._connect((x,), (x.array,), in_data, in_data)

    def forward(self, inputs: tuple[tp.Any, ...]) -> tuple[tp.Any, ...]:
        (x,) = inputs
        if isinstance(x, chainerx.ndarray):
            x = x.as_grad_stopped()
        return (self.out_device.send(x),)

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[tp.Any, ...]
    ) -> tp.Any:
        # The engine takes it to the kind of the input.
        return grad_outputs


def copy(x: tp.Any, dst: tp.Any) -> variable.Variable:
    """An array on another device, which gradients flow back from.

    Args:
        x (Variable or array): Any shape and dtype.
        dst: What `chainer.get_device` takes; or the number of a CUDA device of CuPy's, negative for
            the CPU.

    Returns:
        Variable: On ``dst``. Differentiable, any order, between devices of one kind of array; once
        where the kind changes.
    """
    if isinstance(dst, int):
        device: tp.Any = backend.CpuDevice() if dst < 0 else cuda.GpuDevice.from_device_id(dst)
    else:
        device = backend.get_device(dst)
    x = variable.as_variable(x)
    native = _chainerx.ChainerxDevice(chainerx.get_device('native:0'))
    from_chainerx = isinstance(x.device, _chainerx.ChainerxDevice)
    to_chainerx = isinstance(device, _chainerx.ChainerxDevice)
    if from_chainerx == to_chainerx:
        return Copy.call(x, device)
    if from_chainerx and x.device != native:
        x = Copy.call(x, native)
    (y,) = _CopyToKind(native if to_chainerx else device).apply((x,))
    return Copy.call(y, device) if to_chainerx and device != native else y
