"""Arrays that a link keeps, such as its last loss, in a step that is recorded (`chainerx.capture`):
each replay gives it new ones."""

from __future__ import annotations

import functools
import typing as tp
import weakref

import chainerx
from chainerx._core import engine

from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._link.link import Link

_MAX_NESTING: tp.Final = 64


def note(link: Link, name: str) -> None:
    """Has each replay set an attribute that the step has set, if it holds arrays at its end."""
    key = 'attribute', id(link), name
    alive = weakref.ref(link)  # it may own the recording
    engine.capture_end(key, functools.partial(_keep, key, alive, name))


def _keep(key: tuple[object, ...], alive: weakref.ref[Link], name: str) -> None:
    link = alive()
    if link is None or not _has_arrays(value := vars(link).get(name)):
        return

    def set_again(value: object) -> None:
        link = alive()
        if link is not None:
            vars(link)[name] = value

    # Without its graph, which the next call would not go on with.
    vars(link)[name] = engine.capture_part(key, None, set_again, value)


def _has_arrays(value: object, depth: int = 0) -> bool:
    """Whether a value is variables and arrays of ChainerX in containers; parameters are nobody's
    results."""
    if isinstance(value, Variable):
        return not isinstance(value, Parameter)
    if isinstance(value, chainerx.ndarray):
        return True
    if depth == _MAX_NESTING or not isinstance(value, (list, tuple, dict)):
        return False
    items = value.values() if isinstance(value, dict) else value
    return any(_has_arrays(item, depth + 1) for item in items)
