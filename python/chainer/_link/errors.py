"""The path of the link in whose forward an error arose; worked out only once there is an error."""

from __future__ import annotations

import contextlib
import traceback
import typing as tp
from types import CodeType

from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._link.chain import Link

_PREFIX = 'In link '


class Misfit(ValueError):
    """Two arrays of one path that have different shapes."""

    def __init__(self, action: str, path: str, shape: tuple[int, ...], own: tuple[int, ...]):
        super().__init__(f'{action}: {path} has shape {shape}, expected {own}')
        self._facts = action, path, shape, own

    def inside(self, name: str) -> Misfit:
        """The same, seen from the link that has a child of this name."""
        action, path, *shapes = self._facts
        return Misfit(action, f'{name}/{path}', *shapes)


def add_path(error: Exception, link: Link, calls: tuple[CodeType, ...]) -> None:
    """Say in an error where in `link` it arose.

    Each link on the way up calls this, and each knows more of the path: the last one's word stands.
    The links below are found in the traceback, so nothing is kept while there is no error.

    Args:
        error: The error that passes through `link`.
        link: The link that was called.
        calls: Code objects that call links.
    """
    with contextlib.suppress(Exception):  # a link may be half made; its own error counts
        _add_path(error, link, calls)


def _add_path(error: Exception, link: Link, calls: tuple[CodeType, ...]) -> None:
    frames = traceback.walk_tb(error.__traceback__)
    called = [frame.f_locals['self'] for frame, _ in frames if frame.f_code in calls]
    inner = called[-1]
    if inner is link:
        place = f'{link.name} ({type(link).__name__})' if link.name else type(link).__name__
    else:
        path = next((path for path, below in link.namedlinks() if below is inner), None)
        if path is None:
            return  # called here, but not a part of this link
        place = f'{path} ({type(inner).__name__}) of {type(link).__name__}'
    if isinstance(error, type_check.InvalidType):
        error.link = place
        return
    notes = getattr(error, '__notes__', [])
    error.__notes__ = [note for note in notes if not note.startswith(_PREFIX)] + [_PREFIX + place]
