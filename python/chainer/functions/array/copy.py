"""Arrays on another device."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import backend, variable
from chainer._graph.builtin import BuiltinFunction
from chainer.function_node import FunctionNode

if tp.TYPE_CHECKING:
    from chainer._typing import Arrays, DeviceSpec, Gradients, VariableLike


def _side_device(device: backend.Device | None) -> chainerx.Device:
    """Where chainerx computes on arrays of a device."""
    if isinstance(device, backend.ChainerxDevice):
        return device.device
    if isinstance(device, backend.GpuDevice):
        return chainerx.get_device('cuda', device.device.id)
    return chainerx.get_device('native', 0)


class Copy(BuiltinFunction):
    """See `copy`; between devices of one kind of array."""

    check_uses_attributes = False

    def __init__(self, in_device: backend.Device | None, out_device: backend.Device) -> None:
        self.out_device = out_device

    @staticmethod
    def compose(
        x: chainerx.ndarray, *, out_device: backend.Device | None = None
    ) -> chainerx.ndarray:
        device = _side_device(out_device)
        # As in v7, there is no copy where there is nothing to move.
        return x[...] if device is x.device else x.to_device(device)


class _CopyToKind(FunctionNode):
    """Between chainerx arrays and those of NumPy or CuPy on the same device: it shares memory."""

    def __init__(self, out_device: backend.Device) -> None:
        self.out_device = out_device

    @property
    def label(self) -> str:
        return 'Copy'

    def apply(self, inputs: tp.Sequence[tp.Any]) -> tuple[variable.Variable, ...]:
        """See `FunctionNode.apply`."""
        (x,) = inputs
        in_data = self._compute((x.array,))
        return self._connect((x,), (x.array,), in_data, in_data)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        if isinstance(x, chainerx.ndarray):
            x = x.as_grad_stopped()
        return (self.out_device.send(x),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: Gradients) -> Gradients:
        # The engine takes it to the kind of the input.
        return grad_outputs


def copy(x: VariableLike, dst: DeviceSpec) -> variable.Variable:
    """An array on another device, which gradients flow back from.

    Args:
        x (Variable or array): Any shape and dtype.
        dst: Any argument of `chainer.get_device`; or the number of a CUDA device of CuPy's,
            negative for the CPU.

    Returns:
        Variable: Same shape and dtype, on ``dst``. Differentiable, any order, between devices of
        one kind of array; once where the kind changes.

    Raises:
        BackendError: If ChainerX has no such backend.
        RuntimeError: If CuPy is asked for and can't be used.
    """
    if isinstance(dst, int):
        device: backend.Device = backend.get_device('@numpy' if dst < 0 else dst)
    else:
        device = backend.get_device(dst)
    x = variable.as_variable(x)
    if x.device.xp is device.xp:
        return Copy.call(x, out_device=device)
    side = backend.ChainerxDevice(_side_device(device))
    if x.device.xp is not chainerx:
        here = backend.ChainerxDevice(_side_device(x.device))
        (x,) = _CopyToKind(here).apply((x,))
    if x.device != side:
        x = Copy.call(x, out_device=side)
    if device.xp is not chainerx:
        (x,) = _CopyToKind(device).apply((x,))
    return x
