"""`Variable`, `Parameter`, `VariableNode`; gradients of several variables at once."""

from __future__ import annotations

import typing as tp

import numpy as np
from chainerx._core import engine

from chainer import backend, initializers
from chainer._base import environment
from chainer._graph import callbacks
from chainer._graph.variable import (  # noqa: F401  (the public module, and what pickles name)
    Variable,
    VariableNode,
    _create_variable,
    _grad_or_none,
    _restore,
    _unpickle,
    as_array,
    as_variable,
    chainer_get_device,
    variable_repr,
    variable_str,
)

if tp.TYPE_CHECKING:
    from chainer._optim.update_rule import UpdateRule
    from chainer._typing import DeviceSpec, InitializerSpec, NdArray, ShapeSpec


def _recover_parameter(
    array: NdArray | None,
    name: str | None,
    grad: NdArray | None,
    grad_valid: bool,
    initializer: InitializerSpec | None,
    update_rule: UpdateRule | None,
    device: DeviceSpec,
) -> Parameter:
    """The function that pickles of parameters written by Chainer v7 call."""
    new = Parameter.__new__(Parameter)
    _restore(new, array, name, grad, True)
    new.initializer = initializer
    new.update_rule = update_rule
    if not grad_valid:
        new._grad_initializer = initializers.NaN()
    new.to_device(device)
    return new


class Parameter(Variable):
    """A variable that an optimizer updates; it may get its shape later.

    Args:
        initializer (Initializer, array or float): Makes the values; None stands for NaN.
        shape (tuple of int): None leaves it uninitialized until `initialize`, except when
            ``initializer`` is an array, which then becomes the data.
        name (str): For printing.
        layout: None; memory layouts other than C order are not supported.

    Attributes:
        initializer: The initializer of the values.
        update_rule: The update rule of the optimizer; None without one.
        loss_scale: The factor of its gradient, or None.
    """

    # As class attributes, for a parameter costs nothing it does not use.
    initializer: tp.Any = None
    update_rule: tp.Any = None
    loss_scale = engine.Variable._loss_scale
    # NaN fills the gradient of a parameter that gets its shape later, until it is cleared.
    _grad_initializer: tp.Any = None
    _initial_device: backend.Device | None = None

    def __init__(
        self,
        initializer: tp.Any = None,
        shape: ShapeSpec | None = None,
        name: str | None = None,
        *,
        layout: None = None,
    ) -> None:
        if initializer is None:
            initializer = initializers.NaN()
        elif np.isscalar(initializer):
            initializer = initializers.Constant(initializer)
        is_array = engine.kind(initializer) is not None
        if shape is None:
            super().__init__(initializer if is_array else None, name=name, layout=layout)
            if not is_array:
                self._grad_initializer = initializers.NaN()
        else:
            if is_array:
                initializer = initializers.Constant(initializer)
            data = initializers.generate_array(initializer, _to_shape(shape), np)
            super().__init__(data, name=name, layout=layout)
            self.grad = np.full_like(data, np.nan)
        self.initializer = initializer

    def __reduce__(self) -> tuple[object, ...]:
        state = (self.array, self.name, _grad_or_none(self), self.requires_grad)
        attributes = self.__dict__
        if self.loss_scale is not None:
            attributes = attributes | {'loss_scale': self.loss_scale}
        return _unpickle, (type(self), *state), attributes or None

    def __setstate__(self, attributes: dict[str, tp.Any]) -> None:
        self.loss_scale = attributes.pop('loss_scale', None)
        self.__dict__.update(attributes)

    @property
    def is_initialized(self) -> bool:
        """Whether it has an array."""
        return self.array is not None

    @property
    def dtype(self) -> np.dtype:
        """The dtype that it has or, uninitialized, will have."""
        if self.array is not None:
            return super().dtype
        return environment.get_dtype(getattr(self.initializer, 'dtype', None))

    @property
    def device(self) -> backend.Device:
        """The device that it is on or, uninitialized, will be on."""
        if self.array is None and self._initial_device is not None:
            return self._initial_device
        return super().device

    @property
    def grad(self) -> tp.Any:
        """The gradient array, or None.

        Raises:
            RuntimeError: If it is uninitialized and the gradient was neither set nor cleared.
        """
        given = self._grad_initializer
        if given is None or self.array is not None:
            return engine.Variable.grad.__get__(self)
        if callable(given):
            raise RuntimeError(
                'Parameter.grad: the parameter is uninitialized; set the gradient or call '
                'cleargrad() before reading it'
            )
        return None if np.isscalar(given) else given  # zerograd(): there are no zeros yet

    @grad.setter
    def grad(self, value: tp.Any) -> None:
        if self.array is None:
            self._grad_initializer = value
            return
        engine.Variable.grad.__set__(self, value)

    def cleargrad(self) -> None:
        """Drops the gradient; an uninitialized parameter will start without one."""
        if self.array is None:
            self._grad_initializer = None
        else:
            engine.Variable.cleargrad(self)  # takes a third of the time of super()

    def _fill_grad_with_zeros(self) -> None:
        if self.array is None:
            self._grad_initializer = 0  # for when it has one
        else:
            super()._fill_grad_with_zeros()

    def initialize(self, shape: ShapeSpec) -> None:
        """Makes an array of that shape with the initializer, on the parameter's device.

        Copies that share the array of the parameter, initialized or not, get the new one.

        Args:
            shape (tuple of int): Of the array.
        """
        device = self.device
        shape = _to_shape(shape)
        array = initializers.generate_array(self.initializer, shape, device.xp, device=device)
        fill = self._grad_initializer
        if self._kind == 'chainerx':
            self.array = None  # or it could not be replaced
        self.array = array  # that of all copies which share it
        if fill is None:
            self.grad = None
            return
        if np.isscalar(fill):
            fill = initializers.Constant(fill)
        if engine.kind(fill) is not None:
            self.grad = fill
        else:
            self.grad = initializers.generate_array(
                fill, shape, device.xp, dtype=array.dtype, device=device
            )

    def _set_loss_scale(self, scale: float) -> None:
        self.loss_scale = scale

    def update(self) -> None:
        """Updates the values with its update rule, if it has one."""
        if self.update_rule is not None:
            self.update_rule.update(self)

    def to_device(self, device: DeviceSpec) -> None:
        """Moves data and gradient; an uninitialized parameter will be made there.

        Args:
            device: Any argument of `chainer.get_device`.
        """
        device = chainer_get_device(device)
        if self.array is None:
            self._initial_device = device
        else:
            super().to_device(device)

    def to_chx(self) -> None:
        """Makes its array a chainerx array that shares memory, if it is none."""
        if self.array is None:
            if not isinstance(self.device, backend.ChainerxDevice):
                self.to_device(backend.ChainerxDevice.from_fallback_device(self.device))
        else:
            super().to_chx()

    def from_chx(self) -> None:
        """Makes its array, if it is a chainerx array, one of NumPy or CuPy that shares memory."""
        if self.array is None:
            if isinstance(self.device, backend.ChainerxDevice):
                self.to_device(self.device.fallback_device)
        else:
            super().from_chx()


def _to_shape(shape: ShapeSpec) -> tuple[int, ...]:
    return tuple(shape) if hasattr(shape, '__iter__') else (int(shape),)


engine.set_callbacks(
    variable_class=Variable,
    node_class=VariableNode,
    parameter_class=Parameter,
    parameter_cleargrad=Parameter.cleargrad,
)
_ = callbacks  # joins Python and the engine
