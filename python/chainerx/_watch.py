"""What a captured step does in Python, and a replay would leave out."""

from __future__ import annotations

import sys
import threading
import time
import typing as tp
import weakref

from chainerx import _dependencies, _draws, _places
from chainerx._core import engine

# Seconds that are waited for other threads.
_MIN_WAIT: tp.Final = 0.05
_MAX_WAIT: tp.Final = 2.0
_PAUSE: tp.Final = 0.002

_MAX_FORMS: tp.Final = 64


class _Recordings(threading.local):
    n = 0
    watch: weakref.ref[Watch] | None = None  # of the last one


_recordings: tp.Final = _Recordings()


def count_recordings() -> int:
    """How many steps this thread has begun to record."""
    return _recordings.n


def apart(function: tp.Callable[[], tp.Any]) -> tp.Any:
    """Calls a function that replays call, too, so that it may draw, and change what it wants to.

    Args:
        function (callable): Without arguments.

    Returns:
        object: What it returns.
    """
    watch = _recordings.watch() if _recordings.watch is not None else None
    return function() if watch is None else watch.leave_out(function)


def leave_out(owner: object, *names: str) -> None:
    """Says that replays, too, set these attributes of an object.

    Args:
        owner (object): One with a ``__dict__``.
        *names (str): The attributes.
    """
    watch = _recordings.watch() if _recordings.watch is not None else None
    if watch is not None:
        watch._left_out.update((id(owner.__dict__), name) for name in names)


class Memory:
    """What recordings of a step have left that are no arrays, by the form of its arguments."""

    def __init__(self) -> None:
        self._known: dict[str, dict[_places.Key, _places.Lost]] = {}

    def of(self, form: str) -> dict[_places.Key, _places.Lost]:
        if form not in self._known and len(self._known) >= _MAX_FORMS:
            self._known.clear()
        return self._known.setdefault(form, {})


class Watch:
    """Looks at what a step does that is recorded, from a time before it on.

    Args:
        found (Found): What was found of the program.
        known (dict): What the last recording for such arguments has left.

    Attributes:
        changes (callable): As that of ``Snapshot``.
    """

    def __init__(self, found: _dependencies.Found, known: dict[_places.Key, _places.Lost]) -> None:
        _recordings.n += 1
        _recordings.watch = weakref.ref(self)
        self._n = len(found.dependencies)
        self._draws = _draws.Draws(found.generators)
        self._places = _places.Snapshot(found)
        self._left_out: set[_places.Key] = set()
        self.changes = self._places.changes
        self._known = known
        self._constants: list[_places.Change] = []
        self._calls_program = False
        self._start = time.monotonic()

    def leave_out(self, function: tp.Callable[[], tp.Any]) -> tp.Any:
        """What a function returns; what it does is not held against the step."""
        self._calls_program = True
        before = self._places.lost()
        result = self._draws.leave_out(function)
        now = self._places.lost()
        for key, place in now.items():
            if key not in before or before[key].what != place.what:
                self._left_out.add(key)
        return result

    def check(self) -> None:
        """Refuses what can't be compared, and doubts what a replay would leave out."""
        most = _dependencies.MAX_DEPENDENCIES
        if self._n > most:
            engine.refuse_capture(f'more than {most} variables of the program may be read')
        lost = self._without_constants(self._lost())
        if lost:
            first = next(iter(lost.values()))
            engine.doubt_capture(
                f'{first.what}, and a replay would leave that out; do it before or after the step, '
                'in a function with chainer.static_code, or with an array instead'
            )
        self._draws.check()

    def constants(self) -> list[_places.Change]:
        """What `check` has found to be the same after each recording, so that replays set it.

        Returns:
            list of tuple: The places.
        """
        return self._constants

    def _without_constants(
        self, lost: dict[_places.Key, _places.Lost]
    ) -> dict[_places.Key, _places.Lost]:
        known = self._known
        if self._calls_program:  # it might look at what is only set at the end
            return lost
        for key, place in list(known.items()):
            is_gone = key in self._left_out or not self._places.knows(place.owner)
            is_seen = place.is_sure or key in lost  # else it may have settled
            if is_gone or not is_seen or not _places.still_holds(place):
                del known[key]
            else:
                known[key] = place._replace(is_sure=True)
        self._constants = [(place.owner, place.key, place.name) for place in known.values()]
        others = {key: place for key, place in lost.items() if key not in known}
        known.update((key, place) for key, place in others.items() if place.value is not None)
        return others

    def _lost(self) -> dict[_places.Key, _places.Lost]:
        """What the step has changed without arrays, as ``Snapshot.lost``."""
        lost = self._read_lost()
        if not lost or len(sys._current_frames()) == 1:
            return lost
        # What goes on to change after the step, another thread changes. It has as long for that
        # as it had in the step, and more.
        now = time.monotonic()
        end = now + min(max(2 * (now - self._start), _MIN_WAIT), _MAX_WAIT)
        while lost and time.monotonic() < end:
            time.sleep(_PAUSE)
            later = self._read_lost()
            lost = {
                key: place
                for key, place in lost.items()
                if key in later and later[key].what == place.what
            }
        return lost

    def _read_lost(self) -> dict[_places.Key, _places.Lost]:
        lost = self._places.lost()
        return {key: place for key, place in lost.items() if key not in self._left_out}
