"""The decorator `static_graph`."""

from __future__ import annotations

import collections.abc as c
import functools
import typing as tp

from chainer.configuration import config

if tp.TYPE_CHECKING:
    from chainer._typing import Layer


class ScheduleManager:
    """The ``schedule_manager`` of a chain with a static graph, after its first call.

    Args:
        minimize_cache_size (bool): Kept.
        verbosity_level (int): Kept.
    """

    def __init__(self, minimize_cache_size: bool = True, verbosity_level: int = 0) -> None:
        self.minimize_cache_size = minimize_cache_size
        self.verbosity_level = verbosity_level

    def end_forward(self) -> None:
        """In Chainer v7: tells that the next call begins another forward. Nothing is to be told."""


def static_graph(*args: tp.Any, **kwargs: tp.Any) -> tp.Any:
    """Decorator of a method whose graph is the same in each call.

    Chainer v7 recorded the graph once and ran it again from then on. Here the method runs in each
    call, since that costs little more; so it may also use operations that v7 forbade.

    Args:
        *args: The method, where there are no arguments. Its object gets an attribute
            ``schedule_manager``, as in v7, a `ScheduleManager`.
        **kwargs: ``minimize_cache_size`` and ``verbosity_level``, which are of no effect.

    Returns:
        callable: The method, or a decorator where arguments are given by name.

    Raises:
        TypeError: For other arguments, or something to decorate that can't be called.
    """

    options = dict(kwargs)

    def with_manager(method: Layer) -> c.Callable[..., tp.Any]:
        @functools.wraps(method)
        def run(*inputs: tp.Any, **named: tp.Any) -> tp.Any:
            chain = inputs[0] if inputs else None
            known = hasattr(chain, 'schedule_manager') or not hasattr(chain, '__dict__')
            if config.use_static_graph and not known:
                tp.cast(tp.Any, chain).schedule_manager = ScheduleManager(**options)
            return method(*inputs, **named)

        return run

    return decorate(
        'static_graph', ('minimize_cache_size', 'verbosity_level'), args, kwargs, with_manager
    )


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
