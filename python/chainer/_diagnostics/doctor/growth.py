"""Finds objects that accumulate from iteration to iteration, their holders, and their origin."""

from __future__ import annotations

import collections
import gc
import linecache
import os
import pathlib
import sys
import tracemalloc
import types
import typing as tp

import chainerx
import numpy as np

from chainer._diagnostics.doctor.finding import Finding
from chainer.backends._chainerx import ChainerxDevice
from chainer.link import Link
from chainer.variable import Parameter, Variable

# Paths outside of the user's program: this package and the installed ones.
PACKAGES: tp.Final = tuple(
    str(folder) + os.sep
    for folder in (
        pathlib.Path(__file__).resolve().parents[2],
        pathlib.Path(chainerx.__file__).resolve().parent,
        pathlib.Path(np.__file__).resolve().parents[1],
        pathlib.Path(os.__file__).resolve().parent,
    )
)
_DOCTOR: tp.Final = os.path.dirname(os.path.abspath(__file__))
_CONTAINERS: tp.Final = (list, dict, set, collections.deque)
# The growth per iteration that logs and the like may have.
_LEAST_BYTES: tp.Final = 4096
_FRAMES: tp.Final = 12


class _Sample(tp.NamedTuple):
    python: int
    device: int
    arrays: int
    nodes: int


class _Snapshot(tp.NamedTuple):
    """A snapshot of the objects that exist at the end of an iteration."""

    iteration: int
    lines: tracemalloc.Snapshot
    containers: dict[int, int]
    graphs: dict[str, int]


class Growth:
    """Memory at the end of each iteration, of Python and of the devices.

    Args:
        iterations (int): How many there will be; the first third is not looked at.
    """

    def __init__(self, iterations: int) -> None:
        self._first = max(3, iterations // 3)
        self._samples: list[_Sample] = []
        self._middle: _Snapshot | None = None
        self._text: list[str] = []

    def start(self) -> None:
        """Begins to count."""
        self._was_tracing = tracemalloc.is_tracing()
        if not self._was_tracing:
            tracemalloc.start(_FRAMES)
        chainerx._core._set_leak_tracking(True)

    def stop(self) -> None:
        """Ends it; who keeps what is looked for as long as the program is there."""
        middle = self._middle
        if middle is not None and self._growth() is not None:
            self._text = _holders(middle, _look(len(self._samples)))
        chainerx._core._set_leak_tracking(False)
        if not self._was_tracing:
            tracemalloc.stop()

    def sample(self, target: Link) -> None:
        """Looks at the memory at the end of an iteration.

        Args:
            target (Link): Whose devices count.
        """
        n = len(self._samples) + 1
        if n < self._first:
            self._samples.append(_Sample(0, 0, 0, 0))
            return
        gc.collect()
        # before the first sample, which then includes the memory of this module
        if n == self._first:
            self._middle = _look(n)
        devices = {'native:0'}
        for param in target.params():
            if isinstance(param.device, ChainerxDevice):
                devices.add(param.device.device.name)
        in_use = sum(chainerx.memory_stats(name)['in_use'] or 0 for name in devices)
        arrays, nodes, *_ = chainerx._core._live_counts()
        python, _ = tracemalloc.get_traced_memory()
        self._samples.append(_Sample(python, in_use, arrays, nodes))

    def _growth(self) -> _Sample | None:
        """Return the growth of an iteration in each half of the samples; None if there is none."""
        seen = self._samples[self._first - 1 :]
        if len(seen) < 5:
            return None
        half = len(seen) // 2
        parts = []
        for a, b in ((0, half), (half, len(seen) - 1)):
            parts.append([(y - x) / (b - a) for x, y in zip(seen[a], seen[b], strict=True)])
        least = _Sample(*(min(pair) for pair in zip(*parts, strict=True)))
        if least.python + least.device >= _LEAST_BYTES or least.nodes >= 0.9:
            return least
        return None

    def findings(self) -> tp.Iterator[Finding]:
        """Return the findings so far."""
        least = self._growth()
        if least is None:
            return
        what = [f'{max(least.python, 0) / 1024:.1f} KiB of Python and NumPy']
        what.append(f'{max(least.device, 0) / 1024:.1f} KiB of devices')
        if least.nodes >= 0.9:
            what.append(f'{least.nodes:.0f} operations of graphs')
        yield Finding(
            'memory growth',
            '\n'.join([f'each iteration keeps at least {", ".join(what)}', *self._text]),
            'keep numbers (float(loss.array)), not Variables, whose graphs stay with them; cut '
            'graphs that go on from iteration to iteration by unchain_backward()',
        )


def _look(iteration: int) -> _Snapshot:
    lines = tracemalloc.take_snapshot()
    containers = {id(x): len(x) for x in gc.get_objects() if type(x) in _CONTAINERS}
    return _Snapshot(iteration, lines, containers, {k: _size(v) for k, v in _named_variables()})


def _holders(before: _Snapshot, after: _Snapshot) -> list[str]:
    """Return lines about the holders of objects that were added between two snapshots."""
    between = after.iteration - before.iteration
    text = []
    for container in gc.get_objects():
        if type(container) not in _CONTAINERS:
            continue
        old = before.containers.get(id(container))
        if old is None or len(container) - old < between or not _has_arrays(container):
            continue
        rate = (len(container) - old) / between
        text.append(
            f'kept by {_name(container)}, a {type(container).__name__} that grows by {rate:.3g} in '
            'each iteration'
        )
    for name, size in after.graphs.items():
        rate = (size - before.graphs.get(name, size)) / between
        if rate >= 0.9:
            text.append(f'kept by {name}, whose graph grows by {rate:.3g} operations in each')
    return text + _made(before, after)


def _made(before: _Snapshot, after: _Snapshot) -> list[str]:
    """Return the lines of the program that allocated most of the remaining memory."""
    between = after.iteration - before.iteration
    sizes: collections.Counter[tuple[str, int]] = collections.Counter()
    counts: collections.Counter[tuple[str, int]] = collections.Counter()
    for change in after.lines.compare_to(before.lines, 'traceback'):
        ours = any(frame.filename.startswith(_DOCTOR) for frame in change.traceback)
        if change.count_diff < between or ours:
            continue
        for frame in reversed(change.traceback):  # the innermost one that is not ours
            if not frame.filename.startswith((*PACKAGES, '<')):
                sizes[frame.filename, frame.lineno] += change.size_diff
                counts[frame.filename, frame.lineno] += change.count_diff
                break
    return [
        f'made at {file}:{line} ({size / between / 1024:.1f} KiB, '
        f'{counts[file, line] / between:.3g} objects in each): '
        f'{linecache.getline(file, line).strip()}'
        for (file, line), size in sizes.most_common(3)
    ]


def _has_arrays(container: tp.Iterable[object]) -> bool:
    values = container.values() if isinstance(container, dict) else container
    kinds = Variable, chainerx.ndarray, np.ndarray
    found = 0
    for value in tuple(values)[-5:]:
        parts = value if isinstance(value, tuple | list) else (value,)
        found += any(isinstance(part, kinds) for part in parts)
    return found > 0


def _size(variable: Variable) -> int:
    """How many functions there are behind it."""
    seen = set()
    waiting = [variable.creator_node]
    while waiting:
        function: tp.Any = waiting.pop()
        if function is None or function in seen:
            continue
        seen.add(function)
        waiting += [x.creator_node for x in function.inputs or () if x is not None]
    return len(seen)


def _user_frames() -> tp.Iterator[types.FrameType]:
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        if not frame.f_code.co_filename.startswith(PACKAGES):
            yield frame
        frame = frame.f_back


def _names() -> tp.Iterator[tuple[str, tp.Any]]:
    """Yields the variables that running functions of the program refer to by name."""
    for frame in _user_frames():
        code = frame.f_code
        file = os.path.basename(code.co_filename)
        is_module = frame.f_locals is frame.f_globals
        if not is_module:
            for name, value in frame.f_locals.items():
                yield f'`{name}` in {code.co_name} of {file}', value
        for name, value in frame.f_globals.items():
            yield f'`{name}` of {file}', value


def _named_variables() -> tp.Iterator[tuple[str, Variable]]:
    for where, value in _names():
        if isinstance(value, Variable):
            if not isinstance(value, Parameter) and value.creator_node is not None:
                yield where, value
            continue
        links = value.namedlinks() if isinstance(value, Link) else [('', value)]
        for path, owner in links:
            if not hasattr(owner, '__dict__') or isinstance(owner, type | types.ModuleType):
                continue
            for name, one in list(vars(owner).items()):
                if isinstance(one, Variable) and not isinstance(one, Parameter):
                    yield f'attribute `{f"{path}/{name}".lstrip("/")}` of {where}', one


def _name(container: object) -> str:
    for where, value in _names():
        if value is container:
            return where
    for holder in gc.get_referrers(container):
        if isinstance(holder, dict):
            names = [str(k) for k, v in holder.items() if v is container]
            owners = [o for o in gc.get_referrers(holder) if getattr(o, '__dict__', None) is holder]
        else:
            attributes = getattr(holder, '__dict__', None) or {}
            names = [str(k) for k, v in attributes.items() if v is container]
            owners = [holder]
        if names and owners:
            owner = owners[0]
            if isinstance(owner, types.ModuleType):
                return f'`{names[0]}` of {owner.__name__}'
            return f'attribute `{names[0]}` of a {type(owner).__name__}'
    return f'an object at {id(container):#x}'
