"""`Link`, `Chain` and `ChainList`: parameters with names, and trees of them.

A tree is walked in one way everywhere: own parameters sorted by name, then children, those of a
`Chain` sorted by name and those of a `ChainList` by index. `Link` has all the walks; the other two
classes only name their children.
"""

from __future__ import annotations

import typing as tp
from collections.abc import Iterable, Iterator, MutableSequence

from chainerx._core import engine

from chainer._link.link import Link, _check_link, _collect_params_of, _tree_str
from chainer._link.uninitialized import MadeByInit
from chainer.variable import Parameter

if tp.TYPE_CHECKING:
    pass


class Chain(Link):
    """A link with children, which are attributes.

    Children are registered by assigning links inside ``with self.init_scope():``.

    Args:
        links: Children to add.
    """

    if tp.TYPE_CHECKING:
        _children: set[str]
    else:
        _children = MadeByInit()

    def __init__(self, **links: Link) -> None:
        super().__init__()
        self._children = set()
        for name, link in links.items():
            self.add_link(name, link)

    def __str__(self) -> str:
        return _tree_str(self, self._named_children())

    def __getitem__(self, name: str) -> tp.Any:
        """Return a child, a parameter or another attribute by name."""
        try:
            return getattr(self, name)
        except AttributeError:
            there = ', '.join([*sorted(self._children), *sorted(self._params)]) or 'none'
            raise AttributeError(
                f'{type(self).__name__!r} object has no attribute {name!r} '
                f'(children and parameters: {there})'
            ) from None

    def _register_assigned(self, name: str, value: object) -> None:
        if isinstance(value, Link):
            if hasattr(self, name):
                raise AttributeError(f'cannot register a new link {name}: attribute exists')
            value.name = name
            self._children.add(name)
        super()._register_assigned(name, value)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self._children.discard(name)

    def add_link(self, name: str, link: Link) -> None:
        """Register a child; the same as assigning it inside :meth:`init_scope`.

        Args:
            name (str): Of the child.
            link (Link): The child.

        Raises:
            AttributeError: If the attribute exists.
        """
        _check_link(link)
        with self.init_scope():
            setattr(self, name, link)

    def _named_children(self) -> list[tuple[str, Link]]:
        values = ((name, self.__dict__[name]) for name in sorted(self._children))
        return [(name, value) for name, value in values if isinstance(value, Link)]

    def _children_list(self) -> list[Link]:
        return [child for _, child in self._named_children()]

    def _collect_params(self, params: list[Parameter], include_uninit: bool) -> None:
        super()._collect_params(params, include_uninit)
        for child in self._children_list():
            _collect_params_of(child, params, include_uninit)

    def _copy_children(self, mode: str) -> None:
        self._children = set(self._children)
        for name, child in self._named_children():
            self.__dict__[name] = child = child.copy(mode)
            child.name = name


class ChainList(Link, MutableSequence):
    """A link with children in a list; their names are their indices.

    Args:
        links: Children to add.
    """

    if tp.TYPE_CHECKING:
        _children: list[Link]
    else:
        _children = MadeByInit()

    def __init__(self, *links: Link) -> None:
        super().__init__()
        self._children = []
        for link in links:
            self.add_link(link)

    def __str__(self) -> str:
        return _tree_str(self, self._named_children())

    def _register_assigned(self, name: str, value: object) -> None:
        if isinstance(value, Link):
            raise TypeError(
                'cannot register a new link within a "with chainlist.init_scope():" block.'
            )
        super()._register_assigned(name, value)

    def __getitem__(self, index: int | slice) -> tp.Any:
        """Return the child at an index, or a list of those in a slice."""
        return self._children[index]

    def __setitem__(self, index: tp.Any, value: tp.Any) -> None:
        links = list(value) if isinstance(index, slice) and isinstance(value, Iterable) else value
        for link in links if isinstance(links, list) else [links]:
            _check_link(link)
        self._children[index] = links
        self._rename()

    def __delitem__(self, index: int | slice) -> None:
        del self._children[index]
        self._rename()

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Link]:
        return iter(self._children)

    def insert(self, index: int, link: Link) -> None:
        """Insert a child before an index, as a list does.

        Args:
            index (int): Of the child before which it comes.
            link (Link): The child.
        """
        _check_link(link)
        self._children.insert(index, link)
        self._rename()

    def add_link(self, link: Link) -> None:
        """Append a child.

        Args:
            link (Link): The child.
        """
        self.append(link)

    def _rename(self) -> None:
        for i, link in enumerate(self._children):
            link.name = str(i)

    def _named_children(self) -> Iterator[tuple[str, Link]]:
        for i, link in enumerate(self._children):
            yield str(i), link

    def _children_list(self) -> list[Link]:
        return self._children

    def _collect_params(self, params: list[Parameter], include_uninit: bool) -> None:
        super()._collect_params(params, include_uninit)
        for child in self._children:
            _collect_params_of(child, params, include_uninit)

    def _copy_children(self, mode: str) -> None:
        self._children = [child.copy(mode) for child in self._children]
        self._rename()


engine.set_callbacks(
    collect_chain=Chain._collect_params, collect_chain_list=ChainList._collect_params
)
