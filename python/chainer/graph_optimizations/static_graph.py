"""The decorator `static_graph`."""

from __future__ import annotations

import collections.abc as c
import functools
import typing as tp


def static_graph(*args: tp.Any, **kwargs: tp.Any) -> tp.Any:
    """Decorator of a method whose graph is the same in each call.

    Chainer v7 recorded the graph once and ran it again from then on. Here the method runs in each
    call, since that costs little more; so it may also do what v7 forbade.

    Args:
        *args: The method, where there are no arguments.
        **kwargs: ``minimize_cache_size`` and ``verbosity_level``, which are of no effect.

    Returns:
        callable: The method, or a decorator where arguments are given by name.

    Raises:
        TypeError: For other arguments, or something to decorate that can't be called.
    """
    return decorate('static_graph', ('minimize_cache_size', 'verbosity_level'), args, kwargs)


def decorate(
    name: str, options: tuple[str, ...], args: tuple[tp.Any, ...], kwargs: dict[str, tp.Any]
) -> tp.Any:
    """What a decorator returns that is used with arguments or without, and changes nothing."""
    for key in kwargs:
        if key not in options:
            text = f'{name}: unknown argument {key!r}, expected one of {", ".join(options)}'
            raise TypeError(text)
    if kwargs and not args:
        return lambda function: decorate(name, options, (function,), {})
    if len(args) != 1 or not callable(args[0]):
        raise TypeError(f'{name}: expected a function to decorate, not {args}')
    function: c.Callable[..., tp.Any] = args[0]

    @functools.wraps(function)
    def run(*inputs: tp.Any, **named: tp.Any) -> tp.Any:
        return function(*inputs, **named)

    return run
