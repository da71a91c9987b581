"""Hooks around the forward of links."""

from __future__ import annotations

import threading
import typing as tp

if tp.TYPE_CHECKING:
    from chainer.link import Link


class _Hooks(threading.local):
    def __init__(self) -> None:
        self.by_name: dict[str, LinkHook] = {}


_hooks = _Hooks()

# One item per hook entered in any thread. While it is empty, no link looks any further.
_entered: list[None] = []


def _get_link_hooks() -> dict[str, LinkHook]:
    """Hooks entered with ``with`` in this thread, in order, by name."""
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


class LinkHook:
    """Base of link hooks: called before and after each forward of a link.

    Enter it in a ``with`` block to see every link called in this thread, or give it to one link
    with :meth:`chainer.Link.add_hook`. Names are unique among those entered, and among those of a
    link.
    """

    name = 'LinkHook'

    def __enter__(self) -> tp.Self:
        hooks = _hooks.by_name
        if self.name in hooks:
            raise KeyError(f'hook {self.name} already exists')
        self.added(None)
        hooks[self.name] = self
        _entered.append(None)
        return self

    def __exit__(self, *_: object) -> None:
        del _hooks.by_name[self.name]
        _entered.pop()
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
