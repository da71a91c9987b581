"""Declares optimizers: one line per hyperparameter, from which constructors and checks follow."""

from __future__ import annotations

import collections.abc
import inspect
import typing as tp

from chainer._optim.hyperparameter import Hyperparameter, HyperparameterProxy, Interval

T = tp.TypeVar('T', bound=type)


class Hyper(HyperparameterProxy):
    """A hyperparameter as declared; on an optimizer, the attribute that stands for its value."""

    def __init__(self, role: str, default: float, limits: Interval | None) -> None:
        self.role = role
        self.default = default
        self.limits = limits

    def __set_name__(self, owner: type, name: str) -> None:
        super().__init__(name)


def hyper(role: str, *, default: float, limits: Interval | None = None) -> tp.Any:
    """Declares a hyperparameter; a function, for type checkers see a float or a flag there.

    Args:
        role (str): What it is for, as documentation says it.
        default (float): Its value if the user gives none.
        limits (Interval): The values that it may have; None for a flag.
    """
    return Hyper(role, default, limits)


@tp.dataclass_transform(eq_default=False, field_specifiers=(hyper,))
def declare(cls: T) -> T:
    """Completes an optimizer class that has lines such as ``lr: float = hyper('...', ...)``.

    Adds the constructor, whose parameters are the hyperparameters in their order; ``_defaults``,
    the set that rules without an optimizer descend from; ``_limits``; and the docstring's ``Args``.
    A variant, which inherits the lines, writes its constructor itself.
    """
    optimizer: tp.Any = cls
    own = {name: value for name, value in vars(cls).items() if isinstance(value, Hyper)}
    if own:
        optimizer._defaults = Hyperparameter()
        optimizer._limits = {name: h.limits for name, h in own.items() if h.limits is not None}
        for name, h in own.items():
            setattr(optimizer._defaults, name, h.default)
        optimizer._defaults._limits = cls.__name__, optimizer._limits

        def begin(self: tp.Any, **values: tp.Any) -> None:
            super(optimizer, self).__init__()
            for name, value in values.items():
                setattr(self.hyperparam, name, value)

        add_constructor(
            cls,
            begin,
            {name: h.default for name, h in own.items()},
            {name: cls.__annotations__[name] for name in own},
        )
    if cls.__doc__:
        optimizer.__doc__ = _with_args(cls)
    return cls


def add_constructor(
    cls: type,
    begin: collections.abc.Callable[..., None],
    defaults: dict[str, tp.Any],
    types: dict[str, str],
) -> None:
    """Gives a class an ``__init__`` that hands its arguments to ``begin(self, **arguments)``.

    It is compiled, as those of data classes are: Python itself then binds and refuses arguments.
    """
    parameters = ', '.join(f'{name}={name}' for name in defaults)
    # `typing.get_type_hints` looks here for the names in annotations.
    scope: dict[str, tp.Any] = {'Hyperparameter': Hyperparameter, '_begin': begin, **defaults}
    exec(f'def __init__(self, {parameters}): _begin(self, {parameters})', scope)
    init = scope['__init__']
    init.__module__, init.__qualname__ = cls.__module__, f'{cls.__qualname__}.__init__'
    init.__annotations__ = {**types, 'return': 'None'}
    cls.__init__ = init  # type: ignore[misc]


def _with_args(cls: type) -> str:
    """The docstring, with the parameters before its source."""
    lines = ['Args:']
    for name, parameter in inspect.signature(cls).parameters.items():
        lines.append(f'    {name} ({parameter.annotation}): {getattr(cls, name).role}')
    text, mark, source = inspect.cleandoc(cls.__doc__ or '').partition('\nSource:')
    return '\n'.join([text.rstrip(), '', *lines, *(['', mark[1:] + source] if mark else [])])
