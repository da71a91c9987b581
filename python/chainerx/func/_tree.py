"""Arguments and results made of tuples, lists and dicts; any other object is a leaf."""

from __future__ import annotations

import collections.abc as c
import typing as tp

from chainerx import ndarray

if tp.TYPE_CHECKING:
    from chainerx._typing import Operand, Tree

Leaves = list[tp.Any]


class Structure:
    """A tree without its leaves."""

    __slots__ = ('count', 'keys', 'kind', 'parts')

    def __init__(
        self, kind: tp.Any, keys: tuple[tp.Any, ...] | None, parts: tuple[Structure, ...]
    ) -> None:
        self.kind = kind  # the class of the node; 'leaf', or None for None
        self.keys = keys  # of a dict only
        self.parts = parts
        self.count: int = 1 if kind == 'leaf' else sum([part.count for part in parts])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Structure)
            and self.kind == other.kind
            and self.keys == other.keys
            and self.parts == other.parts
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.keys, self.parts))

    def __repr__(self) -> str:
        if self.kind == 'leaf':
            return '*'
        if self.kind is None:
            return 'None'
        if self.keys is not None:
            items = (f'{k!r}: {p}' for k, p in zip(self.keys, self.parts, strict=True))
            return '{' + ', '.join(items) + '}'
        inside = ', '.join(map(repr, self.parts))
        if self.kind is list:
            return f'[{inside}]'
        name = '' if self.kind is tuple else self.kind.__name__
        return f'{name}({inside},)' if len(self.parts) == 1 else f'{name}({inside})'


LEAF = Structure('leaf', None, ())
NONE = Structure(None, None, ())


def flatten(tree: Tree) -> tuple[Leaves, Structure]:
    """The leaves in order (those of a dict by sorted keys), and the structure of the tree."""
    leaves: Leaves = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree: Tree, leaves: Leaves) -> Structure:
    kind = type(tree)
    if kind is ndarray:
        leaves.append(tree)
        return LEAF
    if tree is None:
        return NONE
    if kind is list or isinstance(tree, tuple):
        return Structure(kind, None, tuple([_flatten(part, leaves) for part in tree]))
    if isinstance(tree, dict):
        keys = tuple(tree)
        return Structure(kind, keys, tuple([_flatten(tree[k], leaves) for k in keys]))
    leaves.append(tree)
    return LEAF


def unflatten(structure: Structure, leaves: c.Iterable[Operand]) -> Tree:
    """The tree with these leaves."""
    return next(iter(leaves)) if structure is LEAF else _unflatten(structure, iter(leaves))


def _unflatten(structure: Structure, leaves: c.Iterator[Operand]) -> Tree:
    kind = structure.kind
    if kind == 'leaf':
        return next(leaves)
    if kind is None:
        return None
    parts = [_unflatten(part, leaves) for part in structure.parts]
    if structure.keys is not None:
        items = zip(structure.keys, parts, strict=True)
        return dict(items) if kind is dict else kind(items)
    return make(kind, parts)


def make(kind: type, parts: list[Tree]) -> Tree:
    """Makes a list, a tuple, or a named tuple."""
    return kind(*parts) if hasattr(kind, '_fields') else kind(parts)


def flatten_like(structure: Structure, tree: Tree, what: str) -> Leaves:
    """The leaves of a tree that must have this structure; None may stand for any part of it."""
    leaves: Leaves = []
    _flatten_like(structure, tree, leaves, what)
    return leaves


def _flatten_like(structure: Structure, tree: Tree, leaves: Leaves, what: str) -> None:
    if tree is None or structure.kind is None:
        if tree is not None:
            raise TypeError(f'{what} is a {type(tree).__name__}, expected None')
        leaves.extend([None] * structure.count)
        return
    if structure.kind == 'leaf':
        leaves.append(tree)
        return
    if type(tree) is not structure.kind or len(tree) != len(structure.parts):
        raise TypeError(f'{what} is {_show(tree)}, expected the structure {structure}')
    if structure.keys is not None:
        if set(tree) != set(structure.keys):
            raise TypeError(f'{what} has keys {[*tree]}, expected {[*structure.keys]}')
        for key, part in zip(structure.keys, structure.parts, strict=True):
            _flatten_like(part, tree[key], leaves, f'{what}[{key!r}]')
        return
    for i, (part, value) in enumerate(zip(structure.parts, tree, strict=True)):
        _flatten_like(part, value, leaves, f'{what}[{i}]')


def _show(tree: Tree) -> str:
    structure = flatten(tree)[1]
    return f'a {type(tree).__name__}' if structure is LEAF else repr(structure)


def broadcast_prefix(prefix: Tree, structure: Structure, what: str) -> Leaves:
    """The leaves of a tree whose leaves may stand for whole parts of `structure`."""
    values: Leaves = []
    _broadcast_prefix(prefix, structure, values, what)
    return values


def _broadcast_prefix(prefix: Tree, structure: Structure, values: Leaves, what: str) -> None:
    if prefix is None or isinstance(prefix, int):
        values.extend([prefix] * structure.count)
        return
    keys = structure.keys if structure.keys is not None else range(len(structure.parts))
    is_tree = (
        isinstance(prefix, dict) if structure.keys is not None else isinstance(prefix, tuple | list)
    )
    if not is_tree or structure.kind == 'leaf' or len(prefix) != len(structure.parts):
        raise TypeError(
            f'{what} is {_show(prefix)}, which does not fit {structure}: expected an integer, '
            'None, or the structure of what it is for'
        )
    for key, part in zip(keys, structure.parts, strict=True):
        _broadcast_prefix(prefix[key], part, values, f'{what}[{key!r}]')
