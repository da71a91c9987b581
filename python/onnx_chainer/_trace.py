"""What a model does, as functions in the order in which they ran."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import typing as tp
import zlib

import chainer
import chainerx
import numpy as np
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.loss.crf1d import ArgMaxCRF1d
from chainer.functions.util.forget import Forget

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray
    from chainer.function_node import FunctionNode


class _Exports:
    """How many exports run, in threads or inside of each other's models."""

    lock = threading.Lock()
    count = 0


@contextlib.contextmanager
def all_have_graphs() -> tp.Iterator[None]:
    """While it lasts, functions without a gradient, such as ``F.floor``, have creators, too.

    And labels of `F.argmax_crf1d`, which are no outputs, stay with their function.
    """
    entries = [cls.call for cls in _without_graph(BuiltinFunction)]

    def change(more: int) -> None:
        with _Exports.lock:
            _Exports.count += more
            for entry in entries:
                entry.has_graph = _Exports.count > 0
            ArgMaxCRF1d.keeps_path = _Exports.count > 0

    change(1)
    try:
        yield
    finally:
        change(-1)


def _without_graph(base: type[BuiltinFunction]) -> tp.Iterator[type[BuiltinFunction]]:
    for cls in base.__subclasses__():
        if not cls.has_graph and 'call' in vars(cls):
            yield cls
        yield from _without_graph(cls)


# Attributes that are arrays which a function computes beside its outputs, and which users ask for.
BYPRODUCTS: tp.Final = {
    'ArgMaxCRF1d': ('path',),
    'Gaussian': ('eps',),
    'MaxPoolingND': ('indexes',),
}


def _arrays_in(value: tp.Any) -> list[NdArray]:
    """An attribute that is an array or has some."""
    found = []
    for x in value if isinstance(value, (list, tuple)) else (value,):
        x = x.array if isinstance(x, chainer.Variable) else x
        if isinstance(x, chainer.get_array_types()):
            found.append(x)
    return found


def content_of(array: tp.Any) -> int | None:
    """A checksum of the elements; None for arrays that are not on the host."""
    if isinstance(array, chainerx.ndarray) and array.device.backend.name == 'native':
        array = chainerx.to_numpy(array.as_grad_stopped(), copy=False)
    if not isinstance(array, np.ndarray) or array.dtype == object:
        return None
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


@dataclasses.dataclass
class Call:
    """A function that ran, with the arrays of its inputs and outputs.

    Attributes:
        given (dict): By name, attributes that had arrays before, such as the condition of
            ``F.where``; not those that hold what was computed.
        link (Link): In which it ran, if in any.
        train (bool): What ``chainer.config.train`` was.
        contents (list): Checksums of the inputs, then of what was given.
        written (list of int): Inputs that were written to since they were made.
    """

    order: int
    function: FunctionNode
    in_data: tuple[NdArray | None, ...]
    given: dict[str, list[NdArray]] = dataclasses.field(default_factory=dict)
    out_data: tuple[NdArray, ...] = ()
    link: chainer.Link | None = None
    train: bool = False
    contents: list[int | None] = dataclasses.field(default_factory=list)
    written: list[int] = dataclasses.field(default_factory=list)

    @property
    def nodes(self) -> tuple[tp.Any, ...]:
        """The nodes of the inputs; None where an input is left out, or has no node."""
        return self.function.inputs or (None,) * len(self.in_data)

    def array_of(self, index: int) -> NdArray | None:
        """The array of an input."""
        node = self.nodes[index]
        if node is not None and node.data is not None:
            return tp.cast('NdArray', node.data)
        if len(self.in_data) == len(self.nodes):
            return self.in_data[index]
        # Inputs that are left out have no array.
        return self.in_data[sum(x is not None for x in self.nodes[:index])]

    def attributes(self) -> list[NdArray]:
        """The arrays that were attributes before."""
        return [x for arrays in self.given.values() for x in arrays]

    def byproducts(self) -> list[NdArray]:
        """The arrays that the function computed beside its outputs."""
        names = BYPRODUCTS.get(type(self.function).__name__, ())
        values = [vars(self.function).get(name) for name in names if name not in self.given]
        return [x for value in values for x in _arrays_in(value)]


class LinkStack(chainer.LinkHook):
    """The links that are running, the innermost last.

    Args:
        keeps_statistics (bool): Whether persistent values that change meanwhile, such as the mean
            of a batch, are what they were in the end.
    """

    def __init__(self, keeps_statistics: bool) -> None:
        # A model may export another one while it runs.
        self.name = f'ONNXLinkStack_{id(self)}'
        self._links: list[chainer.Link] = []
        self._keeps = keeps_statistics
        # Of each link, by its id: names, values and copies.
        self._kept: dict[int, tuple[chainer.Link, list[tuple[str, tp.Any, tp.Any]]]] = {}

    def keep(self, link: chainer.Link) -> None:
        """Remembers the persistent values of a link and those below."""
        if not self._keeps or id(link) in self._kept:
            return
        for x in link.links():
            values = [(name, getattr(x, name)) for name in x._persistent]
            kinds = chainer.get_array_types()
            kept = [(name, v, v.copy() if isinstance(v, kinds) else None) for name, v in values]
            self._kept.setdefault(id(x), (x, kept))

    def deleted(self, link: chainer.Link | None) -> None:
        for x, values in self._kept.values():
            for name, value, copy in values:
                if copy is not None:
                    value[...] = copy
                if value is not None:
                    setattr(x, name, value)

    def forward_preprocess(self, args: tp.Any) -> None:
        self.keep(args.link)
        self._links.append(args.link)

    def forward_postprocess(self, args: tp.Any) -> None:
        # Those above were left by exceptions.
        while self._links and self._links.pop() is not args.link:
            pass

    @property
    def last(self) -> chainer.Link | None:
        """The innermost link."""
        return self._links[-1] if self._links else None


class Recorder(chainer.FunctionHook):
    """Keeps each function with its arrays, all of them alive, so that no memory is used again.

    Args:
        links (LinkStack): Which links run.
    """

    def __init__(self, links: LinkStack) -> None:
        self.name = f'ONNXRecorder_{id(self)}'
        self._links = links
        self._begun: dict[int, Call] = {}
        self._contents: dict[tp.Any, int | None] = {}  # as they were made, by memory
        self._calls: dict[int, Call] = {}
        self._makers: dict[tp.Any, Call] = {}

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[NdArray, ...]) -> None:
        given = {name: _arrays_in(value) for name, value in vars(function).items()}
        given = {name: arrays for name, arrays in given.items() if arrays}
        call = Call(0, function, tuple(in_data), given, link=self._links.last)
        call.train = bool(chainer.config.train)
        for i, x in enumerate(in_data):
            content = content_of(x)
            call.contents.append(content)
            if x is not None and self._contents.get(memory_of(x), content) != content:
                call.written.append(i)
        call.contents += map(content_of, call.attributes())
        self._begun[id(function)] = call

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[NdArray, ...]) -> None:
        call = self._begun.pop(id(function))
        call.order, call.in_data = len(self._calls), tuple(in_data)
        self._calls[id(function)] = call

    def _see_outputs(self, function: FunctionNode, out_data: tuple[NdArray, ...]) -> None:
        call = self._calls[id(function)]
        call.out_data = tuple(out_data)
        self.watch(call.out_data)
        for y in call.out_data:
            self._makers.setdefault(memory_of(y), call)

    def watch(self, arrays: tp.Iterable[NdArray]) -> None:
        """Notes what is in arrays, so that it shows if they are written to."""
        for x in arrays:
            self._contents[memory_of(x)] = content_of(x)

    def is_constant(self, array: NdArray) -> bool:
        """Whether an array is neither an input of the graph nor made by a function."""
        return memory_of(array) not in self._contents

    def is_written(self, array: NdArray) -> bool:
        """Whether an array was written to since a function made it."""
        content = content_of(array)
        return self._contents.get(memory_of(array), content) != content

    def calls_before(
        self, variables: tp.Iterable[tp.Any], borders: tp.Container[int]
    ) -> list[Call]:
        """The calls that variables come from, in their order.

        Values whose Variable was left, as in ``F.where(x.array > 0, ...)``, are found by the memory
        that a function wrote.

        Args:
            variables (iterable of Variable): Where to begin.
            borders (container): Ids of the nodes, and places in memory, where the search ends.
        """
        for made in self._calls.values():
            for x in made.byproducts():
                self._makers.setdefault(memory_of(x), made)
        found: dict[int, Call] = {}
        todo = [self._maker(v.node, v.array, borders) for v in variables]
        while todo:
            call = todo.pop()
            if call is None or id(call.function) in found:
                continue
            found[id(call.function)] = call
            for i, node in enumerate(call.nodes):
                todo.append(self._maker(node, call.array_of(i), borders))
            todo += [self._maker(None, x, borders) for x in call.attributes()]
        return sorted(found.values(), key=lambda call: (call.order, call.function.rank))

    def _maker(self, node: tp.Any, array: tp.Any, borders: tp.Container[int]) -> Call | None:
        """The call that made a value; None at a border."""
        if node is not None:
            if id(node) in borders:
                return None
            function = node.creator_node
            # What F.forget calls is written, which keeps no graph of it.
            if function is not None and not isinstance(function, Forget):
                # What ran before the export is a constant, such as the state of a recurrent link.
                return self._calls.get(id(function))
        if array is None or memory_of(array) in borders:
            return None
        return self._makers.get(memory_of(array))

    def ranges_from(self, arrays: tp.Iterable[tp.Any]) -> list[tuple[int, int]]:
        """The memory of what depends on arrays, and of themselves: addresses from, to."""
        known = {memory_of(x): x for x in arrays}
        dependent: set[int] = set()
        for call in self._calls.values():
            others = []
            depends = False
            for i, node in enumerate(call.nodes):
                x = call.array_of(i)
                if (node is not None and id(node.creator_node) in dependent) or (
                    x is not None and memory_of(x) in known
                ):
                    depends = True
                elif x is not None and (r := range_of(x)) is not None:
                    others.append(r)
            depends |= any(memory_of(x) in known for x in call.attributes())
            if not depends:
                continue
            dependent.add(id(call.function))
            known |= {memory_of(x): x for x in call.byproducts()}
            # F.broadcast hands a constant on as it is.
            known |= {memory_of(y): y for y in call.out_data if not overlaps(range_of(y), others)}
        return [r for r in map(range_of, known.values()) if r is not None]


def range_of(array: tp.Any) -> tuple[int, int] | None:
    """Where the elements of an array lie, first and behind the last; None without elements."""
    key = memory_of(array)
    if not isinstance(key, tuple) or 0 in key[1]:
        return None
    place, shape, strides, dtype = key
    steps = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
    item = 2 if dtype == 'bfloat16' else np.dtype(dtype).itemsize
    return place + sum(min(s, 0) for s in steps), place + sum(max(s, 0) for s in steps) + item


def overlaps(r: tuple[int, int] | None, others: tp.Iterable[tuple[int, int]]) -> bool:
    """Whether a range of memory has anything in common with others."""
    return r is not None and any(a < r[1] and r[0] < b for a, b in others)


def memory_of(array: tp.Any) -> tp.Any:
    """What two arrays have in common that are the same elements of the same memory."""
    if isinstance(array, chainer.Variable):
        array = array.array
    if isinstance(array, np.ndarray):
        place = array.ctypes.data
    elif isinstance(array, chainerx.ndarray):
        place = array.data_ptr + array.offset
    elif (memory := getattr(array, 'data', None)) is not None and hasattr(memory, 'ptr'):
        place = memory.ptr  # CuPy's
    else:
        return id(array)
    return (place, tuple(array.shape), tuple(array.strides), str(array.dtype))
