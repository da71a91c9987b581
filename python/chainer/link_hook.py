"""Hooks around the forward of links."""

from __future__ import annotations

import collections.abc
import threading
import typing as tp
import weakref

from chainerx._core import engine

if tp.TYPE_CHECKING:
    from chainer.link import Link


# One item per hook entered in any thread. While it is empty, no link looks any further.
_entered: list[None] = []


class _HooksByName(collections.abc.MutableMapping[str, 'LinkHook']):
    """The hooks of a thread; some programs put theirs in by hand."""

    def __init__(self) -> None:
        self._hooks: dict[str, LinkHook] = {}

    def __getitem__(self, name: str) -> LinkHook:
        return self._hooks[name]

    def __setitem__(self, name: str, hook: LinkHook) -> None:
        if name not in self._hooks:
            _entered.append(None)
            engine.watch_captures(1)
        self._hooks[name] = hook

    def __delitem__(self, name: str) -> None:
        del self._hooks[name]
        _entered.pop()
        engine.watch_captures(-1)

    def __iter__(self) -> tp.Iterator[str]:
        return iter(self._hooks)

    def __len__(self) -> int:
        return len(self._hooks)

    def __repr__(self) -> str:
        return repr(self._hooks)

    def copy(self) -> dict[str, LinkHook]:
        """The same hooks, which no link looks at."""
        return self._hooks.copy()


class _Hooks(threading.local):
    def __init__(self) -> None:
        self.by_name = _HooksByName()


_hooks = _Hooks()


def _get_link_hooks() -> _HooksByName:
    """Hooks entered with ``with`` in this thread, in order, by name; may be written to."""
    return _hooks.by_name


class _ForwardPreprocessCallbackArgs:
    """What `forward_preprocess` is given: `link`, `forward_name`, `args` and `kwargs`."""

    def __init__(
        self, link: Link, forward_name: str, args: tuple[tp.Any, ...], kwargs: dict[str, tp.Any]
    ) -> None:
        self.link = link
        self.forward_name = forward_name
        self.args = args
        self.kwargs = kwargs

    def __repr__(self) -> str:
        fields = ' '.join(f'{name}={value}' for name, value in vars(self).items())
        return f'<{type(self).__module__}.{type(self).__qualname__} {fields}>'


class _ForwardPostprocessCallbackArgs(_ForwardPreprocessCallbackArgs):
    """What `forward_postprocess` is given: the same and `out`, what forward returned."""

    def __init__(
        self,
        link: Link,
        forward_name: str,
        args: tuple[tp.Any, ...],
        kwargs: dict[str, tp.Any],
        out: tp.Any,
    ) -> None:
        super().__init__(link, forward_name, args, kwargs)
        self.out = out


# By link and name of a hook that wants to see each call; called when one of them goes.
_watching: dict[tuple[int, str], weakref.finalize[..., tp.Any]] = {}


def _watch(link: Link, name: str) -> None:
    """Has captured functions run as they are, as long as a hook of a link is there."""
    key = id(link), name

    def end() -> None:
        del _watching[key]
        engine.watch_captures(-1)

    engine.watch_captures(1)
    _watching[key] = weakref.finalize(link, end)


def _end_watch(link: Link, name: str) -> None:
    end = _watching.get((id(link), name))
    if end is not None:
        end()


class LinkHook:
    """Base of link hooks: called before and after each forward of a link.

    Enter it in a ``with`` block to see every link called in this thread, or give it to one link
    with :meth:`chainer.Link.add_hook`. Names are unique among those entered, and among those of a
    link.
    """

    name = 'LinkHook'
    # Whether it does no more than compute with arrays, so that a captured step may repeat that.
    _is_computed = False

    def __enter__(self) -> tp.Self:
        hooks = _hooks.by_name
        if self.name in hooks:
            raise KeyError(f'hook {self.name} already exists')
        self.added(None)
        hooks[self.name] = self
        return self

    def __exit__(self, *_: object) -> None:
        del _hooks.by_name[self.name]
        self.deleted(None)

    def added(self, link: Link | None) -> None:
        """Called when the hook is given to a link, or is entered.

        Args:
            link (Link): None when it is entered.
        """

    def deleted(self, link: Link | None) -> None:
        """Called when the hook is taken from a link, or is left.

        Args:
            link (Link): None when it is left.
        """

    def forward_preprocess(self, args: _ForwardPreprocessCallbackArgs) -> None:
        """Called before the forward of a link.

        Args:
            args: Has ``link``, ``forward_name``, ``args`` and ``kwargs``.
        """

    def forward_postprocess(self, args: _ForwardPostprocessCallbackArgs) -> None:
        """Called after the forward of a link.

        Args:
            args: Has ``link``, ``forward_name``, ``args``, ``kwargs`` and ``out``.
        """

    def _forward_aborted(self, link: Link) -> None:
        """Called instead of `forward_postprocess` when the forward raised."""
