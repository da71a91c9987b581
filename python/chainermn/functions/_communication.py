"""What functions that exchange arrays have in common.

A process that only sends, or only receives, has nothing to put in the place of an output, or an
input, of its part of the graph. There stands an empty variable, the *delegate*: it has no elements,
and connects what comes after with what comes before.
"""

from __future__ import annotations

import typing as tp

import chainer
import chainerx
import numpy as np

from chainermn.communicators import _arrays
from chainermn.communicators._agreement import refuse_capture

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, Arrays, Gradients
    from chainer.types import NdArray


def new_delegate(device: chainer.backend.Device) -> chainer.Variable:
    """An empty variable on a device, from which a gradient can be asked."""
    with chainer.using_device(device):
        return chainer.Variable(device.xp.zeros(0, np.float32))


def empty_like(x: NdArray) -> tp.Any:
    """The array of a delegate, of the kind of another array."""
    return _arrays.like(np.zeros(0, np.float32), x)


def startable(delegate: chainer.Variable) -> chainer.Variable:
    """The delegate with a gradient, so that ``backward()`` may start from it.

    Those of chainerx arrays start without, and with one would take no ``loss_scale``.
    """
    if delegate.requires_grad and delegate.xp is not chainerx:
        delegate.grad = delegate.xp.zeros_like(delegate.array)
    return delegate


class Communication(chainer.FunctionNode):
    """Base of functions that send the data of their inputs.

    A subclass has `exchange`, which returns a tuple of arrays, and `exchange_back`.
    """

    def __init__(self, comm: tp.Any) -> None:
        self.comm = comm
        self._outputs: list[tuple[tuple[int, ...], tp.Any]] = []

    def apply(self, inputs: tp.Any) -> tuple[chainer.Variable, ...]:
        """Computes the outputs; says first why it can't be part of a captured step."""
        refuse_capture(type(self).__name__.lower())
        return super().apply(inputs)

    def exchange(self, inputs: Arrays) -> Arrays:
        """Sends the inputs, and returns what comes."""
        raise NotImplementedError

    def exchange_back(self, grad_outputs: tuple[chainer.Variable, ...]) -> tp.Any:
        """Sends the gradients of the outputs, and returns those of the inputs."""
        raise NotImplementedError

    def forward(self, inputs: Arrays) -> Arrays:
        """Computes the outputs.

        Args:
            inputs (tuple of array): The data of the inputs.

        Returns:
            tuple of array: Those of the outputs.
        """
        if self.chainerx_device is not None:  # receivers are to know of which kind they are
            inputs = tuple(chainer.backend.to_chx(x) for x in inputs)
        outputs = self.exchange(inputs)
        self._outputs = [(y.shape, y.dtype) for y in outputs]
        return tuple(outputs)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: Gradients) -> tp.Any:
        """Computes the gradients of the inputs; zeros are sent for outputs without one.

        Args:
            target_input_indexes (tuple of int): Which.
            grad_outputs (tuple of Variable or None): The gradients of the outputs.

        Returns:
            tuple of Variable: One per index.
        """
        known = next(gy for gy in grad_outputs if gy is not None)
        filled = []
        for gy, (shape, dtype) in zip(grad_outputs, self._outputs, strict=True):
            if gy is None:
                with chainer.using_device(known.device):
                    gy = chainer.Variable(known.xp.zeros(shape, dtype))
            filled.append(gy)
        gxs = self.exchange_back(tuple(filled))
        return tuple(gxs[i] for i in target_input_indexes)


class Arrival(Communication):
    """Puts arrays that have come from another process behind a delegate.

    Args:
        comm (CommunicatorBase): Connects the processes.
        arrays (tuple of arrays): What has come.
        back (callable): Sends gradients to where the arrays came from, and returns a delegate.
    """

    def __init__(self, comm: tp.Any, arrays: Arrays, back: AnyCallable) -> None:
        super().__init__(comm)
        self._arrays = arrays
        self._back = back

    def exchange(self, inputs: Arrays) -> Arrays:
        """What has come, on the device of the delegate."""
        arrays, self._arrays = self._arrays, ()
        device = chainer.backend.get_device_from_array(inputs[0])
        return tuple(device.send(x) for x in arrays)

    def exchange_back(self, grad_outputs: tuple[chainer.Variable, ...]) -> tp.Any:
        """Sends gradients to where the arrays came from."""
        return self._back(grad_outputs)


def arrive(
    comm: tp.Any, data: tp.Any, back: AnyCallable, delegate: chainer.Variable | None = None
) -> tuple[chainer.Variable, ...]:
    """Variables of what has come: an array or a tuple of arrays."""
    arrays = data if isinstance(data, tuple) else (data,)
    if delegate is None:
        device = chainer.backend.get_device_from_array(*arrays)
        delegate = new_delegate(device)
    return Arrival(comm, arrays, back).apply((delegate,))
