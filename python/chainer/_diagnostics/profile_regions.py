"""Functions as regions of a trace of ``chainerx.profile(trace=True)``."""

from __future__ import annotations

import contextlib
import time
import typing as tp

from chainerx import profiler

from chainer.function_hook import FunctionHook, get_function_hooks

if tp.TYPE_CHECKING:
    from chainer._graph.function_node import FunctionNode
    from chainer._typing import Arrays


class _Regions(FunctionHook):
    """Tells a profile when functions begin and end."""

    def __init__(self, profile: profiler.Profile) -> None:
        self.name = f'ProfileRegions{id(self)}'  # several traces may be made at once
        self._profile = profile
        self._running: list[tuple[FunctionNode, int]] = []

    def _begin(self, function: FunctionNode) -> None:
        self._running.append((function, time.perf_counter_ns()))

    def _end(self, function: FunctionNode, category: str) -> None:
        while self._running:  # those above have failed, and have not ended
            running, start = self._running.pop()
            if running is function:
                name = f'{function._impl_name} {category}'
                self._profile._add_region(name, category, start)
                return

    def forward_preprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        self._begin(function)

    def forward_postprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        self._end(function, 'forward')

    def backward_preprocess(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays
    ) -> None:
        self._begin(function)

    def backward_postprocess(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays
    ) -> None:
        self._end(function, 'backward')


@contextlib.contextmanager
def _record_functions(profile: profiler.Profile) -> tp.Iterator[None]:
    hooks = get_function_hooks()  # of this thread; the profile may be left in another one
    hook = _Regions(profile)
    hooks[hook.name] = hook
    try:
        yield
    finally:
        hooks.pop(hook.name, None)


profiler._region_recorders.append(_record_functions)
