"""What links have in common that keep a state from call to call."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import engine

from chainer import backend, variable
from chainer.link import Chain, Link

if tp.TYPE_CHECKING:
    from chainer._graph.variable import Variable
    from chainer._typing import DTypeLike
    from chainer.device_resident import DeviceResidentsVisitor


class Stateful(Chain):
    """Mixin: a chain with the state `h`, and whatever `_states` names more; variables, or None."""

    _states: tp.ClassVar[tuple[str, ...]] = ('h',)
    h: tp.Any = None

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        """Moves the state, too, as values: gradients do not flow from one device to the other.

        Args:
            visitor (DeviceResidentsVisitor): What sees the link.
        """
        super().device_resident_accept(visitor)
        for name in self._states:
            state = getattr(self, name)
            if state is not None:
                setattr(self, name, _moved(state, visitor))

    def reset_state(self) -> None:
        """Forgets the state: the next input starts a new sequence."""
        for name in self._states:
            setattr(self, name, None)

    def _set_states(self, **values: Variable) -> None:
        for name, value in values.items():
            if not isinstance(value, variable.Variable):
                raise TypeError(
                    f'{type(self).__name__}: {name} is a {type(value).__name__}, expected a '
                    'Variable'
                )
        for name, value in values.items():
            value.to_device(self.device)
            setattr(self, name, value)


def _moved(state: tp.Any, visitor: tp.Any) -> tp.Any:
    if state.creator_node is not None:
        array = state.array
        is_chainerx = isinstance(array, chainerx.ndarray)
        state = variable.Variable(array.as_grad_stopped() if is_chainerx else array)
    visitor.visit_variable(state)
    return state


def zeros(link: Link, shape: tuple[int, ...], dtype: DTypeLike) -> variable.Variable:
    """A state of zeros.

    Args:
        link (Link): On whose device it is.
        shape (tuple of int): Its shape.
        dtype (dtype): Its dtype.

    Returns:
        Variable: Without a gradient function.
    """
    device = link.device
    if isinstance(device, backend.ChainerxDevice):  # at once: a first state is part of many calls
        return engine.zeros(shape, dtype, device.device)
    if isinstance(device, backend.CpuDevice):
        return engine.zeros(shape, dtype, None)
    return variable.Variable(device.send(device.xp.zeros(shape, dtype)))
