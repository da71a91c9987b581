"""How the decorators of this package take their arguments."""

from __future__ import annotations

import collections.abc as c
import typing as tp


def decorate(
    name: str,
    options: tuple[str, ...],
    args: tuple[tp.Any, ...],
    kwargs: dict[str, tp.Any],
    wrap: c.Callable[[c.Callable[..., tp.Any]], c.Callable[..., tp.Any]],
) -> tp.Any:
    """What a decorator returns that is used with arguments or without."""
    for key in kwargs:
        if key not in options:
            text = f'{name}: unknown argument {key!r}, expected one of {", ".join(options)}'
            raise TypeError(text)
    if kwargs and not args:
        return lambda function: decorate(name, options, (function,), {}, wrap)
    if len(args) != 1 or not callable(args[0]):
        raise TypeError(f'{name}: expected a function to decorate, not {args}')
    return wrap(args[0])
