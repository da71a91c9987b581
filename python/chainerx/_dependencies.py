"""What a captured step reads of the program: variables, attributes and items, by its code."""

from __future__ import annotations

import collections
import functools
import os
import pathlib
import sys
import types
import typing as tp

# Where a value is: a dict, list, cell, type, or object with slots; the name, index or key in it;
# the value, if it is there. Without a key it is the number of items; the key `...` stands for all
# items of a list, dict, set or deque as they are now.
Dependency: tp.TypeAlias = tuple[object, object] | tuple[object, object, object]
Owner: tp.TypeAlias = list[tp.Any] | dict[tp.Any, tp.Any]

_MAX_DEPENDENCIES: tp.Final = 1024  # each is looked at before each replay
_MAX_ITEMS: tp.Final = 64  # of a container; what is in longer ones is not followed
_MAX_WHOLE: tp.Final = 1024  # of a container; longer ones are data
_MAX_WHOLE_IN_ALL: tp.Final = 8192
# Packages whose code reads nothing that a program changes, or too much; see _is_foreign, too.
_CLOSED: tp.Final = sys.stdlib_module_names | {
    'chainer', 'chainerx', 'onnx_chainer', 'numpy', 'scipy', 'cupy'
}  # fmt: skip
_INSTALLED: tp.Final = frozenset(('site-packages', 'dist-packages'))
_USERS: tp.Final = frozenset(('chainer', 'chainerx', 'chx'))
_NAMESPACES: tp.Final = {('argparse', 'Namespace'), ('types', 'SimpleNamespace')}
_WRAPPERS: tp.Final = (collections.UserDict, collections.UserList, collections.ChainMap)


class Found(tp.NamedTuple):
    """What `find` has found.

    Attributes:
        dependencies (list of tuple): Where values are, and what they are now.
        owners (list of tuple): Attributes of objects, lists and dicts, and what they are called.
    """

    dependencies: list[Dependency]
    owners: list[tuple[Owner, str]]


def find(step: object, arguments: tuple[object, ...]) -> Found:
    """Finds what a step may depend on besides its arguments.

    Follows the names in its code, and in the code of functions and classes of the program that it
    leads to, to globals, closures, attributes, and items of small containers. Calls no code of the
    program.

    Args:
        step (callable): The function.
        arguments (tuple): What it is called with; objects have attributes, too.

    Returns:
        Found: What may change, and what the step may change.
    """
    search = _Search()
    search.visit(step)
    for argument in arguments:
        search.visit(argument)
    search.follow_names()
    return Found(search.found[:_MAX_DEPENDENCIES], search.owners)


class _Search:
    def __init__(self) -> None:
        self.found: list[Dependency] = []
        self.names: set[str] = set()
        self.owners: list[tuple[Owner, str]] = []
        self._seen: dict[int, object] = {}  # by id; keeps them alive, so that ids stay unique
        # Attributes, and names that are attributes if they are there, instead of a class variable.
        self._owners: list[tuple[dict[str, object], set[str]]] = []
        self._noted: set[tuple[int, str]] = set()
        self._n_whole = 0

    def visit(self, value: object) -> None:
        """Notes what a value leads to."""
        todo = [value]
        while todo and len(self.found) < _MAX_DEPENDENCIES:
            value = todo.pop()
            if id(value) in self._seen or type(value) in _LEAVES:
                continue
            self._seen[id(value)] = value
            todo.extend(self._look_into(value))

    def follow_names(self) -> None:
        """Notes the attributes whose names are in the code, of all objects that were found."""
        before = -1
        while before != len(self._noted) and len(self.found) < _MAX_DEPENDENCIES:
            before = len(self._noted)
            for owner, defaults in list(self._owners):
                for name in sorted(self.names & (owner.keys() | defaults)):
                    if (id(owner), name) not in self._noted:
                        self._noted.add((id(owner), name))
                        self._note(owner, name)

    def _note(self, owner: dict[str, object], name: str) -> None:
        if name not in owner:
            self.found.append((owner, name))
            return
        value = owner[name]
        if type(value) is not types.ModuleType:
            self.found.append((owner, name, value))
        self.visit(value)

    def _look_into(self, value: object) -> tp.Iterable[object]:
        cls = type(value)
        if cls is types.FunctionType:
            return self._function(tp.cast(types.FunctionType, value))
        if cls is types.MethodType:
            method = tp.cast(types.MethodType, value)
            return method.__func__, method.__self__
        if cls is functools.partial:
            partial = tp.cast('functools.partial[object]', value)
            return partial.func, *partial.args, *partial.keywords.values()
        if issubclass(cls, (list, dict)):
            items = self._items(tp.cast('list[object] | dict[object, object]', value))
            return items if _is_closed(cls.__module__) else (*items, *self._instance(value))
        if issubclass(cls, (set, frozenset, collections.deque)):
            return self._unkeyed(tp.cast('set[object]', value))
        if cls is tuple:
            values = tp.cast(tuple[object, ...], value)
            return values if len(values) <= _MAX_ITEMS else ()
        if cls is types.ModuleType:
            module = tp.cast(types.ModuleType, value)
            if not _is_closed(module.__name__):
                self._owners.append((vars(module), set()))
            return ()
        if issubclass(cls, type):  # not isinstance, which asks the value
            return self._class(tp.cast(type, value))
        return self._instance(value)

    def _function(self, function: types.FunctionType) -> tp.Iterator[object]:
        if _is_closed(function.__module__):
            return
        names: set[str] = set()
        codes = [function.__code__]
        while codes:
            code = codes.pop()
            names.update(code.co_names)
            for constant in code.co_consts:
                if type(constant) is types.CodeType:
                    codes.append(constant)
                elif type(constant) is str and constant.isidentifier():  # of getattr
                    names.add(constant)
        self.names |= names
        if not names.isdisjoint(('environ', 'environb', 'getenv', 'getenvb')):
            self._environment()
        space = function.__globals__
        for name in sorted(names & space.keys()):
            if (id(space), name) not in self._noted:
                self._noted.add((id(space), name))
                self._note(space, name)
        for cell in function.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:  # empty
                continue
            self.found.append((cell, None, content))
            yield content
        yield from function.__defaults__ or ()
        yield from (function.__kwdefaults__ or {}).values()

    def _items(self, items: list[object] | dict[object, object]) -> tp.Iterable[object]:
        # By the methods of the bases: those of a subclass may do anything.
        cls: tp.Any = dict if issubclass(type(items), dict) else list
        n: int = cls.__len__(items)
        if n > _MAX_ITEMS:
            self._note_whole(items, n)
            return ()
        whole: tp.Any = items
        pairs = list(dict.items(whole) if cls is dict else enumerate(list.__iter__(whole)))
        for key, value in pairs:
            if type(key) in (str, int):  # looking for others may call code of the program
                self.found.append((items, key, value))
        self.found.append((items, None, n))
        self.owners.append((items, f'a {cls.__name__}'))
        return [value for _, value in pairs]

    def _unkeyed(self, items: tp.Any) -> tp.Iterable[object]:
        cls: tp.Any = next(c for c in (set, frozenset, collections.deque) if isinstance(items, c))
        n: int = cls.__len__(items)
        self._note_whole(items, n)
        return list(cls.__iter__(items)) if n <= _MAX_ITEMS else ()

    def _note_whole(self, items: object, n: int) -> None:
        if n <= _MAX_WHOLE and self._n_whole + n <= _MAX_WHOLE_IN_ALL:
            self._n_whole += n
            self.found.append((items, ...))

    def _environment(self) -> None:
        data = vars(os.environ).get('_data')
        if type(data) is dict and id(data) not in self._seen:
            self._seen[id(data)] = data
            self._note_whole(data, len(data))

    def _class(self, cls: type) -> tp.Iterator[object]:
        if _is_closed(cls.__module__):
            return
        for name, value in list(vars(cls).items()):
            if type(value) in (staticmethod, classmethod):
                yield tp.cast('staticmethod[..., object]', value).__func__
            elif type(value) is property:
                yield from (f for f in (value.fget, value.fset) if f is not None)
            elif type(value) is types.FunctionType:
                if name != '__init__':
                    yield value
            elif not name.startswith('__') and not callable(value):
                self.found.append((cls, name, value))
                yield value

    def _instance(self, value: object) -> tp.Iterator[object]:
        cls = type(value)
        is_link = _is_link(cls)
        is_closed = not is_link and _is_closed(cls.__module__)
        if issubclass(cls, _WRAPPERS):
            self.names.update(('data', 'maps'))
        elif is_closed and (cls.__module__, cls.__name__) not in _NAMESPACES:
            return
        yield from self._slots(value)
        try:
            owner = object.__getattribute__(value, '__dict__')
        except AttributeError:
            return
        if type(owner) is not dict:
            return
        defaults: set[str] = set()
        for base in cls.__mro__:
            if not _is_closed(base.__module__):
                yield base
                defaults.update(name for name in vars(base) if not name.startswith('__'))
            elif base.__module__.startswith('chainer.links.'):
                for name, member in vars(base).items():
                    if type(member) is not types.FunctionType:
                        defaults.add(name)
                    elif name != '__init__':
                        self.names.update(member.__code__.co_names)
        if is_link:
            self.names.update(('_children', '_layers'))
        elif is_closed:
            self.names.update(owner)
        self._owners.append((owner, defaults))
        self.owners.append((owner, cls.__name__))

    def _slots(self, value: object) -> tp.Iterator[object]:
        for base in type(value).__mro__:
            if _is_closed(base.__module__):
                continue
            for name, member in vars(base).items():
                if type(member) is not types.MemberDescriptorType:
                    continue
                try:
                    content = member.__get__(value)
                except AttributeError:
                    continue
                self.found.append((value, name, content))
                yield content


_LEAVES: tp.Final = frozenset(
    (type(None), bool, int, float, complex, str, bytes, types.BuiltinFunctionType)
)


def _is_closed(module: object) -> bool:
    if type(module) is not str:
        return True
    package = module.partition('.')[0]
    return package in _CLOSED or _is_foreign(package)


@functools.cache
def _is_foreign(package: str) -> bool:
    """Whether a package was installed, and knows nothing of arrays of ChainerX, such as PyTorch."""
    module = sys.modules.get(package)
    file = getattr(module, '__file__', None)
    if not isinstance(file, str) or not _INSTALLED.intersection(pathlib.PurePath(file).parts):
        return False
    modules = [m for name, m in list(sys.modules.items()) if name.partition('.')[0] == package]
    return not any(_USERS.intersection(vars(m)) for m in modules if type(m) is types.ModuleType)


def _is_link(cls: type) -> bool:
    return any(
        base.__name__ == 'Link' and base.__module__.partition('.')[0] == 'chainer'
        for base in cls.__mro__
    )
