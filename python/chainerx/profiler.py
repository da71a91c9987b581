"""Profiles time, calls and memory of each kernel, as a table and as a trace.

with chainerx.profile(trace=True) as profile:
    y = model(x)
    y.backward()
print(profile)
profile.export_trace('trace.json')
"""

from __future__ import annotations

import contextlib
import operator
import threading
import time
import typing as tp

from chainerx import _trace
from chainerx._core import kernels as _kernels

if tp.TYPE_CHECKING:
    from os import PathLike

__all__ = ['Profile', 'Row', 'profile']

#: Functions by which a layer above records more than kernels: they take the profile and return a
#: context manager, which is used in the thread that begins a trace.
_region_recorders: list[tp.Callable[[Profile], tp.ContextManager[object]]] = []


class Row(tp.NamedTuple):
    """The statistics of the calls of one kernel; by shapes and dtypes, if requested."""

    #: The name of the kernel, as in ``cpp/chainerx/kernels``; of one with several algorithms with
    #: the one that ran, as in ``'Conv[direct]'``.
    name: str
    #: The kernel's family.
    family: str
    #: The number of calls.
    calls: int
    #: Seconds, including nested kernels.
    total: float
    #: Seconds, excluding nested kernels.
    self_time: float
    #: ``self_time`` as a part of the time of all kernels.
    share: float
    #: Bytes allocated by the calling threads since their previous kernel ended: for results and
    #: workspaces, and between the kernels. Excludes nested kernels.
    bytes: int
    #: The peak of bytes in use while it ran, above those in use when profiling began.
    peak: int
    #: The name of the device; '' if there are several.
    device: str = ''
    #: The names of the operands, if grouped by shapes. The first four items of a list are ``xs[0]``
    #: to ``xs[3]``, the others together ``xs[4:9]``. None if there were too many different shapes.
    operands: tuple[str, ...] | None = ()
    #: Their shapes; None for numbers and absent operands.
    shapes: tuple[tuple[int, ...] | None, ...] = ()
    #: Their dtypes; None as with ``shapes``.
    dtypes: tuple[str | None, ...] = ()


class _Sum:
    """Accumulates rows of one group."""

    def __init__(self) -> None:
        self.devices: set[str] = set()
        self.calls = self.bytes = self.peak = 0
        self.total = self.self_time = 0.0

    def add(self, device: str, row: tuple[tp.Any, ...]) -> None:
        calls, total, self_time, nbytes, peak = row
        self.devices.add(device)
        self.calls += calls
        self.total += total
        self.self_time += self_time
        self.bytes += nbytes
        self.peak = max(self.peak, peak)


GROUPS = ('kernel', 'shapes')
SORTS = ('self_time', 'total', 'calls', 'bytes', 'peak', 'name')


def _check(name: str, value: str, expected: tuple[str, ...]) -> str:
    if value not in expected:
        raise ValueError(f'profile: {name} is {value!r}, expected one of {", ".join(expected)}')
    return value


def _check_limit(name: str, value: int) -> int:
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f'profile: {name} is {value!r}, expected an integer') from None
    if value < 0:
        raise ValueError(f'profile: {name} is {value}, expected at least 0')
    return min(value, 2**62)


class Profile:
    """Counts and times the calls of kernels of all devices and threads; a context manager.

    It may be entered again, also while it is active: it counts until it has been left as often.
    Several may be active at once, and each counts all that is called meanwhile.

    While none is active, a call costs nothing more; while one is, some hundred nanoseconds.

    Args:
        synchronize (bool): Wait for the device after each call. Without, a kernel of a GPU counts
            for the time that the GPU takes, by events around it; one of another asynchronous
            device for the time that it takes to launch it.
        trace (bool): Keep each call by itself, for :meth:`export_trace`.
        trace_limit (int): How many are kept at most, 32 bytes each; see :attr:`dropped`.
        group_by (str): ``'kernel'``, or ``'shapes'``: kernel, device, shapes and dtypes.
        sort_by (str): ``'self_time'``, ``'total'``, ``'calls'``, ``'bytes'``, ``'peak'``, the
            largest first, or ``'name'``.
    """

    def __init__(
        self,
        *,
        synchronize: bool = False,
        trace: bool = False,
        trace_limit: int = 1_000_000,
        group_by: str = 'kernel',
        sort_by: str = 'self_time',
    ) -> None:
        trace_limit = _check_limit('trace_limit', trace_limit)
        self._group_by = _check('group_by', group_by, GROUPS)
        self._sort_by = _check('sort_by', sort_by, SORTS)
        self._hook = _kernels.Profiler(synchronize, trace_limit if trace else 0)
        self._trace = trace
        self._trace_limit = trace_limit
        self._regions: list[_trace.Region] = []
        self._dropped_regions = 0
        self._lock = threading.Lock()
        #: Threads that entered it, with the contexts to be exited.
        self._entered: list[tuple[int, contextlib.ExitStack]] = []

    def __enter__(self) -> tp.Self:
        thread = threading.get_ident()
        with contextlib.ExitStack() as stack:
            if self._trace and all(t != thread for t, _ in self._entered):
                for recorder in _region_recorders:
                    stack.enter_context(recorder(self))
            self._hook.install()
            stack.callback(self._hook.remove)
            self._entered.append((thread, stack.pop_all()))
        return self

    def __exit__(self, *_: object) -> None:
        thread = threading.get_ident()
        with self._lock:
            if not self._entered:
                raise RuntimeError('profile: left but not entered')
            places = [i for i, (t, _) in enumerate(self._entered) if t == thread]
            stack = self._entered.pop(places[-1] if places else -1)[1]
        stack.close()

    @contextlib.contextmanager
    def region(self, name: str, category: str = 'region') -> tp.Iterator[None]:
        """A block of the program that the trace shows around the kernels that it calls.

        Args:
            name (str): What it is called there.
            category (str): A word by which the viewer can filter.
        Returns:
            context manager: Without a trace it does nothing.
        """
        if not self._trace:
            yield
            return
        start = time.perf_counter_ns()
        try:
            yield
        finally:
            self._add_region(name, category, start)

    def _add_region(self, name: str, category: str, start: int) -> None:
        """Adds a region that ends now."""
        if len(self._regions) >= self._trace_limit:
            with self._lock:
                self._dropped_regions += 1
            return
        end = time.perf_counter_ns()
        self._regions.append((name, category, start, end - start, threading.get_native_id()))

    @property
    def rows(self) -> list[Row]:
        """The rows, grouped and sorted as the profile was made."""
        return self.get_rows()

    def get_rows(self, group_by: str | None = None, sort_by: str | None = None) -> list[Row]:
        """What was counted so far, also while the profile is active.

        Args:
            group_by (str): As of the class; None for what was said there.
            sort_by (str): As of the class; None for what was said there.
        Returns:
            list of Row: One for each group.
        Raises:
            ValueError: If one is none of the words.
        """
        by_shapes = _check('group_by', group_by or self._group_by, GROUPS) == 'shapes'
        sort_by = _check('sort_by', sort_by or self._sort_by, SORTS)
        groups: dict[tuple[tp.Any, ...], _Sum] = {}
        for name, family, device, operands, *numbers in self._hook.rows():
            key = (name, family, device, operands) if by_shapes else (name, family, '', ())
            groups.setdefault(key, _Sum()).add(device, tuple(numbers))
        whole = sum(s.self_time for s in groups.values()) or 1.0
        rows = []
        for (name, family, _, operands), s in groups.items():
            names, dtypes, shapes = zip(*operands, strict=True) if operands else ((), (), ())
            rows.append(
                Row(
                    name=name,
                    family=family,
                    calls=s.calls,
                    total=s.total,
                    self_time=s.self_time,
                    share=s.self_time / whole,
                    bytes=s.bytes,
                    peak=s.peak,
                    device=next(iter(s.devices)) if len(s.devices) == 1 else '',
                    operands=names if operands is not None else None,
                    shapes=shapes,
                    dtypes=dtypes,
                )
            )
        rows.sort(key=lambda r: getattr(r, sort_by), reverse=sort_by != 'name')
        return rows

    @property
    def dropped(self) -> int:
        """Calls and regions that the trace has not, for there were more than ``trace_limit``."""
        return self._hook.dropped + self._dropped_regions

    def reset(self) -> None:
        """Forgets what was counted."""
        self._hook.reset()
        self._regions.clear()
        self._dropped_regions = 0

    def table(
        self, group_by: str | None = None, sort_by: str | None = None, limit: int | None = None
    ) -> str:
        """What was counted, as text.

        Args:
            group_by (str): As of the class; None for what was said there.
            sort_by (str): As of the class; None for what was said there.
            limit (int): The most rows; the others are one line together.
        Returns:
            str: The table.
        Raises:
            ValueError: If ``group_by`` or ``sort_by`` is none of the words, ``limit`` negative.
        """
        if limit is not None:
            limit = _check_limit('limit', limit)
        return _trace.table(self.get_rows(group_by, sort_by), limit, self.dropped)

    def __str__(self) -> str:
        return self.table()

    def export_trace(self, path: str | PathLike[str]) -> None:
        """Writes the calls as a file for a viewer of traces.

        ``chrome://tracing`` and https://ui.perfetto.dev open it: one line for each thread, kernels
        with shapes and dtypes inside of the functions of chainer and the blocks that called them;
        and one line for each stream of a GPU.

        Args:
            path (str or path-like): The file, JSON; it replaces what is there when it is complete.
        Raises:
            RuntimeError: If the profile was made without ``trace=True``.
        """
        if not self._trace:
            raise RuntimeError('export_trace: this profile keeps no calls; make it with trace=True')
        _trace.export(path, self._hook.threads(), list(self._regions), self.dropped)


def profile(
    *,
    synchronize: bool = False,
    trace: bool = False,
    trace_limit: int = 1_000_000,
    group_by: str = 'kernel',
    sort_by: str = 'self_time',
) -> Profile:
    """Counts and times the kernels that run in a block, and the memory that they take.

    Args:
        synchronize (bool): Whether devices are waited for after each kernel.
        trace (bool): Whether each call is kept, for ``export_trace``.
        trace_limit (int): How many calls are kept at most.
        group_by (str): What has a row of its own: ``'kernel'``, or ``'shapes'``.
        sort_by (str): ``'self_time'``, ``'total'``, ``'calls'``, ``'bytes'``, ``'peak'`` or
            ``'name'``.
    Returns:
        Profile: To be entered with ``with``; printed, it is a table, and ``rows`` has the numbers.
    Raises:
        ValueError: If ``group_by`` or ``sort_by`` is none of the words, ``trace_limit`` negative.
    """
    return Profile(
        synchronize=synchronize,
        trace=trace,
        trace_limit=trace_limit,
        group_by=group_by,
        sort_by=sort_by,
    )
