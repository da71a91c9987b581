"""What code belongs to a program, and what to packages that it uses."""

from __future__ import annotations

import functools
import os
import sys
import types
import typing as tp

# Packages whose code reads nothing that a program changes, or too much; see _is_foreign, too.
_CLOSED: tp.Final = sys.stdlib_module_names | {
    'chainer', 'chainermn', 'chainerx', 'mpi4py', 'onnx_chainer', 'numpy', 'scipy', 'cupy'
}  # fmt: skip
_INSTALLED: tp.Final = frozenset(('site-packages', 'dist-packages'))
_USERS: tp.Final = frozenset(('chainer', 'chainerx', 'chx'))


def properties_of(cls: type, names: set[str]) -> dict[str, tp.Any]:
    """Of these names, those of properties and hyperparameters that a class has of chainer."""
    found: dict[str, tp.Any] = {}
    seen: set[str] = set()
    for base in cls.__mro__:
        for name in names & vars(base).keys() - seen:
            member = vars(base)[name]
            kind = type(member)
            of_chainer = kind.__module__.startswith('chainer.') and hasattr(kind, '__set__')
            if base.__module__.startswith('chainer.') and (kind is property or of_chainer):
                found[name] = member
            seen.add(name)
    return found


def is_closed(module: object) -> bool:
    if type(module) is not str:
        return True
    package = module.partition('.')[0]
    return package in _CLOSED or _is_foreign(package)


@functools.cache
def _is_foreign(package: str) -> bool:
    """Whether a package was installed, and knows nothing of arrays of ChainerX, such as PyTorch."""
    module = sys.modules.get(package)
    file = getattr(module, '__file__', None)
    if not isinstance(file, str) or not _INSTALLED.intersection(file.split(os.sep)):
        return False
    modules = [m for name, m in list(sys.modules.items()) if name.partition('.')[0] == package]
    return not any(_USERS.intersection(vars(m)) for m in modules if type(m) is types.ModuleType)


def is_link(cls: type) -> bool:
    return any(
        base.__name__ == 'Link' and base.__module__.partition('.')[0] == 'chainer'
        for base in cls.__mro__
    )
