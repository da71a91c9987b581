"""The decorator `static_graph`."""

from __future__ import annotations

import collections.abc as c
import functools
import typing as tp

import chainerx
from chainerx._core import engine

from chainer._graph.variable import Variable
from chainer.configuration import config
from chainer.graph_optimizations._decorate import decorate
from chainer.graph_optimizations._schedule import Schedule

if tp.TYPE_CHECKING:
    from chainer._typing import Layer

_OPTIONS: tp.Final = ('force_test_define_by_run', 'minimize_cache_size', 'verbosity_level')


class ScheduleManager:
    """The ``schedule_manager`` of a chain with a static graph, after its first call.

    Args:
        minimize_cache_size (bool): Kept.
        verbosity_level (int): Kept.
        force_test_define_by_run (bool): Kept.
    """

    def __init__(
        self,
        minimize_cache_size: bool = True,
        verbosity_level: int = 0,
        force_test_define_by_run: bool = False,
    ) -> None:
        self.minimize_cache_size = minimize_cache_size
        self.verbosity_level = verbosity_level
        self.force_test_define_by_run = force_test_define_by_run
        self._schedules: dict[tp.Any, Schedule] = {}  # by method

    def end_forward(self) -> None:
        """In Chainer v7: tells that the next call begins another forward. Nothing is to be told."""

    def _of(self, method: tp.Any, chain: tp.Any) -> Schedule:
        schedule = self._schedules.get(method)
        if schedule is None or not schedule.is_of(chain):
            name = f'{type(chain).__name__}.{method.__name__}'
            schedule = self._schedules[method] = Schedule(name, method, chain)
        return schedule

    def __getstate__(self) -> dict[str, tp.Any]:
        return {**self.__dict__, '_schedules': {}}


def static_graph(*args: tp.Any, **kwargs: tp.Any) -> tp.Any:
    """Decorator of a method of a chain whose graph is the same in each call.

    Kernels of its forward, and of the backward that belongs to it, are recorded as by
    `chainerx.capture`, separately for each kind of arguments: shapes, dtypes, training or not. The
    fifth call with a graph is the first one that is replayed, without Python. Where a replay would
    do something else than the method, it runs as it is, and a warning says why.

    Only calls by position with variables and chainerx arrays are recorded. The method returns a
    Variable, or a tuple or list of them. Gradients can't be differentiated again. Where no gradient
    reaches one of several outputs, those of parameters that only this one depends on are zeros.

    Args:
        *args: The method, where there are no arguments. Its object gets an attribute
            ``schedule_manager``, as in v7, a `ScheduleManager`.
        **kwargs: ``force_test_define_by_run``: whether the method runs as it is where
            ``chainer.config.train`` is False. ``minimize_cache_size`` and ``verbosity_level``,
            which are of no effect.

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
            if not config.use_static_graph or not hasattr(chain, '__dict__'):
                return method(*inputs, **named)
            manager = chain.__dict__.get('schedule_manager')
            if manager is None:
                manager = ScheduleManager(**options)
                tp.cast(tp.Any, chain).schedule_manager = manager
            if not isinstance(manager, ScheduleManager) or named or not _can_be_recorded(inputs):
                return method(*inputs) if not named else method(*inputs, **named)
            if manager.force_test_define_by_run and not config.train:
                return method(*inputs)
            records = config.enable_backprop and chainerx.is_backprop_required()
            return manager._of(method, chain)(inputs[1:], records)

        return run

    return decorate('static_graph', _OPTIONS, args, kwargs, with_manager)


def _can_be_recorded(inputs: tuple[tp.Any, ...]) -> bool:
    if len(inputs) < 2 or engine.is_capturing() or config.in_recomputing:
        return False
    for x in inputs[1:]:
        if isinstance(x, Variable):
            if not isinstance(x.array, chainerx.ndarray):
                return False
        elif not isinstance(x, chainerx.ndarray) or x.is_backprop_required():
            return False
    return True
