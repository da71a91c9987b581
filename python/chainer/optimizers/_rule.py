"""What the update rules of this folder have in common: one formula for every kind of array."""

from __future__ import annotations

import inspect
import itertools
import typing as tp

import numpy as np

from chainer import backend, optimizer
from chainer._optim.hyperparameter import Hyperparameter
from chainer._optim.update_rule import _UNFUSING
from chainer.optimizers._declare import add_constructor

Call: tp.TypeAlias = tuple[str, tuple[str, ...], tuple[float, ...]]


class FormulaRule(optimizer.UpdateRule):
    """An update rule that is a formula of the parameter, its gradient, states and numbers.

    A subclass names the optimizer whose hyperparameters it has, as in
    ``class SGDRule(FormulaRule, of=SGD)``, and has ``fused``, the routine that updates all
    parameters at once by the same formula (ops/optim/update.def), and

        step(xp, p, g, *states, *numbers)

    which updates parameter and states in place. Parameters of ``step`` before the first
    hyperparameter name the states.
    """

    is_elementwise = True
    # Whether 16 bits are computed in float32: the squares of small numbers are 0 there.
    is_wide: tp.ClassVar[bool] = False
    _defaults: tp.ClassVar[Hyperparameter | None] = None
    _row: tp.ClassVar[str]
    # Of the numbers of `step`, those that are hyperparameters; how many others follow them.
    _names: tp.ClassVar[tuple[str, ...]] = ()
    _n_derived: tp.ClassVar[int] = 0

    if tp.TYPE_CHECKING:
        step: tp.Callable[..., None]

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        *args: float | None,
        **hyperparams: float | None,
    ) -> None:
        super().__init__(parent_hyperparam or self._defaults)
        for name, value in hyperparams.items():
            if value is not None:
                setattr(self.hyperparam, name, value)
        self._prepare()

    def __init_subclass__(cls, of: tp.Any = None, **kwargs: tp.Any) -> None:
        super().__init_subclass__(**kwargs)
        if of is None:
            return
        of._rule_class = cls
        cls._defaults = of._defaults
        hyperparams = of._defaults.get_dict()
        cls._row = str(cls.fused)
        if 'fused_states' not in vars(cls):
            names = list(inspect.signature(cls.step).parameters)[3:]  # after xp, p and g
            cls.fused_states = tuple(itertools.takewhile(lambda n: n not in hyperparams, names))
            cls._names = tuple(name for name in names if name in hyperparams)
            cls._n_derived = len(names) - len(cls.fused_states) - len(cls._names)

        def begin(self: tp.Any, **values: tp.Any) -> None:
            super(cls, self).__init__(**values)

        add_constructor(
            cls,
            begin,
            {'parent_hyperparam': None, **dict.fromkeys(hyperparams)},
            {
                'parent_hyperparam': 'Hyperparameter | None',
                **{name: f'{of.__annotations__[name]} | None' for name in hyperparams},
            },
        )

    def _prepare(self) -> None:
        """Sets what a rule keeps of the first values of its hyperparameters."""

    def _routine(self) -> str:
        """Name of the row of ops/optim/update.def that is the same formula."""
        return self._row

    def _settings(self) -> tuple[float, ...]:
        """The hyperparameters that the numbers of ``step`` are made of, in the same order.

        0 stands for what is derived from them and ``t``: kernels count updates themselves
        (`FillUpdateNumbers` in kernels/optim/update_rule.h has the formulas).
        """
        return as_float(self.hyperparam, *self._names) + (0.0,) * self._n_derived

    def _numbers(self) -> tuple[float, ...]:
        """The numbers of ``step``, for the update number ``t``."""
        return self._settings()

    def _check_dtype(self, dtype: tp.Any) -> None:
        """Raises an error if a number of the formula does not work in a dtype."""

    def fused_call(self, dtype: tp.Any) -> Call | None:
        """What an update computes: routine, names of states, settings.

        None if only `update_core` can say.

        Args:
            dtype: Of the parameter.
        """
        if self.fused is None or not _UNFUSING.isdisjoint(self.__dict__):
            return None
        self._check_dtype(dtype)
        return self._routine(), self.fused_states, self._settings()

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
        """Updates a parameter of arrays of any kind."""
        p, g = param.array, param.grad
        if p is None or g is None:
            return
        keys, state = self.fused_states, self._state
        if state is None or any(key not in state for key in keys):
            # A flag of the optimizer, set after the first update, may ask for one more.
            state = self._state = self._initial_states(param) | (state or {})
        self._check_dtype(p.dtype)
        states = given = [state[key] for key in keys]
        is_widened = self.is_wide and p.dtype.itemsize == 2
        if is_widened:
            g, *states = (x.astype(np.float32) for x in (g, *given))
        self.step(backend.get_array_module(p), p, g, *states, *self._numbers())
        if is_widened:
            for narrow, wide in zip(given, states, strict=True):
                narrow[...] = wide.astype(narrow.dtype)

    update_core_gpu = update_core_chainerx = update_core_cpu


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
