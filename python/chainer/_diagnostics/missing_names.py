"""Messages about names of Chainer v7 that are missing here, for every way to access them."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
import typing as tp

from chainer._diagnostics.pending import PENDING


def describe(path: str) -> str | None:
    """Why there is no such name; None if v7 has none, either.

    Args:
        path: The dotted name, such as ``'chainer.links.GRU'``; may go on inside it.
    """
    parts = path.split('.')
    for i in range(1, len(parts)):
        name = parts[i]
        for reason, names in PENDING.get('.'.join(parts[:i]), {}).items():
            if name in names.split():
                return f'{path}: of Chainer v7, {reason}; docs/differences.md has the list'
    return None


def getter(module: str, imported_on_use: tuple[str, ...] = ()) -> tp.Callable[[str], tp.Any]:
    """The ``__getattr__`` of a module.

    Args:
        module: Its name.
        imported_on_use: Modules inside of it that are imported when they are asked for.
    """

    def __getattr__(name: str) -> tp.Any:
        if name in imported_on_use:
            return importlib.import_module(f'{module}.{name}')
        text = describe(f'{module}.{name}')
        raise AttributeError(
            text or f'module {module!r} has no attribute {name!r}',
            name=name,
            obj=sys.modules[module],
        )

    return __getattr__


class _Finder(importlib.abc.MetaPathFinder):
    """Runs last, so it gets names that no other finder has found."""

    def find_spec(
        self,
        fullname: str,
        path: tp.Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.startswith('chainer.') and (text := describe(fullname)):
            # Without its name, because `from chainer import training` would swallow the text.
            raise ModuleNotFoundError(text)
        return None


def install() -> None:
    """Lets import statements say it, too."""
    if not any(type(finder) is _Finder for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
