"""What the update rules of this folder have in common: one formula for every kind of array."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer import backend, optimizer
from chainer._optim.hyperparameter import Hyperparameter
from chainer._optim.update_rule import _UNFUSING


class FormulaRule(optimizer.UpdateRule):
    """An update rule that is a formula of the parameter, its gradient, states and numbers.

    A subclass has `step`, `_numbers` and ``fused_states``. `fused_call` says the same to the
    routine that updates all parameters at once.

    Args:
        parent_hyperparam (Hyperparameter): Whose values hold where the rule sets none of its own.
        hyperparams: The rule's own values; None stands for the parent's.
    """

    is_elementwise = True

    def __init__(self, parent_hyperparam: Hyperparameter, **hyperparams: tp.Any) -> None:
        super().__init__(parent_hyperparam)
        for name, value in hyperparams.items():
            if value is not None:
                setattr(self.hyperparam, name, value)

    if tp.TYPE_CHECKING:
        # step(xp, p, g, *states, *numbers) updates parameter p and states in place.
        step: tp.Callable[..., None]

    def _numbers(self) -> tuple[float, ...]:
        """The numbers of the formula, for the update number ``t``."""
        raise NotImplementedError

    def _settings(self) -> tuple[float, ...]:
        """What the numbers are made of, but for ``t``: the kernels count updates themselves.

        In the same order (`FillUpdateNumbers` in kernels/update_rule.h has the formulas).
        """
        return self._numbers()

    def _check_dtype(self, dtype: tp.Any) -> None:
        """Raises an error if a number of the formula does not work in a dtype."""

    def fused_call(self, dtype: tp.Any) -> tuple[str, tuple[str, ...], tuple[float, ...]] | None:
        """What an update computes: routine, names of states, settings.

        None if only `update_core` can say.

        Args:
            dtype: Of the parameter.
        """
        if self.fused is None or not _UNFUSING.isdisjoint(self.__dict__):
            return None
        self._check_dtype(dtype)
        return self.fused, self.fused_states, self._settings()

    def fused_key(self) -> tp.Hashable:
        """A key that rules have in common if `fused_call` says the same, without asking it."""
        own = self.hyperparam.__dict__
        if len(own) > 1 or not _UNFUSING.isdisjoint(self.__dict__):
            return id(self)
        return type(self), id(own['_parent']), self.t

    def init_state(self, param: tp.Any) -> None:
        """Makes the states: zeros like the parameter."""
        xp = backend.get_array_module(param.array)
        for key in self.fused_states:
            self._state[key] = xp.zeros_like(param.array)  # type: ignore[index]

    def update_core_cpu(self, param: tp.Any) -> None:
        """Updates a parameter of NumPy arrays."""
        self._step(param)

    def update_core_gpu(self, param: tp.Any) -> None:
        """Updates a parameter of CuPy arrays."""
        self._step(param)

    def update_core_chainerx(self, param: tp.Any) -> None:
        """Updates a parameter of chainerx arrays."""
        self._step(param)

    def _step(self, param: tp.Any) -> None:
        p, g = param.array, param.grad
        if p is None or g is None:
            return
        keys, state = self.fused_states, self._state
        if state is None or any(key not in state for key in keys):
            # A flag of the optimizer, set after the first update, may ask for one more.
            state = self._state = self._initial_states(param) | (state or {})
        xp = backend.get_array_module(p)
        self._check_dtype(p.dtype)
        self.step(xp, p, g, *(state[key] for key in keys), *self._numbers())


def check_eps(owner: str, eps: float, dtype: tp.Any) -> None:
    """Raises ValueError if ``eps`` is so small that it is 0 in the dtype."""
    if eps == 0 or dtype.itemsize == 8 or eps > (1e-7 if dtype.itemsize == 2 else 1e-38):
        return
    narrow = np.float16 if dtype.name == 'float16' else np.float32
    if narrow(eps) == 0:
        raise ValueError(f'eps of {owner} optimizer is too small for {dtype.name} ({eps})')


def as_float(hyperparam: Hyperparameter, *names: str) -> tuple[float, ...]:
    """Values as Python floats, which leave the dtypes of arrays alone."""
    return tuple(float(getattr(hyperparam, name)) for name in names)
