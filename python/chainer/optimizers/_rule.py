"""What the update rules of this folder have in common: one formula for every kind of array."""

from __future__ import annotations

import inspect
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
    ``class SGDRule(FormulaRule, of=SGD)``, and has

    - ``step(xp, p, g, *numbers, **states)``, which updates parameter and states in place; what it
      takes by position are numbers, by default hyperparameters of these names; by keyword, states;
    - ``_numbers_at(t, *hyperparameters)``, those of the update number ``t``, if they are others;
    - ``fused``, the name of the routine that updates all parameters at once. From ``step`` and
      ``_numbers_at`` tools/gen_updates.py makes what it computes.
    """

    is_elementwise = True
    # Whether 16 bits are computed in float32: the squares of small numbers are 0 there.
    is_wide: tp.ClassVar[bool] = False
    # Names of the routine by which optional parameters of `step` it has.
    _rows: tp.ClassVar[dict[tuple[str, ...], str]]
    _defaults: tp.ClassVar[Hyperparameter | None] = None
    # The hyperparameters that numbers are made of; how many more numbers there are.
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
        if '_rows' not in vars(cls):
            cls._rows = {(): str(cls.fused)}
        numbers, states = parameters_of(cls.step, 3)  # after xp, p and g
        cls._names, _ = (
            parameters_of(cls._numbers_at, 1) if '_numbers_at' in vars(cls) else (numbers, ())
        )
        cls._n_derived = len(numbers) - len(cls._names)
        if 'fused_states' not in vars(cls):
            cls.fused_states = states

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

    def _options(self) -> tuple[str, ...]:
        """The optional parameters of `step` that hyperparameters ask for."""
        return ()

    @staticmethod
    def _numbers_at(t: int, *settings: tp.Any, **_: tp.Any) -> tuple[float, ...]:
        """The numbers of `step` in the update number ``t``."""
        return settings

    def _settings(self) -> tuple[float, ...]:
        """What `_numbers_at` takes, besides ``t``."""
        return as_float(self.hyperparam, *self._names)

    def _numbers(self) -> tuple[float, ...]:
        return self._numbers_at(self.t, *self._settings())

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
        # Kernels count updates themselves, and make numbers of settings in the same places.
        settings = self._settings() + (0.0,) * self._n_derived
        return self._rows[self._options()], self.fused_states, settings

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
        keys, state = self.fused_states, self._state or {}
        try:
            given = {key: state[key] for key in keys}
        except KeyError:
            # A flag of the optimizer, set after the first update, may ask for one more.
            state = self._state = self._initial_states(param) | state
            given = {key: state[key] for key in keys}
        self._check_dtype(p.dtype)
        xp, numbers = backend.get_array_module(p), self._numbers()
        if not (self.is_wide and p.dtype.itemsize == 2):
            self.step(xp, p, g, *numbers, **given)
            return
        states = {key: x.astype(np.float32) for key, x in given.items()}
        self.step(xp, p, g.astype(np.float32), *numbers, **states)
        for key, narrow in given.items():
            narrow[...] = states[key].astype(narrow.dtype)

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


def parameters_of(function: tp.Callable[..., tp.Any], skip: int) -> tuple[tuple[str, ...], ...]:
    """Names of parameters without a default: by position, after some; by keyword only."""
    names: tuple[list[str], list[str]] = [], []
    for i, (name, p) in enumerate(inspect.signature(function).parameters.items()):
        if i >= skip and p.default is p.empty:
            names[p.kind == p.KEYWORD_ONLY].append(name)
    return tuple(names[0]), tuple(names[1])
