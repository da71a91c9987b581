"""How one parameter is updated: the base of the rules of optimizers."""

from __future__ import annotations

import contextlib
import typing as tp

import chainerx
import numpy as np
from chainerx._core import engine

from chainer import backend
from chainer._graph import fallback
from chainer._optim.hookable import Hook, _Hookable
from chainer._optim.hyperparameter import Hyperparameter
from chainer.backends import cuda
from chainer.backends._chainerx import to_fallback
from chainer.serializer import AbstractSerializer, Deserializer
from chainer.utils import force_array
from chainer.variable import Parameter

_CORES: tp.Final = ('update_core_cpu', 'update_core_gpu', 'update_core_chainerx')
# A subclass that overrides one of these computes something that only it knows.
_UNFUSING: tp.Final = frozenset(
    (
        *(*_CORES, 'update', 'update_core', 'step', '_numbers_at'),
        *('fused_call', '_numbers', '_settings', 'alpha_t', 'bounds'),
    )
)
# Keys that the engine reads and writes in the dict of a rule.
_KEPT: tp.Final = frozenset(('t', 'enabled', 'hyperparam', '_state'))
_FP32_KEY: tp.Final = 'fp32_param'


class UpdateRule:
    """Updates one parameter, and keeps the state that this needs.

    A subclass has `init_state`, and `update_core` or its variants by kind of array. Where it has no
    `update_core_chainerx`, that for NumPy or CuPy arrays works on views of the chainerx arrays.

    Args:
        parent_hyperparam (Hyperparameter): Whose values hold where the rule sets none of its own.

    Attributes:
        enabled (bool): Whether `update` does anything.
        hyperparam (Hyperparameter): The rule's own values.
        t (int): The number of updates.
    """

    is_elementwise = False
    # Name of a routine that updates many parameters in one call (`fused_call` gives its numbers,
    # `fused_states` its arrays); None if only `update` can.
    fused: tp.ClassVar[str | None] = None
    # The attributes of the class that update one parameter, as they were defined.
    _made_of: tp.ClassVar[dict[str, tp.Any]] = {}
    # Names of the arrays in `state` that the formula takes, in order, shaped like the parameter.
    fused_states: tuple[str, ...] = ()
    # How many updates of the step that is being recorded `t` has counted.
    _ahead = 0

    def __init__(self, parent_hyperparam: Hyperparameter | None = None) -> None:
        self._state: dict[str, tp.Any] | None = None
        self.enabled = True
        self.hyperparam = Hyperparameter(parent_hyperparam)
        self.t = 0
        self._use_fp32_update = False
        self._fp32_param: tp.Any = None
        self._hookable = _Hookable()

    def __init_subclass__(cls, **kwargs: tp.Any) -> None:
        super().__init_subclass__(**kwargs)
        own = vars(cls)
        if 'fused' not in own and not (_UNFUSING | _KEPT).isdisjoint(own):
            cls.fused = None
        overrides_one = any(name in own for name in _CORES[:2])
        if overrides_one and not any(name in own for name in (_CORES[2], 'step')):
            # Its rule holds for chainerx arrays, too.
            cls.update_core_chainerx = UpdateRule.update_core_chainerx  # type: ignore[method-assign]
        cls._made_of = {name: getattr(cls, name, None) for name in _UNFUSING}

    @property
    def state(self) -> dict[str, tp.Any] | None:
        """The state of the rule, by name; None before the first update."""
        return self._state

    def add_hook(self, hook: Hook, name: str | None = None, timing: str = 'auto') -> None:
        """Adds a function that is called as ``hook(rule, param)`` in each update.

        Args:
            hook (callable): May have attributes ``name`` and ``timing``.
            name (str): Default: the hook's name.
            timing (str): ``'pre'``, ``'post'``, or ``'auto'``: the timing of the hook, else
                ``'pre'``.
        """
        self._hookable.add_hook(hook, name, timing)

    def remove_hook(self, name: str) -> None:
        """Removes a hook by its name.

        Args:
            name (str): Of the hook.
        """
        self._hookable.remove_hook(name)

    def use_fp32_update(self, flag: bool = True) -> None:
        """Updates a parameter of 16 bits through a float32 copy that keeps what it cannot hold.

        Args:
            flag (bool): Whether to.
        """
        self._use_fp32_update = flag
        if not flag:
            self._fp32_param = None

    # ---- updates ----

    def update(self, param: Parameter) -> None:
        """Updates the parameter by its gradient, which is freed of its loss scale first.

        Args:
            param (Parameter): Which.

        Raises:
            TypeError: If the parameter's dtype has no gradients.
            ValueError: If a state has another shape than the parameter.
        """
        if not self.enabled:
            return
        self.t += 1
        array = param.array
        version = engine.version(array)
        with _without_graph(param):
            unscale(param)
            try:
                if self._use_fp32_update and _is_float16(param):
                    self._update_by_fp32(param)
                else:
                    self._update(param)
            finally:
                # Graphs that are older go on with the new values, as in v7: that of a generator
                # after a step of its discriminator.
                engine.forget_writes(array, version)

    def _update(self, param: Parameter) -> None:
        if param.array is not None:
            self._prepare_states(param)
        if self._hookable:
            self._hookable.call_hooks('pre', (self, param))
            self.update_core(param)
            self._hookable.call_hooks('post', (self, param))
        else:
            self.update_core(param)

    def _update_by_fp32(self, param: Parameter) -> None:
        array, grad = param.array, param.grad
        copy = self._fp32_param
        if copy is None or copy.shape != array.shape:
            copy = self._fp32_param = Parameter(array.astype(np.float32), name=param.name)
        else:
            copy.to_device(param.device)  # it may have been loaded, or the model has moved
            # Values that somebody else has written since, such as a loaded snapshot, count.
            xp, wide = param.xp, copy.array
            copy.array[...] = xp.where(wide.astype(array.dtype) == array, wide, array)
        copy.grad = None if grad is None else grad.astype(np.float32)
        self._update(copy)
        array[...] = copy.array.astype(array.dtype)
        copy.grad = None

    def update_core(self, param: Parameter) -> None:
        """Updates the parameter; without states, hooks and all else that `update` looks after.

        Args:
            param (Parameter): Which.
        """
        array = param.array
        if isinstance(array, chainerx.ndarray) or (
            array is None and isinstance(param.device, backend.ChainerxDevice)
        ):
            with backend.using_device(param.device):
                self.update_core_chainerx(param)
        elif cuda.available and isinstance(array, cuda.ndarray):
            with backend.using_device(param.device):
                self.update_core_gpu(param)
        else:
            self.update_core_cpu(param)

    def update_core_cpu(self, param: Parameter) -> None:
        """Updates a parameter of NumPy arrays.

        Args:
            param (Parameter): Which.
        """
        raise NotImplementedError(f'{type(self).__name__}.update_core_cpu is not implemented')

    def update_core_gpu(self, param: Parameter) -> None:
        """Updates a parameter of CuPy arrays.

        Args:
            param (Parameter): Which.
        """
        raise NotImplementedError(f'{type(self).__name__}.update_core_gpu is not implemented')

    def update_core_chainerx(self, param: Parameter) -> None:
        """Updates a parameter of chainerx arrays: by the rule for NumPy or CuPy, on views.

        Args:
            param (Parameter): Which.

        Raises:
            RuntimeError: If ``chainer.config.chainerx_fallback`` forbids that.
        """
        array = param.array
        if array is None:
            self.update_core_cpu(param)
            return
        fallback.note(
            type(self).__name__,
            f'{array.shape} {array.dtype}',
            'the update rule has no update_core_chainerx',
        )
        device = param.device
        view = Parameter(to_fallback(array), name=param.name)
        view.grad = to_fallback(param.grad)
        given, state = view.array, self._state or {}
        views = {key: _from_chx(value) for key, value in state.items()}
        self._state = dict(views)
        try:
            if isinstance(given, np.ndarray):
                self.update_core_cpu(view)
            else:
                with backend.using_device(view.device):
                    self.update_core_gpu(view)
                engine.side(given)  # what chainerx computes comes after what CuPy has written
            changed = self._state
        finally:
            self._state = state
        for key, value in changed.items():
            if value is not views.get(key):
                state[key] = device.send(value) if _is_array(value) else value
        if view.array is not given:
            array[...] = device.send(view.array)

    # ---- states ----

    def init_state(self, param: Parameter) -> None:
        """Makes the arrays in ``state`` that the rule needs for the parameter. Overridden.

        Args:
            param (Parameter): Which.
        """

    def _initial_states(self, param: Parameter) -> dict[str, tp.Any]:
        """Return the state that `init_state` makes for a parameter; the state of the rule stays."""
        state = self._state
        self._state = {}
        try:
            with backend.using_device(param.device):
                self.init_state(param)
            return self._state
        finally:
            self._state = state

    def _prepare_states(self, param: Parameter) -> None:
        """Makes the states if there are none, and brings them to the device of the parameter."""
        array = param.array
        state: tp.Any = self._state
        if state is None:
            if array.dtype.kind not in 'fcV':
                raise TypeError(
                    f'{type(self).__name__}: parameter {param.name!r} is of dtype {array.dtype}; '
                    'only floats are updated by gradients'
                )
            state = self._state = self._initial_states(param)
        for key, value in state.items():
            if type(value) is type(array) and _same_place(value, array):
                pass
            elif _is_array(value) and backend.get_device_from_array(value) != param.device:
                state[key] = value = param.device.send(value)
            if key in self.fused_states and value.shape != array.shape:
                raise ValueError(
                    f'{type(self).__name__}: state {key!r} of parameter {param.name!r} is of shape '
                    f'{value.shape}, the parameter of shape {array.shape}'
                )

    def _prepare_all(self, param: Parameter) -> None:
        """Makes all that the first update makes."""
        if self._use_fp32_update and _is_float16(param):
            if self._fp32_param is None:
                wide = param.array.astype(np.float32)
                self._fp32_param = Parameter(wide, name=param.name)
            param = self._fp32_param
        self._prepare_states(param)

    # ---- serialization ----

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads ``t``, the states, and the float32 copy of a parameter of 16 bits.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        self._serialize(serializer, None)

    def _serialize(self, serializer: AbstractSerializer, param: Parameter | None) -> None:
        """The same; if the parameter is known, the loaded state must fit it."""
        if not isinstance(serializer, Deserializer):
            self.t = serializer('t', self.t)
            states = self._state or {}
            for key, value in states.items():
                states[key] = serializer(key, value)
            if self._fp32_param is not None:
                serializer(_FP32_KEY, self._fp32_param.array)
            return
        t = serializer('t', self.t)
        t = int(t) if isinstance(t, np.ndarray | np.generic) else t
        state: dict[str, tp.Any] | None
        try:
            state = self._load_states(serializer, param)
        except KeyError:
            # A rule was saved without states if it had not been updated or had no array to update;
            # a disabled rule needs none.
            has_no_array = param is not None and param.array is None
            if t != 0 and self.enabled and not has_no_array:
                raise
            state = None
        wide = self._load_fp32(serializer) if self._use_fp32_update else None
        self.t, self._state, self._fp32_param = t, state, wide

    def _load_fp32(self, serializer: AbstractSerializer) -> tp.Any:
        """The float32 copy, which snapshots of Chainer v7 do not have."""
        try:
            array = serializer(_FP32_KEY, None)
        except KeyError:
            return None
        return None if array is None else Parameter(array)

    def _load_states(
        self, serializer: AbstractSerializer, param: Parameter | None
    ) -> dict[str, tp.Any] | None:
        if self._state is not None:
            expected = self._state
        elif param is not None and param.array is not None:
            if self._use_fp32_update and _is_float16(param):
                param = Parameter(param.array.astype(np.float32), name=param.name)
            expected = self._initial_states(param)
            if expected and all(serializer(key, None) is None for key in expected):
                return None  # the next update makes it, from the parameter at that time
        else:
            # Only the names are of use: a parameter of any shape will do.
            names = self._initial_states(Parameter(np.zeros((1,), np.float32)))
            loaded = {key: serializer(key, None) for key in names}
            return None if any(value is None for value in loaded.values()) else loaded
        state = {}
        for key, old in expected.items():
            value = serializer(key, old)
            state[key] = old if value is None else value
        return state


class _NullContext:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: object) -> None:
        pass


_null_context: tp.Final = _NullContext()


def _without_graph(param: Parameter) -> contextlib.AbstractContextManager[tp.Any]:
    """A context in which arrays of the parameter's kind are computed, outside of any graph."""
    array = param.array
    if isinstance(array, chainerx.ndarray):
        return chainerx.no_backprop_mode()
    if cuda.available and isinstance(array, cuda.ndarray):
        return backend.using_device(param.device)
    return _null_context


def unscale(param: Parameter, on_device: tp.Any = None) -> None:
    """Divides the gradient by its loss scale, once.

    Another array takes its place, because parameters may share a gradient. ``on_device`` is an
    array that holds the scale.
    """
    scale = getattr(param, 'loss_scale', None)  # a plain Variable has none
    if scale is None:
        return
    param.loss_scale = None
    if param.array is not None and (grad := param.grad) is not None:
        with _without_graph(param):
            divisor = float(scale) if on_device is None else on_device.astype(grad.dtype)
            param.grad = force_array(grad / divisor)


def _is_float16(param: Parameter) -> bool:
    array = param.array
    return array is not None and array.dtype.itemsize == 2 and array.dtype.kind in 'fV'


def _is_array(value: tp.Any) -> bool:
    return isinstance(value, np.ndarray | chainerx.ndarray | cuda.ndarray)


def _same_place(x: tp.Any, y: tp.Any) -> bool:
    """Return whether two arrays of one type are on one device; it is quick in the usual cases."""
    if isinstance(x, np.ndarray):
        return True
    return isinstance(x, chainerx.ndarray) and x.device is y.device


def _from_chx(value: tp.Any) -> tp.Any:
    return to_fallback(value) if isinstance(value, chainerx.ndarray) else value


UpdateRule.__module__ = 'chainer.optimizer'
