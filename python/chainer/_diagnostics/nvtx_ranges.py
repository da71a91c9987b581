"""Functions and links as ranges of NVIDIA's profilers."""

from __future__ import annotations

import contextlib
import typing as tp

from chainerx.cuda import nvtx

from chainer import link_hook
from chainer.function_hook import FunctionHook, get_function_hooks

if tp.TYPE_CHECKING:
    from chainer._graph.function_node import FunctionNode
    from chainer._typing import Arrays
    from chainer.link import Link


class _Nested:
    """Ranges that end in the order of their beginnings, also where some end by an exception."""

    def __init__(
        self, push: tp.Callable[[str], object] = nvtx.range_push, pop: tp.Any = nvtx.range_pop
    ) -> None:
        self._push = push
        self._pop = pop
        #: Owners by id: those that have failed are not kept alive.
        self._running: list[int] = []

    def begin(self, owner: object, name: str) -> None:
        self._running.append(id(owner))
        self._push(name)

    def end(self, owner: object) -> None:
        while self._running:  # those above have failed, and have not ended
            running = self._running.pop()
            self._pop()
            if running == id(owner):
                return

    def end_all(self) -> None:
        """Ends those of calls that have failed."""
        self.end(None)


class FunctionRanges(FunctionHook):
    """A range around each forward and backward of a function.

    Args:
        name (str): That of the hook.
        push (callable): Begins a range of a name.
        pop (callable): Ends it.
    """

    def __init__(
        self,
        name: str = 'NvtxRanges',
        push: tp.Callable[[str], object] = nvtx.range_push,
        pop: tp.Callable[[], object] = nvtx.range_pop,
    ) -> None:
        self.name = name
        self._ranges = _Nested(push, pop)

    def deleted(self, function: FunctionNode | None = None) -> None:
        self._ranges.end_all()

    def forward_preprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        self._ranges.begin(function, f'{function.label}.forward')

    def forward_postprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        self._ranges.end(function)

    def backward_preprocess(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays
    ) -> None:
        self._ranges.begin(function, f'{function.label}.backward')

    def backward_postprocess(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays
    ) -> None:
        self._ranges.end(function)


class _LinkRanges(link_hook.LinkHook):
    """A range around each forward of a link."""

    name = 'NvtxRanges'

    def __init__(self) -> None:
        self._ranges = _Nested()

    def forward_preprocess(self, args: tp.Any) -> None:
        link = args.link
        name = f'{type(link).__name__} {link.name}' if link.name else type(link).__name__
        self._ranges.begin(link, name)

    def forward_postprocess(self, args: tp.Any) -> None:
        self._ranges.end(args.link)

    def _forward_aborted(self, link: Link) -> None:
        self._ranges.end(link)


@contextlib.contextmanager
def _mark() -> tp.Iterator[None]:
    functions, links = get_function_hooks(), link_hook._get_link_hooks()  # of this thread
    functions['NvtxRanges'] = FunctionRanges()
    links['NvtxRanges'] = _LinkRanges()
    try:
        yield
    finally:
        functions.pop('NvtxRanges', None)
        links.pop('NvtxRanges', None)


nvtx._add_layer(_mark)
